//! The server's methods: tool calls go through the guard, all others straight to the inner handler.
//!
//! The lint fails if `rmcp` has a method that is not delegated.
#![expect(deprecated, reason = "requests of old clients are delegated too")]

use std::borrow::Cow;
use std::future::Future;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    CompleteRequestParams, CompleteResult, CustomNotification, CustomRequest, CustomResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{
    MaybeSendFuture, NotificationContext, RequestContext, RoleServer, SubscriptionContext,
};
use rmcp::{ErrorData, ServerHandler};

use crate::guarded_server::GuardedServer;

/// Methods that only call the inner handler.
macro_rules! delegate {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $output:ty;)*) => {$(
        fn $name(
            &self,
            $($argument: $kind,)*
        ) -> impl Future<Output = $output> + MaybeSendFuture + '_ {
            self.handler.$name($($argument),*)
        }
    )*};
}

type Request = RequestContext<RoleServer>;
type Notification = NotificationContext<RoleServer>;
type Page = Option<PaginatedRequestParams>;
type Answer<T> = Result<T, ErrorData>;

#[warn(clippy::missing_trait_methods)]
impl<H: ServerHandler> ServerHandler for GuardedServer<H> {
    fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Request,
    ) -> impl Future<Output = Answer<CallToolResponse>> + MaybeSendFuture + '_ {
        self.guard(request, context)
    }

    async fn list_tools(&self, request: Page, context: Request) -> Answer<ListToolsResult> {
        self.lists(request.as_ref(), &context);
        self.handler.list_tools(request, context).await
    }

    delegate! {
        ping(context: Request) -> Answer<()>;
        initialize(request: InitializeRequestParams, context: Request) -> Answer<InitializeResult>;
        discover(context: Request) -> Answer<DiscoverResult>;
        complete(request: CompleteRequestParams, context: Request) -> Answer<CompleteResult>;
        set_level(request: SetLevelRequestParams, context: Request) -> Answer<()>;
        get_prompt(request: GetPromptRequestParams, context: Request) -> Answer<GetPromptResponse>;
        list_prompts(request: Page, context: Request) -> Answer<ListPromptsResult>;
        list_resources(request: Page, context: Request) -> Answer<ListResourcesResult>;
        list_resource_templates(request: Page, context: Request) -> Answer<ListResourceTemplatesResult>;
        read_resource(request: ReadResourceRequestParams, context: Request) -> Answer<ReadResourceResponse>;
        listen(context: SubscriptionContext) -> Answer<()>;
        subscribe(request: SubscribeRequestParams, context: Request) -> Answer<()>;
        unsubscribe(request: UnsubscribeRequestParams, context: Request) -> Answer<()>;
        on_custom_request(request: CustomRequest, context: Request) -> Answer<CustomResult>;
        on_cancelled(notification: CancelledNotificationParam, context: Notification) -> ();
        on_progress(notification: ProgressNotificationParam, context: Notification) -> ();
        on_initialized(context: Notification) -> ();
        on_roots_list_changed(context: Notification) -> ();
        on_custom_notification(notification: CustomNotification, context: Notification) -> ();
        get_task(request: GetTaskParams, context: Request) -> Answer<GetTaskResult>;
        update_task(request: UpdateTaskParams, context: Request) -> Answer<()>;
        cancel_task(request: CancelTaskParams, context: Request) -> Answer<()>;
    }

    fn get_info(&self) -> ServerConfig {
        self.handler.get_info()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.handler.get_tool(name)
    }

    fn negotiate_initialize(&self, request: &InitializeRequestParams) -> Answer<InitializeResult> {
        self.handler.negotiate_initialize(request)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.handler.supported_protocol_versions()
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.handler.accepted_subscription_filter(requested)
    }
}
