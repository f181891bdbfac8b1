//! A tool as a program defines it: its declaration, the function that runs it, and its settings.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::agreement::input_disagreement;
use super::context::{CallContext, Origin};
use super::convert::{FromArguments, IntoOutput};
use super::function::{Async, Blocking, Finish, Handler, Start, TypedFunction, disagreement};
use super::schema::{derive_input, output_schema};
use crate::json::{from_type, to_arguments};
use crate::policy::{Advice, OutputSettings, ToolPolicy};
use crate::repair::RepairPolicy;
use crate::vocabulary::{Detector, Effect, Finding, Output, OutputCheck, ToolFailure, ToolSpec};

/// What a tool's function returns: a result, or a [`ToolFailure`], which `?` makes from any [`std::error::Error`]. (Boxed
/// errors and those of `anyhow` need [`ToolFailure::from_boxed`].) In a closure, `ToolResult::Ok(…)` fixes the error type.
pub type ToolResult<O> = Result<O, ToolFailure>;

/// A tool: its declaration for the model, and the function that runs when it is called.
///
/// The type of the arguments serves as the validator, the JSON Schema for the model, the parsed value and the documentation.
///
/// ```
/// use callwright::toolbox::{ToolDef, ToolResult};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// Looks up the weather of a city.
/// #[derive(Deserialize, JsonSchema)]
/// struct GetWeather {
///     /// The city, in English
///     city: String,
///     /// How many days ahead
///     #[serde(default)]
///     #[schemars(range(max = 7))]
///     days: u8,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Weather {
///     celsius: f64,
/// }
///
/// async fn get_weather(args: GetWeather) -> ToolResult<Weather> {
///     Ok(Weather { celsius: 11.5 - f64::from(args.days) })
/// }
///
/// let tool = ToolDef::new("get_weather", get_weather);
/// assert_eq!(tool.spec().description.as_deref(), Some("Looks up the weather of a city."));
/// ```
#[must_use = "put it into a toolbox"]
pub struct ToolDef<A, O> {
    spec: ToolSpec,
    policy: ToolPolicy,
    function: TypedFunction<A, O>,
    defect: Option<String>,
}

