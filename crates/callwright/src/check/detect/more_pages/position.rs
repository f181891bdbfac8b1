//! Which of all pages this is, according to the call's arguments, the result and the tool's schema.

use serde_json::Value as Schema;

use super::super::names::{is_one_of, member};
use super::levels;
use crate::json::Value;
use crate::tool::Tool;
use crate::vocabulary::word_list;

const CURSOR: &[&str] = word_list![
    cursor nextcursor pagetoken nextpagetoken nexttoken continuationtoken after aftercursor
    startcursor marker nextmarker skiptoken pagecursor startingafter paginationtoken
    paginationcursor
];
const PAGE: &[&str] = word_list![page pagenumber pagenum pageno pageidx pageindex currentpage];
const OFFSET: &[&str] = word_list![offset skip start startat startindex startoffset from];
const SIZE: &[&str] = word_list![
    limit perpage pagesize pagelength size maxresults maxitems maxrecords top first count take
    resultsperpage itemsperpage
];
/// Members of a result that give the length of a page. `count` and `size` may be the number returned.
const SIZE_IN_RESULT: &[&str] = word_list![
    limit perpage pagesize resultsperpage itemsperpage pagelength
];

/// The role of an argument in paging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PagingRole {
    Cursor,
    Page,
    Offset,
    Size,
}

/// The role of an argument in paging, by its name.
pub(super) fn kind(name: &str) -> Option<PagingRole> {
    match name {
        name if is_one_of(name, CURSOR) => Some(PagingRole::Cursor),
        name if is_one_of(name, PAGE) => Some(PagingRole::Page),
        name if is_one_of(name, OFFSET) => Some(PagingRole::Offset),
        name if is_one_of(name, SIZE) => Some(PagingRole::Size),
        _ => None,
    }
}

/// The position of a page.
#[derive(Debug)]
pub(super) struct PagePosition<'t> {
    /// The tool's paging arguments, with their schemas.
    parameters: Vec<(&'t str, PagingRole, &'t Schema)>,
    /// The number of the page, if known.
    pub(super) page: Option<u64>,
    /// The number of the first page: zero or one.
    pub(super) first: u64,
    /// How many items are on the pages before it, if known.
    pub(super) before: Option<u64>,
    /// Whether the tool or the result mentions pages at all.
    pub(super) is_paged: bool,
}

impl<'t> PagePosition<'t> {
    pub(super) fn of(tool: &'t Tool, arguments: &Value<'_>, result: &Value<'_>) -> Self {
        let parameters = parameters(tool);
        let sent = |wanted: PagingRole| {
            let sent = arguments.as_object().unwrap_or_default();
            sent.iter()
                .filter(move |(name, value)| kind(name) == Some(wanted) && *value != Value::Null)
                .map(|(_, value)| value)
        };
        let told = |names: &[&str]| {
            levels(result).find_map(|level| {
                let (_, value) = member(level, names)?;
                whole(value)
            })
        };
        let default = |wanted: PagingRole| {
            parameters
                .iter()
                .filter(|(_, kind, _)| *kind == wanted)
                .find_map(|(_, _, schema)| schema.get("default")?.as_u64())
        };
        // Some APIs count pages from zero, and call it `number`.
        let from_zero = levels(result).find_map(|level| {
            member(level, &["totalpages"])?;
            whole(member(level, &["number"])?.1)
        });
        let page = sent(PagingRole::Page)
            .find_map(whole)
            .or_else(|| told(PAGE))
            .or(from_zero);
        let first =
            u64::from(!(from_zero.is_some() || page == Some(0) || counts_from_zero(&parameters)));
        let size = told(SIZE_IN_RESULT)
            .or_else(|| sent(PagingRole::Size).find_map(whole))
            .or_else(|| default(PagingRole::Size));
        let offset = sent(PagingRole::Offset)
            .find_map(whole)
            .or_else(|| told(&["offset", "skip", "startat", "startindex"]));
        let has_cursor = sent(PagingRole::Cursor).any(|cursor| cursor.as_str() != Some(""));
        let before = match (offset, page) {
            (Some(offset), _) => Some(offset),
            (None, Some(page)) if page <= first => Some(0),
            (None, Some(page)) => size.map(|size| (page - first).saturating_mul(size)),
            (None, None) => (!has_cursor).then_some(0),
        };
        let is_paged = !parameters.is_empty()
            || page.is_some()
            || offset.is_some()
            || told(SIZE_IN_RESULT).is_some();
        PagePosition {
            parameters,
            page,
            first,
            before,
            is_paged,
        }
    }
}

impl<'t> PagePosition<'t> {
    /// The arguments with this role, with their schemas.
    pub(super) fn all(&self, wanted: PagingRole) -> impl Iterator<Item = (&'t str, &'t Schema)> {
        let all = self.parameters.iter();
        all.filter(move |(_, kind, _)| *kind == wanted)
            .map(|(name, _, schema)| (*name, *schema))
    }

    /// The first argument with this role, with its schema.
    pub(super) fn parameter(&self, wanted: PagingRole) -> Option<(&'t str, &'t Schema)> {
        self.all(wanted).next()
    }
}

/// The paging arguments of a tool.
fn parameters(tool: &Tool) -> Vec<(&str, PagingRole, &Schema)> {
    let schema = tool.spec().input_schema.as_deref();
    let properties = schema
        .and_then(|schema| schema.get("properties"))
        .and_then(Schema::as_object);
    properties
        .into_iter()
        .flatten()
        .filter_map(|(name, schema)| Some((name.as_str(), kind(name)?, schema)))
        // `start` and `from` may also be dates and places, and `after` a date.
        .filter(|(_, kind, schema)| match kind {
            PagingRole::Offset => takes(schema, "integer") || takes(schema, "number"),
            PagingRole::Cursor => schema.get("format").is_none(),
            PagingRole::Page | PagingRole::Size => true,
        })
        .collect()
}

/// Whether a schema allows a type.
pub(super) fn takes(schema: &Schema, wanted: &str) -> bool {
    let is_it = |kind: &Schema| kind.as_str() == Some(wanted);
    match schema.get("type") {
        Some(Schema::Array(kinds)) => kinds.iter().any(is_it),
        Some(kind) => is_it(kind),
        None => {
            let branches = ["anyOf", "oneOf"]
                .iter()
                .filter_map(|key| schema.get(key)?.as_array());
            branches.flatten().any(|branch| takes(branch, wanted))
        }
    }
}

fn counts_from_zero(parameters: &[(&str, PagingRole, &Schema)]) -> bool {
    let mut pages = parameters
        .iter()
        .filter(|(_, kind, _)| *kind == PagingRole::Page);
    pages.any(|(_, _, schema)| {
        let is_zero = |key: &str| schema.get(key).and_then(Schema::as_u64) == Some(0);
        let description = schema.get("description").and_then(Schema::as_str);
        let says_so = description.is_some_and(|description| {
            let description = description.to_lowercase();
            let signs = [
                "0-based",
                "zero-based",
                "0-indexed",
                "zero-indexed",
                "from 0",
                "at 0",
            ];
            signs.iter().any(|sign| description.contains(sign))
        });
        is_zero("minimum") || is_zero("default") || says_so
    })
}

/// A count: a whole number, or a text that is one.
pub(super) fn whole(value: &Value<'_>) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}
