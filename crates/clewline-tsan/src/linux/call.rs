//! Stubs: exported functions that know where they were called from.
//!
//! A stub puts its return address into the first register that its arguments leave free, and jumps on. So the function behind it has one
//! argument more than the exported one: the address right behind the call.

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
