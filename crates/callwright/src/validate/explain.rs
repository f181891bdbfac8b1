//! Faults → issues: what the engine objects to, in terms of what came and what was meant.
//!
//! Unions are reduced to the branch that was meant, a missing key that arrived under a similar name
//! becomes one issue instead of two, values that must not be shown are hidden, and the most useful
//! comes first. Nothing here decides whether a call is good.

use serde_json::Value as Schema;

use super::describe::{
    alternative, alternatives, count, count_text, format, literal, options, received,
    received_hidden, types,
};
use super::fault::{Bound, Fault, FaultKind};
use super::issue::{BranchChoice, Issue, IssueCode};
use super::rename::Renames;
use super::schema::CompiledSchema;
use super::union::{Meant, meant};
use crate::json::{Path, Value};
use crate::nearest::single_nearest;
use crate::text::{list, quoted};

/// How deep unions inside unions are followed. Real schemas have two or three levels; a recursive
/// one could have as many as its value.
const UNION_DEPTH: usize = 16;

/// Turns all objections into issues, the most useful first.
pub(crate) fn issues(
    schema: &CompiledSchema,
    arguments: &Value<'_>,
    faults: Vec<Fault>,
) -> Vec<Issue> {
    let mut explainer = Explainer {
        schema,
        arguments,
        found: Vec::new(),
    };
    for fault in faults {
        explainer.explain(fault, None, UNION_DEPTH);
    }
    let mut found = explainer.found;
    Renames::find(schema, arguments, &found).apply(&mut found);
    name_received_keys(schema, arguments, &mut found);
    found.sort_by_key(|finding| finding.issue.code);
    // The allowed values say more than their type.
    let listed: Vec<Path> = found
        .iter()
        .filter(|finding| matches!(finding.issue.code, IssueCode::Enum | IssueCode::Const))
        .map(|finding| finding.issue.path.clone())
        .collect();
    found.retain(|Finding { issue, .. }| {
        issue.code != IssueCode::Type || !listed.contains(&issue.path)
    });
    let mut distinct: Vec<Issue> = Vec::with_capacity(found.len());
    for Finding { issue, .. } in found {
        let same = |other: &Issue| {
            other.path == issue.path && other.code == issue.code && other.expected == issue.expected
        };
        if !distinct.iter().any(same) {
            distinct.push(issue);
        }
    }
    distinct
}

/// An issue, and where in the schema it comes from.
pub(crate) struct Finding {
    pub(crate) issue: Issue,
    /// The schema that holds the objecting keyword.
    pub(crate) owner: Path,
}

/// A union that failed: everything about it but its branches.
struct UnionFault {
    at: Path,
    keyword: Path,
    route: Option<Path>,
    came: String,
}

struct Explainer<'x> {
    schema: &'x CompiledSchema,
    arguments: &'x Value<'x>,
    found: Vec<Finding>,
}

