//! Parses a client's configuration into a tree with the position of every member, and knows the keys that clients
//! use.
//!
//! Takes a text; returns the members that name servers, and how each of them is reached. Makes no decisions about a
//! server: [`read`](super::read) builds its entry, [`guard`](super::guard) edits it.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::ConfigFault;

/// The keys under which clients keep servers: most of them, VS Code, Zed.
pub(super) const KEYS: [&str; 3] = ["mcpServers", "servers", "context_servers"];

/// Windsurf and Gemini have their own keys for it.
const URL_KEYS: [&str; 3] = ["url", "serverUrl", "httpUrl"];

/// Parses JSON with comments and trailing commas, as editors allow in their settings, and nothing else. `None` if the
/// text contains no value.
pub(super) fn parse(text: &str) -> Result<Option<Object<'_>>, ConfigFault> {
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::Off,
        tokens: false,
    };
    let liberties = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_loose_object_property_names: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(text, &collect, &liberties)
        .map_err(ConfigFault::NotJson)?
        .value
    {
        None => Ok(None),
        Some(Value::Object(file)) => Ok(Some(file)),
        Some(_) => Err(ConfigFault::NotAnObject),
    }
}

/// A member by its name. If there are two with the same name, clients use the last.
pub(super) fn named<'f, 'a>(object: &'f Object<'a>, key: &str) -> Option<&'f ObjectProp<'a>> {
    let mut members = object.properties.iter().rev();
    members.find(|member| member.name.as_str() == key)
}

/// A member with a value: a null counts as absent.
pub(super) fn member<'f, 'a>(object: &'f Object<'a>, key: &str) -> Option<&'f ObjectProp<'a>> {
    named(object, key).filter(|member| !matches!(member.value, Value::NullKeyword(_)))
}

/// How a server is reached, according to its entry.
pub(super) enum Reached<'f, 'a> {
    ByCommand(Launch<'f, 'a>),
    ByUrl(&'f ObjectProp<'a>),
    /// By both, so it is unclear which one counts.
    Both,
    Neither,
}

/// How a server is started.
pub(super) struct Launch<'f, 'a> {
    /// The object with the program, `args` and `env`: the entry, or an object `command` in it, as in older Zed
    /// versions.
    pub(super) object: &'f Object<'a>,
    /// The path from the entry to that object.
    pub(super) place: &'static str,
    /// The member with the program; `None` if an object `command` has no `path`.
    pub(super) program: Option<&'f ObjectProp<'a>>,
}

impl<'f, 'a> Reached<'f, 'a> {
    pub(super) fn of(entry: &'f Object<'a>) -> Self {
        let url = URL_KEYS.into_iter().find_map(|key| member(entry, key));
        match (member(entry, "command"), url) {
            (Some(command), None) => Reached::ByCommand(match &command.value {
                Value::Object(object) => Launch {
                    object,
                    place: ".command",
                    program: member(object, "path"),
                },
                _ => Launch {
                    object: entry,
                    place: "",
                    program: Some(command),
                },
            }),
            (None, Some(url)) => Reached::ByUrl(url),
            (Some(_), Some(_)) => Reached::Both,
            (None, None) => Reached::Neither,
        }
    }
}
