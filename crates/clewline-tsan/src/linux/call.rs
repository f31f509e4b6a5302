//! Stubs: exported functions that know their return address.
//!
//! A stub puts its return address into the first register that its arguments leave free, and jumps
//! on. So the function behind it has one more argument than the exported one: the address directly
//! after the call.

/// Exports `$name`, whose arguments leave `$register` free, as a stub in front of `$function`.
macro_rules! stubs {
    ($($name:ident, $register:literal => $function:path;)+) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name() {
                std::arch::naked_asm!(
                    concat!("mov ", $register, ", qword ptr [rsp]"),
                    "jmp {function}",
                    function = sym $function,
                )
            }
        )+
    };
}

pub(super) use stubs;

/// Calls code under test. An exception must not leave it: the unwinder finds no way out of this
/// function and terminates where the exception was thrown, as it would at the end of a thread.
///
/// # Safety
///
/// `function` takes such an argument.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn call(argument: usize, function: usize) -> usize {
    std::arch::naked_asm!("sub rsp, 8", "call rsi", "add rsp, 8", "ret")
}

/// The same with four arguments.
///
/// # Safety
///
/// `function` takes such arguments, or fewer.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn call_with(
    one: usize,
    two: usize,
    three: usize,
    four: usize,
    function: usize,
) -> usize {
    std::arch::naked_asm!("sub rsp, 8", "call r8", "add rsp, 8", "ret")
}
