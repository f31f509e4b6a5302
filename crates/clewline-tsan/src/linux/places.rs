//! Words for addresses: lines of the source for code, blocks of the heap for data.

use std::path::Path;

use clewline_threads::{
    control::Panic,
    instrument::{Control, Site},
};

use super::{current_task, heap};

/// The line that the call belongs to which returns to `address`. Of functions that were inlined
/// there, it is the outermost that is not of a standard library, or the innermost of all.
pub(super) fn resolve(address: usize) -> Option<Site> {
    let mut sites: Vec<Site> = Vec::new();
    // The call is before the address that it returns to.
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

/// A block by its number, and where in it: `#2+8`.
pub(super) fn name(address: usize) -> Option<String> {
    let block = heap::block_of(address)?;
    Some(match block.offset {
        0 => format!("#{}", block.number),
        offset => format!("#{}+{offset}", block.number),
    })
}

/// The same in more words.
pub(super) fn describe(address: usize) -> String {
    let Some(block) = heap::block_of(address) else { return format!("{address:#x}") };
    let site = resolve(block.site).map_or_else(String::new, |it| format!(", allocated at {it}"));
    let within = if block.offset == 0 { String::new() } else { format!("byte {} of ", block.offset) };
    format!("{within}block #{} of {} bytes{site}", block.number, block.size)
}

/// Something is wrong in the code at `pc`, which a task runs: the execution ends here.
#[cold]
pub(super) fn fail(control: Control, message: String, pc: usize) -> ! {
    let place = resolve(pc).map(|it| it.to_string());
    control.fail(Panic { message, place, step: None }, current_task::place(pc))
}
