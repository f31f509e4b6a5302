//! Accesses that clang does not instrument because of their size.
//!
//! Its pass knows accesses of 1, 2, 4, 8 and 16 bytes. It leaves out larger vectors, `long double`,
//! bit-fields in 3, 5, 6 or 7 bytes, vectors with a mask, and instructions that code names. All of
//! them are in its intermediate language (`exclusion.rs`). Variables of the function and of the
//! thread, and constants, are private.

use std::collections::BTreeSet;

use super::{
    assembly::{UnseenCause, UnseenInstruction, readable},
    by_value::{HARMLESS_INSTRUCTIONS, is_own, place_of},
    exclusion::definition,
};

/// These accesses, each line of a function once.
pub(super) fn find(text: &str) -> Vec<UnseenInstruction> {
    let lines: Vec<&str> = text.lines().collect();
    let private: BTreeSet<&str> = lines.iter().filter_map(|it| private_global(it)).collect();
    let mut found: Vec<UnseenInstruction> = Vec::new();
    let (mut symbol, mut start) = ("", 0);
    for (at, line) in lines.iter().enumerate() {
        if let Some((name, _)) = definition(line) {
            (symbol, start) = (name, at);
            continue;
        }
        let Some(access) = OddAccess::parse(line.trim_start()) else { continue };
        let length = lines[start..].iter().position(|it| *it == "}").unwrap_or(lines.len() - start);
        let function = Body { private: &private, lines: &lines[start..start + length] };
        if function.is_private(access.pointer, &mut Vec::new()) {
            continue;
        }
        let place = place_of(line, &lines);
        if found.iter().any(|it| it.symbol == symbol && it.place == place) {
            continue;
        }
        found.push(UnseenInstruction {
            place,
            function: Some(readable(symbol)),
            instruction: access.sentence,
            cause: UnseenCause::Size,
            symbol: symbol.to_owned(),
        });
    }
    found
}

/// The name of a constant, or of a variable of the thread: `@table = constant [2 x i32] …`.
fn private_global(line: &str) -> Option<&str> {
    let (name, rest) = line.strip_prefix('@').map(|_| line)?.split_once(" = ")?;
    let value = rest.split(['{', '[', '<', '"']).next().unwrap_or_default();
    let mut words = value.split(' ');
    words.any(|it| it == "constant" || it.starts_with("thread_local")).then_some(name)
}

/// An access that is not instrumented.
#[derive(Debug, PartialEq, Eq)]
struct OddAccess<'a> {
    /// What it does: `reads 32 bytes at once`.
    sentence: String,
    /// The operand that is the address.
    pointer: &'a str,
}

impl OddAccess<'_> {
    fn parse(line: &str) -> Option<OddAccess<'_>> {
        let statement = line.split_once(" = ").filter(|it| it.0.starts_with('%')).map_or(line, |it| it.1);
        let (word, rest) = statement.split_once(' ')?;
        let rest = rest.strip_prefix("volatile ").unwrap_or(rest);
        let parts = split_outside(rest);
        let (verb, size_bits, pointer) = match word {
            "load" => ("reads", size_bits(parts.first()?)?, *parts.get(1)?),
            "store" => ("writes", size_bits(first_type(parts.first()?))?, *parts.get(1)?),
            _ => return masked(statement),
        };
        let size_bytes = size_bits.div_ceil(8);
        let sentence = format!("{verb} {size_bytes} bytes at once");
        (![1, 2, 4, 8, 16].contains(&size_bytes)).then_some(OddAccess { sentence, pointer })
    }
}

/// A call of a function of the compiler that accesses parts of a vector, or stands for an
/// instruction that accesses memory.
fn masked(statement: &str) -> Option<OddAccess<'_>> {
    let is_call = ["call ", "tail call ", "musttail call ", "notail call "];
    is_call.iter().find(|it| statement.starts_with(**it))?;
    let (name, arguments) = statement.split_once("@llvm.")?.1.split_once('(')?;
    let is_pointer = |it: &&str| it.contains("* ") || it.starts_with("ptr ");
    let pointer = split_outside(arguments).into_iter().find(is_pointer)?;
    let sentence = if name.starts_with("masked.") {
        "accesses parts of a vector".to_owned()
    } else if name.starts_with("x86.") && !HARMLESS_INSTRUCTIONS.iter().any(|it| name.contains(it)) {
        format!("accesses memory by `llvm.{name}`")
    } else {
        return None;
    };
    Some(OddAccess { sentence, pointer })
}

/// The parts between commas outside of brackets.
fn split_outside(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, it) in text.char_indices() {
        match it {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => (),
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// The type at the beginning of an operand.
fn first_type(operand: &str) -> &str {
    let mut depth = 0;
    let end = operand.char_indices().find(|(_, it)| {
        match it {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            _ => (),
        }
        depth == 0 && *it == ' '
    });
    &operand[..end.map_or(operand.len(), |it| it.0)]
}

/// The size of a type that is not the name of another one.
fn size_bits(kind: &str) -> Option<u64> {
    if kind.ends_with('*') || kind == "ptr" {
        return Some(64);
    }
    if let Some(inner) = kind.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
        return split_outside(inner).into_iter().map(|it| size_bits(it.trim())).sum();
    }
    let inner = kind.strip_prefix(['<', '[']).and_then(|it| it.strip_suffix(['>', ']']));
    if let Some((count, element)) = inner.and_then(|it| it.split_once(" x ")) {
        return Some(count.parse::<u64>().ok()? * size_bits(element)?);
    }
    match kind {
        "half" | "bfloat" => Some(16),
        "float" => Some(32),
        "double" => Some(64),
        "x86_fp80" => Some(80),
        "fp128" => Some(128),
        _ => kind.strip_prefix('i')?.parse().ok(),
    }
}

/// A function, from its first line.
struct Body<'a> {
    private: &'a BTreeSet<&'a str>,
    lines: &'a [&'a str],
}

