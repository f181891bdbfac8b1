//! Which argument names the subject of a call.

use serde_json::Value as Schema;

use crate::json::Value;
use crate::nearest::words;
use crate::tool::Tool;
use crate::vocabulary::word_list;

/// Last words that make a name an id.
const IDS: &[&str] = word_list![id ids iid uuid uuids guid sku isbn iban email username slug sha];

/// Compound words that are ids.
const WRITTEN_TOGETHER: &[&str] = word_list![userid orderid customerid productid itemid accountid];

/// Words before `number`, `key` and `code` that make a name an id. Alone, those are a quantity, a key on the keyboard, a piece
/// of a program, or a country.
const THINGS: &[&str] = word_list![
    account article asset booking bug case claim confirmation contract coupon customer discount
    document employee invoice issue item merge order part product project promo pull record
    reference request reservation serial space student ticket tracking transaction voucher
];

/// Words before `id` that make it an id of the surroundings: it is valid, or the call would have failed.
const SURROUNDINGS: &[&str] = word_list![
    session request trace correlation client tenant workspace organization org connection
    idempotency conversation device caller
];

/// The argument that names the subject of the call: if there are several, the last required one, which is the innermost.
pub(super) fn named<'v, 'a>(
    tool: &Tool,
    arguments: &'v Value<'a>,
) -> Option<(&'v str, &'v Value<'a>)> {
    let schema = tool.spec().input_schema.as_deref();
    let sent: Vec<(&str, &Value<'_>)> = arguments
        .as_object()?
        .iter()
        .filter(|(name, value)| names_something(value) && is_id(name, schema))
        .map(|(name, value)| (name.as_ref(), value))
        .collect();
    let required = schema
        .and_then(|schema| schema.get("required"))
        .and_then(Schema::as_array);
    let last = required
        .into_iter()
        .flatten()
        .rev()
        .filter_map(Schema::as_str)
        .find_map(|required| sent.iter().find(|(name, _)| *name == required));
    last.or(sent.first()).copied()
}

fn names_something(value: &Value<'_>) -> bool {
    match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Number(_) => true,
        Value::Array(items) => {
            !items.is_empty()
                && items
                    .iter()
                    .all(|item| matches!(item, Value::String(_) | Value::Number(_)))
        }
        _ => false,
    }
}

/// Whether an argument is an id by its name or its format.
fn is_id(name: &str, schema: Option<&Schema>) -> bool {
    let words = words(name);
    let format =
        schema.and_then(|schema| schema.get("properties")?.get(name)?.get("format")?.as_str());
    match words.as_slice() {
        [.., before, _] if SURROUNDINGS.contains(&before.as_str()) => false,
        _ if format == Some("uuid") => true,
        [.., before, last] if ["number", "key", "code"].contains(&last.as_str()) => {
            THINGS.contains(&before.as_str())
        }
        [only] => IDS.contains(&only.as_str()) || WRITTEN_TOGETHER.contains(&only.as_str()),
        [.., last] => IDS.contains(&last.as_str()),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_recognised_by_their_names() {
        for name in [
            "id",
            "customer_id",
            "orderId",
            "threadID",
            "issue_iid",
            "uuid",
            "issue_number",
            "issue_key",
            "tracking_code",
            "email",
            "user_email",
            "username",
            "order_ids",
            "userid",
        ] {
            assert!(is_id(name, None), "{name}");
        }
        for name in [
            "avoid",
            "paid",
            "page_number",
            "number",
            "code",
            "country_code",
            "key",
            "api_key",
            "query",
            "path",
            "url",
            "name",
            "session_id",
            "requestId",
            "date",
            "",
        ] {
            assert!(!is_id(name, None), "{name}");
        }
    }
}
