//! What makes two calls, and two answers, the same; and how a call went. How they are computed is in [`crate::admit`].

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

/// The identity of a call: equal for calls that mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub(crate) u128);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u128::from_str_radix(text, 16).map(Fingerprint)
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// How a call that ran went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Success {
    /// It worked.
    Ok,
    /// It failed.
    Error,
    /// It failed for a reason that passes: a rate limit, an overload, a time-out.
    Transient,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it went.
    pub success: Success,
    /// Equal for answers that say the same, times and request ids aside.
    pub digest: Digest,
    /// Whether the answer says no more than that the call was done.
    pub acknowledges: bool,
    /// Whether the words of a failure that passes say that the call was turned away before anything was done.
    pub turned_away: bool,
}

/// Equal for answers that say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub(crate) [u8; 16]);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16)
            .map(|number| Digest(number.to_be_bytes()))
            .map_err(de::Error::custom)
    }
}

impl Digest {
    /// The digest of a text as it is.
    pub fn of(text: &str) -> Self {
        Digest(hash(text))
    }
}

/// A tool's name as a ledger knows it: short, and the same everywhere.
pub(crate) fn as_digest<S: Serializer>(
    name: impl AsRef<str>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Digest::of(name.as_ref()).serialize(serializer)
}

/// The first half of the SHA-256 of a text. Calls and results come from strangers, and a budget that two calls share,
/// or a permission, must not be had by finding two texts of one hash.
pub(crate) fn hash(text: &str) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
    half
}
