//! Columns of text: the first to the left, numbers to the right.

/// Rows of equal length as aligned lines, each behind `indent`.
pub(super) fn table(indent: &str, rows: &[Vec<String>]) -> String {
    aligned(indent, rows, &[true])
}

/// Rows of equal length as aligned lines, each behind `indent`; columns that are not `left` go to the right.
pub(super) fn aligned(indent: &str, rows: &[Vec<String>], left: &[bool]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> =
        (0..columns).map(|at| rows.iter().filter_map(|row| row.get(at)).map(|c| width(c)).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::from(indent);
        for (at, (cell, column)) in row.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(column.saturating_sub(width(cell)));
            if at > 0 {
                line.push_str("  ");
            }
            let parts = if left.get(at) == Some(&true) { [cell, &pad] } else { [&pad, cell] };
            parts.iter().for_each(|part| line.push_str(part));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Widest line of running text, its indent included.
const WIDTH: usize = 100;

/// Running text as lines of at most [`WIDTH`] characters, each behind `indent`; words are never cut.
pub(super) fn paragraph(indent: &str, words: &str) -> String {
    let mut text = String::new();
    let mut line = String::new();
    for word in words.split(' ') {
        let needed = width(indent) + width(&line) + width(word);
        if !line.is_empty() && needed >= WIDTH {
            text.push_str(&format!("{indent}{line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        text.push_str(&format!("{indent}{line}\n"));
    }
    text
}

/// Characters a terminal needs for `text`; each counts one.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_line_up_on_the_right() {
        let row = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        assert_eq!(
            table(" ", &[row("idle", "5 ms"), row("compute", "12.3 ms")]),
            " idle        5 ms\n compute  12.3 ms\n"
        );
    }
    #[test]
    fn running_text_is_cut_between_words() {
        let words = vec!["word"; 50].join(" ");
        let text = paragraph("    ", &words);
        assert!(text.lines().all(|line| line.len() <= WIDTH && line.starts_with("    word")));
        assert_eq!(text.split_whitespace().count(), 50);
        assert_eq!(paragraph("  ", ""), "");
    }
}
