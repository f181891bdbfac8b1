//! A call or a result → what the gate says of it, as facts.
//!
//! The same gate as live decides. Every violation becomes a fault: where, what, and the shape of the value.
//!
//! # Shapes
//!
//! | the value | its shape |
//! |---|---|
//! | a key that is missing | empty |
//! | where an `enum` or `const` is violated: any of at most 64 bytes | itself, as JSON: `"urgent"` |
//! | where a number is out of its range | its size: `integer of 4 digits`, `negative number of 2 digits` |
//! | where a length is out of its range | its length, by powers of two: `65 to 128 characters`, `3 to 4 items` |
//! | where a `format` or a `pattern` is violated | a sketch: `like 9999-99-99`, `like aaa@a.aa`; of longer ones `long text` |
//! | else a text | `integer in a string`, `number in a string`, `boolean in a string`, `null in a string`, `object in a string`, `array in a string`, `broken JSON in a string`, `empty string`, `string` |
//! | else a list | `empty array`, `array of string`, `array of several types` |
//! | else | `null`, `boolean`, `integer`, `number` (with a fraction), `object`, `empty object` |
