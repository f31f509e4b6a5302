//! Descriptions of addresses: source lines for code, heap blocks for data.

use std::path::Path;

use clewline_threads::{
    control::Panic,
    instrument::{Control, Site},
};

use super::{current_task, heap};

/// The source line of the call that returns to `address`. Of the functions inlined there, the
/// outermost one outside the standard libraries, otherwise the innermost one.
pub(super) fn resolve(address: usize) -> Option<Site> {
    let mut sites: Vec<Site> = Vec::new();
    // The call is before its return address.
    backtrace::resolve(address.wrapping_sub(1) as *mut _, |symbol| {
        let (Some(file), line) = (symbol.filename(), symbol.lineno().unwrap_or(0)) else { return };
        let function = symbol.name().map(|it| format!("{it:#}"));
        sites.push(Site { file: file.to_string_lossy().into_owned().into(), line, function });
    });
    let at = sites.iter().position(|it| !is_standard(Path::new(&*it.file))).unwrap_or(0);
    (at < sites.len()).then(|| sites.swap_remove(at))
}

fn is_standard(file: &Path) -> bool {
    let file = file.to_string_lossy();
    ["/rustc/", "/rustlib/", "/include/c++/"].iter().any(|it| file.contains(it))
}

/// A block by its number, and the offset in it: `#2+8`.
pub(super) fn name(address: usize) -> Option<String> {
    let block = heap::block_of(address)?;
    Some(match block.offset {
        0 => format!("#{}", block.number),
        offset => format!("#{}+{offset}", block.number),
    })
}

/// A longer description.
pub(super) fn describe(address: usize) -> String {
    let Some(block) = heap::block_of(address) else { return format!("{address:#x}") };
    let site = resolve(block.site).map_or_else(String::new, |it| format!(", allocated at {it}"));
    let within = if block.offset == 0 { String::new() } else { format!("byte {} of ", block.offset) };
    format!("{within}block #{} of {} bytes{site}", block.number, block.size)
}

/// Ends the execution: the code at `pc`, which a task runs, has failed.
#[cold]
pub(super) fn fail(control: Control, message: String, pc: usize) -> ! {
    let place = resolve(pc).map(|it| it.to_string());
    control.fail(Panic { message, place, step: None }, current_task::place(pc))
}
