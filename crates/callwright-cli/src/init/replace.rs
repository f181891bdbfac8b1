//! Replaces a file atomically, after keeping a copy of it.
//!
//! A reader sees either the old text or the new one, never a part. A symbolic link is kept, and its target is
//! replaced.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::input::shown;

/// If there are more copies than this, something else is wrong.
const MOST_BACKUPS: usize = 1_000;

/// Writes the new text and returns the path of the backup. Fails if the file has changed since `before` was read.
pub(super) fn replace(file: &Path, before: &str, after: &str) -> Result<PathBuf> {
    let cannot = || format!("cannot write {}", shown(file));
    let target = fs::canonicalize(file).with_context(cannot)?;
    let permissions = fs::metadata(&target).with_context(cannot)?.permissions();
    let backup = keep(&target, before).with_context(cannot)?;
    let (temporary, mut new) = create(&target, "callwright-new").with_context(cannot)?;
    let written = new
        .write_all(after.as_bytes())
        .and_then(|()| fs::set_permissions(&temporary, permissions))
        .and_then(|()| new.sync_all())
        .and_then(|()| fs::read(&target));
    drop(new);
    let replaced = match written {
        Ok(now) if now == before.as_bytes() => fs::rename(&temporary, &target).with_context(cannot),
        Ok(_) => {
            let _ = fs::remove_file(&backup);
            Err(anyhow::anyhow!("it was changed in the meantime; try again")).with_context(cannot)
        }
        Err(error) => Err(error).with_context(cannot),
    };
    if replaced.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    replaced.map(|()| backup)
}

/// A copy next to the file, with the same permissions, since it may contain keys.
fn keep(target: &Path, text: &str) -> Result<PathBuf> {
    let (path, mut file) = create(target, "callwright-backup")?;
    file.write_all(text.as_bytes())?;
    fs::set_permissions(&path, fs::metadata(target)?.permissions())?;
    file.sync_all()?;
    Ok(path)
}

/// A new file next to another, readable only by its owner; numbered if the name is taken.
fn create(target: &Path, ending: &str) -> Result<(PathBuf, File)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let name = target.file_name().context("not a file")?.to_string_lossy();
    for number in 1..=MOST_BACKUPS {
        let number = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        let path = target.with_file_name(format!("{name}.{ending}{number}"));
        match options.open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| shown(&path)),
        }
    }
    bail!("there are {MOST_BACKUPS} backups; remove some of them");
}
