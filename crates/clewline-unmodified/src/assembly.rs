//! Unseen instructions: accesses to memory that the instrumentation did not turn into calls.
//!
//! With instrumentation, a compiler turns every atomic operation into a call. So a `lock` prefix
//! that remains in the assembly was written by hand, in inline assembly, or is in a function
//! excluded from instrumentation. Other accesses in inline assembly are not instrumented either. A
//! function that accesses memory and announces no access may be excluded: the compiler knows
//! (`exclusion.rs`). The assembly names the function and the line, so nothing has to be
//! disassembled.
//!
//! What is on the stack or belongs to the thread counts as private.
//!
//! Fences that code writes itself are found as well: [`with_calls`] announces them to the runtime.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use clewline_remote::source_path;

/// An instruction that accesses memory and is not a scheduling point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnseenInstruction {
    /// The file and the line, if the compiler emits them.
    pub place: Option<(String, u32)>,
    /// The function that contains it, after inlining.
    pub function: Option<String>,
    /// The instruction: `lock xaddq`. Of a struct by value, the function that is called; of an
    /// access of an odd size, what it does; of a function of a library, the library.
    pub instruction: String,
    /// Why it is not instrumented.
    pub cause: UnseenCause,
    /// The linker symbol of the function.
    pub(super) symbol: String,
}

/// Why an instruction is not instrumented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnseenCause {
    /// It is in inline assembly.
    Inline,
    /// The function is excluded from instrumentation.
    NotInstrumented,
    /// It copies a struct that is passed by value.
    Argument,
    /// It stores a struct that a function returns.
    Result,
    /// It accesses a number of bytes that the compiler does not instrument.
    Size,
    /// All of the function is in a library that was compiled without instrumentation.
    Library,
    /// It is a fence, and accesses nothing.
    Fence,
}

impl fmt::Display for UnseenInstruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line)) = &self.place {
            write!(f, "{}:{line}: ", source_path(file))?;
        }
        let instruction = &self.instruction;
        if let Some(function) = &self.function {
            write!(f, "{function} ")?;
        }
        let has = if self.function.is_some() { "has " } else { "" };
        match self.cause {
            UnseenCause::Fence => return write!(f, "{has}the fence `{instruction}`, which is not seen"),
            UnseenCause::Inline => write!(f, "{has}`{instruction}` in inline assembly: it")?,
            UnseenCause::NotInstrumented => {
                write!(f, "{has}`{instruction}` in code that is not instrumented: it")?;
            }
            UnseenCause::Size => write!(f, "{instruction}, which is not instrumented: it")?,
            UnseenCause::Library => write!(f, "of {instruction} is not instrumented: it")?,
            UnseenCause::Argument => {
                write!(f, "passes a struct by value to `{instruction}`: how it is copied")?;
            }
            UnseenCause::Result => {
                write!(f, "stores a struct that `{instruction}` returns: how it is copied")?;
            }
        }
        f.write_str(" is not seen, and no thread is interrupted there")
    }
}

/// What an assembly file shows.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// All unseen instructions, each source line once.
    pub(super) unseen: Vec<UnseenInstruction>,
    /// Of each function that accesses memory and announces no plain access: its first access. It
    /// may be excluded from instrumentation, or read constants only.
    pub(super) silent: Vec<UnseenInstruction>,
    /// Accesses to parts of vectors, and other instructions that no compiler instruments. Only
    /// rustc does not say itself where they are.
    pub(super) parts: Vec<UnseenInstruction>,
    /// The fences that code writes itself. Those of the language are calls.
    pub(super) fences: Vec<Fence>,
}

/// A fence.
#[derive(Debug)]
pub(super) struct Fence {
    /// Where its statement ends in the text.
    pub(super) end: usize,
    /// Whether operands before it are written as in manuals of the processor.
    pub(super) is_intel: bool,
    pub(super) kind: FenceKind,
    pub(super) instruction: UnseenInstruction,
}

/// What a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FenceKind {
    /// All before it, and all after it.
    Full,
    /// Loads before it, and all after it.
    Load,
    /// Stores before it, and stores after it.
    Store,
}

