//! What a schema costs to compile and to evaluate, counted before the engine gets it.
//!
//! Takes a schema; returns about how many bytes its compiled form takes, or why it is not compiled. A schema of a few kilobytes
//! can cost any amount: references that double at each level, and patterns with counted repetitions.

use ahash::AHashMap;
use serde_json::Value as Schema;

/// How often a schema may make the engine visit one value. Real schemas reach a few hundred, and large unions of objects a few
/// thousand; this many take a millisecond.
const MOST_LOOKS: usize = 100_000;

/// How many references a schema may have. The engine recurses along them, and tens of thousands in a chain overflow its stack;
/// the largest real schemas have a few hundred.
const MOST_REFERENCES: usize = 3_000;

/// How many of these may be something other than a pointer into the schema if the engine follows all of them for each object
/// that must not have further members. We do not follow such references.
const MOST_ODD_REFERENCES: usize = 8;

/// The longest schema that is compiled, in bytes of text. The largest of 14,000 public tool schemas has a few hundred
/// kilobytes; compiling tens of megabytes takes minutes and gigabytes.
const LARGEST_SCHEMA: usize = 4 * 1024 * 1024;

/// What a byte of text takes when compiled: measured on large enums (32) and on lists of small properties (28).
const PER_BYTE: usize = 32;

/// What each part that `unevaluatedProperties` or `unevaluatedItems` has to track takes, in bytes: measured.
const PER_UNEVALUATED: usize = 2_700;

/// What compiling a schema takes, and the part that exceeds what any text of its length takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Total memory, in bytes, approximately.
    pub(crate) bytes: usize,
    /// The share that is not proportional to the text: patterns, and parts that are tracked repeatedly.
    pub(crate) extra: usize,
}

impl Cost {
    /// The cost of a schema.
    ///
    /// # Errors
    /// Returns why it exceeds any budget, as a sentence for the operator.
    pub(crate) fn of(schema: &Schema) -> Result<Cost, String> {
        if !matches!(schema, Schema::Object(_) | Schema::Bool(_)) {
            return Err("a schema is an object, or `true` to accept anything".to_owned());
        }
        let size = text_size(schema);
        if size > LARGEST_SCHEMA {
            return Err(format!(
                "the schema has about {} MB, more than the limit of {} MB",
                size / 1_000_000,
                LARGEST_SCHEMA / 1_000_000,
            ));
        }
        if count_references(schema) > MOST_REFERENCES {
            return Err(format!(
                "the schema has more than {MOST_REFERENCES} references"
            ));
        }
        let mut counter = VisitCounter {
            root: schema,
            looks: AHashMap::new(),
            most: 0,
            extra: 0,
            odd_references: 0,
            has_unevaluated: false,
        };
        counter.looks(schema);
        if counter.most > MOST_LOOKS {
            return Err(format!(
                "the schema visits one value more than {MOST_LOOKS} times: its references multiply"
            ));
        }
        if counter.has_unevaluated && counter.odd_references > MOST_ODD_REFERENCES {
            return Err(format!(
                "the schema has more than {MOST_ODD_REFERENCES} references by name next to `unevaluatedProperties` or `unevaluatedItems`"
            ));
        }
        Ok(Cost {
            bytes: size.saturating_mul(PER_BYTE).saturating_add(counter.extra),
            extra: counter.extra,
        })
    }
}

struct VisitCounter<'s> {
    root: &'s Schema,
    /// The count for each part, by its address; `None` while it is being counted.
    looks: AHashMap<usize, Option<usize>>,
    /// The highest count of any part.
    most: usize,
    extra: usize,
    odd_references: usize,
    has_unevaluated: bool,
}

