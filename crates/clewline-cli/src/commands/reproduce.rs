//! `clewline reproduce`: reproduces a table or a figure of a paper.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use clewline_core::is_interrupted;
use clewline_lab::reproduce::{
    self, Compiled, FETCHED, Form, Options, Size, Step, TABLES, find, in_c, names_in_c,
};
use clewline_report::{
    OutputFile,
    render::{plot, table},
};

use super::{
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
}

const EXAMPLES: &str = "\
Examples:
  clewline reproduce monitoring-fig1 --quick
  clewline reproduce monitoring-fig1 --svg fig1.svg --csv fig1.csv
  clewline reproduce monitoring-fig2 --format json --seed 7
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
    check_outputs([], args.csv.iter().chain(&args.svg).map(PathBuf::as_path))?;
    // Created first, so that an unwritable file is reported before the tables run for minutes.
    let csv = args.csv.as_deref().map(Target::create).transpose()?;
    let svg = args.svg.as_deref().map(Target::create).transpose()?;
    let size = if args.quick { Size::Quick } else { Size::Full };
    let outcome = {
        let step = Arc::new(Mutex::new(String::new()));
        let message = {
            let step = Arc::clone(&step);
            move || format!("{name}: {}", step.lock().unwrap_or_else(PoisonError::into_inner))
        };
        let shown = message.clone();
        let _shown = ProgressLine::start(move |_| shown());
        let note = move |it: Step<'_>| {
            let text = format!("{} of {}, {}", it.done + 1, it.of, it.what);
            *step.lock().unwrap_or_else(PoisonError::into_inner) = text;
        };
        let options = Options { size, seed: args.seed };
        until_interrupted(move || match run {
            Run::Infallible(run) => Ok(run(&options, &note)),
            Run::Compiled(run) => run(&options, &note),
        })
        .map_err(|it| if is_interrupted() { Failure::at("interrupted", message()) } else { it })??
    };
    if let Some(target) = csv {
        target.write(&table::csv(&outcome.table))?;
    }
    if let (Some(target), Some(drawn)) = (svg, &outcome.plot) {
        target.write(&plot::svg(drawn))?;
    }
    let text = match args.format {
        Output::Json => table::json(&outcome.table, name),
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
