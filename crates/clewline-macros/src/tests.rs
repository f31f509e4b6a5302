use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemImpl;

use crate::generate;

fn expand(arguments: TokenStream, block: TokenStream) -> Result<String, String> {
    let block: ItemImpl = syn::parse2(block).map_err(|it| it.to_string())?;
    generate::test(arguments, block).map(|it| it.to_string()).map_err(|it| it.to_string())
}

#[track_caller]
fn check_rejected(arguments: TokenStream, block: TokenStream, message: &str) {
    match expand(arguments, block) {
        Ok(text) => panic!("accepted: {text}"),
        Err(found) => assert!(found.contains(message), "{found}"),
    }
}

/// Expands `method` together with a valid one.
#[track_caller]
fn check_method(method: TokenStream, message: &str) {
    let block = quote!(impl Stack { #[op] fn pop(&self) {} #method });
    check_rejected(quote!(init = Stack), block, message);
}

#[track_caller]
fn check_arguments(arguments: TokenStream, message: &str) {
    check_rejected(
        arguments,
        quote!(impl Stack { #[init] fn new() -> Self {} #[op] fn pop(&self) {} }),
        message,
    );
}

#[test]
fn settings_are_methods_of_the_builder() {
    let block = quote!(impl Stack { #[init] fn new() -> Self {} #[op] fn pop(&self) {} });
    let settings = quote!(final = "pop pop", memory_model = "tso", timeout = "2m");
    let text = expand(settings, block).expect("settings");
    for part in [
        ". final_calls (\"pop pop\")",
        ". memory_model (",
        ". timeout (:: core :: time :: Duration :: from_millis (120000u64))",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn the_block_stays_and_a_test_is_added() {
    let block = quote! {
        impl crate::stacks::LinkedStack<u32> {
            #[init]
            /// Makes one.
            pub fn new() -> Self { todo() }
            #[op(once)]
            pub fn push(&self, #[values(1, 2)] value: u32) {}
            fn other(&mut self) {}
        }
    };
    let text = expand(quote!(threads = 2, matrix = "push(1) | push(2)", preemptions = none), block)
        .expect("the block is valid");
    for part in [
        "pub fn push (& self , value : u32) { }",
        "fn other (& mut self) { }",
        "fn linked_stack_is_linearizable ()",
        "named (\"LinkedStack\")",
        ". once ()",
        ". threads (2) . matrix (\"push(1) | push(2)\") . bound (:: clewline :: line_up :: find_bound (\"preemptions\")",
        ", :: core :: option :: Option :: None) . assert ()",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    for ours in ["# [init]", "# [op", "# [values"] {
        assert!(!text.contains(ours), "{ours} in {text}");
    }
}

#[test]
fn an_async_operation_is_blocked_on_and_may_be_cancelled() {
    let block = quote! {
        impl Mailbox {
            #[op]
            async fn send(&self) {}
            #[op(cancel)]
            async fn recv(&self) {}
        }
    };
    let text = expand(quote!(init = Mailbox, may_fail = "send=Err(*)"), block).expect("the block is valid");
    for part in [
        ":: clewline :: with_async ! (:: clewline :: future :: block_on (< Mailbox > :: send (it ,)))",
        ":: clewline :: future :: block_on (:: clewline :: future :: may_cancel (< Mailbox > :: recv (it ,)))",
        ":: from_str (\"send=Err(*)\")",
        ". and (\"recv\" , \"cancelled\" , :: clewline :: line_up :: FailsWhen :: Always)",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains(". and (\"send\""), "{text}");
}

#[test]
fn an_operation_that_is_not_compiled_is_not_cancelled() {
    let block = quote! {
        impl Mailbox {
            #[cfg(never)]
            #[op(cancel)]
            async fn recv(&self) {}
        }
    };
    let text = expand(quote!(init = Mailbox), block).expect("the block is valid");
    let part = "# [cfg (never)] let may_fail = may_fail . and (\"recv\" , \"cancelled\"";
    assert!(text.contains(part), "{part} in {text}");
}

#[test]
fn methods_that_cannot_be_operations_are_rejected() {
    let shared = "an operation takes `&self`: several threads call it concurrently";
    check_method(
        quote!(
            #[op]
            fn push(&mut self) {}
        ),
        shared,
    );
    check_method(
        quote!(
            #[op]
            fn push(self) {}
        ),
        shared,
    );
    check_method(
        quote!(
            #[op]
            fn push(self: Arc<Self>) {}
        ),
        shared,
    );
    check_method(
        quote!(
            #[op]
            fn push() {}
        ),
        shared,
    );
}

#[test]
fn methods_that_cannot_be_called_directly_are_rejected() {
    check_method(
        quote!(
            #[invariant]
            async fn is_fine(&self) {}
        ),
        "only operations may be `async`",
    );
    check_method(
        quote!(
            #[op(cancel)]
            fn push(&self) {}
        ),
        "only an `async` operation can be cancelled",
    );
    check_method(
        quote!(
            #[op]
            unsafe fn push(&self) {}
        ),
        "an `unsafe` method is not supported",
    );
    check_method(
        quote!(
            #[op]
            fn push<T>(&self, value: T) {}
        ),
        "a generic method is not supported",
    );
    check_method(
        quote!(
            #[op]
            fn push(&self, value: impl Copy) {}
        ),
        "an argument of an operation needs a concrete type",
    );
    check_method(
        quote!(
            #[op]
            fn push(&self, #[values()] value: u32) {}
        ),
        "expected at least one value",
    );
    check_method(
        quote!(
            #[op]
            #[init]
            fn push(&self) {}
        ),
        "a method has only one of",
    );
}

#[test]
fn unknown_options_of_an_operation_are_rejected() {
    check_method(
        quote!(
            #[op(blocking)]
            fn push(&self) {}
        ),
        "remove `blocking`: every operation may block",
    );
    check_method(
        quote!(
            #[op(heavy)]
            fn push(&self) {}
        ),
        "unknown option `heavy`: expected weight, group, once or cancel",
    );
    check_method(
        quote!(
            #[op(weight)]
            fn push(&self) {}
        ),
        "expected `=`",
    );
    check_method(
        quote!(
            #[invariant]
            fn is_fine(&self, n: u32) {}
        ),
        "an invariant takes `&self` and no other argument",
    );
    check_method(
        quote!(
            #[invariant]
            fn is_fine(&self) -> u32 {}
        ),
        "an invariant returns a `bool`, or returns nothing",
    );
    check_method(
        quote!(
            #[invariant(often)]
            fn is_fine(&self) {}
        ),
        "unexpected token",
    );
}

#[test]
fn blocks_without_constructor_or_operations_are_rejected() {
    check_rejected(
        quote!(),
        quote!(impl Stack { #[op] fn pop(&self) {} }),
        "no constructor: write `#[init]`",
    );
    check_rejected(
        quote!(init = Stack),
        quote!(impl Stack { fn pop(&self) {} }),
        "no operations: write `#[op]`",
    );
    check_rejected(
        quote!(init = Stack),
        quote!(impl Clone for Stack {}),
        "the impl of a trait is not supported",
    );
    check_rejected(
        quote!(init = Stack),
        quote!(
            impl<T> Stack<T> {}
        ),
        "generic blocks are not supported",
    );
    check_method(
        quote!(
            #[init]
            fn new() -> Self {}
        ),
        "duplicate constructor",
    );
    let with = quote!(impl Stack { #[init] fn new(n: usize) -> Self {} });
    check_rejected(quote!(), with, "the `#[init]` method takes no arguments");
}

#[test]
fn unknown_arguments_of_the_attribute_are_rejected() {
    let unknown = "unknown argument `thread`: expected threads, operations";
    check_arguments(quote!(thread = "2"), unknown);
    check_arguments(quote!(and), "unknown argument `and`");
    // It could be a bound: the generated code checks that at compile time.
    let text =
        expand(quote!(thread = 2), quote!(impl Stack { #[init] fn new() -> Self {} #[op] fn pop(&self) {} }));
    let text = text.expect("it may be a bound");
    assert!(
        text.contains("assert ! (:: clewline :: line_up :: find_bound (\"thread\") . is_some ()"),
        "{text}"
    );
    assert!(text.contains(unknown), "{text}");
    check_arguments(quote!(threads = 2, threads = 3), "duplicate argument `threads`");
    check_arguments(quote!(threads = "2"), "expected integer literal");
    check_arguments(quote!(preemptions = many), "expected a number or `none`");
    check_arguments(quote!(threads 2), "expected `=`");
    check_arguments(quote!(timeout = "10"), "expected a duration such as 500ms, 10s, 5m or 1h");
    check_arguments(quote!(name = "two words"), "unexpected token");
}

#[test]
fn every_bound_of_a_scheduler_is_an_argument() {
    for bound in clewline_explore::schedulers::bounds() {
        let key = quote::format_ident!("{}", bound.name.replace('-', "_"));
        let block = || quote!(impl Stack { #[init] fn new() -> Self {} #[op] fn pop(&self) {} });
        let text = expand(quote!(#key = 17), block()).expect("a bound");
        let found = format!(":: clewline :: line_up :: find_bound (\"{}\")", bound.name);
        assert!(text.contains(&format!(". bound ({found} . expect (")), "{text}");
        assert!(text.contains(" , 17) . assert ()"), "{text}");
        assert!(text.contains(&format!("assert ! ({found} . is_some ()")), "{text}");
        let lifted = expand(quote!(#key = none), block()).expect("a bound");
        assert!(lifted.contains(") , :: core :: option :: Option :: None) . assert ()"), "{lifted}");
    }
}
