//! Runs `corpus/present` through a guarded server, and through a served toolbox, each with a real client.
#![allow(clippy::expect_used, reason = "a test may panic")]

#[path = "../../callwright/tests/present_cases/mod.rs"]
mod present_cases;
#[path = "../../callwright/tests/present_cases/toolbox.rs"]
mod present_toolbox;

use callwright::toolbox::GuardSettings;
use callwright_rmcp::{GuardedServer, ToolboxServer};
use present_cases::{PresentCase, TOOL, cases};
use present_toolbox::toolbox;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde_json::Value;

/// A server that answers as the case says.
struct Scripted(PresentCase);

impl ServerHandler for Scripted {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = serde_json::from_value(self.0.tool().clone()).expect("a tool");
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result: CallToolResult = serde_json::from_value(self.0.mcp_result()).expect("a result");
        Ok(result.into())
    }
}

/// What a client gets for its last call.
async fn answered(server: impl ServerHandler, case: &PresentCase) -> Value {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn(async move {
        let running = server.serve(theirs).await.expect("a client comes");
        running.waiting().await
    });
    let client = ().serve(ours).await.expect("a server is there");
    let mut answer = Value::Null;
    for _ in 0..case.times() {
        let arguments = case.arguments().as_object().cloned().expect("an object");
        let request = CallToolRequestParams::new(TOOL).with_arguments(arguments);
        let result = client
            .call_tool(request)
            .await
            .expect("never a protocol error");
        answer = serde_json::to_value(result).expect("JSON");
    }
    client.cancel().await.expect("the client ends");
    serving.abort();
    answer
}

#[tokio::test]
async fn a_guarded_server_shows_a_settled_call_as_everywhere() {
    for case in cases() {
        let settings = GuardSettings {
            policy: case.policy(),
            feedback: case.feedback(),
            ..GuardSettings::default()
        };
        let server = GuardedServer::with(Scripted(case.clone()), settings);
        case.check_blocks("guarded server", &answered(server, &case).await);
    }
}

#[tokio::test]
async fn a_toolbox_server_shows_a_settled_call_as_everywhere() {
    for case in cases() {
        let answer = answered(ToolboxServer::new(toolbox(&case)), &case).await;
        let text = answer["content"][0]["text"].as_str().expect("a text");
        case.check_text("toolbox server", text, None);
        case.check_structure("toolbox server", &answer);
    }
}
