//! Detects a result that is one page of several.
//!
//! A model that gets the first ten of ninety orders answers as if there were ten. Detected: flags (`has_more`), what to request
//! the next page with (`next_cursor`, `links.next`), and totals greater than what has been returned so far, in the result
//! itself or one level down (`pagination`, `meta`, `pageInfo`). A flag that is false, or a next page that is `null`, overrides
//! a total; a total counts only if the position of the page is known. Ignored: totals that may be amounts of money, lists whose
//! position is unknown, and last pages.

mod next;
mod position;

use super::names::{is, is_one_of, member};
use crate::json::Value;
use crate::tool::Tool;
use crate::vocabulary::{MorePages, OutputFault, word_list};
use position::PagePosition;

/// Members in which a page describes itself.
const ABOUT_PAGES: &[&str] = word_list![
    pagination paging pageinfo meta metadata responsemetadata links page cursor cursors info
    pager searchinformation resultset
];

/// Flags that are true if there is more.
const MORE: &[&str] = word_list![
    hasmore hasmoreitems hasmoreresults hasmorepages hasmoredata hasnext hasnextpage
    moreavailable istruncated moredataavailable
];

/// Flags that are true on the last page.
const LAST: [&str; 2] = ["islast", "islastpage"];

/// Members to request the next page with.
const CURSORS: &[&str] = word_list![
    nextcursor nextpagetoken nexttoken nextmarker continuationtoken nextcontinuationtoken
    nextpagecursor cursornext nextkey lastevaluatedkey paginationtoken nextpaginationtoken
];
const NEXT_PAGES: [&str; 2] = ["nextpage", "nextpagenumber"];
const NEXT_OFFSETS: [&str; 3] = ["nextoffset", "nextstart", "nextstartindex"];
const NEXT_LINKS: &[&str] = word_list![
    nextlink odatanextlink nextpageurl nexturl nextpagelink nexthref nexturi
];
/// Cursors that every page has, even the last; they count if a flag says that there is more.
const STANDING_CURSORS: [&str; 4] = ["endcursor", "cursor", "after", "continuation"];

/// Totals of a list.
const TOTALS: &[&str] = word_list![
    totalcount totalresults totalhits totalrecords totalelements totalentries numfound
    totalmatches totalrows
];
/// Totals of a list, or of an order.
const LOOSE_TOTALS: [&str; 2] = ["total", "totalitems"];
const TOTAL_PAGES: [&str; 5] = ["totalpages", "pagecount", "lastpage", "numpages", "pages"];

/// Next to these, a total is an amount of money or a quantity.
const MONEY: &[&str] = word_list![
    currency subtotal tax vat price amount discount shipping quantity balance cost payment
];

/// Names of lists.
const LISTS: &[&str] = word_list![
    items results data records entries hits rows nodes edges list values elements documents
    objects content
];

pub(in crate::check) fn more_pages(
    tool: &Tool,
    arguments: &Value<'_>,
    output: &Value<'_>,
) -> Option<OutputFault> {
    let page = unwrapped(output);
    let signs = Signs::of(page);
    let is_spoken_of = signs.flag == Some(true) || signs.next.is_some();
    if signs.flag == Some(false) || !(is_spoken_of || !signs.ends && is_counted(page)) {
        return None;
    }
    let position = PagePosition::of(tool, arguments, page);
    let next = signs.next.filter(|next| is_new(next, arguments, &position));
    let total = total(page, signs.items, &position);
    let by_total = || total.is_some() || pages_left(page, &position);
    let says_more = signs.flag == Some(true) || next.is_some();
    if !says_more && (signs.ends || !by_total()) {
        return None;
    }
    let standing = || levels(page).find_map(|level| member(level, &STANDING_CURSORS));
    let next = next.or_else(|| {
        let (_, value) = standing().filter(|_| signs.flag == Some(true))?;
        Some(NextPage {
            kind: NextKind::Cursor,
            value,
        })
        .filter(|next| is_new(next, arguments, &position))
    });
    Some(OutputFault::MorePages(MorePages {
        items: signs.items.map(|(items, _)| items),
        total,
        next: next::argument(tool, next, &position, signs.items.map(|(items, _)| items)),
    }))
}

