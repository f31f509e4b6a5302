//! The attribute macro of Clewline. Use it as `clewline::test`.

mod arguments;
mod generate;
mod methods;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use syn::{ItemImpl, parse_macro_input};

/// Generates a test from an impl block: it explores every interleaving of the block's operations
/// and needs no specification.
///
/// ```text
/// use clewline::sync::atomic::{AtomicU32, Ordering::SeqCst};
///
/// pub struct Counter(AtomicU32);
///
/// #[clewline::test(threads = 2, operations = 2)]
/// impl Counter {
///     #[init]
///     pub fn new() -> Counter {
///         Counter(AtomicU32::new(0))
///     }
///
///     #[op]
///     pub fn add(&self, #[values(1, 2)] n: u32) -> u32 {
///         self.0.fetch_add(n, SeqCst)
///     }
///
///     #[op]
///     pub fn get(&self) -> u32 {
///         self.0.load(SeqCst)
///     }
/// }
/// ```
///
/// The block is unchanged. The generated test, `counter_is_linearizable`, runs `clewline::LineUp`
/// with one call for each operation and each combination of its arguments.
///
/// # On the block
///
/// `threads`, `operations`, `samples`, `auto`, `seed`, `jobs`, `executions`, `scheduler`,
/// `memory_model`, `timeout`, `spurious`, `matrix` (may be repeated), `initial`, `final`,
/// `sequence`, `may_fail` (a text), `real_time`, `weak_failures` and `nondeterministic` are the
/// methods of `LineUp` of the same name (`initial_calls`, `final_calls`). A bound of a scheduler,
/// such as `preemptions` or `depth`, is a number or `none`. There are also
///
/// * `name = "..."`: the name of the test;
/// * `init = EXPRESSION`: creates the object, instead of a method with `#[init]`;
/// * `crate = PATH`: the path of the crate `clewline`, if it is not `::clewline`.
///
/// The attributes `should_panic` and `ignore` on the block apply to the test.
///
/// # On methods
///
/// * `#[init]`: creates the object. It takes no arguments.
/// * `#[op]`: an operation. It takes `&self`, because several threads call it concurrently.
///   `#[op(weight = 2)]` is drawn twice as often as others. All operations with
///   `#[op(group = "consumers")]` are called by a single thread, which may be any thread.
///   `#[op(once)]` is called at most once in a matrix. An operation may be an `async fn`, with the
///   feature `async` of `clewline`; the future of one with `#[op(cancel)]` may be dropped whenever
///   it waits.
/// * `#[invariant]`: called after all operations have returned. It panics, or returns `false`, if
///   it is violated.
///
/// # On arguments
///
/// `#[values(1, 2)]` or `#[values(1..=3)]`: the values of an argument to try. Not needed for a
/// `bool`, an `Option` of one, and every type that implements `clewline::line_up::Every`.
///
/// Invalid uses are compile errors, which say what to write instead.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, block: TokenStream) -> TokenStream {
    let block = parse_macro_input!(block as ItemImpl);
    let tokens = generate::test(arguments.into(), block).unwrap_or_else(|error| error.to_compile_error());
    tokens.into()
}
