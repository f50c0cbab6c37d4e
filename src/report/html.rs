//! Pages in HTML: one file without scripts, fonts or links, in light and dark.

use super::Picture;
use super::document::{Block, Grid};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How every page starts.
pub(super) const START: &str = "<!DOCTYPE html>\n<!-- stepscope report -->\n";

/// Colours have a contrast of at least 4.5 to 1 in both themes.
const STYLE: &str = "
:root { color-scheme: light dark; --back: #ffffff; --text: #1c2024; --weak: #56606a; --line: #d4d9de; --band: #f3f5f7; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171a; --text: #e6e9ec; --weak: #a3adb6; --line: #363d44; --band: #1d2226; }
}
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.3rem; margin-top: 2.5rem; } h3 { font-size: 1.05rem; margin-top: 1.75rem; }
.scroll { overflow-x: auto; margin: 0.75rem 0 1.25rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--weak); padding-bottom: 0.4rem; }
th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid var(--line); text-align: left; font-weight: normal; vertical-align: top; }
thead th { color: var(--weak); vertical-align: bottom; } .n { text-align: right; } tbody .n { white-space: nowrap; }
tbody tr:nth-child(even) { background: var(--band); }
figure { margin: 1.5rem 0; } img { max-width: 100%; height: auto; border: 1px solid var(--line); }
figcaption { color: var(--weak); }
@media print { main { max-width: none; } .scroll { overflow: visible; } }
";

/// The blocks as a page with this title. Tags are closed as XML asks, so that any reader can take it.
pub(super) fn page(title: &str, blocks: &[Block], pictures: &[Picture]) -> String {
    let title = escaped(title);
    let body: String = blocks.iter().map(|one| block(one, pictures)).collect();
    format!(
        "{START}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}

fn block(block: &Block, pictures: &[Picture]) -> String {
    match block {
        Block::Heading(level, text) => {
            let level = (level + 1).min(6);
            format!("<h{level}>{}</h{level}>\n", escaped(text))
        }
        Block::Paragraph(text) => format!("<p>{}</p>\n", escaped(text)),
        Block::List(lines) => {
            let items: String = lines.iter().map(|line| format!("<li>{}</li>\n", escaped(line))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
        Block::Table(grid) => table(grid),
        Block::Pictures => pictures.iter().map(figure).collect(),
    }
}

fn table(grid: &Grid) -> String {
    let class = |at: usize| if grid.words.get(at) == Some(&true) { "" } else { " class=\"n\"" };
    let head: String = grid
        .head
        .iter()
        .enumerate()
        .map(|(at, name)| format!("<th scope=\"col\"{}>{}</th>", class(at), escaped(name)))
        .collect();
    let cell = |(at, text): (usize, &String)| match at {
        0 => format!("<th scope=\"row\"{}>{}</th>", class(0), escaped(text)),
        _ => format!("<td{}>{}</td>", class(at), escaped(text)),
    };
    let rows: String = grid
        .rows
        .iter()
        .map(|row| format!("<tr>{}</tr>\n", row.iter().enumerate().map(cell).collect::<String>()))
        .collect();
    let caption = escaped(&grid.caption);
    // A region that scrolls has to be reached by the keyboard.
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\">\n<table>\n\
         <caption>{caption}</caption>\n<thead>\n<tr>{head}</tr>\n</thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )
}

fn figure(picture: &Picture) -> String {
    let data = |png: &[u8]| format!("data:image/png;base64,{}", STANDARD.encode(png));
    let caption = escaped(&picture.caption);
    format!(
        "<figure>\n<picture>\n<source media=\"(prefers-color-scheme: dark)\" srcset=\"{}\" />\n\
         <img alt=\"{caption}\" src=\"{}\" />\n</picture>\n<figcaption>{caption}</figcaption>\n</figure>\n",
        data(&picture.dark_png),
        data(&picture.light_png),
    )
}

/// Text that shows as it is, in text and in attributes. Characters that no page may hold become a mark.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_show_as_they_are_and_never_become_markup() {
        assert_eq!(escaped("<script>\"a\" & 'b'\u{0}"), "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;\u{fffd}");
    }

    #[test]
    fn pictures_are_in_the_page_for_both_themes() {
        let picture = Picture { caption: "Step <3>".to_owned(), light_png: vec![1, 2, 3], dark_png: vec![4] };
        let page = page("A & B", &[Block::Pictures], &[picture]);
        assert!(
            page.contains("src=\"data:image/png;base64,AQID\"")
                && page.contains("srcset=\"data:image/png;base64,BA==\"")
        );
        assert!(page.contains("alt=\"Step &lt;3&gt;\""));
        assert!(page.contains("<title>A &amp; B</title>") && page.contains("<h1>A &amp; B</h1>"));
    }
}
