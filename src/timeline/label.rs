//! Names made fit to be drawn: short, on one line, cut to the room there is.

use super::lanes::RowsKey;
use crate::analysis::{Class, Collective, base_name};
use crate::format;
use crate::trace::Trace;
use crate::units::Span;
use crate::view::{Item, RankId, Workspace};
use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{Color32, FontId, Galley, Painter};
use std::borrow::Cow;
use std::sync::Arc;

/// Characters of a name that are ever laid out.
const NAME_LIMIT: usize = 240;
/// Letters, the ellipsis included, below which a cut name says nothing.
const LETTERS_MIN: usize = 5;
/// Labels are cut at multiples of this, so that laid-out texts are found again while zooming.
const WIDTH_STEP_PT: f32 = 8.0;

/// `name` on one line and of bounded length.
pub fn safe(name: &str) -> String {
    format::one_line(name, NAME_LIMIT)
}

/// The end of a path of names, where its inner ranges are, on one line.
pub fn tail(path: &str) -> String {
    const CHARS: usize = 72;
    let skipped = path.chars().count().saturating_sub(CHARS);
    let shown: String = path.chars().skip(skipped).collect();
    safe(&if skipped > 0 { format!("…{shown}") } else { shown })
}

/// Name and duration of the slice at index `at` of the table behind `key`.
pub fn text_of(workspace: &Workspace, key: RowsKey, at: u32, span: Span) -> (String, String) {
    let name = key.item(workspace, at).map(|item| name_of(workspace, item)).unwrap_or_default();
    (name, format::duration(span.len_ns()))
}

/// What a slice may be called where its name does not fit: a communication kernel by what it does.
pub fn short_of(workspace: &Workspace, key: RowsKey, at: u32) -> &'static str {
    let Some(Item::Op(id, op)) = key.item(workspace, at) else { return "" };
    let Some((doc, rank)) = workspace.rank(id) else { return "" };
    let named = rank.ops.name.get(op as usize).zip(rank.ops.kind.get(op as usize));
    match named.map(|(name, kind)| doc.analysis.classes.class(*name, *kind)) {
        Some(Class::Communication(Collective::Other) | Class::Fused(Collective::Other)) => "",
        Some(Class::Communication(collective) | Class::Fused(collective)) => collective.text(),
        _ => "",
    }
}

/// Name of an item, fit to be drawn.
pub fn name_of(workspace: &Workspace, item: Item) -> String {
    let Some(doc) = workspace.docs.get(item.doc()) else { return String::new() };
    raw_name(workspace, &doc.trace, item).map(|name| safe(&name)).unwrap_or_default()
}

fn raw_name<'a>(workspace: &'a Workspace, trace: &'a Trace, item: Item) -> Option<Cow<'a, str>> {
    Some(match item {
        Item::Op(id, op) => {
            let name = trace.ranks.get(id.rank)?.ops.name.get(op as usize)?;
            Cow::Borrowed(trace.op_short_name(*name))
        }
        Item::Call(_, process, call) => {
            let name = trace.processes.get(process)?.api.name.get(call as usize)?;
            Cow::Borrowed(base_name(trace.name(*name)))
        }
        Item::Nvtx(..) | Item::Projected(..) => {
            let (thread, at) = item.range(workspace)?;
            Cow::Borrowed(trace.name(*trace.threads.get(thread)?.nvtx.name.get(at as usize)?))
        }
        Item::Mark(_, thread, at) => {
            Cow::Borrowed(trace.name(*trace.threads.get(thread)?.marks.name.get(at as usize)?))
        }
        Item::Os(_, thread, at) => Cow::Borrowed(trace.name(*trace.threads.get(thread)?.os.name.get(at as usize)?)),
        Item::Idle(..) => Cow::Borrowed("idle"),
        Item::Step(id, step) => Cow::Borrowed(step_of(workspace, id, step)?.name.as_str()),
    })
}

/// Step `step` of a rank.
pub fn step_of(workspace: &Workspace, id: RankId, step: u32) -> Option<&crate::analysis::Step> {
    workspace.docs.get(id.doc)?.analysis.ranks.get(id.rank)?.steps.as_ref()?.steps.get(step as usize)
}

/// What a label may say, from the whole to the least.
#[derive(Debug, Clone, Copy, Default)]
pub struct Texts<'a> {
    /// Name; cut when it does not fit.
    pub name: &'a str,
    /// Shown after the name when both fit. Never cut: a number that is cut is another number.
    pub detail: &'a str,
    /// Shown instead of a cut name; empty for none.
    pub short: &'a str,
}

/// Lays out as much of `texts` as `room_pt` holds; `None` when that would say nothing.
pub fn fit(painter: &Painter, texts: Texts<'_>, room_pt: f32, font: &FontId, color: Color32) -> Option<Arc<Galley>> {
    let width = (room_pt / WIDTH_STEP_PT).floor() * WIDTH_STEP_PT;
    if width < WIDTH_STEP_PT {
        return None;
    }
    let lay = |name: &str, detail: &str| {
        let format = TextFormat { font_id: font.clone(), color, ..TextFormat::default() };
        let mut job = LayoutJob::default();
        job.append(name, 0.0, format.clone());
        if !detail.is_empty() {
            let dim = TextFormat { color: color.gamma_multiply(0.8), ..format };
            job.append(detail, if name.is_empty() { 0.0 } else { 6.0 }, dim);
        }
        job.wrap = TextWrapping::truncate_at_width(width);
        painter.layout_job(job)
    };
    // A rough guess keeps hopeless texts from being laid out twice.
    let hopeless = |chars: usize| chars as f32 * font.size * 0.4 > width;
    if !texts.detail.is_empty() && !hopeless(texts.name.chars().count() + texts.detail.chars().count()) {
        let whole = lay(texts.name, texts.detail);
        if !whole.elided {
            return Some(whole);
        }
    }
    if texts.name.is_empty() {
        return None;
    }
    let cut = lay(texts.name, "");
    if !cut.elided {
        return Some(cut);
    }
    if !texts.short.is_empty() {
        let shorter = [texts.detail, ""].map(|detail| lay(texts.short, detail));
        return shorter.into_iter().find(|galley| !galley.elided);
    }
    let letters = cut.rows.first().map_or(0, |row| row.glyphs.len());
    (letters >= LETTERS_MIN).then_some(cut)
}

/// `text` on one line, cut to `room_pt`, however little that leaves.
pub fn cut(painter: &Painter, text: &str, room_pt: f32, font: &FontId, color: Color32) -> Arc<Galley> {
    let mut job = LayoutJob::default();
    job.append(text, 0.0, TextFormat { font_id: font.clone(), color, ..TextFormat::default() });
    job.wrap = TextWrapping::truncate_at_width(room_pt.max(1.0));
    painter.layout_job(job)
}
