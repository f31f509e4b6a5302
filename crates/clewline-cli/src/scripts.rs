//! Specifications in Starlark, read from files: `--spec ./bank.star`.

use std::{
    collections::HashMap,
    fs,
    sync::{Mutex, PoisonError},
};

use clewline_script::Script;
use clewline_specs::{Loader, OperationInfo, SpecificationEntry};

/// How specifications are read from files that end in `.star`.
pub const LOADER: Loader = Loader {
    suffix: ".star",
    load: |path| Ok(Box::new(script(path)?.0)),
    entry: |path| Some(script(path).ok()?.1),
};

// A file is read once: all histories of a command are judged by the same specification.
static SCRIPTS: Mutex<Option<HashMap<String, Loaded>>> = Mutex::new(None);

type Loaded = Result<(Script, &'static SpecificationEntry), String>;

fn script(path: &str) -> Loaded {
    let mut scripts = SCRIPTS.lock().unwrap_or_else(PoisonError::into_inner);
    let scripts = scripts.get_or_insert_default();
    if let Some(known) = scripts.get(path) {
        return known.clone();
    }
    let loaded = read(path);
    scripts.insert(path.to_owned(), loaded.clone());
    loaded
}

fn read(path: &str) -> Loaded {
    let text = fs::read_to_string(path).map_err(|it| format!("{path}: {it}"))?;
    let script = Script::load(path, &text).map_err(|it| it.to_string())?;
    let entry = entry(path, &script);
    Ok((script, entry))
}

/// The entry of a script, which is kept as the table of entries is.
fn entry(path: &str, script: &Script) -> &'static SpecificationEntry {
    let kept = |text: String| -> &'static str { Box::leak(text.into()) };
    let mut operations: Vec<OperationInfo> = Vec::new();
    for (name, parameters) in script.operations() {
        let argument = match parameters[..] {
            [] => String::new(),
            [only] => only.to_owned(),
            _ => format!("[{}]", parameters.join(", ")),
        };
        operations.push(OperationInfo {
            name,
            aliases: &[],
            argument: kept(argument),
            about: "as the script says",
        });
    }
    let about = script.title().map_or_else(|| "a specification in Starlark".to_owned(), str::to_owned);
    Box::leak(Box::new(SpecificationEntry {
        name: kept(path.to_owned()),
        about: kept(about),
        operations: operations.leak(),
        parameter: None,
        is_keyed: false,
        build: |_| Err("is read from its file".to_owned()),
    }))
}