impl<A, O> ToolDef<A, O>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    O: Serialize + JsonSchema + Send + 'static,
{
    /// A tool from an async function or closure over typed arguments. Its description is the doc comment of the argument type.
    ///
    /// A function that blocks its thread between two awaits delays all other calls on that thread, and cannot be timed out: use
    /// [`ToolDef::blocking`] instead.
    pub fn new<F, R, E>(name: impl Into<String>, function: F) -> Self
    where
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, E>> + Send + 'static,
        E: Into<ToolFailure>,
    {
        ToolDef::typed(
            name.into(),
            Arc::new(Async(move |arguments, _: Origin<'_>| function(arguments))),
        )
    }

    /// A tool whose function gets the [`CallContext`], which identifies the call.
    pub fn with_context<F, R, E>(name: impl Into<String>, function: F) -> Self
    where
        F: Fn(A, CallContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, E>> + Send + 'static,
        E: Into<ToolFailure>,
    {
        ToolDef::typed(
            name.into(),
            Arc::new(Async(move |arguments, origin: Origin<'_>| {
                function(arguments, origin.into())
            })),
        )
    }

    /// A tool whose function blocks: each call runs on its own thread. When its time is up, the call ends and the next one may
    /// start, but the thread continues until the function returns. A tool may have 64 threads at once; if all its calls hang,
    /// it blocks only itself.
    pub fn blocking<F, E>(name: impl Into<String>, function: F) -> Self
    where
        F: Fn(A) -> Result<O, E> + Send + Sync + 'static,
        E: Into<ToolFailure>,
    {
        ToolDef::typed(name.into(), Arc::new(Blocking::new(function)))
    }

    fn typed(name: String, start: Arc<dyn Start<A, O>>) -> Self {
        let (schema, description, defect) = match derive_input::<A>() {
            Ok(derived) => {
                let defect = input_disagreement::<A>(&derived.schema);
                (Some(derived.schema.into()), derived.description, defect)
            }
            Err(error) => (None, None, Some(error.to_string())),
        };
        let spec = ToolSpec {
            description,
            input_schema: schema,
            output_schema: Some(output_schema::<O>().into()),
            ..ToolSpec::without_schema(name)
        };
        ToolDef::of(
            spec,
            TypedFunction {
                start,
                read: |arguments| to_arguments(arguments).map_err(|it| disagreement(&it)),
                finish: Finish::new(|output| match from_type(&output) {
                    Ok(value) => Output::Value(value),
                    Err(mismatch) => Output::Unwritable {
                        why: mismatch.to_string(),
                        path: mismatch.path(),
                    },
                }),
            },
            defect,
        )
    }
}

impl<A, O> ToolDef<A, O>
where
    A: FromArguments,
    O: IntoOutput,
{
    /// A tool declared by a JSON Schema from any source. Its function takes the arguments as a [`crate::json::Value`] or as
    /// JSON text, both of which keep every digit, or as a [`serde_json::Value`]. An integer that a `serde_json::Value` cannot
    /// represent fails the call, since it would become a different number.
    ///
    /// ```
    /// use callwright::ToolSpec;
    /// use callwright::toolbox::{ToolDef, ToolResult};
    /// use serde_json::{Value, json};
    ///
    /// let spec = ToolSpec::new("add", json!({
    ///     "type": "object",
    ///     "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    ///     "required": ["a", "b"],
    /// }));
    /// let add = ToolDef::dynamic(spec, |arguments: Value| async move {
    ///     let sum = arguments["a"].as_f64().unwrap_or(0.0) + arguments["b"].as_f64().unwrap_or(0.0);
    ///     ToolResult::Ok(json!({"sum": sum}))
    /// });
    /// # drop(add);
    /// ```
    pub fn dynamic<F, R, E>(spec: ToolSpec, function: F) -> Self
    where
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, E>> + Send + 'static,
        E: Into<ToolFailure>,
    {
        ToolDef::untyped(
            spec,
            Arc::new(Async(move |arguments, _: Origin<'_>| function(arguments))),
        )
    }

    /// The same, with a function that blocks: see [`ToolDef::blocking`].
    pub fn dynamic_blocking<F, E>(spec: ToolSpec, function: F) -> Self
    where
        F: Fn(A) -> Result<O, E> + Send + Sync + 'static,
        E: Into<ToolFailure>,
    {
        ToolDef::untyped(spec, Arc::new(Blocking::new(function)))
    }

    /// The same, with a function that gets the [`CallContext`].
    pub fn dynamic_with_context<F, R, E>(spec: ToolSpec, function: F) -> Self
    where
        F: Fn(A, CallContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, E>> + Send + 'static,
        E: Into<ToolFailure>,
    {
        ToolDef::untyped(
            spec,
            Arc::new(Async(move |arguments, origin: Origin<'_>| {
                function(arguments, origin.into())
            })),
        )
    }

    fn untyped(spec: ToolSpec, start: Arc<dyn Start<A, O>>) -> Self {
        let function = TypedFunction {
            start,
            read: A::from_arguments,
            finish: Finish::new(O::into_output),
        };
        ToolDef::of(spec, function, None)
    }
}

impl<A, O> ToolDef<A, O> {
    fn of(spec: ToolSpec, function: TypedFunction<A, O>, defect: Option<String>) -> Self {
        ToolDef {
            policy: ToolPolicy::new(spec.name.clone()),
            spec,
            function,
            defect,
        }
    }

    /// The tool's declaration, as the model sees it.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Sets the description.
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.spec.description = Some(description.into());
        self
    }

    /// Declares what the tool does to the world. A tool that may change something never runs twice for one call.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.spec = self.spec.with_effect(effect);
        self
    }

    /// Declares that running the tool twice has the same effect as once.
    pub fn idempotent(mut self) -> Self {
        self.spec.idempotent = true;
        self
    }

    /// Sets the time limit of a call.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.policy.run.timeout = Some(timeout);
        self
    }

    /// Sets how often a call runs again after a transient failure. A tool that may change something does not, unless it is
    /// idempotent.
    pub fn retries(mut self, retries: u32) -> Self {
        self.policy.run.retries = Some(retries);
        self
    }

    /// Sets how many calls of the tool may run at once.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.policy.run.concurrency = Some(calls);
        self
    }

