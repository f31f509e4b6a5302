use std::{fs, path::PathBuf};

use super::{
    scratch::{Scratch, remove_stale},
    *,
};

#[test]
fn temporary_folders_are_removed_after_use() {
    let scratch = Scratch::new().unwrap();
    let other = Scratch::new().unwrap();
    assert_ne!(scratch.path(), other.path());
    let file = scratch.write("it.c", "int it;\n").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "int it;\n");
    let folder = scratch.path().to_owned();
    drop(scratch);
    assert!(!folder.exists() && other.path().exists());
}

/// No process has the number 4294967295.
#[test]
fn folders_of_killed_processes_are_removed() {
    if !PathBuf::from("/proc/self").exists() {
        return;
    }
    let within = Scratch::new().unwrap();
    let [gone, used, fresh, living, other] = [
        "clewline-4294967295-0",
        "clewline-4294967295-1",
        "clewline-4294967295-2",
        "clewline-self-0",
        "else-4294967295-0",
    ];
    let living = living.replace("self", &std::process::id().to_string());
    for name in [gone, used, fresh, &living, other] {
        fs::create_dir(within.path().join(name)).unwrap();
        if name != fresh {
            within.write(&format!("{name}/.used"), "").unwrap();
        }
    }
    let held = fs::File::open(within.path().join(used).join(".used")).unwrap();
    held.lock().unwrap();
    remove_stale(within.path());
    let is_there = |name: &str| within.path().join(name).exists();
    assert_eq!([gone, used, fresh, &living, other].map(is_there), [false, true, true, true, true]);
}

#[test]
fn errors_suggest_a_solution() {
    let message = ProgramError::NoCompiler { tried: vec!["gcc".to_owned(), "clang".to_owned()] }.to_string();
    assert_eq!(
        message,
        "no compiler: found none of gcc, clang; install gcc or clang, or name one with --compiler"
    );
    let message =
        ProgramError::NoRuntime { searched: vec![PathBuf::from("/opt/lib/libclewline_tsan.so")] }.to_string();
    assert!(message.contains("cargo build --release -p clewline-tsan"), "{message}");
    let message =
        ProgramError::Compiling { file: "stack.c".into(), message: "stack.c:1:1: error: no\n".to_owned() };
    assert_eq!(message.to_string(), "stack.c does not compile\nstack.c:1:1: error: no");
}

#[test]
fn a_missing_compiler_is_named() {
    if check_platform().is_err() {
        return;
    }
    let message = Compiler::find(Some("no-such-compiler")).unwrap_err().to_string();
    assert!(message.contains("found none of no-such-compiler"), "{message}");
}

/// Loops that back off would pause for most of the time.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]
fn pauses_are_left_out() {
    for compiler in ["gcc", "clang"].iter().filter_map(|it| Compiler::find(Some(it)).ok()) {
        let scratch = Scratch::new().unwrap();
        let text = "void it(void) { __builtin_ia32_pause(); __asm__ volatile(\"pause\"); }\n";
        let file = scratch.write("it.c", text).unwrap();
        let object = scratch.path().join("it.o");
        let headers = headers::Headers::within(&scratch).unwrap();
        let unit = unit::Unit { file: &file, number: 0, language: Language::C, flags: &[] };
        unit.compile(&compiler, &headers, &scratch, &object).unwrap();
        let bytes = fs::read(&object).unwrap();
        let code = elf::section(&bytes, ".text").unwrap();
        assert!(!code.is_empty() && !code.windows(2).any(|it| it == [0xf3, 0x90]), "{code:x?}");
    }
}