/// The content of objects whose only member is an object: `{"data": {"orders": {…}}}`.
fn unwrapped<'v, 'a>(mut value: &'v Value<'a>) -> &'v Value<'a> {
    // GraphQL queries have two or three layers.
    for _ in 0..3 {
        match value.as_object() {
            Some([(_, inner @ Value::Object(_))]) => value = inner,
            _ => break,
        }
    }
    value
}

/// The page itself, and its description of itself one level down.
fn levels<'v, 'a>(page: &'v Value<'a>) -> impl Iterator<Item = &'v Value<'a>> {
    let members = page.as_object().unwrap_or_default().iter();
    let inner = members
        .filter(|(key, value)| is_one_of(key, ABOUT_PAGES) && value.as_object().is_some())
        .map(|(_, value)| value);
    std::iter::once(page).chain(inner)
}

/// What a result says about more pages.
#[derive(Debug, Clone, Copy)]
struct Signs<'v, 'a> {
    /// What its flags say: true if any of them does.
    flag: Option<bool>,
    /// What to request the next page with.
    next: Option<NextPage<'v, 'a>>,
    /// A next page is mentioned as absent.
    ends: bool,
    /// How many items its list has, and whether it is certain that this is the list.
    items: Option<(usize, bool)>,
}

#[derive(Debug, Clone, Copy)]
struct NextPage<'v, 'a> {
    kind: NextKind,
    value: &'v Value<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextKind {
    Cursor,
    Page,
    Offset,
    Link,
}

impl<'v, 'a> Signs<'v, 'a> {
    fn of(page: &'v Value<'a>) -> Self {
        let mut signs = Signs {
            flag: None,
            next: None,
            ends: false,
            items: items(page),
        };
        for level in levels(page) {
            let is_root = std::ptr::eq(level, page);
            for (key, value) in level.as_object().unwrap_or_default() {
                signs.note_flag(key, value);
                let Some(kind) = next_kind(key, value, is_root, signs.items.is_some()) else {
                    continue;
                };
                let value = value.get("href").unwrap_or(value);
                if is_something(value) {
                    signs.next = signs.next.or(Some(NextPage { kind, value }));
                } else {
                    signs.ends = true;
                }
            }
        }
        signs
    }

    fn note_flag(&mut self, key: &str, value: &Value<'_>) {
        let Value::Bool(yes) = *value else { return };
        let says = if is_one_of(key, MORE) || (is(key, "more") && self.items.is_some()) {
            yes
        } else if is_one_of(key, &LAST) {
            !yes
        } else if is(key, "truncated") && yes && self.items.is_some() {
            true
        } else {
            return;
        };
        self.flag = Some(self.flag.unwrap_or(false) || says);
    }
}

/// The kind of next page that a member refers to. A bare `next` may be the next step or the next link of a chain.
fn next_kind(key: &str, value: &Value<'_>, is_root: bool, has_list: bool) -> Option<NextKind> {
    let is_link =
        matches!(value, Value::String(text) if is_address(text)) || value.get("href").is_some();
    match key {
        key if is_one_of(key, CURSORS) => Some(NextKind::Cursor),
        key if is_one_of(key, &NEXT_PAGES) && is_link => Some(NextKind::Link),
        key if is_one_of(key, &NEXT_PAGES) => Some(NextKind::Page),
        key if is_one_of(key, &NEXT_OFFSETS) => Some(NextKind::Offset),
        key if is_one_of(key, NEXT_LINKS) => Some(NextKind::Link),
        key if is(key, "next") => match value {
            _ if is_link => Some(NextKind::Link),
            Value::Null | Value::Number(_) | Value::Bool(false) if has_list || !is_root => {
                Some(NextKind::Page)
            }
            Value::String(_) if !is_root => Some(NextKind::Cursor),
            _ => None,
        },
        _ => None,
    }
}

fn is_address(text: &str) -> bool {
    text.starts_with("https://")
        || text.starts_with("http://")
        || text.starts_with('/')
        || text.starts_with('?')
}

