//! Fences that code writes in assembly: the compiler driver adds a call after each.
//!
//! The code there does not know that it calls something. So all that it can see is saved.

use std::{
    arch::{is_x86_feature_detected, naked_asm},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use super::atomic::fence;

/// Whether the processor saves wide vectors, too.
static SAVES_ALL: AtomicBool = AtomicBool::new(false);

/// The exploration begins.
pub(in crate::linux) fn begin() {
    SAVES_ALL.store(is_x86_feature_detected!("xsave"), Relaxed);
}

/// Each has the number of its memory order in C.
macro_rules! fences {
    ($($name:ident = $order:literal;)+) => {
        $(
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name() {
                naked_asm!(concat!("push ", $order), "jmp {around}", around = sym around)
            }
        )+
    };
}

fences! {
    __clewline_load_fence = 2;
    __clewline_store_fence = 3;
    __clewline_full_fence = 5;
}

/// Calls `fence` with the order on the stack, which is taken from there, and the return address
/// above it.
#[unsafe(naked)]
unsafe extern "C" fn around() {
    naked_asm!(
        "pushfq",
        "cld",
        "push rbp",
        "mov rbp, rsp",
        "push rax",
        "push rcx",
        "push rdx",
        "push rsi",
        "push rdi",
        "push r8",
        "push r9",
        "push r10",
        "push r11",
        // All vectors, with a header of eight words that has to be 0.
        "sub rsp, 2752",
        "and rsp, -64",
        "xor edx, edx",
        "mov [rsp + 512], rdx",
        "mov [rsp + 520], rdx",
        "mov [rsp + 528], rdx",
        "mov [rsp + 536], rdx",
        "mov [rsp + 544], rdx",
        "mov [rsp + 552], rdx",
        "mov [rsp + 560], rdx",
        "mov [rsp + 568], rdx",
        "cmp byte ptr [rip + {saves_all}], 0",
        "je 2f",
        "mov eax, 231",
        "xsave64 [rsp]",
        "jmp 3f",
        "2:",
        "fxsave64 [rsp]",
        "3:",
        "mov edi, [rbp + 16]",
        "mov rsi, [rbp + 24]",
        "call {fence}",
        "cmp byte ptr [rip + {saves_all}], 0",
        "je 4f",
        "mov eax, 231",
        "xor edx, edx",
        "xrstor64 [rsp]",
        "jmp 5f",
        "4:",
        "fxrstor64 [rsp]",
        "5:",
        "lea rsp, [rbp - 72]",
        "pop r11",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdi",
        "pop rsi",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "pop rbp",
        "popfq",
        "lea rsp, [rsp + 8]",
        "ret",
        saves_all = sym SAVES_ALL,
        fence = sym fence,
    )
}
