//! The attribute macro of Clewline. Use it as `clewline::test`.

mod arguments;
mod generate;
mod methods;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use syn::{ItemImpl, parse_macro_input};

/// Makes a test of an impl block: every interleaving of its operations, and no specification.
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
/// The block stays as it is. Beside it there is a test, `counter_is_linearizable`, which does what
/// `clewline::LineUp` does with one call for each operation and each choice of its arguments.
///
/// # On the block
///
/// `threads`, `operations`, `samples`, `auto`, `seed`, `jobs`, `executions`, `scheduler`, `memory_model`, `timeout`, `spurious`,
/// `matrix` (may be there more than once), `initial`, `final`, `sequence`, `weak_failures` and `nondeterministic` are the methods of
/// `LineUp` of that name (`initial_calls`, `final_calls`). A bound that a scheduler has, such as `preemptions` or `depth`, is a number or `none`. Besides there are
///
/// * `name = "..."`: the name of the test;
/// * `init = EXPRESSION`: how to make a fresh one, in the place of a method with `#[init]`;
/// * `crate = PATH`: where the crate `clewline` is, if not at `::clewline`.
///
/// The attributes `should_panic` and `ignore` on the block are the test's.
///
/// # On methods
///
/// * `#[init]`: makes a fresh one. It takes no arguments.
/// * `#[op]`: an operation. It takes `&self`, since several threads call it at the same time. `#[op(weight = 2)]` is drawn twice as
///   often as others, `#[op(group = "consumers")]` is called by one thread only, whichever it is, as are all others of that
///   group, and `#[op(once)]` is called at most once in a matrix.
/// * `#[invariant]`: is called when all operations are over, and panics, or answers `false`, if something is wrong.
///
/// # On arguments
///
/// `#[values(1, 2)]` or `#[values(1..=3)]`: what an argument may be. A `bool`, an `Option` of one, and whatever implements
/// `clewline::line_up::Every` need no such list.
///
/// What makes no sense is refused, and the message says what to write instead.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, block: TokenStream) -> TokenStream {
    let block = parse_macro_input!(block as ItemImpl);
    let tokens = generate::test(arguments.into(), block).unwrap_or_else(|error| error.to_compile_error());
    tokens.into()
}
