//! Structs that are passed and returned by value, and instructions of the processor that code names
//! (`_mm_stream_si64`): compilers access memory for them without instrumentation.
//!
//! gcc instruments neither an argument that is a struct in memory, `f(*shared)`, nor a place that
//! gets a struct as a result, `*shared = f()`. clang does not instrument the former if the struct
//! is passed on the stack. Both are found in what the compiler writes about its code
//! (`exclusion.rs`): the dump of gcc, and the intermediate language of clang. Variables of the
//! function are private. gcc instruments none of the builtin functions that stand for instructions;
//! what clang leaves out of them is in `sizes.rs`.

use std::collections::BTreeSet;

use super::{
    assembly::{UnseenCause, UnseenInstruction, readable},
    compiler::CompilerKind,
    exclusion::{definition, visited},
};

/// The structs that are copied unseen, from a file that the compiler has written and the assembly.
pub(super) fn find(kind: CompilerKind, text: &str, assembly: &str) -> Vec<UnseenInstruction> {
    match kind {
        CompilerKind::Gcc => in_dump(text, assembly),
        CompilerKind::Clang => in_language(text),
    }
}

fn unseen(symbol: &str, callee: &str, place: Option<(String, u32)>, cause: UnseenCause) -> UnseenInstruction {
    UnseenInstruction {
        place,
        function: Some(readable(symbol)),
        instruction: readable(callee),
        cause,
        symbol: symbol.to_owned(),
    }
}

/// A function in a dump of gcc.
#[derive(Default)]
struct DumpedFunction<'a> {
    symbol: &'a str,
    /// Its parameters and variables.
    own: BTreeSet<&'a str>,
    /// Those that are pointers.
    pointers: BTreeSet<&'a str>,
    /// Whether its declarations have ended.
    is_code: bool,
}

fn in_dump(dump: &str, assembly: &str) -> Vec<UnseenInstruction> {
    let mut function = DumpedFunction::default();
    let mut found = Vec::new();
    for line in dump.lines() {
        if let Some(symbol) = visited(line) {
            function = DumpedFunction { symbol, ..DumpedFunction::default() };
        } else if !function.is_code {
            function.is_code = line.contains("<bb ");
            function.own.extend(declared(line).map(|it| it.0));
            function.pointers.extend(declared(line).filter(|it| it.1.contains('*')).map(|it| it.0));
        } else {
            let (place, statement) = without_places(line.trim());
            let Some(call) = Call::parse(&statement) else { continue };
            if let Some(name) = call.callee.strip_prefix(INSTRUCTION) {
                if function.accesses_memory(name, &call.arguments) {
                    found.push(instruction(function.symbol, call.callee, place_of_user(line.trim())));
                }
                continue;
            }
            let is_shared = |it: &str| function.is_shared(it, assembly);
            for (is_copied, cause) in [
                (call.arguments.iter().any(|it| is_shared(it)), UnseenCause::Argument),
                (is_shared(call.result), UnseenCause::Result),
            ] {
                if is_copied {
                    found.push(unseen(function.symbol, call.callee, place.clone(), cause));
                }
            }
        }
    }
    found
}

/// The builtin functions of gcc that stand for an instruction of the processor.
const INSTRUCTION: &str = "__builtin_ia32_";

/// Parts of the names of those that neither read nor write what code could observe.
pub(super) const HARMLESS_INSTRUCTIONS: [&str; 5] = ["prefetch", "clflush", "clwb", "cldemote", "monitor"];

fn instruction(symbol: &str, callee: &str, place: Option<(String, u32)>) -> UnseenInstruction {
    let sentence = format!("accesses memory by `{callee}`");
    UnseenInstruction { instruction: sentence, ..unseen(symbol, callee, place, UnseenCause::Size) }
}

/// The first place in a statement that is not in a header of the compiler, or else the first.
fn place_of_user(statement: &str) -> Option<(String, u32)> {
    let places = || statement.split('[').filter_map(|it| place(it.split(']').next()?));
    places().find(|it| !it.0.contains("/lib/gcc/")).or_else(|| places().next())
}

