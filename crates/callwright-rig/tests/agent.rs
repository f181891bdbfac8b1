//! The real agent loop of `rig` with a scripted model: what the model sends, and what it gets back.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callwright::admit::Place;
use callwright::event::{Event, On, Sinks};
use callwright::policy::{Policy, ToolPolicy};
use callwright::tool::Effect;
use callwright::toolbox::{GuardSettings, ToolDef, ToolResult, Toolbox};
use callwright_rig::{Conversation, Guard};
use futures_util::StreamExt as _;
use rig_agent::core::completion::{CompletionRequest, FinishReason};
use rig_agent::core::message::{
    AssistantContent, Message, ToolCall, ToolFunction, ToolName, ToolResultContent, UserContent,
};
use rig_agent::core::tool::{
    ContextValue, DynamicTool, PortableTool, Tool, ToolContext, ToolExecutionError, ToolOutput,
};
use rig_agent::test_utils::{MockCompletionModel, MockStreamEvent, MockTurn};
use rig_agent::{Agent, AgentBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Searches, and counts its runs.
#[derive(Clone, Default)]
struct Search(Arc<AtomicU32>);

#[derive(Deserialize)]
struct SearchArgs {
    query: String,
    limit: u32,
}

impl PortableTool for Search {
    const NAME: &'static str = "search";
    type Args = SearchArgs;
    type Output = Value;
    type Error = ToolExecutionError;

    fn description(&self) -> String {
        "Searches the catalogue.".to_owned()
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "minimum": 0}},
            "required": ["query", "limit"],
        })
    }

    async fn call(&self, args: SearchArgs) -> Result<Value, ToolExecutionError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        match args.query.as_str() {
            "" => Err(ToolExecutionError::not_found("The query is empty.")),
            query => Ok(json!({"found": query, "limit": args.limit})),
        }
    }
}

/// Fails with details that the model must not see.
struct Load;

impl PortableTool for Load {
    const NAME: &'static str = "load";
    type Args = Value;
    type Output = String;
    type Error = std::io::Error;

    fn description(&self) -> String {
        "Loads a page.".to_owned()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"page": {"type": "integer"}}})
    }

    async fn call(&self, args: Value) -> Result<String, std::io::Error> {
        assert_ne!(args["page"], 13, "page 13 of /srv/secret");
        Err(std::io::Error::other("postgres://root:hunter2@db refused"))
    }
}

/// One answer of the model with these calls, each a name and its arguments as text.
fn calls(round: usize, calls: &[(&str, &str)]) -> MockTurn {
    MockTurn::from_contents(calls.iter().enumerate().map(|(at, (name, arguments))| {
        let name = ToolName::new(*name).expect("a name");
        let function = ToolFunction::parse(name, arguments);
        AssistantContent::ToolCall(ToolCall::from_wire(format!("call_{round}_{at}"), function))
    }))
}

/// A model that makes these calls, one answer each, and then says "done".
fn script(rounds: &[&[(&str, &str)]]) -> MockCompletionModel {
    let answers = rounds.iter().enumerate();
    let turns = answers.map(|(round, answer)| calls(round, answer));
    MockCompletionModel::from_turns(turns.chain([MockTurn::text("done")]))
}

/// What the model has received for its calls when it gives its last answer, and whether each is an error.
fn read(model: &MockCompletionModel) -> Vec<(String, bool)> {
    let requests: Vec<CompletionRequest> = model.requests();
    let last = requests.last().expect("a request");
    let mut results = Vec::new();
    for message in &last.chat_history {
        let Message::User { content } = message else {
            continue;
        };
        for content in content {
            if let UserContent::ToolResult(result) = content {
                let texts = result.content.iter().map(|content| match content {
                    ToolResultContent::Text(text) => text.text.clone(),
                    ToolResultContent::Json { value } => value.to_string(),
                    ToolResultContent::Image(_) => "a picture".to_owned(),
                });
                results.push((texts.collect::<Vec<_>>().join(" | "), result.is_error));
            }
        }
    }
    results
}

fn texts(model: &MockCompletionModel) -> Vec<String> {
    read(model).into_iter().map(|(text, _)| text).collect()
}

fn agent(model: &MockCompletionModel, guard: &Guard, search: Search) -> Agent {
    AgentBuilder::new(model.clone())
        .tool(guard.tool(search).expect("a new name"))
        .tool(guard.tool(Load).expect("a new name"))
        .add_hook(guard.clone())
        .build()
}

async fn run(agent: &Agent) -> String {
    let ended = agent.prompt("Find something.").max_turns(20).await;
    ended.expect("the run ends well").output()
}

