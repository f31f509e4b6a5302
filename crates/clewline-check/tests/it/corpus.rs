//! The corpus: histories with known verdicts, one file each, under `testdata/histories`.