/// The variables that a line before the code declares, and the text of each: `struct big it[2];`,
/// or the parameters.
fn declared(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let (is_variable, rest) = match line.strip_prefix("  ") {
        Some(variable) => (true, variable.split(['[', ';']).next().unwrap_or_default()),
        None => (false, line.split_once(" (").map_or("", |it| it.1)),
    };
    let is_static = is_variable && rest.starts_with("static ");
    rest.split(',').filter(move |_| !is_static).filter_map(|it| {
        let name = it.trim_end().trim_end_matches(')').rsplit([' ', '*', '&']).next()?;
        Some((name, it)).filter(|it| !it.0.is_empty())
    })
}

/// A statement without the places of its parts, and the first of these: `[a.c:5:24] it = f ();`.
fn without_places(statement: &str) -> (Option<(String, u32)>, String) {
    let (mut first, mut kept, mut rest) = (None, String::new(), statement);
    while let Some(start) = rest.find('[') {
        let inner = &rest[start + 1..];
        let end = inner.find("] ").filter(|end| !inner[..*end].contains('['));
        let place = end.and_then(|end| Some((place(&inner[..end])?, end)));
        let Some((found, end)) = place else {
            kept.push_str(&rest[..=start]);
            rest = inner;
            continue;
        };
        kept.push_str(&rest[..start]);
        rest = &inner[end + 2..];
        first = first.or(Some(found));
    }
    kept.push_str(rest);
    (first, kept)
}

/// `a.c:5:24`.
fn place(text: &str) -> Option<(String, u32)> {
    let mut parts = text.rsplitn(3, ':');
    let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    column.parse::<u32>().ok()?;
    Some((file.to_owned(), line.parse().ok()?))
}

/// A call in a dump of gcc: `*p_1 = f (x_2, *q_3);`.
#[derive(Debug, PartialEq, Eq)]
struct Call<'a> {
    /// What gets the result; empty if nothing does.
    result: &'a str,
    callee: &'a str,
    arguments: Vec<&'a str>,
}

impl Call<'_> {
    fn parse(statement: &str) -> Option<Call<'_>> {
        let statement = &statement[..statement.rfind(");")? + 1];
        let (result, call) = match find_outside(statement, " = ") {
            Some(at) => (&statement[..at], &statement[at + 3..]),
            None => ("", statement),
        };
        let at = find_outside(call, " (")?;
        let (callee, arguments) = (&call[..at], &call[at + 2..call.len() - 1]);
        // Conditions are no calls, and the runtime and other builtin functions take no structs.
        let is_other = ["if", "while", "switch", "return", "resx", "goto"].contains(&callee)
            || callee.is_empty()
            || [".", "(", "#", "__tsan_"].iter().any(|it| callee.starts_with(it))
            || callee.starts_with("__builtin_") && !callee.starts_with(INSTRUCTION)
            || callee.contains(' ') && !callee.starts_with("OBJ_TYPE_REF");
        (!is_other).then(|| Call { result, callee, arguments: split_outside(arguments) })
    }
}

/// The position of `wanted` outside of brackets and texts.
fn find_outside(text: &str, wanted: &str) -> Option<usize> {
    let mut nesting = Nesting::default();
    text.char_indices()
        .find(|(at, it)| {
            let is_found = nesting.is_outside() && text[*at..].starts_with(wanted);
            nesting.take(*it);
            is_found
        })
        .map(|it| it.0)
}

/// The parts between commas outside of brackets and texts.
fn split_outside(mut text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    while let Some(at) = find_outside(text, ", ") {
        parts.push(&text[..at]);
        text = &text[at + 2..];
    }
    parts.push(text);
    parts
}

/// Where a text is inside of brackets or quotation marks.
#[derive(Default)]
struct Nesting {
    depth: i32,
    is_text: bool,
    is_escaped: bool,
}

impl Nesting {
    fn is_outside(&self) -> bool {
        self.depth == 0 && !self.is_text
    }

