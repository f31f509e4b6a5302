//! [`registry!`](crate::registry): a folder of modules and the table of what they export.

/// Declares one module per line and a static table of their `ENTRY` constants.
///
/// Adding a member is adding one file and one line. `cargo fmt` does not follow modules declared inside a
/// macro, so the tidy test runs rustfmt over the file list instead.
#[macro_export]
macro_rules! registry {
    ($(#[$doc:meta])* $table:ident: $entry:ty; $($module:ident),+ $(,)?) => {
        $(pub mod $module;)+

        $(#[$doc])*
        pub static $table: &[$entry] = &[$($module::ENTRY),+];
    };
}
