//! A real `rmcp` server behind the guard, with a real client.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use callwright::check::ToolFailure;
use callwright::policy::{Policy, ToolPolicy};
use callwright::toolbox::{GuardSettings, ToolDef, ToolResult, Toolbox};
use callwright_rmcp::{GuardedServer, ToolboxServer};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, ContentBlock,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult,
    ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, Prompt,
    PromptMessage, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, Role, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleClient, RoleServer, RunningService, serve_directly};
use rmcp::{ErrorData, Json, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Barrier;

#[derive(Deserialize, JsonSchema)]
struct Search {
    query: String,
    limit: u32,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    found: String,
    limit: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Weigh {
    #[expect(dead_code, reason = "only read")]
    what: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Clone)]
struct Shop {
    tool_router: ToolRouter<Self>,
    runs: Arc<AtomicU32>,
    lists: Arc<AtomicU32>,
    /// Released when all callers have arrived.
    meeting: Arc<Barrier>,
    /// Listed after the others, on a separate page.
    late: Arc<std::sync::Mutex<Vec<Tool>>>,
}

#[tool_router]
impl Shop {
    fn new() -> Self {
        Shop {
            tool_router: Self::tool_router(),
            runs: Arc::default(),
            lists: Arc::default(),
            meeting: Arc::new(Barrier::new(8)),
            late: Arc::default(),
        }
    }

    #[tool(description = "Searches the catalogue.")]
    async fn search(&self, Parameters(args): Parameters<Search>) -> Result<Json<Found>, ErrorData> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        match args.query.as_str() {
            "internal" => Err(ErrorData::internal_error(
                "postgres://root:hunter2@db",
                None,
            )),
            "client" => Err(ErrorData::resource_not_found("no such shop", None)),
            query => Ok(Json(Found {
                found: query.to_owned(),
                limit: args.limit,
            })),
        }
    }

    #[tool(
        description = "Weighs, but not as it says.",
        output_schema = std::sync::Arc::new(
            serde_json::from_value(json!({"type": "object", "properties": {"grams": {"type": "number"}}, "required": ["grams"]})).expect("an object")
        )
    )]
    async fn weigh(&self, Parameters(_): Parameters<Weigh>) -> CallToolResult {
        CallToolResult::structured(json!({"pounds": 3}))
    }

    #[tool(description = "Never has anything.")]
    async fn stock(&self, Parameters(_): Parameters<Nothing>) -> CallToolResult {
        self.runs.fetch_add(1, Ordering::SeqCst);
        CallToolResult::error(vec![
            ContentBlock::text("Out of stock."),
            ContentBlock::image("aGVsbG8=", "image/png"),
        ])
    }

    #[tool(description = "Hands out the manual, a file.")]
    async fn manual(&self, Parameters(_): Parameters<Nothing>) -> CallToolResult {
        CallToolResult::success(vec![
            ContentBlock::text("Here it is."),
            ContentBlock::embedded_text("file:///manual", "page ".repeat(1_000)),
        ])
    }

    #[tool(description = "Waits for the others.")]
    async fn meet(&self, Parameters(_): Parameters<Nothing>) -> String {
        self.meeting.wait().await;
        "met".to_owned()
    }

    #[tool(description = "Breaks.")]
    async fn crash(&self, Parameters(_): Parameters<Nothing>) -> String {
        let broken = std::hint::black_box(true);
        assert!(!broken, "secret");
        String::new()
    }

    #[tool(description = "Never ends.")]
    async fn hang(&self, Parameters(_): Parameters<Nothing>) -> String {
        std::future::pending().await
    }
}

#[tool_handler]
impl ServerHandler for Shop {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities).with_instructions("Be polite.")
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.lists.fetch_add(1, Ordering::SeqCst);
        // Two pages.
        if request.and_then(|request| request.cursor).is_some() {
            let late = self.late.lock().expect("no panic").clone();
            return Ok(ListToolsResult::with_all_items(late));
        }
        let mut page = ListToolsResult::with_all_items(self.tool_router.list_all());
        page.next_cursor = Some("2".to_owned());
        Ok(page)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let greet = Prompt::new("greet", Some("Greets."), None);
        Ok(ListPromptsResult::with_all_items(vec![greet]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let text = format!("Say hello as {}.", request.name);
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let list = Resource::new("shop://prices", "prices");
        Ok(ListResourcesResult::with_all_items(vec![list]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != "shop://prices" {
            return Err(ErrorData::resource_not_found("no such list", None));
        }
        let prices = ResourceContents::text("tea 3", request.uri);
        Ok(ReadResourceResult::new(vec![prices]).into())
    }
}

type Client = RunningService<RoleClient, ()>;

/// A client of a server that runs until the client disconnects.
async fn client(server: impl ServerHandler) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        let running = server.serve(theirs).await.expect("a client comes");
        running.waiting().await
    });
    ().serve(ours).await.expect("a server is there")
}