/// Whether a cursor, a page or a link is present. Zero and less mean that there is none.
fn is_something(value: &Value<'_>) -> bool {
    match value {
        Value::String(text) => {
            !["", "0", "-1", "null", "none", "None", "false"].contains(&text.trim())
        }
        Value::Number(number) => number.as_f64() > 0.0,
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Bool(yes) => *yes,
        Value::Null => false,
    }
}

/// Whether this leads to another page, that is, differs from the call's own arguments.
fn is_new(next: &NextPage<'_, '_>, arguments: &Value<'_>, position: &PagePosition<'_>) -> bool {
    let sent = arguments.as_object().unwrap_or_default();
    let page = next.value.as_number().and_then(crate::json::Number::as_u64);
    let goes_back = match (next.kind, page, position.page) {
        (NextKind::Page, Some(next), Some(now)) => next <= now,
        _ => false,
    };
    !goes_back
        && !sent
            .iter()
            .any(|(name, value)| position::kind(name).is_some() && value == next.value)
}

/// How many items the list of a page has, and whether it is certain that this is the list: by its name, or because it is the
/// only one with records.
fn items(page: &Value<'_>) -> Option<(usize, bool)> {
    if let Some(found) = list_in(page) {
        return Some(found);
    }
    let members = page.as_object()?.iter();
    let mut inner =
        members.filter(|(key, value)| value.as_object().is_some() && !is_one_of(key, ABOUT_PAGES));
    match (inner.next(), inner.next()) {
        (Some((_, only)), None) => list_in(only),
        _ => None,
    }
}

fn list_in(object: &Value<'_>) -> Option<(usize, bool)> {
    let lists = || {
        let members = object.as_object().unwrap_or_default().iter();
        members.filter_map(|(key, value)| Some((key.as_ref(), value.as_array()?)))
    };
    if let Some((_, items)) = lists().find(|(key, _)| is_one_of(key, LISTS)) {
        return Some((items.len(), true));
    }
    let mut all = lists();
    match (all.next(), all.next()) {
        (Some((_, items)), None) => {
            let is_record = |item: &Value<'_>| matches!(item, Value::Object(_) | Value::Array(_));
            Some((items.len(), items.iter().all(is_record)))
        }
        _ => None,
    }
}

/// Whether a page contains a total. Most results do not, and cost no more than this question.
fn is_counted(page: &Value<'_>) -> bool {
    let names = [TOTALS, &LOOSE_TOTALS, &TOTAL_PAGES];
    levels(page).any(|level| names.iter().any(|names| member(level, names).is_some()))
}

/// The total, if it exceeds what has been returned so far.
fn total(
    page: &Value<'_>,
    items: Option<(usize, bool)>,
    position: &PagePosition<'_>,
) -> Option<u64> {
    let (items, is_list) = items?;
    let items = u64::try_from(items)
        .ok()
        .filter(|items| *items > 0 && is_list)?;
    let has_money = || member(page, MONEY).is_some();
    let found = levels(page).find_map(|level| {
        let is_inner = !std::ptr::eq(level, page);
        let sure = member(level, TOTALS);
        let loose = || {
            let evident = is_inner || position.is_paged;
            member(level, &LOOSE_TOTALS).filter(|_| evident && !has_money())
        };
        let (_, value) = sure.or_else(loose)?;
        value.as_number()?.as_u64()
    })?;
    let before = position.before?;
    (found > before.saturating_add(items)).then_some(found)
}

/// Whether the page says that it is not the last of a number of pages.
fn pages_left(page: &Value<'_>, position: &PagePosition<'_>) -> bool {
    let pages = levels(page).find_map(|level| {
        let (_, value) = member(level, &TOTAL_PAGES)?;
        value.as_number()?.as_u64()
    });
    let number = position.page.or(match position.before {
        Some(0) => Some(position.first),
        _ => None,
    });
    match (pages, number) {
        (Some(pages), Some(number)) => number + 1 < pages + position.first,
        _ => false,
    }
}
