//! The keywords that limit a number or a length.

use callwright::validate::IssueCode;

use crate::summary::Cluster;

/// A keyword that limits a number or a length.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SizeLimit {
    /// The issue of a value beyond it.
    code: IssueCode,
    pub(crate) keyword: &'static str,
    /// What is counted; empty if it is the number itself.
    pub(crate) unit: &'static str,
    pub(crate) is_upper: bool,
}

const ALL: [SizeLimit; 8] = [
    limit(IssueCode::Maximum, "maximum", "", true),
    limit(IssueCode::Minimum, "minimum", "", false),
    limit(IssueCode::MaxLength, "maxLength", "characters", true),
    limit(IssueCode::MinLength, "minLength", "characters", false),
    limit(IssueCode::MaxItems, "maxItems", "items", true),
    limit(IssueCode::MinItems, "minItems", "items", false),
    limit(IssueCode::MaxProperties, "maxProperties", "keys", true),
    limit(IssueCode::MinProperties, "minProperties", "keys", false),
];

const fn limit(
    code: IssueCode,
    keyword: &'static str,
    unit: &'static str,
    is_upper: bool,
) -> SizeLimit {
    SizeLimit {
        code,
        keyword,
        unit,
        is_upper,
    }
}

impl SizeLimit {
    /// The limit that was violated.
    pub(crate) fn of(code: IssueCode) -> Option<&'static Self> {
        ALL.iter().find(|limit| limit.code == code)
    }

    /// The limit of a keyword.
    pub(crate) fn of_keyword(keyword: &str) -> Option<&'static Self> {
        ALL.iter().find(|limit| limit.keyword == keyword)
    }

    /// The farthest value of a cluster beyond it.
    pub(crate) fn farthest(&self, cluster: &Cluster) -> Option<f64> {
        if self.is_upper {
            cluster.largest
        } else {
            cluster.smallest
        }
    }

    /// Whether a limit is tighter than a value.
    pub(crate) fn is_tighter(&self, limit: f64, value: f64) -> bool {
        if self.is_upper {
            limit < value
        } else {
            limit > value
        }
    }
}