async fn call(client: &Client, tool: &str, arguments: Value) -> CallToolResult {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    client
        .call_tool(request)
        .await
        .expect("never a protocol error")
}

/// What the model reads, and whether it is an error.
fn read(result: &CallToolResult) -> (String, bool) {
    let texts = result.content.iter().map(|block| match block {
        ContentBlock::Text(text) => text.text.clone(),
        _ => "a picture".to_owned(),
    });
    let text = texts.collect::<Vec<_>>().join(" | ");
    (text, result.is_error == Some(true))
}

#[tokio::test]
async fn calls_are_repaired_refused_and_answered() {
    let shop = Shop::new();
    let client = client(GuardedServer::new(shop.clone())).await;

    let good = call(&client, "search", json!({"query": "tea", "limit": 3})).await;
    assert_eq!(
        good.structured_content,
        Some(json!({"found": "tea", "limit": 3}))
    );
    assert!(!read(&good).1);

    let repaired = call(&client, "search", json!({"query": "tea", "limit": "10"})).await;
    assert_eq!(
        repaired.structured_content,
        Some(json!({"found": "tea", "limit": 10}))
    );

    let refused = call(&client, "search", json!({"limit": 3})).await;
    let told = "Please rewrite the input with valid arguments. Errors: query: Required".to_owned();
    assert_eq!(read(&refused), (told, true));
    assert_eq!(refused.structured_content, None);

    let unknown = call(&client, "serch", json!({"query": "tea", "limit": 3})).await;
    let told = "There is no tool named \"serch\". Did you mean \"search\"? \
                Call one of the tools you were given, by its exact name.";
    assert_eq!(read(&unknown), (told.to_owned(), true));

    assert_eq!(shop.runs.load(Ordering::SeqCst), 2);
    // The guard read both pages once.
    assert_eq!(shop.lists.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn results_are_held_to_their_schema() {
    let client = client(GuardedServer::new(Shop::new())).await;
    let result = call(&client, "weigh", json!({"what": "tea"})).await;
    let (told, is_error) = read(&result);
    assert!(is_error);
    assert!(
        told.starts_with("The result does not fit its schema: grams: Required"),
        "{told}"
    );
    assert_eq!(result.structured_content, None);
}

#[tokio::test]
async fn texts_inside_resources_are_cut_as_well() {
    let policy = Policy::from_toml("[output]\nmax_bytes = 200").expect("a policy");
    let settings = GuardSettings {
        policy,
        ..GuardSettings::default()
    };
    let client = client(GuardedServer::with(Shop::new(), settings)).await;
    let result = call(&client, "manual", json!({})).await;
    let result = serde_json::to_value(&result).expect("JSON");
    let blocks = result["content"].as_array().expect("blocks");
    assert_eq!(blocks.len(), 3, "{result}");
    assert_eq!(blocks[0]["text"], "Here it is.");
    let page = blocks[1]["resource"]["text"].as_str().expect("a text");
    assert_eq!(page.len(), 200 - "Here it is.".len());
    let note = blocks[2]["text"].as_str().expect("a note");
    assert!(note.contains("these are the first 200"), "{note}");
}

#[tokio::test]
async fn errors_of_a_tool_pass_unmasked_and_are_counted() {
    let shop = Shop::new();
    let client = client(GuardedServer::new(shop.clone())).await;
    let own = "Out of stock. | a picture".to_owned();
    let first = call(&client, "stock", json!({})).await;
    assert_eq!(read(&first), (own.clone(), true));
    let second = read(&call(&client, "stock", json!({})).await);
    assert!(
        second.1 && second.0.starts_with(&format!("{own} | ")),
        "{second:?}"
    );
    call(&client, "stock", json!({})).await;
    let (told, is_error) = read(&call(&client, "stock", json!({})).await);
    assert!(is_error);
    assert!(
        told.starts_with("This exact call failed the same way 3 times in a row"),
        "{told}"
    );
    assert_eq!(shop.runs.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn clients_are_counted_apart_and_silence_starts_a_turn() {
    let shop = Shop::new();
    let guarded = Arc::new(GuardedServer::new(shop.clone()).quiet(Duration::ZERO));
    let one = client(Arc::clone(&guarded)).await;
    // Any pause begins a new turn here, so nothing accumulates.
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_millis(2)).await;
        let (told, _) = read(&call(&one, "stock", json!({})).await);
        assert_eq!(told, "Out of stock. | a picture");
    }
    let guarded = Arc::new(GuardedServer::new(shop.clone()));
    for _ in 0..5 {
        let one_more = client(Arc::clone(&guarded)).await;
        let (told, _) = read(&call(&one_more, "stock", json!({})).await);
        assert_eq!(told, "Out of stock. | a picture");
    }
    assert_eq!(shop.runs.load(Ordering::SeqCst), 10);
}

#[tokio::test]
async fn protocol_errors_panics_and_hangs() {
    let mut hang = ToolPolicy::new("hang");
    hang.run.timeout = Some(Duration::from_millis(20));
    let mut policy = Policy::default();
    policy.tools.push(hang);
    let settings = GuardSettings {
        policy,
        ..GuardSettings::default()
    };
    let client = client(GuardedServer::with(Shop::new(), settings)).await;

    let internal = call(&client, "search", json!({"query": "internal", "limit": 1})).await;
    let (told, is_error) = read(&internal);
    assert!(is_error && told.contains("internal error"), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
    let (told, is_error) = read(&call(&client, "crash", json!({})).await);
    assert!(is_error && !told.contains("secret"), "{told}");
    let (told, is_error) = read(&call(&client, "hang", json!({})).await);
    assert!(is_error && told.contains("20 ms"), "{told}");

    // An error that the client can handle stays as it is.
    let request = CallToolRequestParams::new("search").with_arguments(
        json!({"query": "client", "limit": 1})
            .as_object()
            .cloned()
            .expect("an object"),
    );
    let error = client
        .call_tool(request)
        .await
        .expect_err("a protocol error");
    assert!(error.to_string().contains("no such shop"), "{error}");
}

#[tokio::test]
async fn everything_else_passes_untouched() {
    let plain = client(Shop::new()).await;
    let guarded = client(GuardedServer::new(Shop::new())).await;
    let both = [&plain, &guarded];
    let mut seen = Vec::new();
    for client in both {
        let uri = "shop://prices";
        let missing = ReadResourceRequestParams::new("shop://none");
        seen.push((
            client.peer_info(),
            client.list_all_tools().await.expect("tools"),
            client.list_all_prompts().await.expect("prompts"),
            client
                .get_prompt(GetPromptRequestParams::new("Ann"))
                .await
                .expect("a prompt"),
            client.list_all_resources().await.expect("resources"),
            client
                .read_resource(ReadResourceRequestParams::new(uri))
                .await
                .expect("a resource"),
            client
                .read_resource(missing)
                .await
                .expect_err("nothing there")
                .to_string(),
        ));
    }
    assert_eq!(format!("{:?}", seen[0]), format!("{:?}", seen[1]));
}

#[tokio::test]
async fn calls_run_side_by_side() {
    let shop = Shop::new();
    let client = client(GuardedServer::new(shop.clone())).await;
    // The calls differ: eight identical ones would be too many.
    let calls = (0..8).map(|who| call(&client, "meet", json!({ "who": who })));
    let all = futures_util::future::join_all(calls);
    // They complete only if all of them run at once.
    let all = tokio::time::timeout(Duration::from_secs(60), all)
        .await
        .expect("no deadlock");
    for result in &all {
        assert_eq!(read(result), ("met".to_owned(), false));
    }
    // Both pages were read once for all of them.
    assert_eq!(shop.lists.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn tools_that_come_later_are_found() {
    let shop = Shop::new();
    let guarded = Arc::new(GuardedServer::new(shop.clone()));
    let client = client(Arc::clone(&guarded)).await;
    let told = read(&call(&client, "late", json!({})).await).0;
    assert!(
        told.starts_with("There is no tool named \"late\""),
        "{told}"
    );
    let late = Tool::new("late", "Comes late.", serde_json::Map::new());
    shop.late.lock().expect("no panic").push(late);
    let lists = shop.lists.load(Ordering::SeqCst);
    call(&client, "late", json!({})).await;
    assert_eq!(
        shop.lists.load(Ordering::SeqCst),
        lists,
        "not asked per call"
    );
    // As a client does when it is notified that the tools have changed.
    client.list_all_tools().await.expect("tools");
    let found = CallToolRequestParams::new("late").with_arguments(serde_json::Map::new());
    let missing = client.call_tool(found.clone()).await;
    let missing = format!("{missing:?}");
    assert!(!missing.contains("There is no tool named"), "{missing}");
    shop.late.lock().expect("no panic").clear();
    guarded.refresh();
    let told = read(&call(&client, "late", json!({})).await).0;
    assert!(
        told.starts_with("There is no tool named \"late\""),
        "{told}"
    );
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
async fn a_toolbox_is_a_server() {
    let toolbox = Toolbox::builder()
        .tool(ToolDef::new("add", |args: Add| async move {
            match args.a.checked_add(args.b) {
                Some(sum) => Ok(Sum { sum }),
                None => Err(ToolFailure::new("too_large", "The sum is too large.")),
            }
        }))
        .tool(ToolDef::new("noon", |(): ()| async {
            ToolResult::Ok("12:00".to_owned())
        }))
        .build()
        .expect("good tools");
    let client = client(ToolboxServer::new(toolbox)).await;

    let tools = client.list_all_tools().await.expect("tools");
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["add", "noon"]);
    assert_eq!(
        tools[0].description.as_deref(),
        Some("Adds two whole numbers.")
    );
    assert_eq!(tools[0].input_schema["required"], json!(["a", "b"]));
    let output = tools[0].output_schema.as_ref().expect("a schema");
    assert_eq!(output["required"], json!(["sum"]));

    let sum = call(&client, "add", json!({"a": 2, "b": "3"})).await;
    assert_eq!(sum.structured_content, Some(json!({"sum": 5})));
    assert_eq!(read(&sum), (r#"{"sum":5}"#.to_owned(), false));
    let noon = call(&client, "noon", json!({})).await;
    assert_eq!(read(&noon), ("12:00".to_owned(), false));
    let refused = read(&call(&client, "add", json!({"a": 2})).await);
    let told = "Please rewrite the input with valid arguments. Errors: b: Required (integer)";
    assert_eq!(refused, (told.to_owned(), true));
    let failed = read(&call(&client, "add", json!({"a": i64::MAX, "b": 1})).await);
    assert!(
        failed.1 && failed.0.starts_with("The sum is too large."),
        "{failed:?}"
    );
    let unknown = read(&call(&client, "ad", json!({})).await);
    assert!(
        unknown.1 && unknown.0.contains("Did you mean \"add\"?"),
        "{unknown:?}"
    );
}

/// Asks before it deletes, as the newest protocol allows.
#[derive(Clone, Default)]
struct Asks(Arc<AtomicU32>);

impl ServerHandler for Asks {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
        let schema = schema.as_object().cloned().expect("an object");
        let delete = Tool::new("delete", "Deletes.", schema)
            .with_annotations(ToolAnnotations::new().destructive(true));
        Ok(ListToolsResult::with_all_items(vec![delete]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(match request.request_state.as_deref() {
            None => InputRequiredResult::new(None, Some("sure?".to_owned())).into(),
            Some(_) => CallToolResult::success(vec![ContentBlock::text("deleted")]).into(),
        })
    }
}

#[tokio::test]
async fn a_call_that_asks_first_is_one_call() {
    let asks = Asks::default();
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let newest = ProtocolVersion::V_2026_07_28;
    let mut us = ClientConfig::default();
    us.protocol_version = newest.clone();
    let server = GuardedServer::new(asks.clone());
    let _server = serve_directly::<RoleServer, _, _, _, _>(server, theirs, Some(us));
    let them = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        .with_protocol_version(newest);
    let client = serve_directly::<RoleClient, _, _, _, _>((), ours, Some(them.into()));

    // The client calls, is asked, and answers; a destructive tool may be called like this only once.
    let deleted = call(&client, "delete", json!({"id": "7"})).await;
    assert_eq!(read(&deleted), ("deleted".to_owned(), false));
    assert_eq!(asks.0.load(Ordering::SeqCst), 2);
    let refused = call(&client, "delete", json!({"id": "seven"})).await;
    assert!(refused.is_error == Some(true), "{refused:?}");
    assert_eq!(asks.0.load(Ordering::SeqCst), 2);
}
