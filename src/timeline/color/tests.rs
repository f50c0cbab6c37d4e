//! Colours differ for every sight, and text is readable on all of them.

use super::*;

type Matrix = [[f32; 3]; 3];

/// Normal sight, then protanopia and deuteranopia as Machado, Oliveira and Fernandes (2009) model them, in linear
/// red, green and blue.
const SIGHTS: [Matrix; 3] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
    [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
];

fn times(matrix: &Matrix, v: [f32; 3]) -> [f32; 3] {
    matrix.map(|row| row.iter().zip(v).map(|(m, x)| m * x).sum())
}

/// OKLab of a colour as seen with `sight`.
fn lab(color: Color32, sight: &Matrix) -> [f32; 3] {
    let seen = times(sight, linear(color)).map(|c| c.clamp(0.0, 1.0));
    let cones = [
        [0.412_221_47, 0.536_332_54, 0.051_445_99],
        [0.211_903_5, 0.680_699_5, 0.107_396_96],
        [0.088_302_46, 0.281_718_85, 0.629_978_7],
    ];
    let to_lab = [
        [0.210_454_26, 0.793_617_8, -0.004_072_047],
        [1.977_998_5, -2.428_592_2, 0.450_593_7],
        [0.025_904_037, 0.782_771_77, -0.808_675_77],
    ];
    times(&to_lab, times(&cones, seen).map(f32::cbrt))
}

/// Distance in hundredths of OKLab; 2 is just noticeable side by side.
fn distance(a: Color32, b: Color32, sight: &Matrix) -> f32 {
    let square: f32 = lab(a, sight).iter().zip(lab(b, sight)).map(|(a, b)| (a - b).powi(2)).sum();
    100.0 * square.sqrt()
}

fn themes() -> [&'static Palette; 2] {
    [Palette::of(Theme::Dark), Palette::of(Theme::Light)]
}

#[test]
fn classes_differ_for_every_sight() {
    for palette in themes() {
        let p = palette;
        let classes = [p.communication, p.fused, p.copy, p.idle, p.nvtx, p.host, p.sync];
        for sight in &SIGHTS {
            for (at, a) in classes.iter().enumerate() {
                for b in classes.iter().skip(at + 1).chain(&p.families) {
                    assert!(distance(*a, *b, sight) >= 6.0, "{a:?} {b:?} {}", distance(*a, *b, sight));
                }
                assert!(distance(*a, p.background, sight) >= 8.0, "{a:?}");
            }
        }
    }
}

#[test]
fn families_differ_for_every_sight() {
    for p in themes() {
        let all: Vec<Color32> = p.families.iter().copied().chain([p.graph]).collect();
        for sight in &SIGHTS {
            for (at, a) in all.iter().enumerate() {
                for b in all.iter().skip(at + 1) {
                    assert!(distance(*a, *b, sight) >= 6.3, "{a:?} {b:?} {}", distance(*a, *b, sight));
                }
                assert!(distance(*a, p.background, sight) >= 12.0, "{a:?}");
            }
        }
        assert_eq!(p.compute, p.families[0]);
    }
}

#[test]
fn hues_differ_from_the_classes_that_stand_beside_them() {
    for p in themes() {
        for (at, hue) in p.hues.iter().enumerate() {
            // Families have the first ones, and stand beside communication all the time.
            let least = if at < Family::ALL.len() { 8.0 } else { 6.0 };
            for class in [p.communication, p.fused, p.copy, p.graph] {
                for sight in &SIGHTS {
                    let distance = distance(*hue, class, sight);
                    assert!(distance >= least, "{hue:?} {class:?} {distance}");
                }
            }
        }
    }
}

#[test]
fn causes_of_idle_time_differ_for_every_sight() {
    for p in themes() {
        for sight in &SIGHTS {
            for (at, a) in p.causes.iter().enumerate() {
                for b in p.causes.iter().skip(at + 1) {
                    assert!(distance(*a, *b, sight) >= 8.0, "{a:?} {b:?} {}", distance(*a, *b, sight));
                }
                for other in [p.compute, p.communication] {
                    assert!(distance(*a, other, sight) >= 6.0, "{a:?} {other:?} {}", distance(*a, other, sight));
                }
                assert!(distance(*a, p.background, sight) >= 9.0, "{a:?}");
            }
        }
        assert_eq!(p.cause(Cause::Sync), p.sync, "waiting looks the same in the calls and in the gaps");
    }
}

#[test]
fn hues_differ_for_every_sight_and_none_stands_out_by_its_lightness() {
    for p in themes() {
        let lightness = p.hues.map(|hue| 100.0 * lab(hue, &SIGHTS[0])[0]);
        let (least, most) = lightness.iter().fold((f32::MAX, f32::MIN), |(a, b), l| (a.min(*l), b.max(*l)));
        assert!(most - least <= 21.0, "{least} to {most}");
        for sight in &SIGHTS {
            for (at, a) in p.hues.iter().enumerate() {
                for b in p.hues.iter().skip(at + 1) {
                    assert!(distance(*a, *b, sight) >= 9.0, "{a:?} {b:?} {}", distance(*a, *b, sight));
                }
                for ground in [p.background, p.nvtx] {
                    assert!(distance(*a, ground, sight) >= 9.0, "{a:?} {ground:?}");
                }
            }
        }
    }
}

#[test]
fn text_is_readable_on_every_ground() {
    for p in themes() {
        for ground in [p.background, p.panel, p.gutter, p.header, p.step] {
            for text in [p.text, p.lane_text, p.text_dim] {
                assert!(contrast(text, ground) >= 4.5, "{text:?} on {ground:?}: {}", contrast(text, ground));
            }
        }
        for text in [p.accent, p.warning, p.error] {
            assert!(contrast(text, p.panel) >= 4.5, "{text:?}: {}", contrast(text, p.panel));
            assert!(contrast(text, p.background) >= 4.5, "{text:?}");
        }
        for ink in 0..Ink::COUNT as u8 {
            let ground = p.ink(Ink(ink));
            assert!(contrast(on(ground), ground) >= 4.5, "{ground:?}: {}", contrast(on(ground), ground));
        }
    }
}

#[test]
fn marks_stand_out_from_what_they_lie_on() {
    for p in themes() {
        assert!(contrast(p.exposed, p.communication) >= 1.5);
        assert!(contrast(p.selection, p.background) >= 7.0);
    }
}

#[test]
fn contrast_is_that_of_the_standard() {
    assert!((contrast(Color32::BLACK, Color32::WHITE) - 21.0).abs() < 0.01);
    assert_eq!(on(Color32::WHITE), on(rgb(0xef_a433)));
}