#[tokio::test]
async fn a_call_is_repaired_explained_and_answered() {
    let search = Search::default();
    let model = script(&[
        &[("search", r#"{"query": "tea", "limit": "10"}"#)],
        &[("search", r#"{"limit": 5}"#)],
        &[("search", r#"{"query": "tea", "limit": 5}"#)],
    ]);
    let agent = agent(&model, &Guard::new(), search.clone());
    assert_eq!(run(&agent).await, "done");
    assert_eq!(
        read(&model),
        [
            (r#"{"found":"tea","limit":10}"#.to_owned(), false),
            (
                "Please rewrite the input with valid arguments. Errors: query: Required".to_owned(),
                true
            ),
            (r#"{"found":"tea","limit":5}"#.to_owned(), false),
        ]
    );
    assert_eq!(search.0.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn errors_of_rust_and_panics_stay_inside() {
    let model = script(&[
        &[("load", r#"{"page": 1}"#)],
        &[("load", r#"{"page": 13}"#)],
        &[("search", r#"{"query": "", "limit": 1}"#)],
    ]);
    let agent = agent(&model, &Guard::new(), Search::default());
    run(&agent).await;
    let read = read(&model);
    assert!(read.iter().all(|(_, is_error)| *is_error), "{read:?}");
    assert!(
        read[0]
            .0
            .starts_with("The tool \"load\" failed with an internal error."),
        "{read:?}"
    );
    assert!(read[1].0.starts_with("The tool \"load\""), "{read:?}");
    // The tool's own error message is passed on.
    assert_eq!(read[2].0, "The query is empty.");
    let whole = format!("{read:?}");
    for secret in ["postgres", "hunter2", "/srv"] {
        assert!(!whole.contains(secret), "{whole}");
    }
}

#[tokio::test]
async fn a_call_that_keeps_failing_is_stopped() {
    let search = Search::default();
    let again: &[(&str, &str)] = &[("search", r#"{"query": "", "limit": 1}"#)];
    let model = script(&[again, again, again, again]);
    let guard = Guard::new();
    let agent = agent(&model, &guard, search.clone());
    run(&agent).await;
    let told = texts(&model);
    assert_eq!(told[0], "The query is empty.");
    assert!(told[1].starts_with("The query is empty.\n\n["), "{told:?}");
    assert!(
        told[3].starts_with("This exact call failed the same way 3 times in a row"),
        "{told:?}"
    );
    assert_eq!(search.0.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn runs_of_one_agent_share_nothing() {
    let search = Search::default();
    let again: &[(&str, &str)] = &[("search", r#"{"query": "", "limit": 1}"#)];
    let guard = Guard::new();
    let turns = (0..6).flat_map(|round| [calls(round, again), MockTurn::text("done")]);
    let model = MockCompletionModel::from_turns(turns);
    let agent = agent(&model, &guard, search.clone());
    for _ in 0..6 {
        run(&agent).await;
        assert_eq!(texts(&model), ["The query is empty."]);
    }
    assert_eq!(search.0.load(Ordering::SeqCst), 6);
}

#[tokio::test]
async fn what_never_reaches_a_tool_is_explained() {
    let search = Search::default();
    let model = script(&[
        // Not JSON: the agent offers no hook to correct it.
        &[("search", r#"{"query": "tea", "limit": 3,}"#)],
        // Truncated: never completed.
        &[("search", r#"{"query": "tea", "lim"#)],
        &[("serch", r#"{"query": "tea", "limit": 3}"#)],
        // Another spelling of the same name.
        &[("functions.search", r#"{"query": "milk", "limit": 3}"#)],
    ]);
    let agent = agent(&model, &Guard::new(), search.clone());
    run(&agent).await;
    let told = texts(&model);
    assert!(told[0].starts_with("Please rewrite"), "{told:?}");
    assert!(told[1].contains("cut off"), "{told:?}");
    assert_eq!(
        told[2],
        "There is no tool named \"serch\". Did you mean \"search\"? \
         Call one of the tools you were given, by its exact name."
    );
    assert_eq!(told[3], r#"{"found":"milk","limit":3}"#);
    assert_eq!(search.0.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn calls_of_one_answer_are_one_round() {
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let seen = Arc::clone(&events);
    let sinks = Sinks::builder()
        .on(On::Any, move |event| {
            seen.lock().expect("no panic").push(event.clone());
        })
        .start()
        .expect("a thread");
    let guard = Guard::with(GuardSettings {
        sinks: sinks.clone(),
        ..GuardSettings::default()
    });
    let twice: &[(&str, &str)] = &[
        ("search", r#"{"query": "tea", "limit": "3"}"#),
        ("search", r#"{"query": "milk", "limit": "4"}"#),
    ];
    let model = script(&[twice, &[("search", "{}")]]);
    let agent = agent(&model, &guard, Search::default());
    let mut context = ToolContext::new();
    context
        .insert(Conversation("chat-7".to_owned()))
        .expect("a text");
    let run = agent.prompt("Go.").tool_context(context).max_turns(9);
    run.tool_concurrency(4).await.expect("the run ends well");
    assert!(sinks.flush(Duration::from_mins(1)));
    let mut events = std::mem::take(&mut *events.lock().expect("no panic"));
    events.sort_by_key(|event| (event.round, event.id.as_ref().map(ToString::to_string)));
    let facts: Vec<_> = events
        .iter()
        .map(|event| (event.session.as_deref(), event.round, event.edits.len()))
        .collect();
    assert_eq!(
        facts,
        [
            (Some("chat-7"), Some(1), 1),
            (Some("chat-7"), Some(1), 1),
            (Some("chat-7"), Some(2), 0)
        ]
    );
    assert!(events.iter().all(|event| event.turn == events[0].turn));
    let ids: Vec<String> = events
        .iter()
        .filter_map(|event| event.id.as_ref().map(ToString::to_string))
        .collect();
    assert_eq!(ids, ["\"call_0_0\"", "\"call_0_1\"", "\"call_1_0\""]);
}

/// Returns a picture and the user's name.
struct Draw;

#[derive(Serialize, Deserialize)]
struct User(String);

impl ContextValue for User {
    const KEY: &'static str = "user";
}

impl Tool for Draw {
    const NAME: &'static str = "draw";
    type Args = Value;
    type Output = Vec<ToolResultContent>;
    type Error = ToolExecutionError;

    fn description(&self) -> String {
        "Draws.".to_owned()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"what": {"type": "string"}}})
    }

    async fn call(
        &self,
        context: &mut ToolContext,
        args: Value,
    ) -> Result<Vec<ToolResultContent>, ToolExecutionError> {
        let user = context.require::<User>()?.0;
        Ok(vec![
            ToolResultContent::text(format!("{} for {user}", args["what"])),
            ToolResultContent::image_base64("aGVsbG8=", None, None),
        ])
    }
}

#[tokio::test]
async fn pictures_and_contexts_pass_untouched() {
    let guard = Guard::new();
    let same: &[(&str, &str)] = &[("draw", r#"{"what": "a cat"}"#)];
    let model = script(&[same, same, same]);
    let agent = AgentBuilder::new(model.clone())
        .tool(guard.tool(Draw).expect("a new name"))
        .add_hook(guard)
        .build();
    let mut context = ToolContext::new();
    context.insert(User("Ann".to_owned())).expect("a text");
    let run = agent.prompt("Draw.").tool_context(context).max_turns(9);
    run.await.expect("the run ends well");
    let told = texts(&model);
    assert_eq!(told[0], "\"a cat\" for Ann | a picture");
    // A notice is added after the picture and does not replace it.
    assert!(
        told[2].starts_with("\"a cat\" for Ann | a picture | "),
        "{told:?}"
    );
}

#[tokio::test]
async fn tools_made_at_run_time_are_guarded_too() {
    let name = ToolName::new("double").expect("a name");
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let double = DynamicTool::new(name, "Doubles.", schema, |args| {
        Box::pin(async move { Ok(ToolOutput::json(json!(args["n"].as_i64().unwrap_or(0) * 2))) })
    });
    let guard = Guard::new();
    let model = script(&[&[("double", r#"{"n": "4"}"#)], &[("double", r#"{"m": 4}"#)]]);
    let agent = AgentBuilder::new(model.clone())
        .dynamic_tool(guard.dynamic_tool(double.clone()).expect("a new name"))
        .add_hook(guard.clone())
        .build();
    run(&agent).await;
    let told = texts(&model);
    assert_eq!(told[0], "8");
    assert!(told[1].starts_with("Please rewrite the input"), "{told:?}");
    let again = guard.dynamic_tool(double).expect_err("it is there already");
    assert!(again.to_string().contains("two tools are named"), "{again}");
}

/// Adds two whole numbers.
#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[tokio::test]
async fn a_toolbox_serves_an_agent() {
    let add = ToolDef::new("add", |args: Add| async move {
        ToolResult::Ok(Sum {
            sum: args.a + args.b,
        })
    });
    let toolbox = Arc::new(Toolbox::builder().tool(add).build().expect("a good tool"));
    let guard = Guard::new();
    let model = script(&[
        &[("add", r#"{"a": 1, "b": "2"}"#)],
        &[("add", r#"{"a": 1}"#)],
        &[("add", r#"{"a": 1, "b": 2}"#)],
    ]);
    let agent = AgentBuilder::new(model.clone())
        .dynamic_tools(guard.toolbox(&toolbox).expect("new names"))
        .add_hook(guard)
        .build();
    run(&agent).await;
    let told = texts(&model);
    assert_eq!(told[0], r#"{"sum":3}"#);
    assert!(
        told[1].ends_with("Errors: b: Required (integer)"),
        "{told:?}"
    );
    assert!(told[2].starts_with(r#"{"sum":3}"#), "{told:?}");
    // It counts in the toolbox's own ledger; a direct call is another session.
    let call = callwright::Call::from_text("add", r#"{"a": 1, "b": 2}"#);
    let settled = toolbox.invoke(&call, Place::new("elsewhere", 0, 0)).await;
    assert!(settled.notice().is_none());
}

#[tokio::test]
async fn a_policy_can_say_more_than_rig() {
    struct Slow;
    impl PortableTool for Slow {
        const NAME: &'static str = "slow";
        type Args = Value;
        type Output = String;
        type Error = ToolExecutionError;
        fn description(&self) -> String {
            "Takes its time.".to_owned()
        }
        fn parameters(&self) -> Value {
            json!({"type": "object", "properties": {"colour": {"enum": ["red", "turquoise"]}}})
        }
        async fn call(&self, args: Value) -> Result<String, ToolExecutionError> {
            if args["colour"] == "red" {
                std::future::pending::<()>().await;
            }
            Ok("painted".to_owned())
        }
    }
    let mut slow = ToolPolicy::new("slow");
    slow.run.timeout = Some(Duration::from_millis(20));
    let mut policy = Policy::default();
    policy.tools.push(slow);
    let guard = Guard::with(GuardSettings {
        policy,
        ..GuardSettings::default()
    });
    // A guess is only accepted where it cannot do harm.
    let reads = guard.tool_as(Slow, |spec| spec.with_effect(Effect::Read));
    let model = script(&[
        &[("slow", r#"{"colour": "turquoisse"}"#)],
        &[("slow", r#"{"colour": "red"}"#)],
    ]);
    let agent = AgentBuilder::new(model.clone())
        .tool(reads.expect("a new name"))
        .add_hook(guard)
        .build();
    run(&agent).await;
    let told = texts(&model);
    let corrected = r#"colour was "turquoisse"; sent on as "turquoise""#;
    let noted = format!("painted\n\n[Note: the arguments were corrected: {corrected}.]");
    assert_eq!(told[0], noted);
    assert!(told[1].contains("did not answer within 20 ms"), "{told:?}");
}

#[tokio::test]
async fn a_streamed_run_is_guarded_the_same_way() {
    let stream = |id: &str, tool: &str, arguments: &str| {
        vec![
            MockStreamEvent::tool_call_name_delta(id, tool),
            MockStreamEvent::tool_call_arguments_delta(id, arguments),
            MockStreamEvent::tool_call_end(id),
            MockStreamEvent::final_response_with_total_tokens(4),
        ]
    };
    let model = MockCompletionModel::from_stream_turns([
        stream("1", "search", r#"{"query": "tea", "limit": "3"}"#),
        stream("2", "search", r#"{"query": "tea", "limit": }"#),
        stream("3", "search", r#"{"limit": 3}"#),
        vec![
            MockStreamEvent::text("done"),
            MockStreamEvent::final_response_with_total_tokens(4),
        ],
    ]);
    let search = Search::default();
    let agent = agent(&model, &Guard::new(), search.clone());
    let items = agent.prompt("Go.").max_turns(9).stream();
    let items: Vec<_> = items.collect().await;
    assert!(items.iter().all(Result::is_ok), "the run ends well");
    let told = texts(&model);
    assert_eq!(told[0], r#"{"found":"tea","limit":3}"#);
    assert!(told[1].starts_with("Please rewrite the input"), "{told:?}");
    assert!(told[2].ends_with("Errors: query: Required"), "{told:?}");
    assert_eq!(search.0.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_cut_off_call_is_not_run_however_whole_it_looks() {
    let search = Search::default();
    let whole: &[(&str, &str)] = &[("search", r#"{"query": "tea", "limit": 3}"#)];
    let turns = [
        calls(0, whole).with_finish_reason(FinishReason::Length),
        calls(1, whole),
        MockTurn::text("done"),
    ];
    let model = MockCompletionModel::from_turns(turns);
    let agent = agent(&model, &Guard::new(), search.clone());
    run(&agent).await;
    let told = texts(&model);
    assert!(told[0].contains("cut off"), "{told:?}");
    assert_eq!(told[1], r#"{"found":"tea","limit":3}"#);
    assert_eq!(search.0.load(Ordering::SeqCst), 1);
}
