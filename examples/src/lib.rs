//! The programs in the documents, which are compiled and run with the tests. The examples are next to this folder.

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../docs/library.md")]
struct Library;

#[cfg(doctest)]
#[doc = include_str!("../../docs/events.md")]
struct Events;
