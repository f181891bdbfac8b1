//! The syntax tree of an expression → the tree that is evaluated.
//!
//! Reports every mistake that can be found before evaluation: unknown names and functions, invalid patterns, a result that is
//! never true or false. Compiles patterns, and adds counters to lists that are iterated over. Never changes the meaning of an
//! expression.

use std::mem::discriminant;
use std::ops::Range;
use std::sync::Arc;

use cel::IdedExpr;
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedEntryExpr, LiteralValue, SourceInfo,
    operators,
};
use cel::common::types::CelInt;
use regex::Regex;

use super::{COMPARED, COPIED, COUNTED, Expression, MATCHES, Mistake, SEARCHED};
use crate::nearest::nearest;
use crate::text::snippet;
use crate::vocabulary::word_list;

/// How deep a tree may be. Each level takes a few kilobytes of the caller's stack during evaluation.
const DEEPEST: usize = 48;

/// How much of a name is shown.
const SHOWN: usize = 40;

/// The variables of an expression.
const VARIABLES: [&str; 2] = ["arguments", "output"];

/// The types that `type(…)` can be compared with.
const TYPES: &[&str] = word_list![
    bool int uint double string bytes list map null_type type optional_type
];

/// How a function is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallForm {
    /// As a function, with this many arguments.
    Function(usize),
    /// As a method of a value, with this many arguments.
    Method(usize),
    /// The parser expands it, if it is written correctly.
    Macro,
}

/// Functions: name, form, usage.
const FUNCTIONS: [(&str, CallForm, &str); 26] = [
    ("size", CallForm::Function(1), "size(list)"),
    ("int", CallForm::Function(1), "int(value)"),
    ("uint", CallForm::Function(1), "uint(value)"),
    ("double", CallForm::Function(1), "double(value)"),
    ("string", CallForm::Function(1), "string(value)"),
    ("bool", CallForm::Function(1), "bool(value)"),
    ("bytes", CallForm::Function(1), "bytes(text)"),
    ("type", CallForm::Function(1), "type(value)"),
    ("dyn", CallForm::Function(1), "dyn(value)"),
    ("size", CallForm::Method(0), "list.size()"),
    ("contains", CallForm::Method(1), "text.contains(\"part\")"),
    (
        "startsWith",
        CallForm::Method(1),
        "text.startsWith(\"part\")",
    ),
    ("endsWith", CallForm::Method(1), "text.endsWith(\"part\")"),
    ("matches", CallForm::Method(1), "text.matches(\"pattern\")"),
    ("hasValue", CallForm::Method(0), "output.?field.hasValue()"),
    ("value", CallForm::Method(0), "output.?field.value()"),
    ("orValue", CallForm::Method(1), "output.?field.orValue(0)"),
    ("or", CallForm::Method(1), "output.?field.or(output.?other)"),
    ("has", CallForm::Macro, "has(output.field)"),
    ("all", CallForm::Macro, "list.all(item, item > 0)"),
    ("exists", CallForm::Macro, "list.exists(item, item > 0)"),
    (
        "exists_one",
        CallForm::Macro,
        "list.exists_one(item, item > 0)",
    ),
    ("filter", CallForm::Macro, "list.filter(item, item > 0)"),
    ("map", CallForm::Macro, "list.map(item, item.id)"),
    (
        "optMap",
        CallForm::Macro,
        "output.?field.optMap(value, value + 1)",
    ),
    (
        "optFlatMap",
        CallForm::Macro,
        "output.?field.optFlatMap(value, value.?inner)",
    ),
];

/// Makes an expression from a tree; `places` maps its parts to the `source`.
pub(super) fn prepare(
    source: &str,
    mut tree: IdedExpr,
    places: &SourceInfo,
) -> Result<Expression, Mistake> {
    let mut walk = Walk {
        source,
        places,
        names: Vec::new(),
        patterns: Vec::new(),
        asked: [false; 2],
    };
    walk.expression(&mut tree, DEEPEST)?;
    if let Some(kind) = never_boolean(&tree.expr) {
        let what = format!("it gives {kind}, not true or false");
        return Err(Mistake::whole(what));
    }
    let [asks_arguments, asks_output] = walk.asked;
    Ok(Expression {
        tree,
        patterns: Arc::from(walk.patterns),
        asks_arguments,
        asks_output,
    })
}

struct Walk<'s> {
    source: &'s str,
    places: &'s SourceInfo,
    /// The names bound here by `all`, `map` and the like.
    names: Vec<String>,
    patterns: Vec<Regex>,
    /// Which of the variables are used.
    asked: [bool; 2],
}

