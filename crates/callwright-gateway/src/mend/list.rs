//! Rewrites lists in a body with other items or values in them. All other bytes stay.

use std::ops::Range;

use callwright::internal::Replacements;

/// The next item of a list.
#[derive(Debug, PartialEq)]
pub(super) enum ListSlot {
    /// The item with this former number.
    Kept(usize),
    /// The item with this former number, rewritten.
    Changed(usize, String),
    /// A new item.
    New(String),
}

impl ListSlot {
    fn number(&self) -> Option<usize> {
        match self {
            ListSlot::Kept(at) | ListSlot::Changed(at, _) => Some(*at),
            ListSlot::New(_) => None,
        }
    }
}

/// A list with these items. The bytes between two items that were neighbours before are kept.
pub(super) fn rebuilt(
    body: &str,
    list: Range<usize>,
    items: &[Range<usize>],
    slots: Vec<ListSlot>,
    edits: &Replacements,
) -> String {
    let start = |at: usize| items.get(at).map_or(0, |item| item.start);
    let end = |at: usize| items.get(at).map_or(0, |item| item.end);
    let first = items.first().map_or(list.start + 1, |item| item.start);
    let mut written = body.get(list.start..first).unwrap_or_default().to_owned();
    let mut before: Option<Option<usize>> = None;
    for slot in slots {
        let number = slot.number();
        match (before, number) {
            (None, _) => {}
            (Some(Some(before)), Some(at)) if before + 1 == at => {
                written.push_str(body.get(end(before)..start(at)).unwrap_or(","));
            }
            _ => written.push(','),
        }
        before = Some(number);
        match slot {
            ListSlot::Kept(at) => written.push_str(&edits.in_part(body, start(at)..end(at))),
            ListSlot::Changed(_, text) | ListSlot::New(text) => written.push_str(&text),
        }
    }
    let after = items.last().map_or(first, |item| item.end);
    written.push_str(body.get(after..list.end).unwrap_or_default());
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_between_neighbours_are_kept() {
        let body = "x[ 1 ,\n 2, 3 ]y";
        let items = [3..4, 8..9, 11..12];
        let list = |slots| rebuilt(body, 1..14, &items, slots, &Replacements::default());
        let kept = || (0..3).map(ListSlot::Kept).collect::<Vec<_>>();
        assert_eq!(list(kept()), "[ 1 ,\n 2, 3 ]");
        assert_eq!(list(vec![ListSlot::Kept(0), ListSlot::Kept(2)]), "[ 1,3 ]");
        assert_eq!(
            list(vec![
                ListSlot::New("9".into()),
                ListSlot::Kept(1),
                ListSlot::Kept(2)
            ]),
            "[ 9,2, 3 ]"
        );
        assert_eq!(list(Vec::new()), "[  ]");
    }
}
