//! Custom recommendations: the operator knows better than any table what to do when a tool fails. Advice can be set for
//! a class of failures or a single code, for one tool or for all; a tool can also attach its own to a failure.
//!
//! Run it with `cargo run -p callwright-examples --example custom_recommendations`.

use std::time::Duration;

use callwright::check::ToolFailure;
use callwright::failure::{Class, Code};
use callwright::feedback::{Feedback, Style};
use callwright::policy::Advice;
use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
use callwright::{Call, Error, Policy};
use schemars::JsonSchema;
use serde::Deserialize;

/// Searches all reports of the company.
#[derive(Deserialize, JsonSchema)]
struct Search {
    /// Such as 2026
    year: u16,
    words: String,
}

async fn search(asked: Search) -> ToolResult<Vec<String>> {
    match asked.year {
        // The archive is slow.
        ..2000 => std::future::pending().await,
        // The tool's own report, with advice that only it can give.
        2000..2010 => Err(ToolFailure::new(
            "on_microfilm",
            format!("The reports of {} are on microfilm.", asked.year),
        )
        .with_hint("Ask the user whether somebody should scan them.")
        .with_recommendation("Reports since 2010 can be searched at once.")),
        // It fails; the cause goes to the operator, not to the model.
        2010..2020 => Err(std::io::Error::other("index shard 7 is gone").into()),
        _ => Ok(vec![format!("{} in {}", asked.words, asked.year)]),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    // For every tool.
    let mut policy = Policy::default();
    policy.advice = Advice::default().for_class(
        Class::Runtime,
        ["Tell the user that the archive is being repaired until Monday."],
    );
    // For this one.
    let tool = ToolDef::new("search", search)
        .timeout(Duration::from_millis(50))
        .advice(
            Advice::default()
                .for_code(
                    Code::Timeout,
                    ["Search one year at a time.", "Use three words at most."],
                )
                .for_code(
                    Code::InvalidArguments,
                    ["Call `list_years` to see which years there are."],
                ),
        );
    let toolbox = Toolbox::builder()
        .tool(tool)
        .policy(policy)
        .feedback(Feedback::new(Style::Json))
        .build()?;

    for year in ["1987", "2004", "2015", "\"last\""] {
        let arguments = format!(r#"{{"year": {year}, "words": "turnover"}}"#);
        let call = Call::from_text("search", arguments.as_str());
        let settled = toolbox.invoke(&call, None).await;
        println!("model: search {arguments}");
        println!("tool:  {}\n", settled.text(toolbox.feedback()));
    }
    Ok(())
}
