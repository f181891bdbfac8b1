//! Copies a server's stderr to ours.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};

/// A longer line is copied in pieces.
const LONGEST_LINE: u64 = 8 * 1024;

/// Copies until the end, as it arrives; with a label, line by line, each after the label.
pub(super) fn copy_labelled(stderr: impl Read, label: &str) {
    let mut stderr = BufReader::new(stderr);
    let prefix = match label {
        "" => {
            // A server must never block on us, so what cannot be written is still read.
            let copied = io::copy(&mut stderr, &mut io::stderr());
            let _ = copied.or_else(|_| io::copy(&mut stderr, &mut io::sink()));
            return;
        }
        label => format!("[{label}] "),
    };
    let mut copied = prefix.clone().into_bytes();
    loop {
        copied.truncate(prefix.len());
        let mut piece = (&mut stderr).take(LONGEST_LINE);
        match piece.read_until(b'\n', &mut copied) {
            Ok(1..) => {}
            _ => return,
        }
        if !copied.ends_with(b"\n") {
            copied.push(b'\n');
        }
        let _ = io::stderr().lock().write_all(&copied);
    }
}