/// Reads an assembly file.
pub(super) fn read(text: &str) -> Assembly {
    let mut reader = Reader { start: text.as_ptr().addr(), ..Reader::default() };
    text.lines().for_each(|it| reader.line(it));
    reader.end_function();
    let mut unseen = reader.found;
    unseen.sort();
    unseen.dedup_by(|two, one| {
        two.place.is_some() && (&two.place, &two.instruction) == (&one.place, &one.instruction)
    });
    Assembly { unseen, silent: reader.silent, parts: reader.parts, fences: reader.fences }
}

#[derive(Debug, Default)]
struct Reader<'a> {
    /// The address of the text.
    start: usize,
    /// The working directory of the compiler.
    folder: &'a str,
    files: BTreeMap<u32, String>,
    place: Option<(u32, u32)>,
    functions: BTreeSet<&'a str>,
    function: &'a str,
    is_inline: bool,
    is_intel: bool,
    /// A `lock` prefix on its own line; the locked instruction follows.
    is_locked: bool,
    /// The last call was that of an atomic load of 16 bytes: clang leaves the load it replaces.
    is_after_wide_load: bool,
    /// The first access of the function outside inline assembly.
    access: Option<UnseenInstruction>,
    /// Whether the function announces plain accesses.
    is_announced: bool,
    silent: Vec<UnseenInstruction>,
    parts: Vec<UnseenInstruction>,
    fences: Vec<Fence>,
    found: Vec<UnseenInstruction>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str) {
        let line = line.trim();
        match line {
            "#APP" => self.is_inline = true,
            "#NO_APP" => self.is_inline = false,
            _ => (),
        }
        // Data may look like an instruction.
        if [".ascii", ".asciz", ".string"].iter().any(|it| line.starts_with(it)) {
            return;
        }
        let code = line.split('#').next().unwrap_or_default();
        if let Some(rest) = directive(code, ".file") {
            self.file(rest);
        } else if let Some(rest) = directive(code, ".loc") {
            let mut numbers = rest.split_whitespace().map(|it| it.parse().ok());
            self.place = numbers.next().flatten().zip(numbers.next().flatten());
        } else if let Some(rest) = directive(code, ".type") {
            self.functions
                .extend(rest.split_once(',').filter(|it| it.1.contains("@function")).map(|it| it.0.trim()));
        } else {
            code.split(';').for_each(|it| self.statement(it.trim()));
        }
    }

    /// `1 "folder" "file"`, or without the folder.
    fn file(&mut self, rest: &'a str) {
        let mut quoted = rest.split('"');
        let Ok(number) = quoted.next().unwrap_or_default().trim().parse() else { return };
        let names: Vec<&str> = quoted.step_by(2).collect();
        let name = match names[..] {
            [folder, name, ..] if !name.is_empty() => {
                if number == 0 {
                    self.folder = folder;
                }
                if folder == self.folder || name.starts_with('/') {
                    name.to_owned()
                } else {
                    format!("{folder}/{name}")
                }
            }
            [name, ..] => name.to_owned(),
            [] => return,
        };
        self.files.insert(number, name);
    }

    fn statement(&mut self, mut statement: &'a str) {
        let end = statement.as_ptr().addr() + statement.len() - self.start;
        while let Some((label, rest)) = statement.split_once(':').filter(|it| is_label(it.0)) {
            // Functions are declared before they begin. Other labels are inside functions.
            if self.functions.contains(label) {
                self.end_function();
                self.function = label;
            }
            statement = rest.trim_start();
        }
        let (mut word, mut operands) = split_at_space(statement);
        let mut is_repeated = false;
        while matches!(word, "xacquire" | "xrelease" | "rep" | "repe" | "repz" | "repne" | "repnz") {
            is_repeated |= word.starts_with("rep");
            (word, operands) = split_at_space(operands);
        }
        match word {
            "" => return,
            ".intel_syntax" => self.is_intel = true,
            ".att_syntax" => self.is_intel = false,
            _ => (),
        }
        let was_locked = std::mem::take(&mut self.is_locked);
        let is_locked = was_locked || word == "lock";
        if word == "lock" {
            (word, operands) = split_at_space(operands);
        }
        if let Some(kind) = fence_kind(is_locked, word, operands) {
            let instruction = if is_locked { format!("lock {word}") } else { word.to_owned() };
            let instruction = self.instruction(&instruction);
            let instruction = UnseenInstruction { cause: UnseenCause::Fence, ..instruction };
            self.fences.push(Fence { end, is_intel: self.is_intel, kind, instruction });
        } else if is_locked {
            if word.is_empty() {
                self.is_locked = true;
            } else {
                self.record(&format!("lock {word}"), word);
            }
        } else if word.starts_with("xchg") && is_memory(operands) {
            self.record(word, word);
        } else if matches!(word, "call" | "callq" | "jmp" | "jmpq") {
            self.is_announced |= announces(operands);
            self.is_after_wide_load = operands.starts_with("__tsan_atomic128_load");
        } else if is_access(word, operands)
            || is_string_instruction(word) && (is_repeated || operands.is_empty())
            || word.contains("maskmovdqu")
        {
            if self.is_inline {
                self.record(word, word);
                return;
            }
            if is_part(word, operands) {
                let instruction = format!("accesses memory by `{word}`");
                let part = self.instruction(&instruction);
                self.parts.push(UnseenInstruction { cause: UnseenCause::Size, ..part });
            }
            if self.access.is_none() && !self.function.is_empty() {
                self.access = Some(self.instruction(word));
            }
        }
    }

    /// The function ends.
    fn end_function(&mut self) {
        let is_announced = std::mem::take(&mut self.is_announced);
        self.silent.extend(self.access.take().filter(|_| !is_announced));
    }

    fn record(&mut self, instruction: &str, word: &str) {
        let is_left_over = self.is_after_wide_load && word == "cmpxchg16b" && !self.is_inline;
        if is_left_over {
            return;
        }
        let found = self.instruction(instruction);
        self.found.push(found);
    }

    fn instruction(&self, instruction: &str) -> UnseenInstruction {
        let place = self.place.and_then(|(file, line)| Some((self.files.get(&file)?.clone(), line)));
        UnseenInstruction {
            // Code between functions has no line.
            place: place.filter(|_| !self.function.is_empty()),
            function: (!self.function.is_empty()).then(|| readable(self.function)),
            instruction: instruction.to_owned(),
            cause: if self.is_inline { UnseenCause::Inline } else { UnseenCause::NotInstrumented },
            symbol: self.function.to_owned(),
        }
    }
}