impl<'s> VisitCounter<'s> {
    /// How often a part makes the engine visit the value that it applies to: the sum over all paths through the parts that
    /// apply to the same value. (How often a nested value is visited depends on the call, and is counted there.)
    fn looks(&mut self, node: &'s Schema) -> usize {
        let Schema::Object(members) = node else {
            return 1;
        };
        let address = std::ptr::from_ref(node).addr();
        match self.looks.get(&address) {
            Some(Some(known)) => return *known,
            // A part that refers to itself: the engine remembers what it has visited.
            Some(None) => return 1,
            None => self.looks.insert(address, None),
        };
        let mut looks = 1_usize;
        let mut is_closed = false;
        for (keyword, member) in members {
            let more = match (keyword.as_str(), member) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Schema::String(reference)) => {
                    let pointer = reference.strip_prefix('#');
                    if let Some(target) = pointer.and_then(|it| self.root.pointer(it)) {
                        self.looks(target)
                    } else {
                        self.odd_references += 1;
                        1
                    }
                }
                ("allOf" | "anyOf" | "oneOf", Schema::Array(parts)) => self.sum(parts),
                ("if" | "then" | "else" | "not", part) => self.looks(part),
                ("dependentSchemas" | "dependencies", Schema::Object(parts)) => {
                    self.sum(parts.values())
                }
                ("properties", Schema::Object(parts)) => {
                    self.sum(parts.values());
                    0
                }
                ("patternProperties", Schema::Object(parts)) => {
                    let patterns = parts.keys().map(|pattern| pattern_size(pattern));
                    self.extra = patterns.fold(self.extra, usize::saturating_add);
                    self.sum(parts.values());
                    0
                }
                ("pattern", Schema::String(pattern)) => {
                    self.extra = self.extra.saturating_add(pattern_size(pattern));
                    0
                }
                ("prefixItems" | "items", Schema::Array(parts)) => {
                    self.sum(parts);
                    0
                }
                (
                    "items"
                    | "additionalItems"
                    | "additionalProperties"
                    | "contains"
                    | "propertyNames"
                    | "unevaluatedItems"
                    | "unevaluatedProperties",
                    part,
                ) => {
                    is_closed |= keyword.starts_with("unevaluated");
                    self.looks(part);
                    0
                }
                _ => 0,
            };
            looks = looks.saturating_add(more);
        }
        if is_closed {
            self.has_unevaluated = true;
            self.extra = self
                .extra
                .saturating_add(looks.saturating_mul(PER_UNEVALUATED));
        }
        self.most = self.most.max(looks);
        self.looks.insert(address, Some(looks));
        looks
    }

    fn sum(&mut self, parts: impl IntoIterator<Item = &'s Schema>) -> usize {
        let looks = parts.into_iter().map(|part| self.looks(part));
        looks.fold(0, usize::saturating_add)
    }
}

/// The compiled size, in bytes, of the smallest pattern; of one more ASCII character or class; of a class with characters of
/// all languages; and of a class by a property such as `\p{L}`. Measured.
const SMALLEST_PATTERN: usize = 8_000;
const NARROW: usize = 130;
const WIDE: usize = 1_300;
const WIDEST: usize = 40_000;

/// The compiled size of a pattern, in bytes: its parts, multiplied by counted repetitions.
fn pattern_size(pattern: &str) -> usize {
    // The sizes of the enclosing groups so far.
    let mut outer: Vec<usize> = Vec::new();
    let (mut sum, mut last) = (SMALLEST_PATTERN, 0_usize);
    let mut rest = pattern.chars();
    while let Some(sign) = rest.next() {
        let next = match sign {
            '(' => {
                outer.push(sum.saturating_add(last));
                (sum, last) = (0, 0);
                continue;
            }
            ')' => {
                last = sum.saturating_add(last);
                sum = outer.pop().unwrap_or(0);
                continue;
            }
            '{' => match repetitions(rest.as_str()) {
                Some((times, after)) => {
                    last = last.saturating_mul(times);
                    rest = after.chars();
                    continue;
                }
                None => NARROW,
            },
            '[' => class_size(&mut rest),
            '\\' => escape_size(&mut rest),
            '.' => WIDE,
            _ => NARROW,
        };
        sum = sum.saturating_add(last);
        last = next;
    }
    let open = outer.into_iter().fold(0, usize::saturating_add);
    sum.saturating_add(last).saturating_add(open)
}

