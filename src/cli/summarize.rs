//! The `summarize` command: what other ranks need of an export, in kilobytes.

use super::args::Summarize;
use super::compare::expanded;
use super::load::load;
use super::run::{CliError, file_of, needed, print};
use crate::format;
use crate::job::{ExportSummary, file};
use crate::report::save_summary;
use std::path::PathBuf;

/// The `summarize` command.
pub(super) fn summarize(options: &Summarize) -> Result<(), CliError> {
    needed(&options.exports, "summarize")?;
    let exports = expanded(&options.exports)?;
    let output = file_of(options.output.as_ref());
    if output.is_none() && options.output.is_some() {
        return Err(CliError::Usage(
            "a summary is a packed file: name one with -o, such as -o rank0.summary".to_owned(),
        ));
    }
    let folder = output.filter(|path| exports.len() > 1 || path.is_dir());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(CliError::Usage(format!(
            "there is no folder {}: make it, or summarize one export",
            folder.display()
        )));
    }
    for export in &exports {
        let name = PathBuf::from(export.file_name().unwrap_or_default()).with_extension(file::ENDING);
        let target = match (folder, output) {
            (Some(folder), _) => folder.join(name),
            (None, Some(path)) => path.clone(),
            (None, None) => name,
        };
        // Each export is let go before the next is read.
        let loaded = load(std::slice::from_ref(export), &options.reading)?;
        let Some(loaded) = loaded.first() else { continue };
        let mut summary = ExportSummary::of(&loaded.trace, &loaded.analysis);
        summary.file = file::export_as_named_in(&summary.file, &target);
        let bytes = file::write(&summary).map_err(CliError::Print)?;
        save_summary(&bytes, &target)?;
        print(&format!(
            "{}: {}, {}\n",
            target.display(),
            format::counted(summary.ranks.len() as u64, "rank", "ranks"),
            format::bytes(bytes.len() as u64),
        ))?;
    }
    Ok(())
}