/// What a statement orders, if it is a fence. Adding 0 to a word of the stack is one.
fn fence_kind(is_locked: bool, word: &str, operands: &str) -> Option<FenceKind> {
    let adds_nothing = || {
        (word.starts_with("or") || word.starts_with("add"))
            && operands.split(',').map(str::trim).any(|it| it == "$0" || it == "0")
            && operands.contains("sp")
    };
    match word {
        "mfence" => Some(FenceKind::Full),
        "lfence" => Some(FenceKind::Load),
        "sfence" => Some(FenceKind::Store),
        _ => (is_locked && adds_nothing()).then_some(FenceKind::Full),
    }
}

/// The same code, with a call of the runtime after each fence. Code may use what is below its
/// stack.
pub(super) fn with_calls(mut text: String, fences: &[Fence]) -> String {
    for fence in fences.iter().rev() {
        let function = match fence.kind {
            FenceKind::Full => "full",
            FenceKind::Load => "load",
            FenceKind::Store => "store",
        };
        let [reserve, release] = match fence.is_intel {
            false => ["leaq -128(%rsp), %rsp", "leaq 128(%rsp), %rsp"],
            true => ["lea rsp, [rsp - 128]", "lea rsp, [rsp + 128]"],
        };
        text.insert_str(fence.end, &format!("; {reserve}; call __clewline_{function}_fence@PLT; {release}"));
    }
    text
}

