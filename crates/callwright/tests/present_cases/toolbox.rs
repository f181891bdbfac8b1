//! A toolbox whose tool returns what a case of `corpus/present` says.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::future::ready;

use callwright::check::{Output, ToolFailure};
use callwright::json::Value;
use callwright::toolbox::{ToolDef, Toolbox};

use crate::present_cases::PresentCase;

pub(crate) fn toolbox(case: &PresentCase) -> Toolbox {
    let builder = Toolbox::builder()
        .policy(case.policy())
        .feedback(case.feedback());
    let case = case.clone();
    let tool = ToolDef::dynamic(case.spec(), move |_: Value<'static>| {
        ready(match case.answer() {
            serde_json::Value::String(text) if case.failed() => {
                Err(ToolFailure::said(text.clone()))
            }
            serde_json::Value::String(text) => Ok(Output::from(text.clone())),
            value => Ok(Output::Value(Value::from(value).into_owned())),
        })
    });
    builder.tool(tool).build().expect("a toolbox")
}
