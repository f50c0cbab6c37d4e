//! Sentences with commands in them: the command and its options stand in the font of code, in which two dashes are two.

use super::theme;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, FontId, TextStyle, Ui};

/// `text` in the font of usual text.
pub fn usual(ui: &Ui, text: &str) -> LayoutJob {
    job(text, TextStyle::Body.resolve(ui.style()), ui.visuals().text_color())
}

/// `text` in small letters.
pub fn small(ui: &Ui, text: &str) -> LayoutJob {
    job(text, FontId::proportional(theme::SMALL_PT), ui.visuals().text_color())
}

/// `text` in small letters of the colour for what matters less.
pub fn small_weak(ui: &Ui, text: &str) -> LayoutJob {
    job(text, FontId::proportional(theme::SMALL_PT), ui.visuals().weak_text_color())
}

fn job(text: &str, font: FontId, color: Color32) -> LayoutJob {
    let code = FontId::monospace(font.size.min(theme::SMALL_PT));
    let mut job = LayoutJob::default();
    for (piece, is_code) in pieces(text) {
        let font_id = if is_code { code.clone() } else { font.clone() };
        job.append(piece, 0.0, TextFormat { font_id, color, ..TextFormat::default() });
    }
    job
}

/// Parts of `text`, and whether each is code: what stands between two backticks, without them, and elsewhere what
/// [`words`] finds.
fn pieces(text: &str) -> impl Iterator<Item = (&str, bool)> {
    // A backtick without a second one is a sign like others.
    let quoted = text.matches('`').count().is_multiple_of(2);
    text.split(move |letter| quoted && letter == '`').enumerate().flat_map(|(at, part)| {
        let code = (at % 2 == 1).then_some((part, true));
        let rest = if code.is_some() { "" } else { part };
        code.into_iter().chain(words(rest))
    })
}

/// The words of `text` with the space behind them, and whether each belongs to a command: `nsys`, what it is to do,
/// options, and values of options without a sign of equality.
fn words(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut value_follows = false;
    text.split_inclusive(' ').map(move |piece| {
        let word = piece.trim_end();
        let is_option = word.trim_start_matches('(').starts_with("--");
        let is_code = is_option || word == "nsys" || value_follows;
        value_follows = word == "nsys" || is_option && !word.contains('=') && word.ends_with(char::is_alphanumeric);
        (piece, is_code)
    })
}

#[cfg(test)]
mod tests {
    use super::pieces;

    fn code(text: &str) -> String {
        pieces(text).filter(|(_, is_code)| *is_code).map(|(piece, _)| piece).collect()
    }

    #[test]
    fn commands_and_options_are_code_and_the_sentence_is_not() {
        let command = "nsys profile --trace=cuda,nvtx,osrt";
        assert_eq!(code(&format!("Record with {command}")), command);
        assert_eq!(
            code("again: nsys export --type sqlite --force true now"),
            "nsys export --type sqlite --force true "
        );
        assert_eq!(code("in a settings file (--settings) of the run"), "(--settings) ");
        assert_eq!(code("open two files - one a rank"), "");
    }

    #[test]
    fn what_stands_between_backticks_is_code_without_them() {
        let text = "Export again with `nsys export --include-blobs=true`; see --help, or `stepscope compare`.";
        assert_eq!(code(text), "nsys export --include-blobs=true--help, stepscope compare");
        let shown: String = pieces(text).map(|(piece, _)| piece).collect();
        assert_eq!(shown, text.replace('`', ""));
        assert_eq!(pieces("a ` alone").map(|(piece, _)| piece).collect::<String>(), "a ` alone");
    }
}
