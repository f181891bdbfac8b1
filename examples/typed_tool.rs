//! A typed tool: one Rust type serves as the schema that the model reads, the validator, the function's argument, and
//! the documentation.
//!
//! Run it with `cargo run -p callwright-examples --example typed_tool`.

use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
use callwright::wire::{self, Provider};
use callwright::{Call, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Forecasts the weather of a city.
#[derive(Deserialize, JsonSchema)]
struct Forecast {
    /// The city, in English
    city: String,
    /// How many days ahead
    #[serde(default)]
    #[schemars(range(max = 7))]
    days: u8,
    #[serde(default)]
    unit: Unit,
}

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    #[default]
    Celsius,
    Fahrenheit,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    degrees: f64,
    unit: Unit,
    sky: String,
}

async fn forecast(asked: Forecast) -> ToolResult<Weather> {
    let celsius = 11.5 - f64::from(asked.days);
    Ok(Weather {
        degrees: match asked.unit {
            Unit::Celsius => celsius,
            Unit::Fahrenheit => celsius * 1.8 + 32.0,
        },
        unit: asked.unit,
        sky: format!("rain over {}", asked.city),
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let toolbox = Toolbox::builder()
        .tool(ToolDef::new("forecast", forecast))
        .build()?;

    println!("What the model is told about the tool:");
    for spec in toolbox.specs() {
        println!("{:#}", wire::declare(Provider::Anthropic, spec));
    }

    let calls = [
        r#"{"city": "Lisbon", "days": 2}"#,
        r#"{"city": "Lisbon", "days": "2", "unit": "Celsius"}"#,
        r#"{"town": "Lisbon", "days": 30, "unit": "kelvin"}"#,
    ];
    for arguments in calls {
        let call = Call::from_text("forecast", arguments);
        let settled = toolbox.invoke(&call, None).await;
        println!("\nmodel: forecast {arguments}");
        for edit in settled.verdict.edits() {
            println!("       ({})", toolbox.feedback().edit_line(edit));
        }
        println!("tool:  {}", settled.text(toolbox.feedback()));
    }
    Ok(())
}
