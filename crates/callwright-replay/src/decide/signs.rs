//! The signs of the rule with their points and reasons, and the thresholds. docs/replay-rule.md shows the same
//! tables.

use super::ScoredReason;

/// From this sum on a cluster is an edge case: one strong sign with nothing against it, or several weak ones.
pub const EDGE_CASE_FROM: i32 = 5;

/// Up to this sum a cluster is a bug: the signs against it outweigh those for it.
pub const BUG_UP_TO: i32 = -1;

macro_rules! signs {
    ($($name:ident $points:literal $reason:literal;)*) => {
        /// What speaks for or against an edge case.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Sign {
            $(#[doc = $reason] $name,)*
        }

        impl Sign {
            /// For an edge case if positive.
            pub(super) const fn points(self) -> i32 {
                match self {
                    $(Sign::$name => $points,)*
                }
            }
        }
    };
}

signs! {
    Never -20 "No other sign outweighs it: a truncated text is never legitimate, however often it comes.";

    // What such violations generally are, before anything is known about this one.
    MissingKey -2 "A missing key was usually forgotten.";
    OtherType -2 "Usually a slip. (`null`, and a fraction where an integer belongs, are not: they mean something.)";
    UnknownKey -2 "An undeclared key is usually made up.";
    Confusion -1 "None of the alternatives, ruled out, not allowed: usually confusion.";
    OwnResult 2 "A tool does not make up its results. Rare ones that come steadily need little more.";

    // How the tool answered such calls, besides the tables below.
    TakenSince 6 "The tool learned to accept such calls, which counts like many accepted ones.";
    OthersTaken 2 "Other values that violate the same rule at the same place are accepted: the rule is too tight there.";
    OthersRefused -2 "They are refused: the rule is right.";
    FartherTaken 5 "Values farther beyond the same limit are an edge case: allowing them allows these.";
    OneOfManyKeys -4 "One of many keys that were made up.";
    Corrected -2 "The model corrected itself, so it knew that it was wrong.";

    // Spread.
    Steady 2 "It comes steadily.";
    Burst -5 "It came in a burst: a bad deployment, one broken prompt.";
    Season -2 "A season or a new version: if the tool accepts such calls, that still outweighs it.";
    InManySessions 2 "Many conversations.";
    InSeveralSessions 1 "Several conversations.";
    InOneSession -4 "One or two conversations, where many were possible: a stuck model.";
    AllModels 2 "All of three or more models that call the tool.";
    SeveralModels 1 "Several models.";
    OneOfManyModels -4 "One of three or more models: a habit of that model.";
    OneOfTwoModels -2 "One of two models.";
    SeldomAlone -2 "Seldom the only violation: the call as a whole is a mess.";
    NothingGiven -10 "All required keys are missing: an empty answer or a call without arguments. Outweighs a result's 9.";
    Accident -3 "One or two of very many calls.";
    RareAndUnknown -2 "Rare, and no result is known: then a spread alone (6) is not enough.";
    OftenAnswered 4 "The tool returns this often enough to mean it.";
    SometimesAnswered 2 "The tool returns this now and then.";

    // What the schema itself says.
    OwnDefault 5 "The schema's own default, or one of its examples: enough by itself.";
    Described 4 "The parameter's description says so.";
    DescribedByTool 2 "The tool's description says so, but it may be about something else.";
    DescribedAgainst -4 "A description speaks against it.";

    // Slips.
    Repaired -18 "A slip that repair fixes without loss: nothing needs to be allowed for it. Outweighs the tool, the \
                  spread (12) and the default (5) together.";
    Unquoted -4 "A text without its quotes, which repair fixes; but ids that are numbers are legitimate now and then.";
    MisspeltKey -12 "A successful call means nothing, since tools ignore unknown keys. Outweighs the tool and the spread.";
    OtherCase -4 "An allowed value in other letters, capitals or separators. Repair fixes it; but a tool that takes it from \
                  all models ignores case, and the schema may say so.";
    MisspeltValue -7 "Where all models write it steadily and the tool takes it, it is a spelling in its own right.";
    Placeholder -6 "A placeholder for a value that was to be filled in.";
    Filler -13 "A placeholder where a format, a pattern or another type is asked for: nothing is known, and a tool that \
                keeps it keeps rubbish. Outweighs the tool and the spread together (12). In a list of values it may be meant.";
    NearLimit 1 "Within ten times the limit: a little more is needed.";
    FarFromLimit -15 "More than a thousand times the limit cannot be meant. That the tool runs fine says nothing, it \
                      clamps such numbers; so this outweighs the tool and the spread together.";
    StandsForAll -8 "A number that stands for \"all\", far above the limit: 9999, 2147483647.";
}

