//! Who waits for whom: a table of cells shaded by time, or the largest pairs when there are many ranks.

use crate::app::cx::Cx;
use crate::app::panels::grid::{Column, Grid, NAME_PT, Shown, column, heading, remark};
use crate::app::panels::sheet::{Cell, List, Row, Sheet};
use crate::app::parts::readable_on;
use crate::app::theme::SMALL_PT;
use crate::format;
use crate::job::Job;
use crate::report::compare::together_text;
use crate::timeline::ramp::ramp;
use egui::{Align2, FontId, Pos2, Rect, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};

/// Ranks that fit as rows and columns.
const MOST_RANKS: usize = 16;
/// Pairs that are listed in place of them.
const PAIRS: usize = 50;
const ROW_PT: f32 = 20.0;
const LABEL_PT: f32 = 64.0;
/// Widest cell, and the narrowest that its time fits into.
const CELL_PT: (f32, f32) = (72.0, 46.0);

const COLUMNS: [Column; 2] = [
    column("Waited", 66.0, "Sum over the matched collectives in which the other started last."),
    column("For", 96.0, "The rank that started last."),
];

/// Draws who waited for whom, when anybody did.
pub fn show(ui: &mut Ui, cx: &Cx<'_>, pairs: &mut Sheet, shown: Shown<'_>) {
    let job = &cx.workspace.job;
    if job.waits.matrix.cells.is_empty() {
        return;
    }
    let tip = "Row: who waited. Column: for whom. Sums over matched collectives in which that rank started last.";
    heading(ui, "Who waited for whom", tip);
    super::reserved(ui, cx, shown);
    if job.ranks.len() <= MOST_RANKS {
        cells(ui, cx, job);
    } else {
        largest(ui, job, pairs, shown);
    }
    if let Some(text) = together_text(job) {
        remark(ui, &text);
    }
}

fn label(job: &Job, rank: usize) -> String {
    job.ranks.get(rank).map_or_else(String::new, |rank| format::one_line(&rank.label, 24))
}

fn cells(ui: &mut Ui, cx: &Cx<'_>, job: &Job) {
    let ranks = job.ranks.len();
    let width = ((ui.available_width() - LABEL_PT) / ranks as f32).clamp(12.0, CELL_PT.0);
    let size = vec2(LABEL_PT + width * ranks as f32, ROW_PT * (ranks + 1) as f32);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let most_ns = job.waits.matrix.cells.iter().map(|(_, ns)| *ns).max().unwrap_or(0);
    let font = FontId::proportional(SMALL_PT);
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let corner = rect.min + vec2(LABEL_PT, ROW_PT);
    let place = |who: usize, whom: usize| {
        let min = corner + vec2(width * whom as f32, ROW_PT * who as f32);
        Rect::from_min_size(min, vec2(width, ROW_PT)).shrink(0.5)
    };
    // A label that is wider than its column is cut off by the next one.
    let text = |at: Pos2, align: Align2, text: String, room: Rect| {
        painter.with_clip_rect(room.intersect(painter.clip_rect())).text(
            at,
            align,
            text,
            font.clone(),
            cx.palette.text_dim,
        );
    };
    for rank in 0..ranks {
        let head = Rect::from_min_size(pos2(place(0, rank).left(), rect.top()), vec2(width, ROW_PT));
        text(head.center(), Align2::CENTER_CENTER, label(job, rank), head);
        let side = Rect::from_min_size(pos2(rect.left(), place(rank, 0).top()), vec2(LABEL_PT, ROW_PT));
        text(side.left_center(), Align2::LEFT_CENTER, label(job, rank), side);
    }
    for who in 0..ranks {
        for whom in 0..ranks {
            let (cell, ns) = (place(who, whom), job.waits.matrix.ns(who, whom));
            let Some(share) = crate::units::share(ns, most_ns).filter(|_| ns > 0) else {
                painter.rect_filled(cell, 0.0, cx.palette.header);
                continue;
            };
            let fill = ramp(cx.view.theme, share);
            painter.rect_filled(cell, 0.0, fill);
            if width >= CELL_PT.1 {
                let ink = readable_on(fill, cx.palette);
                painter.text(cell.center(), Align2::CENTER_CENTER, format::duration(ns), font.clone(), ink);
            }
        }
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, described(job)));
    let under = response.hover_pos().map(|at| (at - corner) / vec2(width, ROW_PT)).filter(|at| at.min_elem() >= 0.0);
    let cell = under.map(|at: Vec2| (at.y as usize, at.x as usize)).filter(|at| at.0 < ranks && at.1 < ranks);
    if let Some((who, whom)) = cell {
        response.on_hover_text_at_pointer(pair_text(job, who, whom));
    }
}

fn pair_text(job: &Job, who: usize, whom: usize) -> String {
    let waited = format::duration(job.waits.matrix.ns(who, whom));
    format!("Rank {} waited {waited} for rank {}", label(job, who), label(job, whom))
}

/// The matrix for screen readers: its largest entries.
fn described(job: &Job) -> String {
    let texts: Vec<String> = sorted(job).into_iter().take(8).map(|(who, whom)| pair_text(job, who, whom)).collect();
    format!("Who waited for whom: {}", texts.join("; "))
}

/// Pairs, the longest wait first.
fn sorted(job: &Job) -> Vec<(usize, usize)> {
    let mut all = job.waits.matrix.cells.clone();
    all.sort_by_key(|(pair, ns)| (std::cmp::Reverse(*ns), *pair));
    all.into_iter().map(|((who, whom), _)| (who as usize, whom as usize)).collect()
}

fn largest(ui: &mut Ui, job: &Job, sheet: &mut Sheet, shown: Shown<'_>) {
    let mut pairs = sorted(job);
    pairs.truncate(PAIRS);
    let row = |at: usize| {
        let Some((who, whom)) = pairs.get(at).copied() else { return Row::default() };
        let ns = job.waits.matrix.ns(who, whom);
        Row {
            name: label(job, who),
            cells: vec![Cell::whole(format::duration(ns), ns), Cell::text(label(job, whom))],
            ..Row::default()
        }
    };
    let grid = Grid { id: "pairs", name: "Rank", columns: &COLUMNS, tall: false, name_pt: NAME_PT };
    grid.show(ui, sheet, shown, &List::new(pairs.len(), row));
}
