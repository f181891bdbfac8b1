//! Writes and prints the outputs of a replay.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use callwright_replay::propose::suggestions_file;
use callwright_replay::report::{self, PageHeader, Report, WrittenFiles};
use callwright_replay::summary::Summary;

use super::args::OutputArguments;
use super::review;
use crate::args::OutputFormat;
use crate::input::shown;

/// The width of text that does not go to a terminal.
const USUAL_WIDTH: usize = 100;

/// The subject of a report.
pub(super) struct About<'a> {
    /// The logs, as given on the command line.
    pub(super) logs: &'a str,
    /// The text of the tool file, if there is one.
    pub(super) tools: Option<&'a str>,
}

/// Fails early if an output could not be written at the end of a long run, or would overwrite a file that is `read`,
/// or another output.
pub(super) fn check<'p>(
    arguments: &'p OutputArguments,
    state: Option<&'p Path>,
    read: impl Iterator<Item = &'p Path>,
) -> Result<()> {
    let files = [
        &arguments.report,
        &arguments.suggest,
        &arguments.emit_summary,
    ];
    let files = files.into_iter().filter_map(|it| it.as_deref());
    let mut taken: HashSet<PathBuf> = read.filter_map(|path| place(path).ok()).collect();
    for path in files.chain(state) {
        let cannot = format!("cannot write {}", shown(path));
        if path.is_dir() {
            bail!("{cannot}: it is a directory; give a file");
        }
        let place = place(path).with_context(|| {
            let folder = path.parent().map(shown).unwrap_or_default();
            format!("{cannot}: the directory {folder} does not exist; create it first")
        })?;
        if !taken.insert(place) {
            bail!("{cannot}: this run already reads it or writes to it; give another file");
        }
    }
    Ok(())
}

/// The canonical path that a file has or will have.
pub(super) fn place(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize().or_else(|_| {
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize()?;
        Ok(folder.join(path.file_name().unwrap_or_default()))
    })
}

/// Writes the requested files and prints the report.
pub(super) fn write_all(
    summary: Summary,
    about: &About<'_>,
    arguments: &OutputArguments,
) -> Result<()> {
    if let Some(path) = &arguments.emit_summary {
        let is_packed = path
            .extension()
            .is_some_and(|it| it.eq_ignore_ascii_case("gz"));
        let bytes = if is_packed {
            summary.to_bytes()?
        } else {
            summary.to_json()?.into_bytes()
        };
        write(path, bytes)?;
    }
    let report = Report::new(summary);
    if let Some(path) = &arguments.report {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let page = PageHeader {
            about: Some(about.logs.to_owned()),
            made: now.ok().and_then(|now| i64::try_from(now.as_micros()).ok()),
            suggestions: arguments.suggest.as_deref().map(shown),
        };
        write(path, &report::html(&report, &page)?)?;
    }
    if let Some(path) = &arguments.suggest {
        let suggestions = suggestions_file(&report.proposals, about.tools);
        let mut text = serde_json::to_string_pretty(&suggestions)?;
        text.push('\n');
        write(path, &text)?;
    }
    print(&report, arguments)?;
    if let (true, Some(path)) = (arguments.review, &arguments.suggest) {
        review::run(path)?;
    }
    Ok(())
}

/// The width of the terminal.
fn width() -> usize {
    let width = console::Term::stdout().size_checked();
    width.map_or(USUAL_WIDTH, |(_, width)| usize::from(width))
}

fn print(report: &Report, arguments: &OutputArguments) -> Result<()> {
    let (page, suggestions) = (&arguments.report, &arguments.suggest);
    let (page, suggestions) = (
        page.as_deref().map(shown),
        suggestions.as_deref().map(shown),
    );
    let written = WrittenFiles {
        page: page.as_deref(),
        suggestions: suggestions.as_deref(),
    };
    let cannot = "cannot write the report to standard output";
    let text = match arguments.format {
        OutputFormat::Json => {
            let mut stdout = io::BufWriter::new(io::stdout().lock());
            report::write_json(report, &mut stdout).context(cannot)?;
            return (stdout.write_all(b"\n"))
                .and_then(|()| stdout.flush())
                .context(cannot);
        }
        // anstream strips colours that the terminal cannot show.
        OutputFormat::Text => report::text(report, width(), true, written)?,
    };
    let mut stdout = anstream::stdout();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .context(cannot)
}

/// Writes a file completely or not at all.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let cannot = || format!("cannot write {}", shown(path));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside: PathBuf = path.with_file_name(name);
    let written = fs::write(&beside, content).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _: io::Result<()> = fs::remove_file(&beside);
    }
    written.with_context(cannot)
}
