//! Blocks as text for a terminal.

use super::document::Block;
use super::table::{aligned, paragraph};

/// The blocks one below the other.
pub(super) fn page(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        let part = match block {
            Block::Heading(level, title) => format!("{}{title}\n", "  ".repeat(level.saturating_sub(1))),
            Block::Paragraph(words) => paragraph("  ", words),
            Block::List(lines) => lines.iter().map(|line| paragraph("  ", line)).collect(),
            Block::Table(grid) => {
                let mut rows = vec![grid.head.clone()];
                rows.extend(grid.rows.iter().cloned());
                format!("  {}\n{}", grid.caption, aligned("  ", &rows, &grid.words))
            }
            Block::Pictures => continue,
        };
        if !text.is_empty() && matches!(block, Block::Heading(..) | Block::Table(_)) {
            text.push('\n');
        }
        text.push_str(&part);
    }
    text
}