impl Walk<'_> {
    fn expression(&mut self, tree: &mut IdedExpr, left: usize) -> Result<(), Mistake> {
        let Some(left) = left.checked_sub(1) else {
            return Err(self.mistake(tree.id, "it is nested too deeply; write two checks"));
        };
        let id = tree.id;
        match &mut tree.expr {
            Expr::Literal(_) => Ok(()),
            Expr::Unspecified => Err(self.mistake(id, "something is missing here")),
            Expr::Ident(name) => self.name(id, name),
            Expr::Select(select) => self.expression(&mut select.operand, left),
            Expr::List(list) => {
                let mut items = list.elements.iter_mut();
                items.try_for_each(|item| {
                    self.expression(item, left)?;
                    count(item, COPIED);
                    Ok(())
                })
            }
            Expr::Map(map) => {
                let mut entries = map.entries.iter_mut();
                entries.try_for_each(|entry| self.entry(entry, left))
            }
            Expr::Struct(message) => {
                let name = snippet(&message.type_name, SHOWN);
                let what = format!("values of a type `{name}` cannot be written here");
                Err(self.mistake(id, what))
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension, left),
            Expr::Call(call) => self.call(id, call, left),
        }
    }

    fn entry(&mut self, entry: &mut IdedEntryExpr, left: usize) -> Result<(), Mistake> {
        match &mut entry.expr {
            EntryExpr::StructField(_) => Err(self.mistake(entry.id, "a key is missing here")),
            EntryExpr::MapEntry(entry) => {
                self.expression(&mut entry.key, left)?;
                self.expression(&mut entry.value, left)?;
                count(&mut entry.value, COPIED);
                Ok(())
            }
        }
    }

    fn name(&mut self, id: u64, name: &str) -> Result<(), Mistake> {
        let bare = name.strip_prefix('.').unwrap_or(name);
        // Names that start with `@` are the parser's.
        if bare.starts_with('@') || self.names.iter().any(|known| known == bare) {
            return Ok(());
        }
        if let Some(at) = VARIABLES.iter().position(|known| *known == bare) {
            self.asked[at] = true;
            return Ok(());
        }
        if TYPES.contains(&bare) {
            return Ok(());
        }
        let known = self.names.iter().map(String::as_str).chain(VARIABLES);
        let advice = match nearest(bare, known, 1).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "there are `arguments` and `output`".to_owned(),
        };
        let what = format!("unknown name `{}`; {advice}", snippet(bare, SHOWN));
        Err(self.mistake(id, what))
    }

    fn comprehension(
        &mut self,
        comprehension: &mut ComprehensionExpr,
        left: usize,
    ) -> Result<(), Mistake> {
        self.expression(&mut comprehension.iter_range, left)?;
        count(&mut comprehension.iter_range, COUNTED);
        self.expression(&mut comprehension.accu_init, left)?;
        let before = self.names.len();
        let second = comprehension.iter_var2.iter();
        let names = [&comprehension.iter_var, &comprehension.accu_var];
        self.names.extend(names.into_iter().chain(second).cloned());
        self.expression(&mut comprehension.loop_cond, left)?;
        self.expression(&mut comprehension.loop_step, left)?;
        self.expression(&mut comprehension.result, left)?;
        self.names.truncate(before);
        Ok(())
    }

    fn call(&mut self, id: u64, call: &mut CallExpr, left: usize) -> Result<(), Mistake> {
        let is_operator = !call
            .func_name
            .starts_with(|first: char| first.is_ascii_alphabetic());
        let of_optional = matches!(
            &call.target,
            Some(target) if matches!(&target.expr, Expr::Ident(name) if name == "optional")
        ) && ["of", "none", "ofNonZeroValue"].contains(&call.func_name.as_str());
        if !is_operator && !of_optional {
            self.function(id, call)?;
        }
        if let Some(target) = call.target.as_deref_mut().filter(|_| !of_optional) {
            self.expression(target, left)?;
        }
        for argument in &mut call.args {
            self.expression(argument, left)?;
        }
        match (call.func_name.as_str(), call.args.as_mut_slice()) {
            (operators::IN, [_, list]) => count(list, SEARCHED),
            // The parser's own sum builds up a list, whose items are counted.
            (operators::ADD, [sum, _]) if is_accumulator(sum) => {}
            (operators::ADD, terms) => terms.iter_mut().for_each(|term| count(term, COPIED)),
            (
                operators::EQUALS
                | operators::NOT_EQUALS
                | operators::LESS
                | operators::LESS_EQUALS
                | operators::GREATER
                | operators::GREATER_EQUALS,
                sides,
            ) => sides.iter_mut().for_each(|side| count(side, COMPARED)),
            ("string" | "bytes", values) => values.iter_mut().for_each(|it| count(it, COPIED)),
            ("contains" | "startsWith" | "endsWith", _) => {
                if let Some(text) = call.target.as_deref_mut() {
                    count(text, COMPARED);
                }
            }
            ("matches", _) => {
                if let Some(text) = call.target.as_deref_mut() {
                    count(text, COPIED);
                }
            }
            _ => {}
        }
        if call.func_name == "matches" {
            self.pattern(id, call)?;
        }
        Ok(())
    }

    /// Whether this function exists in this form.
    fn function(&self, id: u64, call: &CallExpr) -> Result<(), Mistake> {
        let name = call.func_name.as_str();
        let form = match call.target {
            None => CallForm::Function(call.args.len()),
            Some(_) => CallForm::Method(call.args.len()),
        };
        let named = || FUNCTIONS.iter().filter(|row| row.0 == name);
        if named().any(|row| row.1 == form) {
            return Ok(());
        }
        let same_kind = |row: &&(_, CallForm, _)| discriminant(&row.1) == discriminant(&form);
        let what = if let Some((_, _, usage)) = named().find(same_kind).or(named().next()) {
            format!("`{name}` is written {usage}")
        } else {
            let advice = match nearest(name, FUNCTIONS.iter().map(|row| row.0), 1).first() {
                Some(near) => format!(", did you mean `{near}`?"),
                None => String::new(),
            };
            format!("there is no function `{}`{advice}", snippet(name, SHOWN))
        };
        Err(self.mistake(id, what))
    }

    /// `text.matches("pattern")` with the pattern compiled: once, and never one that a tool sends.
    fn pattern(&mut self, id: u64, call: &mut CallExpr) -> Result<(), Mistake> {
        let literal = match call.args.as_slice() {
            [argument] => match &argument.expr {
                Expr::Literal(LiteralValue::String(pattern)) => Some(pattern.inner()),
                _ => None,
            },
            _ => None,
        };
        let Some(literal) = literal else {
            let what = "the pattern of `matches` must be a string in quotes";
            return Err(self.mistake(id, what));
        };
        let pattern = Regex::new(literal).map_err(|error| {
            // The last line says what is wrong; the lines before it show where.
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ");
            self.mistake(id, format!("the pattern of `matches` is invalid: {reason}"))
        })?;
        let number = i64::try_from(self.patterns.len()).unwrap_or(i64::MAX);
        self.patterns.push(pattern);
        let text = call
            .target
            .take()
            .map_or_else(IdedExpr::default, |text| *text);
        let number = IdedExpr {
            id: 0,
            expr: Expr::Literal(LiteralValue::Int(CelInt::from(number))),
        };
        MATCHES.clone_into(&mut call.func_name);
        call.args = vec![text, number];
        Ok(())
    }

    fn mistake(&self, id: u64, what: impl Into<String>) -> Mistake {
        let place = self.places.offset_for(id);
        let place = place.map(|(start, last)| start as usize..last as usize + 1);
        Mistake {
            at: place.filter(|place| self.source.get(place.clone()).is_some()),
            what: what.into(),
        }
    }
}