    /// Sets what to look for in the results beyond the schema.
    pub fn detect(mut self, detect: impl IntoIterator<Item = Detector>) -> Self {
        self.policy.output.detect = Some(detect.into_iter().collect());
        self
    }

    /// Sets how the results are judged. (The toolbox's policy overrides it.)
    pub fn output(mut self, output: OutputSettings) -> Self {
        let checks = std::mem::take(&mut self.policy.output.checks);
        self.policy.output = output;
        self.policy.output.checks.extend(checks);
        self
    }

    /// Sets which repairs of the arguments are applied without asking.
    pub fn repair(mut self, repair: RepairPolicy) -> Self {
        self.policy.repair = Some(repair);
        self
    }

    /// Sets recommendations for the model when the tool fails.
    pub fn advice(mut self, advice: Advice) -> Self {
        self.policy.advice = advice;
        self
    }

    /// Adds a semantic check of the result, for what a schema cannot express.
    ///
    /// ```
    /// # use callwright::toolbox::{ToolDef, ToolResult};
    /// # use callwright::check::Finding;
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)] struct Page { page: u32 }
    /// # #[derive(serde::Serialize, schemars::JsonSchema)] struct Orders { orders: Vec<String>, has_more: bool }
    /// # async fn orders(_: Page) -> ToolResult<Orders> { Ok(Orders { orders: vec![], has_more: true }) }
    /// let tool = ToolDef::new("orders", orders).check(|result| {
    ///     (result.has_more && result.orders.is_empty()).then(|| {
    ///         Finding::garbage("empty_page", "has_more=true but no orders came.")
    ///             .with_hint("Try a broader date range.")
    ///     })
    /// });
    /// # drop(tool);
    /// ```
    pub fn check(mut self, check: impl Fn(&O) -> Option<Finding> + Send + Sync + 'static) -> Self {
        self.function
            .finish
            .checks
            .push(Arc::new(move |_, output| check(output)));
        self
    }

    /// Adds a semantic check of the result against the arguments. (They are deserialised again for it, since the function has
    /// consumed them.)
    pub fn check_with(
        mut self,
        check: impl Fn(&A, &O) -> Option<Finding> + Send + Sync + 'static,
    ) -> Self
    where
        A: 'static,
    {
        let read = self.function.read;
        self.function
            .finish
            .checks
            .push(Arc::new(move |arguments, output| {
                check(&read(arguments).ok()?, output)
            }));
        self
    }

    /// Adds a check over plain JSON, as in policy files.
    pub fn check_json(mut self, check: OutputCheck) -> Self {
        self.policy.output.checks.push(check);
        self
    }
}

impl<A: Send + 'static, O: Send + 'static> ToolDef<A, O> {
    pub(super) fn register(self) -> RegisteredTool {
        RegisteredTool {
            spec: self.spec,
            policy: self.policy,
            defect: self.defect,
            handler: Arc::new(self.function),
        }
    }
}

impl<A, O> fmt::Debug for ToolDef<A, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolDef")
            .field("spec", &self.spec)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// A tool with its types erased.
#[derive(Debug)]
pub(super) struct RegisteredTool {
    pub(super) spec: ToolSpec,
    pub(super) policy: ToolPolicy,
    pub(super) handler: Arc<dyn Handler>,
    /// Why schema and type disagree, if they do.
    pub(super) defect: Option<String>,
}
