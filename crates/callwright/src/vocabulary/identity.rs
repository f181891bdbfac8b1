//! The identity of calls and of answers, and whether a call worked. [`crate::admit`] computes them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};
use xxhash_rust::xxh3::xxh3_128;

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

/// Whether a call that ran worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Success {
    /// It worked.
    Ok,
    /// It failed.
    Error,
    /// It failed for a transient reason: a rate limit, an overload, a timeout.
    Transient,
}

/// The outcome of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it worked.
    pub success: Success,
    /// Equal for answers that mean the same, apart from times and request ids.
    pub digest: Digest,
    /// Whether the answer only acknowledges the call.
    pub acknowledges: bool,
    /// Whether the message of a transient failure says that the call was rejected before it had any effect.
    pub turned_away: bool,
}

/// Equal for answers that mean the same.
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
    /// The digest of a text, unchanged.
    pub fn of(text: &str) -> Self {
        Digest(hash(text))
    }
}

/// A tool's name as a ledger stores it: short, and the same everywhere.
pub(crate) fn as_digest<S: Serializer>(
    name: impl AsRef<str>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Digest::of(name.as_ref()).serialize(serializer)
}

/// The first half of the SHA-256 of a text. Calls and results come from strangers, who must not gain a shared budget or a
/// permission by finding two texts with the same hash.
pub(crate) fn hash(text: &str) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
    half
}

/// The same for a recording. There is nothing to gain in one, since none of its calls runs, and SHA-256 took a twentieth of a
/// replay.
pub(crate) fn recorded_hash(text: &str) -> [u8; 16] {
    xxh3_128(text.as_bytes()).to_be_bytes()
}

/// One of the two.
pub(crate) type TextHash = fn(&str) -> [u8; 16];