/// The maximum number of repetitions in a brace, and what follows the closing brace.
fn repetitions(text: &str) -> Option<(usize, &str)> {
    let (counts, after) = text.split_once('}')?;
    let is_count = |byte: u8| byte.is_ascii_digit() || byte == b',';
    let most = counts.split(',').filter(|count| !count.is_empty());
    let most = most
        .map(|count| count.parse().unwrap_or(usize::MAX))
        .max()?;
    let is_counted = counts.bytes().all(is_count);
    is_counted.then_some((most.max(1), after))
}

/// Reads a class in brackets to its end.
fn class_size(rest: &mut std::str::Chars<'_>) -> usize {
    let is_negated = rest.as_str().starts_with('^');
    let mut size = if is_negated { WIDE } else { NARROW };
    while let Some(sign) = rest.next() {
        match sign {
            ']' => break,
            '\\' => size = size.max(escape_size(rest)),
            sign if !sign.is_ascii() => size = size.max(WIDE),
            _ => {}
        }
    }
    size
}

/// Reads what follows a backslash, including the braces of `\p{L}` and `\u{1F980}`.
fn escape_size(rest: &mut std::str::Chars<'_>) -> usize {
    let escaped = rest.next();
    if let Some('p' | 'P' | 'u' | 'x') = escaped
        && let Some((_, after)) = rest.as_str().split_once('}')
        && rest.as_str().starts_with('{')
    {
        *rest = after.chars();
    }
    match escaped {
        Some('p' | 'P') => WIDEST,
        Some('S' | 'W' | 'D') => WIDE,
        _ => NARROW,
    }
}

fn count_references(node: &Schema) -> usize {
    let below = super::schema::children(node);
    let below = below.map(|(key, member)| usize::from(key == "$ref") + count_references(member));
    below.sum()
}

/// The approximate length of the schema's text, in bytes.
pub(crate) fn text_size(schema: &Schema) -> usize {
    match schema {
        Schema::String(text) => text.len() + 2,
        Schema::Array(items) => 2 + items.iter().map(|item| text_size(item) + 1).sum::<usize>(),
        Schema::Object(members) => {
            2 + members
                .iter()
                .map(|(key, member)| key.len() + 4 + text_size(member))
                .sum::<usize>()
        }
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn extra(schema: &Schema) -> usize {
        Cost::of(schema).expect("not too much").extra
    }

    #[test]
    fn repetitions_multiply() {
        let cost = |pattern: &str| extra(&json!({"pattern": pattern}));
        assert!(cost("^[a-z0-9-]{1,64}$") < 20_000);
        assert!(cost("^(?:(?:.{99}){99})$") > 10_000_000);
        assert!(cost("((((a{9}){9}){9}){9}){9}") > 7_000_000);
        assert!(cost(r"\p{L}{100}") > 3_000_000);
        assert_eq!(cost("(((("), SMALLEST_PATTERN);
        assert_eq!(cost("a{99999999999999999999999}b"), usize::MAX);
        assert!(cost("a{b(.{99}){99}") > 9_000_000);
        assert!(cost("[\\]{9}]{2}") < 2 * NARROW + SMALLEST_PATTERN + 1);
    }

    #[test]
    fn a_schema_that_doubles_is_rejected() {
        let chain = |levels: usize, keyword: &str| {
            let mut defs = serde_json::Map::new();
            for level in 0..levels {
                let next = json!({"$ref": format!("#/$defs/{}", level + 1)});
                defs.insert(level.to_string(), json!({keyword: [next, next]}));
            }
            defs.insert(levels.to_string(), json!({"type": "object"}));
            json!({"$ref": "#/$defs/0", "$defs": defs})
        };
        for keyword in ["allOf", "anyOf", "oneOf"] {
            assert!(Cost::of(&chain(10, keyword)).is_ok());
            assert!(Cost::of(&chain(60, keyword)).is_err());
        }
    }

    #[test]
    fn a_tree_that_refers_to_itself_costs_little() {
        let tree = json!({"$ref": "#/$defs/node", "$defs": {"node": {
            "properties": {"left": {"$ref": "#/$defs/node"}, "right": {"$ref": "#/$defs/node"}},
        }}});
        assert_eq!(extra(&tree), 0);
    }
}