    fn take(&mut self, it: char) {
        match it {
            _ if self.is_escaped => self.is_escaped = false,
            '\\' if self.is_text => self.is_escaped = true,
            '"' => self.is_text = !self.is_text,
            '(' | '[' | '{' if !self.is_text => self.depth += 1,
            ')' | ']' | '}' if !self.is_text => self.depth -= 1,
            _ => (),
        }
    }
}

impl DumpedFunction<'_> {
    /// Whether an operand is a struct in memory that other threads may access.
    fn is_shared(&self, operand: &str, assembly: &str) -> bool {
        if operand.is_empty() || operand.starts_with(['&', '"', '\'', '-', '{', '<']) || is_number(operand) {
            return false;
        }
        let is_reached = operand.starts_with('*') || operand.contains("->") || operand.starts_with("MEM");
        if is_reached {
            // `MEM[(struct big *)&it + 8B]`
            let base = operand.split_once('&').filter(|it| !it.1.starts_with([')', ' ', '*'])).map(|it| it.1);
            return base.is_none_or(|it| self.is_shared_variable(it, assembly));
        }
        !is_value(operand) && self.is_shared_variable(operand, assembly)
    }

    /// Whether an instruction with these arguments accesses memory that other threads may access.
    fn accesses_memory(&self, name: &str, arguments: &[&str]) -> bool {
        let is_pointer = |it: &str| {
            let version = it.strip_suffix("(D)").unwrap_or(it);
            let base = version.rsplit_once('_').map_or(version, |it| it.0);
            [it, version, base].iter().any(|it| self.pointers.contains(it))
        };
        let is_shared = |it: &&str| match it.strip_prefix('&') {
            Some(place) => !self.own.contains(place.split(['.', '[']).next().unwrap_or_default()),
            None => is_pointer(it),
        };
        !HARMLESS_INSTRUCTIONS.iter().any(|it| name.contains(it)) && arguments.iter().any(is_shared)
    }

    /// Whether it is a variable, or a part of one, that is not the function's own.
    fn is_shared_variable(&self, operand: &str, assembly: &str) -> bool {
        // The variables that a compiler adds have a dot in their names: `D.54463`.
        let end = operand.find(|it: char| !it.is_alphanumeric() && !"._$".contains(it));
        let name = &operand[..end.unwrap_or(operand.len())];
        let mut parts = name.match_indices('.').map(|it| &name[..it.0]).chain([name]);
        !parts.clone().any(|it| self.own.contains(it)) && parts.any(|it| is_variable(it, assembly))
    }
}

fn is_number(operand: &str) -> bool {
    operand.starts_with(|it: char| it.is_ascii_digit())
}

/// Whether it is a value in a register: `_3`, `it_2(D)`.
fn is_value(operand: &str) -> bool {
    let name = operand.split('(').next().unwrap_or_default();
    let version = name.rsplit_once('_').map_or("", |it| it.1);
    !version.is_empty() && version.chars().all(|it| it.is_ascii_digit())
}

/// Whether a symbol is a variable: functions are arguments, too. Its address alone says nothing.
fn is_variable(symbol: &str, assembly: &str) -> bool {
    assembly.match_indices(symbol).any(|(at, _)| {
        let (before, after) = (&assembly[..at], &assembly[at + symbol.len()..]);
        let line = before.rsplit('\n').next().unwrap_or_default().trim_start();
        let is_whole = !before.ends_with(|it: char| it.is_alphanumeric() || "._$".contains(it));
        let is_loaded = ["(%rip)", "+", "-"].iter().any(|it| after.starts_with(it))
            && ["mov", "push", "vmov"].iter().any(|it| line.starts_with(it))
            && !line.contains('$');
        is_whole && is_loaded || line.ends_with(".type\t") && after.starts_with(", @object")
    })
}

fn in_language(text: &str) -> Vec<UnseenInstruction> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let (mut symbol, mut start) = ("", 0);
    for (at, line) in lines.iter().enumerate() {
        if let Some((name, _)) = definition(line) {
            (symbol, start) = (name, at);
        } else if line.contains("call ") || line.contains("invoke ") {
            let mut passed = line.split("byval(").skip(1).map(passed_pointer);
            if passed.any(|it| !is_own(it, &lines[start..at])) {
                let callee = line.split_once('@').and_then(|it| it.1.split('(').next()).unwrap_or_default();
                found.push(unseen(symbol, callee, place_of(line, &lines), UnseenCause::Argument));
            }
        }
    }
    found
}

