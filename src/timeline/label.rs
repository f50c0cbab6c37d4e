//! Names made fit to be drawn: short, on one line, cut to the room there is.

use super::lanes::RowsKey;
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
/// Labels are cut at multiples of this, so that laid-out texts are found again while zooming.
const WIDTH_STEP_PT: f32 = 8.0;

/// `name` on one line and of bounded length.
pub fn safe(name: &str) -> String {
    format::one_line(name, NAME_LIMIT)
}

/// A CUDA function name without its ABI suffix: `cudaLaunchKernel_v7000` is `cudaLaunchKernel` to everybody.
pub fn call_name(name: &str) -> &str {
    match name.rsplit_once("_v") {
        Some((base, version)) if !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => name,
    }
}

/// Name and duration of the slice at index `at` of the table behind `key`.
pub fn text_of(workspace: &Workspace, key: RowsKey, at: u32, span: Span) -> (String, String) {
    let name = key.item(workspace, at).map(|item| name_of(workspace, item)).unwrap_or_default();
    (name, format::duration(span.len_ns()))
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
            Cow::Borrowed(call_name(trace.name(*name)))
        }
        Item::Nvtx(_, thread, at) => Cow::Borrowed(trace.name(*trace.threads.get(thread)?.nvtx.name.get(at as usize)?)),
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

/// Lays out `name` and, when it fits, `detail` after it, in at most `room_pt`; `None` when not even a few letters fit.
pub fn fit(
    painter: &Painter,
    name: &str,
    detail: &str,
    room_pt: f32,
    font: &FontId,
    color: Color32,
) -> Option<Arc<Galley>> {
    let width = (room_pt / WIDTH_STEP_PT).floor() * WIDTH_STEP_PT;
    if width < 2.0 * WIDTH_STEP_PT || name.is_empty() && detail.is_empty() {
        return None;
    }
    let job = |with_detail: bool| {
        let format = TextFormat { font_id: font.clone(), color, ..TextFormat::default() };
        let mut job = LayoutJob::default();
        job.append(name, 0.0, format.clone());
        if with_detail {
            let dim = TextFormat { color: color.gamma_multiply(0.8), ..format };
            job.append(detail, if name.is_empty() { 0.0 } else { 6.0 }, dim);
        }
        job.wrap = TextWrapping::truncate_at_width(width);
        painter.layout_job(job)
    };
    // A rough guess keeps hopeless texts from being laid out twice.
    let guess = (name.chars().count() + detail.chars().count()) as f32 * font.size * 0.42;
    if !detail.is_empty() && guess < width.max(6.0 * font.size) {
        let whole = job(true);
        if !whole.elided {
            return Some(whole);
        }
    }
    if name.is_empty() {
        // A number that is cut is another number.
        return None;
    }
    let short = job(false);
    // A lone ellipsis says nothing.
    let letters = short.rows.first().map_or(0, |row| row.glyphs.len());
    (letters > 2 || !short.elided).then_some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_names_lose_their_version_only() {
        assert_eq!(call_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
        assert_eq!(call_name("cuda_vector"), "cuda_vector");
        assert_eq!(call_name("cuMemcpy_v"), "cuMemcpy_v");
    }
}
