//! The points of the rule, each with its reason. docs/replay-rule.md shows the same table.

/// From this sum on a cluster is an edge case: one strong sign with nothing against it, or several weak ones.
pub const EDGE_CASE_FROM: i32 = 5;

/// Up to this sum a cluster is a bug: the signs against it outweigh those for it.
pub const BUG_UP_TO: i32 = -1;

/// A sign that no other outweighs: a text that is cut off is never legitimate, however often it comes.
pub(super) const NEVER: i32 = -20;

// What such violations are in general, before anything is known about this one.

/// A missing key was mostly forgotten.
pub(super) const MISSING_KEY: i32 = -2;
/// Another type is mostly a slip. (`null`, and a fraction where an integer belongs, are not: these say something.)
pub(super) const OTHER_TYPE: i32 = -2;
/// A key that nobody declared is mostly made up.
pub(super) const UNKNOWN_KEY: i32 = -2;
/// None of the alternatives, ruled out, not allowed: mostly confusion.
pub(super) const CONFUSION: i32 = -1;
/// A tool is what it is: its results are not made up. Rare ones that come steadily need little more.
pub(super) const OWN_RESULT: i32 = 2;

// What the tool made of such calls.

/// From this share on (of what the tool manages in general) it takes such calls.
pub(super) const TAKES_FROM: f64 = 0.8;
/// Below this share it fails for more than one in three that would have worked.
pub(super) const FAILS_BELOW: f64 = 0.65;
/// Below this share it fails for more than one in four: too many for a tool that takes such calls, and chance alone may
/// have lifted it over the limit above.
pub(super) const WAVERS_BELOW: f64 = 0.72;
/// Up to this share it refuses them.
pub(super) const REFUSES_UP_TO: f64 = 0.2;
/// How many results are many, some, few.
pub(super) const MANY_RESULTS: u64 = 20;
/// See [`MANY_RESULTS`].
pub(super) const SOME_RESULTS: u64 = 5;
/// See [`MANY_RESULTS`].
pub(super) const FEW_RESULTS: u64 = 3;
/// The tool takes them, and many were seen: enough by itself.
pub(super) const TAKES_MANY: i32 = 6;
/// Some were seen: just enough by itself.
pub(super) const TAKES_SOME: i32 = 5;
/// Some were seen, and one or two failed: chance makes a tool that refuses every third call look like this.
pub(super) const TAKES_SOME_NOT_ALL: i32 = 3;
/// From this share on none that counts has failed.
pub(super) const TAKES_ALL_FROM: f64 = 0.9;
/// Few were seen: needs one more sign.
pub(super) const TAKES_FEW: i32 = 4;
/// One or two were seen: may be luck.
pub(super) const TAKES_ONE: i32 = 2;
/// The tool takes them, and they only differ by a key that the schema does not name: it may just ignore the key.
pub(super) const TAKES_UNKNOWN_KEY: i32 = 2;
/// It fails often, and many were seen. Outweighs a spread over all models and the whole time (6).
pub(super) const FAILS_MANY: i32 = -7;
/// Some were seen.
pub(super) const FAILS_SOME: i32 = -6;
/// Few were seen.
pub(super) const FAILS_FEW: i32 = -4;
/// One or two were seen.
pub(super) const FAILS_ONE: i32 = -2;
/// It fails for one in four, and at least five were seen: a spread over all models and the whole time (6) does not
/// outweigh that. It stays unclear.
pub(super) const WAVERS: i32 = -3;
/// Few were seen, or fewer than this many and one in five fails: chance may have lifted them.
pub(super) const WAVERS_FEW: i32 = -2;
/// See [`WAVERS_FEW`].
pub(super) const SURE_RESULTS: u64 = 50;
/// It refuses them, and many were seen. Outweighs a spread over all models and the whole time (6), for models share
/// their mistakes.
pub(super) const REFUSES_MANY: i32 = -9;
/// Some were seen.
pub(super) const REFUSES_SOME: i32 = -8;
/// Few were seen.
pub(super) const REFUSES_FEW: i32 = -6;
/// One or two were seen: the tool may have failed for another reason.
pub(super) const REFUSES_ONE: i32 = -4;

/// Other values that break the same rule at the same place are taken: the rule is too tight there.
pub(super) const OTHERS_TAKEN: i32 = 2;
/// They are refused: the rule is right there.
pub(super) const OTHERS_REFUSED: i32 = -2;

/// Values that are farther beyond the same limit are an edge case: whoever allows them allows these.
pub(super) const FARTHER_TAKEN: i32 = 5;

/// So many different keys that nobody declared, in one object, look made up.
pub(super) const MANY_KEYS: usize = 4;
/// A key with this share of them stands out, and is judged by itself.
pub(super) const OWN_SHARE: f64 = 0.3;
/// One of many keys that were made up.
pub(super) const ONE_OF_MANY_KEYS: i32 = -4;

// What the model did next.

/// How many are needed, and which share: a model that corrects itself knows that it was wrong.
pub(super) const CORRECTED_CALLS: u64 = 5;
/// See [`CORRECTED_CALLS`].
pub(super) const CORRECTED_SHARE: f64 = 0.6;
/// Above this many calls of the tool per conversation the next call says nothing: it would have come anyway.
pub(super) const CALLS_PER_SESSION: f64 = 3.0;
/// The model corrected itself.
pub(super) const CORRECTED: i32 = -2;

// Spread.