/// The pointer in `%struct.big) align 8 %3, i64 1)`.
fn passed_pointer(rest: &str) -> &str {
    let rest = rest.split_once(')').map_or("", |it| it.1);
    let is_name = |it: &&str| it.starts_with(['%', '@']);
    rest.split([' ', ',', ')']).find(is_name).unwrap_or_default()
}

/// Whether a pointer in clang's language points into a variable or a parameter of the function,
/// whose lines up to the use are `above`.
pub(super) fn is_own(pointer: &str, above: &[&str]) -> bool {
    let defines =
        |line: &&&str| line.trim_start().strip_prefix(pointer).is_some_and(|it| it.starts_with(" = "));
    let Some(line) = above.iter().rev().find(defines) else {
        // A parameter that was itself passed on the stack, or a result.
        let parameters = above.first().copied().unwrap_or_default();
        let mut own = parameters.split("byval(").skip(1).chain(parameters.split("sret(").skip(1));
        return own.any(|it| passed_pointer(it) == pointer);
    };
    let value = line.split_once(" = ").map_or("", |it| it.1);
    let is_part = value.starts_with("getelementptr") || value.starts_with("bitcast");
    value.starts_with("alloca")
        || is_part
            && value
                .split([' ', ','])
                .filter(|it| it.starts_with('%'))
                .any(|it| is_own(it, &above[..above.len() - 1]))
}