impl Sign {
    /// This sign as a reason.
    pub(super) fn because(self, why: impl Into<String>) -> ScoredReason {
        ScoredReason {
            points: self.points(),
            why: why.into(),
        }
    }
}

/// How many results count as many, some, few.
pub(super) const MANY_RESULTS: u64 = 20;
/// See [`MANY_RESULTS`].
pub(super) const SOME_RESULTS: u64 = 5;
/// See [`MANY_RESULTS`].
pub(super) const FEW_RESULTS: u64 = 3;

/// From this share on (of what the tool achieves in general), it accepts such calls.
pub(super) const TAKES_FROM: f64 = 0.8;
/// Up to this share it refuses them.
pub(super) const REFUSES_UP_TO: f64 = 0.2;

/// Points by whether many, some, few, or one or two results are known.
type ByResults = [i32; 4];
/// From this share on, none that counts has failed. Many are enough by themselves, some barely, few need one more
/// sign, one or two may be luck.
pub(super) const TAKES_ALL: (f64, ByResults) = (0.9, [6, 5, 4, 2]);
/// The tool accepts them, but one or two failed: with some results, a tool that refuses every third call may look
/// like this by chance.
pub(super) const TAKES_MOST: ByResults = [6, 3, 4, 2];
/// It refuses them. Outweighs a spread over all models and the whole time (6), because models share their mistakes.
/// One or two may have failed for another reason.
pub(super) const REFUSES: ByResults = [-9, -8, -6, -4];
/// Below this share it fails for more than one in three that would have worked. Outweighs such a spread, too.
pub(super) const FAILS: (f64, ByResults) = (0.65, [-7, -6, -4, -2]);
/// Below this share it fails for more than one in four: too many for a tool that accepts such calls, and chance alone
/// may have lifted it over the limit above. Such a spread does not outweigh it: the cluster stays unclear.
pub(super) const WAVERS: (f64, ByResults) = (0.72, [-3, -3, -2, 0]);
/// It fails for one in five, and there are fewer results than [`SURE_RESULTS`]: chance may have lifted them.
pub(super) const UNSURE: ByResults = [-2; 4];
/// See [`UNSURE`].
pub(super) const SURE_RESULTS: u64 = 50;
/// The most points from a tool that accepts calls with an unknown key: it may just ignore the key.
pub(super) const TAKES_UNKNOWN_KEY: i32 = 2;

/// This many different undeclared keys in one object look made up.
pub(super) const MANY_KEYS: usize = 4;
/// A key with this share of them stands out, and is judged by itself.
pub(super) const OWN_SHARE: f64 = 0.3;

/// How many calls must follow before a correction means something.
pub(super) const CORRECTED_CALLS: u64 = 5;
/// And the share of them that must be corrected.
pub(super) const CORRECTED_SHARE: f64 = 0.6;
/// Above this many calls of the tool per conversation, the next call means nothing: it would have come anyway.
pub(super) const CALLS_PER_SESSION: f64 = 3.0;

/// How many calls of a cluster are needed before their spread means something.
pub(super) const SPREAD_CALLS: u64 = 5;
/// How many stretches of time, models or conversations must be expected before "only one" means something.
pub(super) const SPREAD_EXPECTED: f64 = 2.5;
/// From this share of the expected stretches of time on, it is steady.
pub(super) const STEADY_FROM: f64 = 0.6;
/// Up to this share it is a burst.
pub(super) const BURST_UP_TO: f64 = 0.34;
/// From this many stretches of time on, and in several conversations, it is a season or a new version rather than an
/// accident.
pub(super) const SEASON_FROM: usize = 3;
/// From this many conversations on, they are many.
pub(super) const MANY_SESSIONS: u64 = 50;
/// From this many on, they are several.
pub(super) const SEVERAL_SESSIONS: u64 = 10;
/// A model counts if it makes at least this share of the tool's calls.
pub(super) const MODEL_SHARE: f64 = 0.02;
/// From this share of the calls on, nothing was given at all.
pub(super) const NOTHING_GIVEN_FROM: f64 = 0.5;
/// Among this many calls of the tool, a few are an accident.
pub(super) const ACCIDENT_OF: u64 = 1_000;
/// How many are an accident.
pub(super) const ACCIDENT_UP_TO: u64 = 2;
/// If no result is known, a value needs this share of the tool's calls to count.
pub(super) const RARE_BELOW: f64 = 0.003;
/// From this share of the results on, the tool returns it often.
pub(super) const ANSWERED_OFTEN: f64 = 0.05;
/// From this share on, sometimes.
pub(super) const ANSWERED_SOMETIMES: f64 = 0.01;
/// Below this share of calls without another violation, it is seldom alone.
pub(super) const ALONE_BELOW: f64 = 0.3;