/// Whether a called function announces a plain access.
fn announces(callee: &str) -> bool {
    callee
        .strip_prefix("__tsan_")
        .is_some_and(|it| !["func_", "atomic", "init", "ignore_"].iter().any(|other| it.starts_with(other)))
}

/// Whether an instruction accesses memory that may be shared.
fn is_access(word: &str, operands: &str) -> bool {
    // Those that only compute an address, or change nothing that a thread could observe.
    const HARMLESS: [&str; 5] = ["lea", "nop", "prefetch", "clflush", "clwb"];
    if word.starts_with('.') || HARMLESS.iter().any(|it| word.starts_with(it)) {
        return false;
    }
    let is_private = |address: &str| {
        let mut words = address.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        words.any(|it| matches!(it, "rsp" | "esp" | "rbp" | "ebp"))
    };
    let is_local = |before: &str| ["fs:", "gs:"].iter().any(|it| before.ends_with(it));
    match (operands.find('('), operands.find('[')) {
        (Some(at), _) => {
            let (before, address) = operands.split_at(at);
            let before = before.rsplit([',', ' ']).next().unwrap_or_default();
            let address = address.split(')').next().unwrap_or_default();
            let is_constant =
                address.contains("%rip") && (before.starts_with(".L") || before.contains("@GOT"));
            !is_private(address) && !is_constant && !before.contains("%fs:") && !before.contains("%gs:")
        }
        (None, Some(at)) => {
            let (before, address) = operands.split_at(at);
            let address = address.split(']').next().unwrap_or_default();
            !is_private(address) && !is_local(before.trim_end())
        }
        (None, None) => is_symbol_accessed(word, operands),
    }
}

/// Whether an operand is a variable that is named alone: `movl counter, %eax`, `incl counter`.
fn is_symbol_accessed(word: &str, operands: &str) -> bool {
    let is_symbol = |it: &str| it.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    match operands.split_once(',').map(|it| (it.0.trim(), it.1.trim())) {
        Some((one, two)) => {
            is_symbol(one) && two.starts_with('%') || one.starts_with(['%', '$']) && is_symbol(two)
        }
        None => {
            let name = word.strip_suffix(['b', 'w', 'l', 'q']).unwrap_or_default();
            ["inc", "dec", "neg", "not"].contains(&name) && is_symbol(operands)
        }
    }
}

/// Whether an instruction accesses parts of a vector in memory, or is one that code has to name.
fn is_part(word: &str, operands: &str) -> bool {
    const NAMES: [&str; 5] = ["maskmov", "gather", "scatter", "lddqu", "movdir"];
    operands.contains("{%k") || NAMES.iter().any(|it| word.contains(it))
}

/// Whether an instruction accesses what registers point to, without naming them.
fn is_string_instruction(word: &str) -> bool {
    ["movs", "stos", "lods", "scas", "cmps"].iter().any(|it| word.starts_with(it))
}

/// What follows a directive.
fn directive<'a>(code: &'a str, name: &str) -> Option<&'a str> {
    code.strip_prefix(name).filter(|it| it.starts_with([' ', '\t'])).map(str::trim)
}

fn split_at_space(statement: &str) -> (&str, &str) {
    let (word, rest) = statement.split_once([' ', '\t']).unwrap_or((statement, ""));
    (word, rest.trim_start())
}

fn is_label(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_ascii_alphanumeric() || "._$".contains(it))
}

/// Whether one of two operands is in memory: an address, or a symbol beside a register.
fn is_memory(operands: &str) -> bool {
    let mut both = operands.splitn(2, ',').map(str::trim);
    let (one, two) = (both.next().unwrap_or_default(), both.next().unwrap_or_default());
    let is_register = |it: &str| it.starts_with('%');
    operands.contains(['(', '[']) || is_register(one) != is_register(two)
}

