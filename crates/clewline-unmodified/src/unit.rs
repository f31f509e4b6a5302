//! One file of a program: compiled to assembly, which is searched, and then to an object file.

use std::{ffi::OsString, fs, path::Path, process::Command};

use super::{
    assembly,
    blind_spots::{BlindSpot, recorded},
    by_value, children,
    compiler::{Compiler, CompilerKind, Language, including},
    error::ProgramError,
    exclusion,
    headers::Headers,
    scratch::Scratch,
    sizes,
};

/// Runs a compiler; the inner error is its message.
pub(super) fn output(command: &mut Command) -> Result<Result<(), String>, ProgramError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = children::output(command).map_err(ProgramError::io(name))?;
    let message = || String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(if output.status.success() { Ok(()) } else { Err(message()) })
}

/// A file to compile.
pub(super) struct Unit<'a> {
    pub(super) file: &'a Path,
    pub(super) number: usize,
    pub(super) language: Language,
    pub(super) flags: &'a [OsString],
}

impl Unit<'_> {
    /// The command that instruments it.
    pub(super) fn instrumenting(&self, compiler: &Compiler, headers: &Headers) -> Command {
        let mut command = compiler.command(self.language);
        command.args(compiler.flags()).arg(including(headers.folder()));
        if compiler.kind() == CompilerKind::Gcc {
            command.arg("-include").arg(headers.builtins());
        }
        // The user's flags take precedence, except where code would not be instrumented.
        command.args(self.flags).args(compiler.last_flags()).args(LAST_FLAGS);
        if self.flags.iter().any(|it| is_other_sanitizer(&it.to_string_lossy())) {
            // Without its library, which would not be seen: what is undefined is a crash.
            command.arg("-fsanitize-undefined-trap-on-error");
        }
        command.arg(self.file);
        command
    }

    /// Compiles it to the file `object`, which also lists what of it is not seen.
    pub(super) fn compile(
        &self,
        compiler: &Compiler,
        headers: &Headers,
        scratch: &Scratch,
        object: &Path,
    ) -> Result<(), ProgramError> {
        let (file, number) = (self.file, self.number);
        let text = scratch.path().join(format!("{number}.s"));
        let failed = |message: String| {
            let message =
                missing_returns(&message).into_iter().chain([message]).collect::<Vec<_>>().join("\n");
            ProgramError::Compiling { file: file.to_owned(), message }
        };
        let read = |file: &Path| {
            let bytes = fs::read(file).map_err(ProgramError::io(file.display().to_string()))?;
            Ok::<_, ProgramError>(String::from_utf8_lossy(&bytes).into_owned())
        };
        let list = scratch.path().join(format!("{number}.functions"));
        let name = list.display().to_string();
        let is_gcc = compiler.kind() == CompilerKind::Gcc;
        let mut command = self.instrumenting(compiler, headers);
        if is_gcc {
            command.args(exclusion::dump_flags(&name));
        }
        output(command.arg("-S").arg("-o").arg(&text))?.map_err(failed)?;
        let mut code = read(&text)?;
        let assembly::Assembly { mut unseen, silent, fences, .. } = assembly::read(&code);
        if !is_gcc {
            let mut command = self.instrumenting(compiler, headers);
            output(command.args(exclusion::language_flags(&name)))?.map_err(failed)?;
        }
        // Without a file, no function is instrumented.
        let list = if list.exists() { read(&list)? } else { String::new() };
        let known = exclusion::instrumented(compiler.kind(), &list);
        // A part that gcc moves elsewhere belongs to its function.
        let whole = |it: &str| it.strip_suffix(".cold").unwrap_or(it).to_owned();
        unseen.extend(silent.into_iter().filter(|it| !known.contains(&*whole(&it.symbol))));
        unseen.extend(by_value::find(compiler.kind(), &list, &code));
        if !is_gcc {
            unseen.extend(sizes::find(&list).into_iter().filter(|it| known.contains(&*it.symbol)));
        }
        code = assembly::with_calls(code, &fences);
        if !unseen.is_empty() {
            let unseen: Vec<BlindSpot> = unseen.into_iter().map(BlindSpot::Instruction).collect();
            code.push_str(&recorded(&unseen));
        }
        fs::write(&text, without_pauses(&code)).map_err(ProgramError::io(text.display().to_string()))?;
        let mut command = compiler.command(self.language);
        command.args(self.flags.iter().filter(|it| it.to_string_lossy().starts_with("-Wa,")));
        command.arg("-c").arg(&text).arg("-o").arg(object);
        output(&mut command)?.map_err(failed)
    }
}

