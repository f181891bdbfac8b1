//! Determines the layout of records from the beginning of a text.
//!
//! A first line that is a complete JSON document, or not JSON at all, means lines. A document that continues on the
//! next line means documents.

use std::io::Read;

use super::scan::{Scan, ScanStep, end_of_first};
use super::{Chunks, Form, LONGEST_RECORD};

/// How long the first line may be to count as a line if it is an array: then it is one of many. A longer one is most
/// likely the whole log, and is read element by element.
const LONGEST_ARRAY_LINE: usize = 1024 * 1024;

impl<R: Read> Chunks<R> {
    /// Reads as much as it takes to decide.
    pub(super) fn find_form(&mut self) -> Form {
        let mut from = 0;
        loop {
            let Some(first) = self.first_byte(from) else {
                return Form::Lines;
            };
            // A document without content looks the same in every layout.
            match self.line_end(first, LONGEST_ARRAY_LINE) {
                Some(end) if matches!(self.rest[first..end].trim_ascii_end(), b"{}" | b"[]") => {
                    from = end;
                }
                _ => return self.form_from(first),
            }
        }
    }

    /// The layout according to the document that begins here.
    fn form_from(&mut self, first: usize) -> Form {
        let longest = match self.rest[first] {
            b'{' => LONGEST_RECORD,
            b'[' => LONGEST_ARRAY_LINE,
            _ => return Form::Lines,
        };
        let line_end = self.line_end(first, longest);
        let line = &self.rest[first..line_end.unwrap_or(self.rest.len())];
        if line[0] == b'[' && !opens_records(line, line_end.is_some()) {
            return Form::Lines;
        }
        match end_of_first(line) {
            // Several documents on one line.
            Some(end) if line[end..].trim_ascii_start().starts_with(b"{") => Form::Documents,
            Some(_) => Form::Lines,
            None if line[0] == b'[' => Form::Documents,
            None => match line_end {
                // Too long, or the only one, and truncated.
                None => Form::Lines,
                Some(end) => self.form_of_open_line(first, end),
            },
        }
    }

    /// The first line opens a document and does not end it: it continues, or was truncated.
    fn form_of_open_line(&mut self, first: usize, end: usize) -> Form {
        let mut scan = Scan::default();
        let mut at = first;
        while let Some((step, place)) = scan.step(&self.rest[..end], at) {
            match step {
                ScanStep::Opened(_) | ScanStep::Closed(_) => at = place + 1,
                _ => return Form::Lines,
            }
        }
        if scan.in_string() {
            return Form::Lines;
        }
        let second = end + 1;
        let second_end = self.line_end(second, LONGEST_RECORD);
        let line = &self.rest[second..second_end.unwrap_or(self.rest.len())];
        // Inside an object a line begins with a key.
        if line.starts_with(b"{") && end_of_first(line).is_some() {
            Form::Lines
        } else {
            Form::Documents
        }
    }

    /// The position of the first byte that is not white space. A text that begins with a megabyte of it is not a log.
    fn first_byte(&mut self, mut at: usize) -> Option<usize> {
        loop {
            let is_text = |byte: &u8| !byte.is_ascii_whitespace();
            if let Some(found) = self.rest[at..].iter().position(is_text) {
                return Some(at + found);
            }
            at = self.rest.len();
            if self.ended || at > LONGEST_ARRAY_LINE {
                return None;
            }
            self.fill();
        }
    }

    /// Where the line that begins at `start` ends, if it is not too long; reads on as needed.
    fn line_end(&mut self, start: usize, longest: usize) -> Option<usize> {
        let mut searched = start;
        loop {
            let rest = self.rest.get(searched..).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', rest) {
                return Some(searched + at);
            }
            searched = self.rest.len().max(start);
            if self.ended || searched - start > longest {
                return None;
            }
            self.fill();
        }
    }
}

/// Whether a text that begins with `[` is an array of containers, and not the `[info]` of a text log.
fn opens_records(line: &[u8], is_whole_line: bool) -> bool {
    let inside = line[1..].trim_ascii_start();
    match inside.first() {
        Some(b'{' | b'[' | b']') => true,
        // The bracket is alone on its line.
        None => is_whole_line,
        Some(_) => false,
    }
}
