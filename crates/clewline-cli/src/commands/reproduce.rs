//! `clewline reproduce`: reproduces a table or a figure of a paper.

use std::{
    collections::HashMap,
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use clewline_core::is_interrupted;
use clewline_lab::reproduce::{
    self, Compiled, FETCHED, Form, Options, Progress, Size, Step, TABLES, find, in_c, names_in_c, plot,
};
use clewline_report::{
    OutputFile,
    render::table::{self, Cell, Column, ReportTable},
};
use serde_json::{Value as Json, json};

use super::{
    journal::{Journal, JournalFlag},
    output::{Output, Stdout, check_outputs},
    progress::ProgressLine,
    signals::until_interrupted,
    status::{Failure, Status},
};

/// Reproduce a table or a figure of a paper, next to the published values
///
/// Times are measured on this machine. Everything else is determined by the seed. A dash means that
/// the paper gives no value; a note says why.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Args {
    /// Name of the table; `clewline tables` lists them
    table: String,

    /// Use smaller sizes (finishes in seconds)
    #[arg(long)]
    quick: bool,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Language of the tested programs; `c` needs a C compiler
    #[arg(long, value_name = "rust|c", default_value = "rust", value_parser = ["rust", "c"])]
    lang: String,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Output,

    /// Also write the values to a CSV file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Also write a plot to an SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    #[command(flatten)]
    journal: JournalFlag,
}

const EXAMPLES: &str = "\
Examples:
  clewline reproduce monitoring-fig1 --quick
  clewline reproduce monitoring-fig1 --svg fig1.svg --csv fig1.csv
  clewline reproduce monitoring-fig2 --format json --seed 7
  clewline reproduce line-up-table-2 --journal it.journal   run it again to continue
  clewline reproduce round-up-table-2 --lang c
  clewline reproduce crates-unmodified           download, build and explore published crates";

const TABLE_WIDTH_COLUMNS: usize = 80;

/// The function that produces the table.
enum Run {
    Infallible(reproduce::Run),
    /// Fails if a program does not compile.
    Compiled(Compiled),
}

/// The requested table, and how it is run.
fn table(args: &Args) -> Result<(&'static str, Form, Run), Failure> {
    if let Some(fetched) = FETCHED.iter().find(|it| it.name == args.table) {
        return Ok((fetched.name, Form::Table, Run::Compiled(fetched.run)));
    }
    let entry = find(&args.table).map_err(|it| Failure::Message(it.to_string()))?;
    let run = match args.lang.as_str() {
        "c" => Run::Compiled(in_c(entry.name).ok_or_else(|| not_in_c(entry.name))?),
        _ => Run::Infallible(entry.run),
    };
    Ok((entry.name, entry.form, run))
}

pub(super) fn run(args: &Args) -> Result<Status, Failure> {
    let (name, form, run) = table(args)?;
    if args.svg.is_some() && form != Form::Plot {
        let drawn: Vec<&str> = TABLES.iter().filter(|it| it.form == Form::Plot).map(|it| it.name).collect();
        return Err(Failure::Message(format!(
            "--svg: {name} has no plot; tables with a plot: {}",
            drawn.join(", ")
        )));
    }
    let outputs = args.csv.iter().chain(&args.svg).map(PathBuf::as_path);
    check_outputs([], outputs.chain(args.journal.file()))?;
    // Created first, so that an unwritable file is reported before the tables run for minutes.
    let csv = args.csv.as_deref().map(Target::create).transpose()?;
    let svg = args.svg.as_deref().map(Target::create).transpose()?;
    let size = if args.quick { Size::Quick } else { Size::Full };
    let options = Options { size, seed: args.seed };
    let progress = Arc::new(Kept::new(name, args.format, args.journal.open(Some(args.seed))?));
    let mut outcome = {
        let shown = Arc::clone(&progress);
        let _shown = ProgressLine::start(move |_| shown.message());
        let followed = Arc::clone(&progress);
        until_interrupted(move || match run {
            Run::Infallible(run) => Ok(run(&options, &*followed)),
            Run::Compiled(run) => run(&options, &*followed),
        })
        .map_err(|it| if is_interrupted() { Failure::at("interrupted", progress.message()) } else { it })??
    };
    if let Some(failure) = progress.state().failure.take() {
        return Err(failure);
    }
    if let Some(target) = csv {
        target.write(&table::csv(&outcome.table))?;
    }
    if let Some(target) = svg {
        target.write(&plot::svg(&outcome.plots))?;
    }
    let text = match args.format {
        Output::Json => {
            // Some rows were printed when they came.
            let rows = outcome.table.rows.split_off(progress.state().printed);
            table::json(&ReportTable { rows, ..outcome.table }, name)
        }
        Output::Text => {
            let text = table::text(&outcome.table, TABLE_WIDTH_COLUMNS);
            if args.quick {
                format!(
                    "{text}\nQuick run with smaller sizes than in the paper; omit --quick for the full sizes.\n"
                )
            } else {
                text
            }
        }
    };
    Stdout::new().print(text.as_bytes())?;
    Ok(Status::Done)
}