impl Explainer<'_> {
    fn explain(&mut self, fault: Fault, branch: Option<&BranchChoice>, unions_left: usize) {
        let owner = parent(&fault.keyword);
        let node = self.schema.node(&owner);
        let here = self.arguments.at(&fault.at);
        let hidden = self.schema.hides(&fault);
        let came = match here {
            Some(value) if hidden => received_hidden(value),
            Some(value) => received(value),
            None => String::new(),
        };
        let (code, expected) = match fault.kind {
            FaultKind::Union(branches) => {
                let union = UnionFault {
                    at: fault.at,
                    keyword: fault.keyword,
                    route: fault.route,
                    came,
                };
                return self.explain_union(union, branches, unions_left);
            }
            FaultKind::Required(key) => {
                let expected = required_type(self.schema, node, &key);
                let at = fault.at.key(&key);
                let (code, came) = match dependency(&fault.keyword) {
                    Some(trigger) => (IssueCode::DependentRequired, trigger),
                    None => (IssueCode::Required, String::new()),
                };
                return self.push(at, code, expected, came, None, branch, owner);
            }
            FaultKind::UnknownKeys(keys) => {
                return self.explain_unknown_keys(&fault.at, &keys, node, branch, &owner);
            }
            FaultKind::Enum(allowed) => {
                let allowed = allowed.as_array().map(Vec::as_slice).unwrap_or_default();
                let meant = here.and_then(|value| near_value(value, allowed));
                let expected = options(allowed);
                return self.push(
                    fault.at,
                    IssueCode::Enum,
                    expected,
                    came,
                    meant,
                    branch,
                    owner,
                );
            }
            FaultKind::Const(wanted) => (IssueCode::Const, literal(&wanted)),
            FaultKind::Type(names) => (IssueCode::Type, types(&names, node)),
            FaultKind::PropertyName { name, inner } => {
                let expected = format!("key that is {}", property_name_rule(inner.kind));
                let came = format!("key {}", quoted(&name, 30));
                let at = fault.at.key(&name);
                let code = IssueCode::PropertyName;
                return self.push(at, code, expected, came, None, branch, owner);
            }
            FaultKind::ExtraItems => (IssueCode::MaxItems, extra_items(node)),
            FaultKind::SeveralBranches => (
                IssueCode::SeveralBranches,
                self.several_branches(&fault.keyword),
            ),
            FaultKind::Not(schema) => (
                IssueCode::Not,
                format!("anything but {}", alternative(&schema)),
            ),
            FaultKind::Never => (IssueCode::NotAllowed, "nothing here".to_owned()),
            FaultKind::Contains => (
                IssueCode::Contains,
                match node.and_then(|node| node.get("contains")) {
                    Some(wanted) => format!("array that contains {}", alternative(wanted)),
                    None => "array that contains a certain item".to_owned(),
                },
            ),
            FaultKind::UniqueItems => (IssueCode::UniqueItems, "unique items".to_owned()),
            FaultKind::Format(name) => (IssueCode::Format, format(&name)),
            FaultKind::Pattern(pattern) => (
                IssueCode::Pattern,
                format!("string matching {}", quoted(&pattern, 40)),
            ),
            FaultKind::MultipleOf(step) => (IssueCode::MultipleOf, format!("a multiple of {step}")),
            FaultKind::Bound(bound, limit) => bound_phrase(bound, &limit),
            FaultKind::Other(keyword) => (
                IssueCode::Other,
                format!("value that satisfies {}", quoted(&keyword, 30)),
            ),
        };
        self.push(fault.at, code, expected, came, None, branch, owner);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the fields of a finding, in order"
    )]
    fn push(
        &mut self,
        path: Path,
        code: IssueCode,
        expected: String,
        received: String,
        suggestion: Option<String>,
        branch: Option<&BranchChoice>,
        owner: Path,
    ) {
        self.found.push(Finding {
            issue: Issue {
                path,
                code,
                expected,
                received,
                suggestion,
                branch: branch.cloned(),
            },
            owner,
        });
    }

    fn explain_union(&mut self, union: UnionFault, branches: Vec<Vec<Fault>>, unions_left: usize) {
        let schemas = self.branch_schemas(&union.keyword, branches.len());
        let outcome = if unions_left == 0 {
            Meant::NoneNear
        } else {
            meant(&union.at, branches, &schemas, self.arguments.at(&union.at))
        };
        match outcome {
            Meant::Branch {
                index,
                faults,
                reason,
            } => {
                let choice = BranchChoice {
                    union: union.keyword,
                    index,
                    reason,
                };
                for fault in faults {
                    self.explain(fault, Some(&choice), unions_left - 1);
                }
            }
            Meant::Merged(kind, at) => {
                let UnionFault { keyword, route, .. } = union;
                let fault = Fault {
                    at,
                    keyword,
                    route,
                    kind,
                };
                self.explain(fault, None, unions_left - 1);
            }
            Meant::NoneNear => {
                let phrases: Vec<String> = schemas
                    .iter()
                    .map(|schema| schema.map_or_else(|| "another form".to_owned(), alternative))
                    .collect();
                let (expected, owner) = (alternatives(&phrases), parent(&union.keyword));
                self.push(
                    union.at,
                    IssueCode::Union,
                    expected,
                    union.came,
                    None,
                    None,
                    owner,
                );
            }
        }
    }

    fn branch_schemas(&self, keyword: &Path, total: usize) -> Vec<Option<&Schema>> {
        (0..total)
            .map(|index| self.schema.node(&keyword.index(index)))
            .collect()
    }

    fn explain_unknown_keys(
        &mut self,
        at: &Path,
        keys: &[String],
        node: Option<&Schema>,
        branch: Option<&BranchChoice>,
        owner: &Path,
    ) {
        let known = property_names(node);
        let present = |name: &str| self.arguments.at(&at.key(name)).is_some();
        let free: Vec<&str> = known
            .iter()
            .copied()
            .filter(|name| !present(name))
            .collect();
        let expected = match known.as_slice() {
            [] => "no further keys".to_owned(),
            names => format!("one of {}", list(names, 48)),
        };
        let findings: Vec<_> = keys
            .iter()
            .map(|key| {
                let near = single_nearest(key, free.iter().copied()).map(str::to_owned);
                (at.key(key), format!("key {}", quoted(key, 30)), near)
            })
            .collect();
        for (path, came, near) in findings {
            self.push(
                path,
                IssueCode::UnknownKey,
                expected.clone(),
                came,
                near,
                branch,
                owner.clone(),
            );
        }
    }

    fn several_branches(&self, keyword: &Path) -> String {
        let branches = self
            .schema
            .node(keyword)
            .and_then(Schema::as_array)
            .map_or(0, Vec::len);
        let phrases: Vec<String> = self
            .branch_schemas(keyword, branches)
            .into_iter()
            .flatten()
            .map(alternative)
            .collect();
        format!("exactly one of {}", alternatives(&phrases))
    }
}

