//! The tables of the Round-Up paper with programs in C, as in the paper: compiled here, and
//! explored unmodified.

use std::{collections::HashMap, ffi::OsString, time::Instant};

use super::{
    entry::{Compiled, Options, Outcome, Progress, Step, try_figures},
    round_up::{Row, census_of, check_options, enumeration, figures_of, golden_histories},
    round_up_table_2, round_up_table_3, round_up_table_5,
};
use crate::{
    census::{Census, CensusRequest, census_of_program},
    enumeration::Counting,
};
use clewline_methods::line_up::LineUpOptions;
use clewline_unmodified::{Compiler, Program, ProgramError, Runtime, Sources};

/// The tables that can be run so.
pub(super) const IN_C: [(&str, Compiled); 3] = [
    (round_up_table_2::ENTRY.name, |options, progress| {
        run(options, &round_up_table_2::ROWS, progress, round_up_table_2::outcome)
    }),
    (round_up_table_3::ENTRY.name, |options, progress| {
        run(options, &round_up_table_3::ROWS, progress, round_up_table_3::outcome)
    }),
    (round_up_table_5::ENTRY.name, |options, progress| {
        run(options, &round_up_table_5::ROWS, progress, round_up_table_5::outcome)
    }),
];

/// The programs, by the names of the subjects that are the same in Rust.
pub(super) const PROGRAMS: [(&str, &str); 12] = [
    ("bk-queue", include_str!("../../programs/bk_queue.c")),
    ("herlihy-wing-queue", include_str!("../../programs/herlihy_wing_queue.c")),
    ("iqueue", include_str!("../../programs/iqueue.c")),
    ("k-stack", include_str!("../../programs/k_stack.c")),
    ("ms-queue", include_str!("../../programs/ms_queue.c")),
    ("quasi-priority-queue", include_str!("../../programs/quasi_priority_queue.c")),
    ("quasi-queue", include_str!("../../programs/quasi_queue.c")),
    ("quasi-stack", include_str!("../../programs/quasi_stack.c")),
    ("rd-queue", include_str!("../../programs/rd_queue.c")),
    ("sl-queue", include_str!("../../programs/sl_queue.c")),
    ("treiber-stack", include_str!("../../programs/treiber_stack.c")),
    ("ubk-queue", include_str!("../../programs/ubk_queue.c")),
];

fn run(
    options: &Options,
    rows: &[Row],
    progress: &dyn Progress,
    outcome: fn(&[(&Row, Census)], &LineUpOptions) -> Outcome,
) -> Result<Outcome, ProgramError> {
    let check = check_options(options.size);
    let runtime = Runtime::find()?;
    let compiler = Compiler::find(None)?;
    let mut programs = HashMap::new();
    let mut measured = Vec::new();
    for (done, row) in rows.iter().enumerate() {
        let step = Step { done, of: rows.len(), what: row.program };
        let figures = try_figures(progress, step, || {
            if !programs.contains_key(row.subject) {
                programs.insert(row.subject, build(row.subject, &compiler, &runtime)?);
            }
            let asked =
                CensusRequest { executions_max: check.executions_max, time: check.time, ..row.asked() };
            let mut enumeration = enumeration(&asked.matrix, Counting::Distinct);
            let counted = census_of_program(&programs[row.subject], &asked, &mut enumeration)?;
            let begun = Instant::now();
            let serial_histories = golden_histories(row, &check);
            let elapsed = [begun.elapsed(), counted.elapsed[1]];
            Ok::<_, ProgramError>(figures_of(&Census { serial_histories, elapsed, ..counted }))
        })?;
        measured.push((row, census_of(&figures)));
    }
    let mut outcome = outcome(&measured, &check);
    outcome.table.title.push_str(", in C");
    outcome.table.notes.insert(
        0,
        format!(
            "Ours are programs in C, in crates/clewline-lab/programs: NAME:BUG is NAME.c with -DBUG_…, and k3 is -DK=3. They were compiled \
             by {} and explored as they are; a thread may be interrupted at atomics, at calls of pthread, and at plain accesses that race.",
            compiler.name()
        ),
    );
    Ok(outcome)
}

fn build(subject: &str, compiler: &Compiler, runtime: &Runtime) -> Result<Program, ProgramError> {
    let (name, variant) = subject.split_once(':').unwrap_or((subject, ""));
    let text = PROGRAMS.iter().find(|it| it.0 == name).expect("what is in the tables is in C, too").1;
    let flags = Vec::from_iter(flag(variant));
    let file = format!("{}.c", name.replace('-', "_"));
    Program::of_text(&file, text, &Sources { files: Vec::new(), flags }, compiler, runtime)
}

/// The flag that makes a variant.
fn flag(variant: &str) -> Option<OsString> {
    match variant.strip_prefix('k').and_then(|it| it.parse::<u32>().ok()) {
        Some(factor) => Some(format!("-DK={factor}").into()),
        None if variant.is_empty() => None,
        None => Some(format!("-DBUG_{}", variant.replace('-', "_").to_uppercase()).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_program_with_its_bug() {
        let tables = [&round_up_table_2::ROWS[..], &round_up_table_3::ROWS, &round_up_table_5::ROWS];
        for row in tables.into_iter().flatten() {
            let (name, variant) = row.subject.split_once(':').unwrap_or((row.subject, ""));
            let text = PROGRAMS.iter().find(|it| it.0 == name).expect(name).1;
            if let Some(flag) = flag(variant) {
                let name =
                    flag.to_string_lossy().trim_start_matches("-D").split('=').next().unwrap().to_owned();
                assert!(text.contains(&format!("def {name}")), "{}", row.subject);
            }
        }
    }
}
