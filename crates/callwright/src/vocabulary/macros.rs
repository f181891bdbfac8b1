//! Lists of words and enums with stable names, written as data.

/// `word_list![one two]` is `&["one", "two"]`.
macro_rules! word_list {
    ($($word:ident)+) => {
        &[$(stringify!($word)),+]
    };
}

/// A public enum whose variants have stable names: in files, on the command line and in JSON. It is written as an enum, so that
/// tools that read sources see one. The sibling crates use it too.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* pub enum $kind:ident {
        $($(#[$about:meta])* $variant:ident = $name:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
        pub enum $kind {
            $($(#[$about])* #[serde(rename = $name)] $variant,)+
        }

        impl $kind {
            /// All of them with their names, in order.
            pub const ALL: [(&'static str, $kind); [$($name),+].len()] =
                [$(($name, $kind::$variant)),+];

            /// The stable name.
            pub fn name(self) -> &'static str {
                match self {
                    $($kind::$variant => $name,)+
                }
            }

            /// The variant with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                let found = Self::ALL.into_iter().find(|(known, _)| *known == name);
                found.map(|(_, variant)| variant)
            }
        }
    };
}

pub(crate) use {named, word_list};