/// The place around a place: of a keyword the schema that holds it, of a member its object.
pub(crate) fn parent(path: &Path) -> Path {
    match path.as_pointer().rsplit_once('/') {
        Some((parent, _)) => Path::from_pointer(parent),
        None => Path::root(),
    }
}

/// The keys that an object schema lists.
pub(crate) fn property_names(node: Option<&Schema>) -> Vec<&str> {
    node.and_then(|node| node.get("properties")?.as_object())
        .map(|properties| properties.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

fn required_type(schema: &CompiledSchema, node: Option<&Schema>, key: &str) -> String {
    node.and_then(|node| node.get("properties")?.get(key))
        .map_or_else(
            || "a value".to_owned(),
            |property| alternative(schema.follow(property)),
        )
}

/// `key "a" is given` for a key that is only required because another one is there.
fn dependency(keyword: &Path) -> Option<String> {
    let segments: Vec<_> = keyword.segments().collect();
    let at = segments
        .iter()
        .rposition(|segment| matches!(segment.as_ref(), "dependentRequired" | "dependencies"))?;
    let trigger = segments.get(at + 1)?;
    Some(format!("key {}", quoted(trigger, 30)))
}

/// The allowed value that a received one is nearest to.
fn near_value(value: &Value<'_>, allowed: &[Schema]) -> Option<String> {
    let text = value.as_str()?;
    let names = allowed.iter().filter_map(Schema::as_str);
    single_nearest(text, names).map(str::to_owned)
}

fn property_name_rule(kind: FaultKind) -> String {
    match kind {
        FaultKind::Pattern(pattern) => format!("a match for {}", quoted(&pattern, 30)),
        FaultKind::Enum(allowed) => {
            options(allowed.as_array().map(Vec::as_slice).unwrap_or_default())
        }
        FaultKind::Const(wanted) => literal(&wanted),
        FaultKind::Format(name) => format(&name),
        FaultKind::Bound(bound, limit) => bound_phrase(bound, &limit).1,
        _ => "allowed by the schema".to_owned(),
    }
}

fn extra_items(node: Option<&Schema>) -> String {
    let prefix = node.and_then(|node| {
        let items = node.get("prefixItems").or_else(|| node.get("items"))?;
        items.as_array().map(Vec::len)
    });
    match prefix {
        Some(limit) => format!("at most {}", count(limit, "item")),
        None => "no further items".to_owned(),
    }
}

fn bound_phrase(bound: Bound, limit: &str) -> (IssueCode, String) {
    use IssueCode as Code;
    match bound {
        Bound::Minimum => (Code::Minimum, format!("at least {limit}")),
        Bound::Maximum => (Code::Maximum, format!("at most {limit}")),
        Bound::ExclusiveMinimum => (Code::Minimum, format!("more than {limit}")),
        Bound::ExclusiveMaximum => (Code::Maximum, format!("less than {limit}")),
        Bound::MinLength => (
            Code::MinLength,
            format!("at least {}", count_text(limit, "character")),
        ),
        Bound::MaxLength => (
            Code::MaxLength,
            format!("at most {}", count_text(limit, "character")),
        ),
        Bound::MinItems => (
            Code::MinItems,
            format!("at least {}", count_text(limit, "item")),
        ),
        Bound::MaxItems => (
            Code::MaxItems,
            format!("at most {}", count_text(limit, "item")),
        ),
        Bound::MinProperties => (
            Code::MinProperties,
            format!("at least {}", count_text(limit, "key")),
        ),
        Bound::MaxProperties => (
            Code::MaxProperties,
            format!("at most {}", count_text(limit, "key")),
        ),
    }
}

/// Where none of an object's required keys came, the keys that did are named, once: the model has
/// taken the tool for another one.
fn name_received_keys(schema: &CompiledSchema, arguments: &Value<'_>, found: &mut [Finding]) {
    let mut named: Vec<Path> = Vec::new();
    for at in 0..found.len() {
        let Finding { issue, owner } = &found[at];
        let place = parent(&issue.path);
        if issue.code != IssueCode::Required || named.contains(&place) {
            continue;
        }
        let renamed = found.iter().any(|other| {
            other.issue.code == IssueCode::Required
                && other.issue.suggestion.is_some()
                && parent(&other.issue.path) == place
        });
        let members = arguments
            .at(&place)
            .and_then(Value::as_object)
            .unwrap_or_default();
        let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_ref()).collect();
        let required = schema
            .node(owner)
            .and_then(|node| node.get("required")?.as_array())
            .map(Vec::as_slice)
            .unwrap_or_default();
        let none_came = !required
            .iter()
            .filter_map(Schema::as_str)
            .any(|key| keys.contains(&key));
        if none_came && !renamed && !keys.is_empty() {
            found[at].issue.received = format!("keys {}", list(&keys, 40));
        }
        named.push(place);
    }
}