fn is_accumulator(tree: &IdedExpr) -> bool {
    matches!(&tree.expr, Expr::Ident(name) if name.starts_with('@'))
}

/// Whether a value is short, or made of values that are counted themselves.
fn is_short(tree: &Expr) -> bool {
    match tree {
        Expr::Literal(_) | Expr::List(_) | Expr::Map(_) => true,
        Expr::Call(call) => {
            let is_operator = !call
                .func_name
                .starts_with(|first: char| first.is_alphanumeric());
            let gives_part = [
                operators::INDEX,
                operators::OPT_INDEX,
                operators::OPT_SELECT,
                operators::CONDITIONAL,
            ];
            let gives_short = word_list![string bytes size int uint double bool type];
            (is_operator && !gives_part.contains(&call.func_name.as_str()))
                || gives_short.contains(&call.func_name.as_str())
        }
        _ => false,
    }
}

/// Wraps a value in a counting function.
fn count(value: &mut IdedExpr, function: &str) {
    if is_short(&value.expr) {
        return;
    }
    let inner = std::mem::take(value);
    value.expr = Expr::Call(CallExpr {
        func_name: function.to_owned(),
        target: None,
        args: vec![inner],
    });
}

/// The byte offset of a character.
fn byte_of(source: &str, character: usize) -> usize {
    let at = source.char_indices().nth(character);
    at.map_or(source.len(), |(byte, _)| byte)
}

/// The type of an expression's result, if that is certainly not a boolean.
fn never_boolean(tree: &Expr) -> Option<&'static str> {
    match tree {
        Expr::Literal(LiteralValue::Boolean(_)) => None,
        Expr::Literal(LiteralValue::String(_)) => Some("a text"),
        Expr::Literal(_) => Some("a fixed value"),
        Expr::List(_) => Some("a list"),
        Expr::Map(_) => Some("a map"),
        // `arguments` and `output` themselves may be anything, and are usually objects.
        Expr::Comprehension(fold) if matches!(fold.accu_init.expr, Expr::List(_)) => Some("a list"),
        Expr::Call(call) => match call.func_name.as_str() {
            "size"
            | "int"
            | "uint"
            | "double"
            | operators::NEGATE
            | operators::SUBSTRACT
            | operators::MULTIPLY
            | operators::DIVIDE
            | operators::MODULO => Some("a number"),
            operators::ADD => Some("a number, a text or a list"),
            "string" => Some("a text"),
            "type" => Some("a type"),
            _ => None,
        },
        _ => None,
    }
}

/// The position of a character at a line and a column, both counted from one.
pub(super) fn place_of(source: &str, line: isize, column: isize) -> Option<Range<usize>> {
    let (line, column) = (
        usize::try_from(line - 1).ok()?,
        usize::try_from(column - 1).ok()?,
    );
    let start: usize = source.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = source.get(start..)?;
    let start = start + byte_of(rest, column);
    let character = source.get(start..)?.chars().next()?;
    Some(start..start + character.len_utf8())
}
