//! Replaces values in the data of an event. Every other byte stays as received.

use std::ops::Range;

/// Replaces pieces of a text. If two begin at the same place, the first wins; one that overlaps another is skipped.
pub(crate) fn replace(text: &str, mut pieces: Vec<(Range<usize>, String)>) -> String {
    pieces.sort_by_key(|(span, _)| span.start);
    let mut written = String::with_capacity(text.len());
    let mut done = 0;
    let mut last_start = None;
    for (span, instead) in pieces {
        let Some(before) = text.get(done..span.start) else {
            continue;
        };
        if last_start == Some(span.start) {
            continue;
        }
        written.push_str(before);
        written.push_str(&instead);
        (done, last_start) = (span.end, Some(span.start));
    }
    written.push_str(text.get(done..).unwrap_or_default());
    written
}

#[cfg(test)]
mod tests {
    use super::replace;

    #[test]
    fn only_the_pieces_change() {
        let pieces = vec![
            (4..5, "Y".to_owned()),
            (0..1, "X".to_owned()),
            (2..2, "+".to_owned()),
        ];
        assert_eq!(replace("a-b-c-ü", pieces), "X-+b-Y-ü");
        assert_eq!(
            replace("abc", vec![(0..2, "1".to_owned()), (1..3, "2".to_owned())]),
            "1c"
        );
        assert_eq!(
            replace("abc", vec![(0..1, "1".to_owned()), (0..1, "2".to_owned())]),
            "1bc"
        );
    }
}
