//! Semantic rules: a result can match its schema and still be wrong or incomplete. A rule is a function of the typed
//! result, or of the arguments and the result, and its finding is passed to the model in its own words.
//!
//! Run it with `cargo run -p callwright-examples --example semantic_rule`.

use callwright::check::Finding;
use callwright::failure::Failure;
use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
use callwright::{Call, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Converts euros into another currency at the rate of the day.
#[derive(Deserialize, JsonSchema)]
struct Convert {
    #[schemars(range(min = 0))]
    amount: f64,
    /// Such as JPY
    to: String,
}

#[derive(Serialize, JsonSchema)]
struct Converted {
    amount: f64,
    currency: String,
    /// How old the rate is
    rate_age_hours: u32,
}

/// A service with a few bad days.
async fn convert(asked: Convert) -> ToolResult<Converted> {
    let (rate, rate_age_hours, currency) = match asked.to.as_str() {
        "JPY" => (171.3, 1, asked.to),
        // The rate was never filled in.
        "SEK" => (0.0, 1, asked.to),
        // The feed has been down since Friday.
        "NOK" => (11.8, 63, asked.to),
        // Anything it does not know is treated as dollars.
        _ => (1.08, 1, "USD".to_owned()),
    };
    Ok(Converted {
        amount: asked.amount * rate,
        currency,
        rate_age_hours,
    })
}

/// Makes no sense: the model does not get it.
fn has_a_rate(asked: &Convert, converted: &Converted) -> Option<Finding> {
    (asked.amount > 0.0 && converted.amount <= 0.0).then(|| {
        Finding::garbage("no_rate", format!("There is no rate for {}.", asked.to))
            .with_hint("Name the amount in euros, and say why.")
    })
}

fn is_in_the_currency_asked_for(asked: &Convert, converted: &Converted) -> Option<Finding> {
    let came = &converted.currency;
    (asked.to != *came).then(|| {
        let detail = format!("The amount came in {came} instead of {}.", asked.to);
        Finding::garbage("other_currency", detail).with_hint("Use a code of ISO 4217.")
    })
}

/// Usable with a caveat: the model gets it, with a note.
fn is_fresh(converted: &Converted) -> Option<Finding> {
    let age = converted.rate_age_hours;
    (age > 24).then(|| {
        Finding::partial("old_rate", format!("The rate is {age} hours old."))
            .with_hint("Say so when you name the amount.")
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let tool = ToolDef::new("convert", convert)
        .check_with(has_a_rate)
        .check_with(is_in_the_currency_asked_for)
        .check(is_fresh);
    let toolbox = Toolbox::builder().tool(tool).build()?;

    for currency in ["JPY", "NOK", "SEK", "yen"] {
        let arguments = format!(r#"{{"amount": 20, "to": "{currency}"}}"#);
        let call = Call::from_text("convert", arguments.as_str());
        let settled = toolbox.invoke(&call, None).await;
        let code = settled.failure().map_or("ok", Failure::code_name);
        println!("model: convert {arguments}\ncode:  {code}");
        println!("tool:  {}\n", settled.text(toolbox.feedback()));
    }
    Ok(())
}
