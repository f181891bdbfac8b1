//! Tracks the brackets and strings of JSON, and nothing else.

/// The effect of a byte on the structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanStep {
    /// A container was opened at this depth.
    Opened(u32),
    /// A container was closed at this depth.
    Closed(u32),
    /// A line ends inside a string, which JSON does not allow.
    TornString,
    /// A container is opened where none is allowed: something before it is missing.
    Misplaced,
    /// A container is closed that was never opened.
    NotOpen,
}

/// A position in a JSON text.
#[derive(Debug, Clone, Default)]
pub(super) struct Scan {
    pub(super) depth: u32,
    in_string: bool,
    escaped: bool,
    /// The last byte outside strings that is not white space; 0 at the beginning.
    last: u8,
}

impl Scan {
    /// Continues from `at` to the next byte that changes the structure, and returns its effect and position; `None`
    /// if there is none.
    pub(super) fn step(&mut self, bytes: &[u8], mut at: usize) -> Option<(ScanStep, usize)> {
        loop {
            if self.in_string {
                at = self.leave_string(bytes, at)?;
                if self.in_string {
                    self.in_string = false;
                    return Some((ScanStep::TornString, at));
                }
                at += 1;
            }
            let byte = *bytes.get(at)?;
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => {}
                b'"' => {
                    self.in_string = true;
                    self.last = byte;
                }
                b'{' | b'[' => {
                    if self.depth > 0 && !matches!(self.last, b':' | b',' | b'[') {
                        return Some((ScanStep::Misplaced, at));
                    }
                    self.last = byte;
                    self.depth += 1;
                    return Some((ScanStep::Opened(self.depth - 1), at));
                }
                b'}' | b']' => {
                    let Some(depth) = self.depth.checked_sub(1) else {
                        return Some((ScanStep::NotOpen, at));
                    };
                    self.last = byte;
                    self.depth = depth;
                    return Some((ScanStep::Closed(depth), at));
                }
                other => self.last = other,
            }
            at += 1;
        }
    }

    /// The position of the quote that ends a string, or of a line break inside it; in that case it stays open.
    fn leave_string(&mut self, bytes: &[u8], mut at: usize) -> Option<usize> {
        if self.escaped && at < bytes.len() {
            self.escaped = false;
            at += 1;
        }
        loop {
            let rest = bytes.get(at..)?;
            at += memchr::memchr3(b'"', b'\\', b'\n', rest)?;
            match bytes[at] {
                b'"' => {
                    self.in_string = false;
                    return Some(at);
                }
                b'\\' if at + 1 == bytes.len() => {
                    self.escaped = true;
                    return None;
                }
                b'\\' => at += 2,
                _ => return Some(at),
            }
        }
    }

    /// The beginning of a record inside this many containers.
    pub(super) fn inside(depth: u32) -> Self {
        Scan {
            depth,
            last: b',',
            ..Scan::default()
        }
    }

    /// Whether a string is open.
    pub(super) fn in_string(&self) -> bool {
        self.in_string
    }
}

/// Whether the brackets of one JSON container begin and end with this text.
pub(super) fn is_whole(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    end_of_first(text) == Some(text.len())
}

/// Where the JSON container that begins a text ends, if it does.
pub(crate) fn end_of_first(text: &[u8]) -> Option<usize> {
    let mut scan = Scan::default();
    let mut at = 0;
    if !matches!(text.first(), Some(b'{' | b'[')) {
        return None;
    }
    loop {
        match scan.step(text, at)? {
            (ScanStep::Closed(0), place) => return Some(place + 1),
            (ScanStep::Opened(_) | ScanStep::Closed(_), place) => at = place + 1,
            _ => return None,
        }
    }
}
