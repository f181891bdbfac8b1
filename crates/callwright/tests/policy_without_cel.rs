//! A build without conditions says so, and how to get one with them.
#![cfg(all(feature = "policy", not(feature = "cel")))]

use callwright::Policy;

#[test]
fn a_check_needs_the_feature() {
    for policy in ["[[tool.a.check]]\nwhen = 'true'", "check = []"] {
        let error = Policy::from_toml(policy).map(|_| ()).unwrap_err();
        let expected = "a `check` needs a callwright built with the feature `cel`";
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert!(Policy::from_toml("output = 'warn'").is_ok());
}
