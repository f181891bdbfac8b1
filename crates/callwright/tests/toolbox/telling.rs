//! What the model and the operator see: schemas, results, failures, advice.

use callwright::check::{Detector, Finding, Output, ToolFailure};
use callwright::failure::{Class, Code, Next};
use callwright::feedback::{Feedback, Style};
use callwright::json::Value;
use callwright::policy::Advice;
use callwright::policy::OutputSettings;
use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
use callwright::{Call, Error, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Nothing, find_orders, said, text};

#[tokio::test]
async fn one_type_is_schema_validator_value_and_documentation() {
    let tool = ToolDef::new("find_orders", find_orders);
    let spec = tool.spec();
    assert_eq!(
        spec.description.as_deref(),
        Some("Finds orders of a customer.")
    );
    assert_eq!(
        spec.input_schema.as_deref(),
        Some(&json!({
            "type": "object",
            "properties": {
                "customer_id": {"type": "string", "description": "Such as C-1042"},
                "page": {
                    "type": "integer", "description": "Counted from one",
                    "minimum": 1, "maximum": 4_294_967_295_u32, "default": 1,
                },
            },
            "required": ["customer_id"],
        }))
    );
    let toolbox = Toolbox::builder().tool(tool).build().expect("a good tool");
    let good = Call::from_text("find_orders", r#"{"customer_id": "C-1"}"#);
    let settled = toolbox.invoke(&good, None).await;
    assert_eq!(
        text(&toolbox, &settled),
        r#"{"orders":[{"id":"O-1","total":12.5}],"page":1,"has_more":true}"#
    );
    let bad = Call::from_text("find_orders", r#"{"customer": "C-1", "page": 0}"#);
    let settled = toolbox.invoke(&bad, None).await;
    assert!(settled.is_error());
    assert_eq!(
        text(&toolbox, &settled),
        "Please rewrite the input with valid arguments. Errors: \
         customer_id: Required, received as unknown key \"customer\"; \
         page: expected at least 1, received number 0"
    );
}

#[tokio::test]
async fn one_page_of_several_is_kept_and_says_how_to_continue() {
    let mut output = OutputSettings::default();
    output.detect = Some(vec![Detector::MorePages]);
    let tool = ToolDef::new("find_orders", find_orders).output(output);
    let (said, code) = said(tool, r#"{"customer_id": "C-1"}"#).await;
    assert_eq!(
        said,
        "{\"orders\":[{\"id\":\"O-1\",\"total\":12.5}],\"page\":1,\"has_more\":true}\n\n\
         [There is more. Call again with page=2 to continue.]"
    );
    assert_eq!(code, Some(Code::MorePagesAvailable));
}

#[tokio::test]
async fn checks_get_typed_values() {
    let tool = || ToolDef::new("find_orders", find_orders);
    let over_output = tool().check(|orders| {
        (orders.orders.len() == 1)
            .then(|| Finding::garbage("only_one", "Only one order came.").with_hint("Ask again."))
    });
    let (told, code) = said(over_output, r#"{"customer_id": "C-1"}"#).await;
    assert_eq!(told, "Only one order came. Ask again.");
    assert_eq!(code, Some(Code::ImplausibleResult));

    let over_both = tool().check_with(|arguments, orders| {
        (arguments.customer_id == "C-1" && orders.page == 1)
            .then(|| Finding::partial("first_page", "This is the first page."))
    });
    let (told, _) = said(over_both, r#"{"customer_id": "C-1"}"#).await;
    assert!(
        told.ends_with(
            "\n\n[This is the first page. Continue with what you have, or ask for the missing part.]"
        ),
        "{told}"
    );

    let panicking = tool().check(|_| panic!("no idea"));
    let (told, code) = said(panicking, r#"{"customer_id": "C-1"}"#).await;
    assert!(told.starts_with(r#"{"orders""#), "{told}");
    assert_eq!(code, None);
}

#[tokio::test]
async fn reported_failures_go_to_the_model_and_internal_ones_do_not() {
    let reports = ToolDef::new("pay", |_: Nothing| async {
        let failure = ToolFailure::new("no_funds", "The account has 3 EUR.")
            .with_hint("Ask the user for another account.")
            .with_next(Next::AskUser);
        ToolResult::<()>::Err(failure)
    });
    let (told, code) = said(reports, "{}").await;
    assert_eq!(
        told,
        "The account has 3 EUR. Ask the user for another account."
    );
    assert_eq!(code, Some(Code::ToolReportedFailure));

    let breaks = ToolDef::new("load", |_: Nothing| async {
        ToolResult::Ok(std::fs::read_to_string("/no/such/secret-path")?)
    });
    let (told, code) = said(breaks, "{}").await;
    assert_eq!(
        told,
        "The tool \"load\" failed with an internal error. The arguments are not known to be the cause: \
         try another way or tell the user."
    );
    assert_eq!(code, Some(Code::ToolError));
}

#[tokio::test]
async fn a_dynamic_tool_never_gets_another_number() {
    let schema = json!({"properties": {"ids": {"type": "array", "items": {"type": "integer"}}}});
    let spec = ToolSpec::new("look_up", schema);
    let (fits, wide) = ("18446744073709551615", "18446744073709551616");
    let arguments = |id: &str| format!(r#"{{"ids":[-9223372036854775808,{id}]}}"#);
    let echo = |arguments: serde_json::Value| async move { ToolResult::Ok(arguments.to_string()) };
    let (told, _) = said(ToolDef::dynamic(spec.clone(), echo), &arguments(fits)).await;
    assert_eq!(told, arguments(fits));
    let (told, code) = said(ToolDef::dynamic(spec.clone(), echo), &arguments(wide)).await;
    assert_eq!(code, Some(Code::ToolDefect), "{told}");
    assert!(told.contains("ids.1"), "{told}");
    let text = |arguments: String| async move { ToolResult::Ok(arguments) };
    let (told, _) = said(ToolDef::dynamic(spec, text), &arguments(wide)).await;
    assert_eq!(told, arguments(wide));
}

#[tokio::test]
async fn dynamic_tools_are_equal_citizens() {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
    });
    let spec = ToolSpec::new("double", schema)
        .with_output_schema(json!({"type": "object", "required": ["doubled"]}));
    let as_json = ToolDef::dynamic(spec.clone(), |arguments: serde_json::Value| async move {
        ToolResult::Ok(json!({"doubled": arguments["n"].as_i64().unwrap_or(0) * 2}))
    });
    assert_eq!(said(as_json, r#"{"n": 4}"#).await.0, r#"{"doubled":8}"#);
    let digits = ToolDef::dynamic(spec.clone(), |arguments: Value<'static>| async move {
        ToolResult::Ok(Output::Value(Value::Object(vec![(
            "doubled".into(),
            arguments.get("n").cloned().unwrap_or_default(),
        )])))
    });
    assert_eq!(
        said(digits, r#"{"n": 12345678901234567890123}"#).await.0,
        r#"{"doubled":12345678901234567890123}"#
    );
    let cut = ToolDef::dynamic(spec.clone(), |_: String| async {
        ToolResult::Ok(r#"{"doubled": {"total""#.to_owned())
    });
    let (told, code) = said(cut, r#"{"n": 4}"#).await;
    assert_eq!(
        told,
        "The result was cut off at doubled.total. Repeating the call will not help: ask for less at once."
    );
    assert_eq!(code, Some(Code::TruncatedResponse));
    let lacks = ToolDef::dynamic(spec, |_: String| async {
        ToolResult::Ok(json!({"sum": 8}))
    });
    let (told, code) = said(lacks, r#"{"n": 4}"#).await;
    assert_eq!(
        told,
        "The result does not fit its schema: doubled: Required, received keys \"sum\". \
         The arguments are not the cause: use another tool or tell the user."
    );
    assert_eq!(code, Some(Code::SchemaViolation));
}

#[tokio::test]
async fn a_schema_that_disagrees_with_its_type_is_found() {
    #[derive(Deserialize, JsonSchema)]
    struct Lies {
        #[schemars(with = "String")]
        #[expect(dead_code, reason = "only read")]
        count: u8,
    }
    let tool = ToolDef::new("lies", |_: Lies| async { ToolResult::Ok(()) });
    let error = Toolbox::builder()
        .tool(tool)
        .build()
        .expect_err("schema and type disagree");
    let error = error.to_string();
    assert!(error.starts_with("tool `lies`: "), "{error}");
    assert!(error.contains("count"), "{error}");

    // A problem that only appears with the call is the tool's fault.
    #[derive(Deserialize, JsonSchema)]
    #[serde(try_from = "String")]
    #[schemars(with = "String")]
    struct Even;
    impl TryFrom<String> for Even {
        type Error = String;
        fn try_from(text: String) -> Result<Self, String> {
            match text.len() % 2 {
                0 => Ok(Even),
                _ => Err("odd".to_owned()),
            }
        }
    }
    #[derive(Deserialize, JsonSchema)]
    struct Takes {
        #[expect(dead_code, reason = "only read")]
        even: Even,
    }
    let tool = ToolDef::new("takes", |_: Takes| async { ToolResult::Ok(()) });
    let (told, code) = said(tool, r#"{"even": "abc"}"#).await;
    assert_eq!(
        told,
        "The tool \"takes\" does not accept even: odd. Correct it and call the tool again."
    );
    assert_eq!(code, Some(Code::ToolDefect));
}

#[test]
fn arguments_are_objects() -> Result<(), Error> {
    let number = ToolDef::new("number", |_: u8| async { ToolResult::Ok(()) });
    let error = Toolbox::builder()
        .tool(number)
        .build()
        .expect_err("a number is no object");
    assert!(error.to_string().contains("wrap it in a struct"), "{error}");
    let nothing = ToolDef::new("nothing", |(): ()| async { ToolResult::Ok(()) });
    Toolbox::builder().tool(nothing).build()?;
    Ok(())
}

#[test]
fn problems_are_reported_as_warnings() {
    let listed = json!({"properties": {"days": {"type": "array", "enum": ["mon", "tue"]}}});
    let specs = [
        ToolSpec::new("odd", json!({"type": "strange"})),
        ToolSpec::new("enum\n", listed),
        ToolSpec::without_schema("odd_result").with_output_schema(json!({"type": "strange"})),
    ];
    let toolbox = specs
        .into_iter()
        .fold(Toolbox::builder(), |builder, spec| {
            builder.external_tool(spec)
        })
        .build()
        .expect("tools in quarantine");
    let warnings = toolbox.warnings();
    let beginnings = [
        r#"tool "enum\n": no list can match the enum at /properties/days; it is applied to the items"#,
        r#"tool "odd": its calls pass unvalidated: "#,
        r#"tool "odd_result": its results pass unvalidated: "#,
    ];
    assert_eq!(warnings.len(), beginnings.len(), "{warnings:?}");
    for (warning, beginning) in warnings.iter().zip(beginnings) {
        assert!(warning.starts_with(beginning), "{warning}");
    }
}

#[tokio::test]
async fn recommendations_can_be_replaced() {
    let tool = ToolDef::new("load", |_: Nothing| async {
        ToolResult::<()>::Err(ToolFailure::internal("disk on fire"))
    })
    .advice(Advice::default().for_class(Class::Runtime, ["Call `status` first.", "Then wait."]));
    let toolbox = Toolbox::builder()
        .tool(tool)
        .feedback(Feedback::new(Style::Json))
        .build()
        .expect("a good tool");
    let call = Call::from_text("load", "{}");
    let settled = toolbox.invoke(&call, None).await;
    let told: serde_json::Value =
        serde_json::from_str(&text(&toolbox, &settled)).expect("JSON style");
    assert_eq!(
        told,
        json!({
            "ok": false,
            "error": "The tool \"load\" failed with an internal error.",
            "error_type": "runtime",
            "retryable": false,
            "recommendations": ["Call `status` first.", "Then wait."],
            "next": "change_approach",
        })
    );
    let failure = settled.failure().expect("it failed");
    assert_eq!(failure.for_operator(), Some("disk on fire"));
}
