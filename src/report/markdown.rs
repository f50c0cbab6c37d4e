//! Pages in Markdown (CommonMark with tables).

use super::document::{Block, Grid};

/// The blocks below a title. Pictures are left out: a Markdown file holds none.
pub(super) fn page(blocks: &[Block]) -> String {
    let parts: Vec<String> = blocks.iter().map(block).filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(level, text) => format!("{} {}\n", "#".repeat(level + 1), escaped(text)),
        Block::Paragraph(text) => format!("{}\n", escaped(text)),
        Block::List(lines) => lines.iter().map(|line| format!("- {}\n", escaped(line))).collect(),
        Block::Table(grid) => table(grid),
        Block::Pictures => String::new(),
    }
}

fn table(grid: &Grid) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rules: Vec<&str> = grid.words.iter().map(|words| if *words { ":---" } else { "---:" }).collect();
    let rows: String = grid.rows.iter().map(|row| line(row)).collect();
    format!("{}\n\n{}| {} |\n{rows}", escaped(&grid.caption), line(&grid.head), rules.join(" | "))
}

/// Text that shows as it is: whatever Markdown or HTML would read as markup is escaped.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for (at, c) in text.chars().enumerate() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => safe.extend(['\\', c]),
            '#' | '+' | '-' | '=' if at == 0 && text.len() > 1 => safe.extend(['\\', c]),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\n' | '\r' => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_show_as_they_are() {
        assert_eq!(escaped("void f<T>(a|b)"), "void f&lt;T&gt;(a\\|b)");
        assert_eq!((escaped("# x").as_str(), escaped("-").as_str()), ("\\# x", "-"));
        assert_eq!(escaped("aten::_to_copy\nx"), "aten::\\_to\\_copy x");
    }

    #[test]
    fn numbers_go_to_the_right() {
        let grid = Grid {
            caption: "Parts".to_owned(),
            head: vec!["Part".to_owned(), "Time".to_owned()],
            words: vec![true, false],
            rows: vec![vec!["Idle".to_owned(), "5 ms".to_owned()]],
        };
        assert_eq!(table(&grid), "Parts\n\n| Part | Time |\n| :--- | ---: |\n| Idle | 5 ms |\n");
    }
}