/// The source name of a plain function, or of one in classes, namespaces or modules; other encoded
/// parts are omitted, and what a compiler appends to the name of its own copy of a function.
pub(super) fn readable(symbol: &str) -> String {
    const COPIES: [&str; 4] = [".constprop.", ".isra.", ".part.", ".cold"];
    let symbol = COPIES.iter().fold(symbol, |it, copy| it.split(copy).next().unwrap_or(it));
    let Some(encoded) = symbol.strip_prefix("_ZN").or_else(|| symbol.strip_prefix("_Z")) else {
        return symbol.to_owned();
    };
    let mut rest = encoded.trim_start_matches('K');
    let mut names = Vec::new();
    loop {
        let digits = rest.len() - rest.trim_start_matches(|it: char| it.is_ascii_digit()).len();
        let Ok(length) = rest[..digits].parse::<usize>() else { break };
        let Some(name) = rest.get(digits..digits + length) else { break };
        names.push(name);
        rest = &rest[digits + length..];
        if !symbol.starts_with("_ZN") {
            break;
        }
    }
    // Rust ends a name with a hash.
    names.pop_if(|it| {
        it.len() == 17 && it.starts_with('h') && it[1..].chars().all(|it| it.is_ascii_hexdigit())
    });
    if names.is_empty() {
        symbol.to_owned()
    } else {
        names.into_iter().map(decoded).collect::<Vec<_>>().join("::")
    }
}