impl<'a> Body<'a> {
    /// Whether an address, with its type, is in a variable of the function or of the thread, or a
    /// constant. `asked`: what is being found out, in loops.
    fn is_private(&self, operand: &'a str, asked: &mut Vec<&'a str>) -> bool {
        let names: Vec<&str> =
            operand.split([' ', ',', '(', ')', '*']).filter(|it| it.starts_with(['%', '@'])).collect();
        if let Some(global) = names.iter().find(|it| it.starts_with('@')) {
            return self.private.contains(global);
        }
        let Some(name) = names.last().copied() else { return false };
        if asked.contains(&name) {
            return true;
        }
        asked.push(name);
        let value = self.lines.iter().find_map(|it| {
            let rest = it.trim_start().strip_prefix(name)?;
            rest.strip_prefix(" = ")
        });
        let Some(value) = value else {
            return self.lines.get(..1).is_some_and(|it| is_own(name, it));
        };
        let (word, rest) = value.split_once(' ').unwrap_or((value, ""));
        match word {
            "alloca" => true,
            "getelementptr" => split_outside(rest).get(1).is_some_and(|it| self.is_private(it, asked)),
            "bitcast" | "addrspacecast" => {
                rest.split(" to ").next().is_some_and(|it| self.is_private(it, asked))
            }
            "select" => split_outside(rest).iter().skip(1).take(2).all(|it| self.is_private(it, asked)),
            "phi" => {
                let mut incoming = rest.split('[').skip(1).filter_map(|it| it.split(',').next());
                incoming.all(|it| self.is_private(it, asked))
            }
            _ => value.contains("@llvm.threadlocal.address"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_are_not_instrumented_are_found() {
        let of = |line| OddAccess::parse(line).map(|it| (it.sentence, it.pointer));
        let found = |sentence: &str, pointer| Some((sentence.to_owned(), pointer));
        assert_eq!(
            of("%4 = load volatile <8 x i32>, <8 x i32>* %3, align 32"),
            found("reads 32 bytes at once", "<8 x i32>* %3")
        );
        assert_eq!(
            of("store <2 x i128> <i128 1, i128 2>, ptr @x, align 32"),
            found("writes 32 bytes at once", "ptr @x")
        );
        assert_eq!(of("store i17 %1, ptr %0"), found("writes 3 bytes at once", "ptr %0"));
        assert_eq!(of("%4 = load x86_fp80, ptr %3"), found("reads 10 bytes at once", "ptr %3"));
        assert_eq!(of("%1 = load { i64, [2 x i32*] }, ptr %3"), found("reads 24 bytes at once", "ptr %3"));
        assert_eq!(
            of("%2 = tail call <8 x float> @llvm.masked.load.v8f32.p0v8f32(<8 x float>* %1, i32 4)"),
            found("accesses parts of a vector", "<8 x float>* %1")
        );
        assert_eq!(
            of("tail call void @llvm.x86.directstore64(ptr nonnull %1, i64 %0)"),
            found("accesses memory by `llvm.x86.directstore64`", "ptr nonnull %1")
        );
        for line in [
            "store <4 x i32> %1, <4 x i32>* %0, align 16",
            "%4 = load i1, ptr %3",
            "%4 = load { i64, double }, ptr %3",
            "store <8 x i32>* %0, <8 x i32>** %2, align 8",
            "%4 = load atomic i64, i64* %3 seq_cst, align 8",
            "tail call void @llvm.prefetch.p0i8(i8* %1, i32 0, i32 3, i32 1)",
            "tail call void @llvm.x86.sse2.clflush(i8* %1)",
            "%3 = tail call <2 x i64> @llvm.x86.sse41.pmuldq(<4 x i32> %1, <4 x i32> %2)",
            "br label %3",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn what_is_private_is_left_out() {
        let globals = "@shared = global <8 x i32> zeroinitializer\n@own = internal thread_local global i32 0\n\
                       @table = internal unnamed_addr constant [2 x <8 x i32>] zeroinitializer\n\
                       @text = global [9 x i8] c\"constant \"\n";
        let check = |pointer: &str, is_private: bool| {
            let text = format!(
                "{globals}define void @f(%s* byval(%s) align 8 %0, i8* %1) #0 {{\n  %2 = alloca [4 x <8 x i32>]\n  \
                 %3 = getelementptr inbounds [4 x <8 x i32>], [4 x <8 x i32>]* %2, i64 0, i64 %9\n  \
                 %4 = phi <8 x i32>* [ %3, %a ], [ %5, %b ]\n  %5 = getelementptr <8 x i32>, <8 x i32>* %4, i64 1\n  \
                 %6 = select i1 %8, <8 x i32>* %3, <8 x i32>* %7\n  %7 = bitcast i8* %1 to <8 x i32>*\n  \
                 store <8 x i32> zeroinitializer, <8 x i32>* {pointer}, align 32\n}}\n"
            );
            assert_eq!(find(&text).is_empty(), is_private, "{pointer}");
        };
        for pointer in [
            "%2",
            "%3",
            "%4",
            "%5",
            "@own",
            "bitcast (%s* getelementptr ([2 x %s], [2 x %s]* @table, i64 0) to x*)",
        ] {
            check(pointer, true);
        }
        for pointer in ["%1", "%6", "%7", "@shared", "@text", "%unknown"] {
            check(pointer, false);
        }
        check("%0", true);
    }
}