/// The place of `… !dbg !23`.
pub(super) fn place_of(line: &str, lines: &[&str]) -> Option<(String, u32)> {
    let node = |name: &str| lines.iter().rev().find_map(|it| it.strip_prefix(name)?.strip_prefix(" = "));
    let field = |node: &str, name: &str| {
        let value = node.split_once(name)?.1.trim_start();
        Some(value.split([',', ')']).next()?.to_owned())
    };
    let location = node(line.rsplit_once("!dbg ")?.1.split(',').next()?)?;
    let scope = node(&field(location, "scope:")?)?;
    let file = node(&field(scope, " file:")?)?;
    let name = field(file, "filename:")?.trim_matches('"').to_owned();
    Some((name, field(location, "line:")?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_a_dump_are_parsed() {
        let parsed = |text| Call::parse(text).map(|it| (it.result, it.callee, it.arguments));
        assert_eq!(parsed("_3 = use (shared);"), Some(("_3", "use", vec!["shared"])));
        assert_eq!(
            parsed("*p_2(D) = f_1(D) (MEM[(const struct P &)p_3(D)], \", (\"); [tail call]"),
            Some(("*p_2(D)", "f_1(D)", vec!["MEM[(const struct P &)p_3(D)]", "\", (\""]))
        );
        assert_eq!(
            parsed("_9 = OBJ_TYPE_REF(_2;(struct V)v_6(D)->0B) (v_6(D), v_6(D)->arr[i_11(D)]);"),
            Some(("_9", "OBJ_TYPE_REF(_2;(struct V)v_6(D)->0B)", vec!["v_6(D)", "v_6(D)->arr[i_11(D)]"]))
        );
        for other in ["if (_3 != 0)", "_3 = (long int) x_2(D);", "__tsan_read8 (&shared);", "return _3;"] {
            assert_eq!(parsed(other), None, "{other}");
        }
    }

    #[test]
    fn what_may_be_shared_is_not_the_functions_own() {
        let own = BTreeSet::from(["it", "D.54463", "parameter"]);
        let function =
            DumpedFunction { symbol: "f", own, pointers: BTreeSet::from(["p", "_7"]), is_code: true };
        let assembly = "\tmovdqa\t16+shared(%rip), %xmm0\n\tleaq\tworker(%rip), %rdi\n\tmovq\tworker@GOTPCREL(%rip), %rax\n";
        for shared in [
            "shared",
            "shared.part",
            "*p_2(D)",
            "p_2(D)->part",
            "MEM[(const struct P &)p_3(D)]",
            "MEM[(struct P *)&shared + 8B]",
        ] {
            assert!(function.is_shared(shared, assembly), "{shared}");
        }
        for private in [
            "it",
            "it.part[2]",
            "D.54463",
            "D.54463.a",
            "parameter",
            "_3",
            "p_2(D)",
            "&shared",
            "12",
            "0B",
            "\"text\"",
            "worker",
            "MEM[(struct P *)&it + 8B]",
            "<retval>",
            "{}",
            "",
        ] {
            assert!(!function.is_shared(private, assembly), "{private}");
        }
        for (arguments, is_access) in
            [("&shared", true), ("p_2(D)", true), ("p", true), ("_7", true), ("&it[1]", false), ("_3", false)]
        {
            assert_eq!(
                function.accesses_memory("movnti64", &["v_2(D)", arguments]),
                is_access,
                "{arguments}"
            );
            assert!(!function.accesses_memory("clflush", &[arguments]), "{arguments}");
        }
    }

    #[test]
    fn places_are_those_of_the_call() {
        let (place, text) = without_places("[a b.c:12:7] [a b.c:12:3] *p_2 = f ([a b.c:12:9] x[i_3]);");
        assert_eq!((place, &*text), (Some(("a b.c".to_owned(), 12)), "*p_2 = f (x[i_3]);"));
        let (_, text) =
            without_places("[a.c:5:24] [a.c:5:3] MEM[(struct s *)[a.c:5:17] &text] = f (v_3(D));");
        assert_eq!(text, "MEM[(struct s *)&text] = f (v_3(D));");
        assert_eq!(Call::parse(&text).map(|it| it.result), Some("MEM[(struct s *)&text]"));
    }

    #[test]
    fn instructions_in_a_dump_are_found() {
        let dump = ";; Function put (put, funcdef_no=1, decl_uid=2)\nvoid put (const int * p, long int v)\n{\n  int it[4];\n\n  <bb 2> :\n  \
                    [/usr/lib/gcc/x/emmintrin.h:9:3] __builtin_ia32_movnti64 ([a.c:5:34] &[a.c:5:52] x[0], v_2(D));\n  \
                    __builtin_ia32_maskstored (p_3(D), v_2(D));\n  __builtin_ia32_maskstored (&it, v_2(D));\n  _4 = __builtin_ia32_pshufd (v_2(D), 3);\n}\n";
        let found: Vec<_> = in_dump(dump, "").into_iter().map(|it| (it.instruction, it.place)).collect();
        let by = |name: &str| format!("accesses memory by `__builtin_ia32_{name}`");
        assert_eq!(found, [(by("movnti64"), Some(("a.c".to_owned(), 5))), (by("maskstored"), None)]);
    }

    #[test]
    fn structs_in_the_language_of_clang_are_found() {
        let text = "define i64 @f(%s* byval(%s) align 8 %0, %s* %1) #0 {\n  %3 = alloca %s, align 8\n  \
                    %4 = getelementptr inbounds %s, %s* %3, i64 0\n\
                    call i64 @own(%s* byval(%s) align 8 %0)\n  call i64 @own(%s* byval(%s) align 8 %4)\n  \
                    %5 = call i64 @use(%s* noundef byval(%s) align 8 %1), !dbg !7\n  call i64 @use(%s* byval(%s) align 8 @shared)\n}\n\
                    !1 = !DIFile(filename: \"a.c\", directory: \"/tmp\")\n!5 = distinct !DISubprogram(name: \"f\", scope: !1, file: !1, line: 3)\n\
                    !7 = !DILocation(line: 4, column: 3, scope: !5)\n";
        let found: Vec<_> =
            in_language(text).into_iter().map(|it| (it.symbol, it.instruction, it.place)).collect();
        let use_at = |place: Option<(String, u32)>| ("f".to_owned(), "use".to_owned(), place);
        assert_eq!(found, [use_at(Some(("a.c".to_owned(), 4))), use_at(None)]);
    }
}