fn not_in_c(name: &str) -> Failure {
    let names: Vec<&str> = names_in_c().collect();
    Failure::Message(format!(
        "--lang: {name} has no programs in C; tables with programs in C: {}",
        names.join(", ")
    ))
}

/// The progress of a table, and the steps that its journal keeps.
struct Kept {
    table: &'static str,
    format: Output,
    state: Mutex<KeptState>,
}

struct KeptState {
    /// The step that is measured now.
    now: String,
    /// The figures of finished steps, by number.
    finished: HashMap<usize, Vec<Cell>>,
    journal: Option<Journal>,
    /// How many rows were printed.
    printed: usize,
    /// Why a row could not be printed, or the journal not be written.
    failure: Option<Failure>,
}

impl Kept {
    fn new(table: &'static str, format: Output, mut journal: Option<Journal>) -> Kept {
        let mut finished = HashMap::new();
        while let Some(unit) = journal.as_mut().and_then(Journal::take) {
            let number = unit["step"].as_u64().and_then(|it| usize::try_from(it).ok());
            let figures = unit["figures"].as_array().and_then(|it| it.iter().map(cell).collect());
            finished.extend(number.zip(figures));
        }
        let state = KeptState { now: String::new(), finished, journal, printed: 0, failure: None };
        Kept { table, format, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, KeptState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn message(&self) -> String {
        format!("{}: {}", self.table, self.state().now)
    }
}

impl Progress for Kept {
    fn step(&self, step: Step<'_>) {
        self.state().now = format!("{} of {}, {}", step.done + 1, step.of, step.what);
    }

    fn row(&self, columns: &[Column], row: &[Cell]) {
        let columns = columns.to_vec();
        let table =
            ReportTable { title: String::new(), columns, rows: vec![row.to_vec()], notes: Vec::new() };
        match self.format {
            Output::Json => {
                let printed = Stdout::new().print(table::json(&table, self.table).as_bytes());
                let mut state = self.state();
                match printed {
                    Ok(()) => state.printed += 1,
                    Err(failure) => _ = state.failure.get_or_insert(failure),
                }
            }
            // A text is aligned when all are known; until then a terminal shows each in a line,
            // where the progress was.
            Output::Text if std::io::stderr().is_terminal() => {
                eprintln!("\r\x1b[2K{}", table::line(&table));
            }
            Output::Text => (),
        }
    }

    fn kept(&self, number: usize) -> Option<Vec<Cell>> {
        self.state().finished.remove(&number)
    }

    fn keep(&self, number: usize, figures: &[Cell]) {
        let mut state = self.state();
        let figures: Vec<Json> = figures.iter().map(json_of).collect();
        let unit = json!({"step": number, "figures": figures});
        let written = state.journal.as_mut().map_or(Ok(()), |it| it.add(unit));
        if let Err(failure) = written {
            state.failure.get_or_insert(failure);
        }
    }
}

/// A figure as it is kept. A measurement is a text, which keeps every digit.
fn json_of(cell: &Cell) -> Json {
    match cell {
        Cell::Text(text) => json!(text),
        Cell::Count(count) => json!(count),
        Cell::Number(number) => json!([number.to_string()]),
        Cell::Missing => Json::Null,
    }
}

/// The figure that was kept like this.
fn cell(json: &Json) -> Option<Cell> {
    match json {
        Json::String(text) => Some(Cell::Text(text.clone())),
        Json::Null => Some(Cell::Missing),
        Json::Array(number) => number.first()?.as_str()?.parse().ok().map(Cell::Number),
        _ => json.as_u64().map(Cell::Count),
    }
}

/// A file that is begun, to be written later.
struct Target<'a> {
    path: &'a Path,
    file: OutputFile,
}

impl<'a> Target<'a> {
    fn create(path: &'a Path) -> Result<Target<'a>, Failure> {
        let file = OutputFile::create(path).map_err(|it| Failure::at(&path.display().to_string(), it))?;
        Ok(Target { path, file })
    }

    fn write(mut self, text: &str) -> Result<(), Failure> {
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.commit());
        written.map_err(|it| Failure::at(&self.path.display().to_string(), it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_they_were_kept() {
        let cells = [
            Cell::Text("12".to_owned()),
            Cell::Count(u64::MAX),
            Cell::Number(0.1 + 0.2),
            Cell::Number(1e-300),
            Cell::Number(f64::INFINITY),
            Cell::Missing,
        ];
        for it in cells {
            let text = json_of(&it).to_string();
            assert_eq!(cell(&serde_json::from_str(&text).unwrap()), Some(it));
        }
        assert_eq!(cell(&json!({})), None);
        assert_eq!(cell(&json!(-1)), None);
    }
}