/// How many calls of a cluster are needed before their spread says something.
pub(super) const SPREAD_CALLS: u64 = 5;
/// How many stretches of time, models or conversations must be expected before "only one" says something.
pub(super) const SPREAD_EXPECTED: f64 = 2.5;
/// From this share of the expected stretches of time on it is steady.
pub(super) const STEADY_FROM: f64 = 0.6;
/// Up to this share it is a burst.
pub(super) const BURST_UP_TO: f64 = 0.34;
/// It comes steadily.
pub(super) const STEADY: i32 = 2;
/// It came in a burst: a bad deployment, one broken prompt.
pub(super) const BURST: i32 = -5;
/// From so many stretches of time on, and in several conversations, it is a season or a new version rather than an
/// accident.
pub(super) const SEASON_FROM: usize = 3;
/// A season: a tool that takes such calls still has more for it.
pub(super) const SEASON: i32 = -2;
/// From so many conversations on they are many.
pub(super) const MANY_SESSIONS: u64 = 50;
/// From so many on they are several.
pub(super) const SEVERAL_SESSIONS: u64 = 10;
/// Many conversations.
pub(super) const IN_MANY_SESSIONS: i32 = 2;
/// Several.
pub(super) const IN_SEVERAL_SESSIONS: i32 = 1;
/// One or two conversations that could have been many: a model that is stuck.
pub(super) const IN_ONE_SESSION: i32 = -4;
/// All of three models or more that call the tool.
pub(super) const ALL_MODELS: i32 = 2;
/// Several models.
pub(super) const SEVERAL_MODELS: i32 = 1;
/// One of three models or more: a habit of that model.
pub(super) const ONE_OF_MANY_MODELS: i32 = -4;
/// One of two.
pub(super) const ONE_OF_TWO_MODELS: i32 = -2;
/// A model counts if it makes at least this share of the tool's calls.
pub(super) const MODEL_SHARE: f64 = 0.02;

/// From this share of the calls on nothing was given at all.
pub(super) const NOTHING_GIVEN_FROM: f64 = 0.5;
/// All required keys are missing at once: an empty answer, or a call without arguments. Outweighs what a result has for
/// it (9).
pub(super) const NOTHING_GIVEN: i32 = -10;

// Share.

/// Of so many calls of the tool on, one or two are an accident.
pub(super) const ACCIDENT_OF: u64 = 1_000;
/// How many are an accident.
pub(super) const ACCIDENT_UP_TO: u64 = 2;
/// An accident.
pub(super) const ACCIDENT: i32 = -3;
/// Where nothing is known of the results, a value needs this share of the tool's calls to count for something.
pub(super) const UNKNOWN_AND_RARE_BELOW: f64 = 0.003;
/// Rare, and nobody knows what came of it: a spread alone (6) is not enough then.
pub(super) const UNKNOWN_AND_RARE: i32 = -2;
/// Results: from this share on the tool answers so often enough to mean it.
pub(super) const RESULTS_OFTEN: f64 = 0.05;
/// Results: from this share on it answers so now and then.
pub(super) const RESULTS_SOMETIMES: f64 = 0.01;
/// Often.
pub(super) const OFTEN: i32 = 4;
/// Now and then.
pub(super) const SOMETIMES: i32 = 2;
/// Below this share of calls without another fault the call as a whole is a mess.
pub(super) const ALONE_BELOW: f64 = 0.3;
/// Seldom the only fault.
pub(super) const SELDOM_ALONE: i32 = -2;

// The schema's own words.

/// The schema's own default, or one of its examples: enough by itself.
pub(super) const OWN_DEFAULT: i32 = 5;
/// The parameter's description says so.
pub(super) const DESCRIBED: i32 = 4;
/// The tool's description says so: it may speak about something else.
pub(super) const DESCRIBED_BY_TOOL: i32 = 2;
/// The description speaks against it.
pub(super) const DESCRIBED_AGAINST: i32 = -4;

// Slips.

/// A slip that repair heals without loss: nothing needs to be allowed for it. Outweighs the tool, the spread (12) and the
/// default (5) together.
pub(super) const HEALED: i32 = -18;
/// A text without its quotes, which repair heals; but ids that are numbers are legitimate now and then.
pub(super) const UNQUOTED: i32 = -4;
/// A misspelt key: that a tool runs fine says nothing, it ignores what it does not know. Outweighs the tool and the
/// spread together.
pub(super) const MISSPELT_KEY: i32 = -12;
/// An allowed value in other letters, capitals or separators. Repair heals it; but where a tool takes it from everybody,
/// it does not look at case, and the schema may say so.
pub(super) const OTHER_CASE: i32 = -4;
/// A misspelt value. Where all models write it steadily and the tool takes it, it is a spelling of its own.
pub(super) const MISSPELT_VALUE: i32 = -7;
/// A text that stands for a value that somebody was to fill in.
pub(super) const PLACEHOLDER: i32 = -6;
/// Such a text where a format, a pattern or another type is asked for: it says that nothing is known, and a tool that
/// keeps it keeps rubbish. Outweighs the tool and the spread together (12). In a list of values it may be one of its own.
pub(super) const FILLER: i32 = -13;
/// Within ten times the limit: somebody wants a little more.
pub(super) const NEAR_LIMIT: i32 = 1;
/// More than a thousand times the limit: nobody wants that. That the tool runs fine says nothing, it clamps such numbers;
/// so this outweighs the tool and the spread together.
pub(super) const FAR_FROM_LIMIT: i32 = -15;
/// A number that stands for "all", far above the limit: 9999, 2147483647.
pub(super) const STANDS_FOR_ALL: i32 = -8;
