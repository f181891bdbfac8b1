//! Files, folders, globs and standard input, compressed or not → records.