/// A name in Rust, whose characters that linkers do not accept are encoded.
fn decoded(name: &str) -> String {
    const CODES: [(&str, &str); 8] = [
        ("..", "::"),
        ("$LT$", "<"),
        ("$GT$", ">"),
        ("$u20$", " "),
        ("$RF$", "&"),
        ("$BP$", "*"),
        ("$LP$", "("),
        ("$RP$", ")"),
    ];
    // None begins with a code.
    let name = name.strip_prefix('_').filter(|it| it.starts_with('$')).unwrap_or(name);
    CODES.iter().fold(name.to_owned(), |name, (code, text)| name.replace(code, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = read(text).unseen.iter().map(ToString::to_string).collect();
        let found: Vec<&str> = found
            .iter()
            .filter_map(|it| it.strip_suffix(": it is not seen, and no thread is interrupted there"))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn assembly_of_gcc_is_parsed() {
        check(
            "\t.file\t\"a.c\"\n\t.file 0 \"/tmp/x\" \"a.c\"\n\t.type\tfoo, @function\nfoo:\n\t.file 1 \"a.c\"\n\t.loc 1 3 20 view .LVU5\n\
             #APP\n# 3 \"a.c\" 1\n\tlock; xaddq %rbx, x(%rip)\n# 0 \"\" 2\n#NO_APP\n\t.loc 1 9 1\n\tcall\t__tsan_func_exit\n",
            &["a.c:3: foo has `lock xaddq` in inline assembly"],
        );
    }

    #[test]
    fn assembly_of_clang_is_parsed() {
        check(
            "\t.file\t0 \"/tmp/x\" \"a.cc\" md5 0xc6\n\t.type\t_ZN3set3addEl,@function\n_ZN3set3addEl:                  # @x\n\
             \t.file\t1 \"include\" \"atomic.h\" md5 0xc6\n\t.loc\t1 7 3 prologue_end is_stmt 1    # a.cc:7:3\n\
             \t#APP\n.Ltmp1:\n\tlock\t\t\t# x\n\tcmpxchgq\t%rcx, (%rdi)\n\t#NO_APP\n",
            &["include/atomic.h:7: set::add has `lock cmpxchgq` in inline assembly"],
        );
    }

    /// An exchange of registers is harmless, and an exchange with memory is atomic without a `lock`
    /// prefix.
    #[test]
    fn an_exchange_with_memory_locks() {
        for (code, word) in [
            ("xchgq %rax, %rbx", None),
            ("xchg eax, ebx", None),
            ("1: xchgq %rax, 8(%rbx)", Some("xchgq")),
            ("xchgl %eax, counter", Some("xchgl")),
            ("xchg eax, dword ptr [rdi]", Some("xchg")),
        ] {
            let expected = word.map(|it| format!("`{it}` in inline assembly"));
            let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
            check(&format!("\t#APP\n\t{code}\n\t#NO_APP\n"), &expected);
        }
    }

    #[test]
    fn plain_accesses_in_inline_assembly_are_found() {
        for (code, word) in [
            ("movq counter(%rip), %rax", Some("movq")),
            ("movl %eax, 8(%rdi,%rcx,4)", Some("movl")),
            ("1: mov qword ptr [rdi + 8], rax", Some("mov")),
            ("rep movsb", Some("movsb")),
            ("stosq", Some("stosq")),
            ("movsbl %al, %eax", None),
            ("maskmovdqu %xmm1, %xmm0", Some("maskmovdqu")),
            ("movl counter, %eax", Some("movl")),
            ("movl $1, counter", Some("movl")),
            ("incl counter", Some("incl")),
            ("inc eax; mov eax, ecx; movl $1, %eax; movq %rax, %rbx; jne again", None),
            ("movq %fs:0, %rax; movq %fs:8(%rax), %rbx", None),
            ("movl 4(%rsp), %eax", None),
            ("mov eax, dword ptr [rsp + 4]", None),
            ("mov rax, qword ptr fs:[0]", None),
            ("movsd .LC0(%rip), %xmm0", None),
            ("leaq 8(%rdi), %rax", None),
            ("prefetchw (%rdi)", None),
            ("mov rax, qword ptr [rip + spin]", Some("mov")),
            ("pause; mfence; rdtsc; cpuid; mov %rbx, %rsi", None),
            ("call *8(%rax)", None),
        ] {
            let expected = word.map(|it| format!("`{it}` in inline assembly"));
            let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
            check(&format!("\t#APP\n\t{code}\n\t#NO_APP\n"), &expected);
        }
    }

    #[test]
    fn functions_that_announce_no_access_are_found() {
        let text = "\t.type f, @function\n\t.type g, @function\n\t.type h, @function\nf:\n\tmovq (%rdi), %rax\n\tret\n\
                    g:\n\tcall __tsan_func_entry\n\tcall\t__tsan_read8\n\tmovq (%rdi), %rax\n\
                    h:\n\tcallq __tsan_atomic64_load\n\tmovq 8(%rsp), %rax\n\tmovq x(%rip), %rax\n";
        let read = read(text);
        let silent: Vec<(&str, &str)> =
            read.silent.iter().map(|it| (&*it.symbol, &*it.instruction)).collect();
        assert_eq!((read.unseen, silent), (Vec::new(), vec![("f", "movq"), ("h", "movq")]));
    }

    #[test]
    fn parts_of_vectors_are_found() {
        for (code, is_part) in [
            ("vpmaskmovq (%rdi), %ymm0, %ymm0", true),
            ("vpgatherqq %ymm1, (%rdi,%ymm0,8), %ymm2", true),
            ("vmovdqu64 (%rdi), %xmm0 {%k1} {z}", true),
            ("lddqu (%rdi), %xmm0", true),
            ("movdiri %rsi, (%rdi)", true),
            ("movdqu (%rdi), %xmm0", false),
            ("vpmaskmovq 8(%rsp), %ymm0, %ymm0", false),
            ("vpaddq %xmm0, %xmm0, %xmm0 {%k1}", false),
        ] {
            let text = format!("\t.type f, @function\nf:\n\t{code}\n");
            let parts = read(&text).parts;
            let expected = format!("f accesses memory by `{}`", code.split(' ').next().unwrap());
            assert_eq!(
                parts.first().is_some_and(|it| it.to_string().starts_with(&expected)),
                is_part,
                "{code}"
            );
        }
    }

    #[test]
    fn text_that_is_not_an_instruction_is_ignored() {
        check("\t.string\t\"lock; xaddq %rax, (%rbx)\"\n", &[]);
        check("\t.ascii \"\\tlock\\n\"\n\tcall\tlock\nlock:\n\tmov lock(%rip), %rax\n", &[]);
        check("\t#APP\n\t# lock\n\tpause # lock\n\t#NO_APP\n\tmfence\n", &[]);
    }

    #[test]
    fn fences_are_not_atomic_operations() {
        check(
            "\t#APP\n\tlock; addl $0, 0(%rsp)\n\t#NO_APP\n\tlock orq\t$0, (%rsp)\n\tlock or dword ptr [rsp - 64], 0\n",
            &[],
        );
        check("\tlock addl $1, 0(%rsp)\n", &["`lock addl` in code that is not instrumented"]);
    }

    /// The runtime is called after each, with operands in the syntax of the code there.
    #[test]
    fn fences_are_announced() {
        let text = "\t.type f, @function\nf:\n#APP\n\tlock; addl $0, 0(%rsp)\t# x\n\t1: mfence; movl $1, x\n#NO_APP\n\tlock\n\torq\t$0, (%rsp)\n\
                    \t.intel_syntax noprefix\n\tsfence\n\tlock or dword ptr [rsp - 64], 0\n\t.att_syntax\n\tlfence\n\t.string \"mfence\"\n\tmovl mfence, %eax\n";
        let fences = read(text).fences;
        let shown: Vec<String> = fences.iter().map(|it| it.instruction.to_string()).collect();
        assert_eq!(
            shown[..2],
            ["lock addl", "mfence"].map(|it| format!("f has the fence `{it}`, which is not seen"))
        );
        let call = |name, is_intel| match is_intel {
            false => {
                format!("; leaq -128(%rsp), %rsp; call __clewline_{name}_fence@PLT; leaq 128(%rsp), %rsp")
            }
            true => format!("; lea rsp, [rsp - 128]; call __clewline_{name}_fence@PLT; lea rsp, [rsp + 128]"),
        };
        let (full, store, load) = (call("full", false), call("store", true), call("load", false));
        let expected = text
            .replace("0(%rsp)\t", &format!("0(%rsp){full}\t"))
            .replace("mfence; ", &format!("mfence{full}; "))
            .replace("orq\t$0, (%rsp)", &format!("orq\t$0, (%rsp){full}"))
            .replace("sfence", &format!("sfence{store}"))
            .replace("64], 0", &format!("64], 0{}", call("full", true)))
            .replace("lfence", &format!("lfence{load}"));
        assert_eq!(with_calls(text.to_owned(), &fences), expected);
    }

    #[test]
    fn a_load_that_clang_leaves_beside_its_call_is_harmless() {
        let load = "\tcallq\t__tsan_atomic128_load@PLT\n\tlock\tcmpxchg16b\tx(%rip)\n";
        check(load, &[]);
        check(&load.replace("load", "store"), &["`lock cmpxchg16b` in code that is not instrumented"]);
    }

    /// The same line may be in several functions, and several lines in one.
    #[test]
    fn each_line_is_reported_once() {
        let text = "\t.file 1 \"a.c\"\n\t.type f, @function\n\t.type g, @function\n";
        let code = "#APP\n\tlock incq (%rdi)\n#NO_APP\n";
        check(
            &format!("{text}f:\n\t.loc 1 2 1\n{code}\t.loc 1 5 1\n{code}g:\n\t.loc 1 2 1\n{code}"),
            &["a.c:2: f has `lock incq` in inline assembly", "a.c:5: f has `lock incq` in inline assembly"],
        );
    }

    #[test]
    fn names_are_those_of_the_source() {
        for (symbol, name) in [
            ("push", "push"),
            ("push.isra.0.constprop.1", "push"),
            ("llvm.x86.sse3", "llvm.x86.sse3"),
            ("_Z4pushl", "push"),
            ("_ZNK5stack3topEv", "stack::top"),
            ("_ZN7example6unseen3add17h0123456789abcdefE", "example::unseen::add"),
            (
                "_ZN46_$LT$ring..Ring$u20$as$u20$core..ops..Drop$GT$4drop17h0123456789abcdefE",
                "<ring::Ring as core::ops::Drop>::drop",
            ),
            ("_ZNSt6threadC1Ev", "_ZNSt6threadC1Ev"),
        ] {
            assert_eq!(readable(symbol), name);
        }
    }
}
