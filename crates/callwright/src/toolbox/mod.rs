//! Typed tools: one Rust type is the schema that the model reads, the judge of the arguments, the value that
//! the tool gets, and the documentation.
//!
//! In comes a type with serde's and schemars' derives, out goes its JSON Schema ([`input_schema`],
//! [`output_schema`]), tidied for a model to read, and made to agree with the type: what the schema accepts
//! must deserialise. Where somebody wrote a part of it by hand, that is tried out when the tool is
//! registered. Nothing here judges a call; that is the gate's.

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "asked when a tool is registered")
)]
mod agreement;
mod schema;

pub use schema::{input_schema, output_schema};