/// Assembly without the instruction that only takes time: loops that back off pause thousands of
/// times, and no other thread runs meanwhile.
fn without_pauses(code: &str) -> String {
    let is_pause = |line: &str| ["pause", "rep nop", "rep; nop"].contains(&line.trim().trim_end_matches(';'));
    code.lines().filter(|it| !is_pause(it)).flat_map(|it| [it, "\n"]).collect()
}

/// A sentence for each operation that the compiler refuses because it need not return: not every
/// compiler names it.
fn missing_returns(message: &str) -> Vec<String> {
    const FUNCTION: &str = "clewline_operation_";
    let mut function = None;
    let mut names = Vec::new();
    for line in message.lines() {
        if line.contains("In function ") {
            let name = line.split_once(FUNCTION).map(|it| it.1);
            let is_other = |it: char| !it.is_alphanumeric() && it != '_';
            function = name.and_then(|it| it.split(is_other).next()).map(str::to_owned);
        } else if let Some((place, _)) =
            line.split_once(": error: ").filter(|it| it.1.contains("return-type]"))
        {
            names.extend(function.clone().or_else(|| operation_at(place)));
        }
    }
    let sentence = |name: &String| {
        format!(
            "the operation `{name}` does not return on every path; if it has no result, it ends with \
             `return CLEWLINE_NOTHING;`"
        )
    };
    names.iter().map(sentence).collect()
}

/// The name of the operation at a place: `stack.c:3:1`.
fn operation_at(place: &str) -> Option<String> {
    let mut place = place.splitn(3, ':');
    let (file, line) = (place.next()?, place.next()?.parse().ok()?);
    operation_above(&fs::read_to_string(file).ok()?, line).map(str::to_owned)
}

/// The name of the last operation that `text` declares up to a line.
fn operation_above(text: &str, line: usize) -> Option<&str> {
    const DECLARATION: &str = "CLEWLINE_OPERATION(";
    let above = text.lines().take(line).filter_map(|it| it.split_once(DECLARATION)).last()?.1;
    above.split([',', ')']).next().map(str::trim)
}

/// Whether a flag asks for a sanitizer of single operations.
fn is_other_sanitizer(flag: &str) -> bool {
    flag.strip_prefix("-fsanitize=").is_some_and(|it| it != "thread")
}

/// Flags that the user's flags do not override: with link-time optimization, code would be made
/// after its assembly was searched, and without instrumentation.
const LAST_FLAGS: [&str; 2] = ["-fsanitize=thread", "-fno-lto"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operation_of_a_line_is_the_last_one_above() {
        let text = "CLEWLINE_OPERATION(pop)\n{\n}\nCLEWLINE_OPERATION( put , k, v) { }\n";
        let at = |line| operation_above(text, line);
        assert_eq!([at(0), at(1), at(3), at(4)], [None, Some("pop"), Some("pop"), Some("put")]);
    }

    #[test]
    fn an_operation_that_need_not_return_is_named() {
        let gcc =
            "a.c: In function ‘clewline_operation_put’:\nh.h:1:2: error: no return [-Werror=return-type]\n";
        let found = missing_returns(gcc);
        assert!(found.len() == 1 && found[0].starts_with("the operation `put` does not return"), "{found:?}");
        assert_eq!(missing_returns("a.c:1:2: error: expected `;`\n"), [""; 0]);
    }
}
