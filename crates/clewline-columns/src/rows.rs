//! The rows of tables, until they become a recording.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::Schema;
use clewline_core::{
    Interner, Names, ObjectId, ProcessId, RawCall, Recording, RowFilter, Timed, TimedColumns, Times, Value,
    Values,
};
use clewline_formats::{ReadError, ReadOptions};

use crate::cells::{self, CellError};

/// The columns that are read.
pub(crate) const COLUMNS: [&str; 10] =
    ["process", "op", "call", "return", "arg", "ret", "key", "object", "id", "order"];

// Without these there is no history.
const REQUIRED: [&str; 3] = ["process", "op", "call"];

/// The columns of a table that are read, by their places.
pub(crate) fn projection(schema: &Schema) -> Result<Vec<usize>, ReadError> {
    for name in REQUIRED {
        if schema.fields().find(name).is_none() {
            let found: Vec<&str> = schema.fields().iter().map(|it| it.name().as_str()).collect();
            let message = format!("expected a column `{name}`, found only {}", found.join(", "));
            return Err(ReadError::in_line(1, message));
        }
    }
    Ok(COLUMNS.iter().filter_map(|it| schema.fields().find(it).map(|it| it.0)).collect())
}

// Times are compared with each other.
const MIXED: &str =
    "expected the times of all calls and returns as integers, or all as timestamps, found both";

/// An error in `row`, from 0, after `read` rows were read.
pub(crate) fn after(read: usize, row: usize, message: String) -> ReadError {
    let mut error = ReadError::in_line(row + 1, message);
    error.read = read;
    error
}

/// A column that is there, and has no nulls.
fn required(batch: &RecordBatch, name: &str) -> Result<ArrayRef, CellError> {
    let wrong = |row, message: &str| CellError { row, message: message.to_owned() };
    let array = batch.column_by_name(name).ok_or_else(|| wrong(None, "there is no such column"))?;
    let has_nulls = array.null_count() != 0;
    match (0..array.len()).find(|it| has_nulls && array.is_null(*it)) {
        Some(row) => Err(wrong(Some(row), "expected a value, found null")),
        None => Ok(Arc::clone(array)),
    }
}

/// Names by number. The numbers of recent ones are remembered: processes are few and take turns,
/// and a row often has the object of the one before.
struct Numbered {
    all: Interner<Value>,
    recent: Vec<(Option<Value>, u32)>,
}

// Names whose numbers are remembered.
const RECENT_NAMES: usize = 256;

impl Numbered {
    fn new() -> Numbered {
        Numbered { all: Interner::new(), recent: vec![(None, 0); RECENT_NAMES] }
    }

    /// The number of a name.
    #[inline]
    fn number(&mut self, name: Value) -> u32 {
        // The lowest bit says of what kind a value is.
        let recent = &mut self.recent[(name.word() >> 1) as usize % RECENT_NAMES];
        if recent.0 != Some(name) {
            *recent = (Some(name), self.all.intern(name));
        }
        recent.1
    }
}

/// The rows so far.
pub(crate) struct Rows {
    values: Values,
    processes: Numbered,
    objects: Numbered,
    columns: TimedColumns<RawCall, Value>,
    // By row; empty if there is no column of ids.
    ids: Vec<Value>,
    // By row; empty if there is no column of orders.
    orders: Vec<Option<i64>>,
    times: Option<Vec<Times>>,
    // Columns whose texts are JSON.
    json: Vec<String>,
    // Whether times are timestamps, after the first batch.
    is_timestamps: Option<bool>,
    filter: Option<RowFilter>,
    // How many rows came; and of those that are kept, if not all are, the numbers.
    seen: usize,
    kept: Vec<usize>,
}

/// The cells of a batch, by column and row.
struct Cells {
    process: Vec<Value>,
    op: Vec<Value>,
    called: Vec<Option<i64>>,
    returned: Vec<Option<i64>>,
    key: Option<Vec<Value>>,
    object: Option<Vec<Value>>,
    id: Option<Vec<Value>>,
    arg: Vec<Value>,
    ret: Vec<Value>,
    order: Option<Vec<Option<i64>>>,
    // Whether the texts in `ret` were JSON.
    is_json: bool,
}

impl Rows {
    /// Without any row. `json` are columns whose texts are known to be JSON.
    pub(crate) fn new(options: &ReadOptions<'_>, json: Vec<String>) -> Rows {
        Rows {
            values: Values::new(),
            processes: Numbered::new(),
            objects: Numbered::new(),
            columns: TimedColumns::with_capacity(0),
            ids: Vec::new(),
            orders: Vec::new(),
            times: options.times.then(Vec::new),
            json,
            is_timestamps: None,
            filter: options.circumstances.rows.clone(),
            seen: 0,
            kept: Vec::new(),
        }
    }

    /// How many rows have come.
    pub(crate) fn len(&self) -> usize {
        self.seen
    }

    /// Takes the rows of a batch, which is in this group of rows.
    pub(crate) fn take(&mut self, batch: &RecordBatch, group: usize) -> Result<(), ReadError> {
        let before = self.seen;
        self.seen += batch.num_rows();
        let failed = |name: &str, error: CellError| {
            let message = format!("column `{name}`, row group {group}: {}", error.message);
            after(before, before + error.row.unwrap_or(0), message)
        };
        let Cells { process, op, called, returned, key, object, id, arg, ret, order, is_json } =
            self.cells(batch, &failed)?;
        let cell =
            |column: &Option<Vec<Value>>, row: usize| column.as_ref().map_or(Value::ABSENT, |it| it[row]);
        for row in 0..batch.num_rows() {
            // In a column of JSON, `null` is a value of its own.
            let ret = if ret[row].is_absent() && !is_json { Value::NIL } else { ret[row] };
            if returned[row].is_none() && !matches!(ret, Value::ABSENT | Value::NIL) {
                let message = "expected a time of the return, where there is a result".to_owned();
                return Err(failed("return", CellError { row: Some(row), message }));
            }
            let (key, object) = (cell(&key, row), cell(&object, row));
            if let Some(filter) = &self.filter {
                if !filter.keeps(&self.values, object, if key.is_absent() { arg[row] } else { key }) {
                    continue;
                }
                // The number of a row is its id, also if others are left out.
                let own = cell(&id, row);
                self.ids.push(if own.is_absent() { Value::from(before + row) } else { own });
                self.kept.push(before + row);
            }
            let arg = match key {
                Value::ABSENT => arg[row],
                key if arg[row].is_absent() => key,
                key => self.values.list(&[key, arg[row]]),
            };
            let called = called[row].unwrap_or_default();
            self.columns.push(Timed {
                process: ProcessId(self.processes.number(process[row])),
                object: ObjectId(self.objects.number(object)),
                call: RawCall { method: op[row], arg },
                called,
                returned: returned[row].map(|time| (ret, time)),
            });
            if let Some(order) = &order {
                self.orders.resize(self.columns.len() - 1, None);
                self.orders.push(order[row]);
            }
            if let Some(times) = &mut self.times {
                times.push(Times { line: before + row + 1, called, returned: returned[row] });
            }
        }
        if let (Some(id), None) = (id, &self.filter) {
            self.ids.resize(before, Value::ABSENT);
            self.ids.extend(id);
        }
        Ok(())
    }

    /// The cells of a batch.
    fn cells(
        &mut self,
        batch: &RecordBatch,
        failed: &impl Fn(&str, CellError) -> ReadError,
    ) -> Result<Cells, ReadError> {
        let Rows { values, is_timestamps, json, .. } = self;
        let rows = batch.num_rows();
        let column = |name: &str| batch.column_by_name(name).cloned();
        let process = required(batch, "process").and_then(|it| cells::names(&it, values));
        let process = process.map_err(|it| failed("process", it))?;
        let op = required(batch, "op").and_then(|it| cells::words(&it, values));
        let op = op.map_err(|it| failed("op", it))?;
        let mut times = |array: &ArrayRef| {
            let own = cells::is_timestamps(array);
            // A column without any value has any type.
            if array.null_count() < array.len() && *is_timestamps.get_or_insert(own) != own {
                return Err(CellError { row: None, message: MIXED.to_owned() });
            }
            cells::times(array)
        };
        let called = required(batch, "call").and_then(|it| times(&it));
        let called = called.map_err(|it| failed("call", it))?;
        let returned = match column("return") {
            Some(array) => times(&array).map_err(|it| failed("return", it))?,
            None => vec![None; rows],
        };
        let mut names = |name: &str| match column(name) {
            Some(array) => cells::names(&array, values).map(Some).map_err(|it| failed(name, it)),
            None => Ok(None),
        };
        let (key, object, id) = (names("key")?, names("object")?, names("id")?);
        let mut data = |name: &str| match column(name) {
            Some(array) => {
                let field = batch.schema_ref().field_with_name(name);
                let is_json = json.iter().any(|it| it == name) || field.is_ok_and(cells::is_json);
                let cells = cells::data(&array, values, is_json).map_err(|it| failed(name, it))?;
                Ok((cells, is_json))
            }
            None => Ok((vec![Value::ABSENT; rows], true)),
        };
        let ((arg, _), (ret, is_json)) = (data("arg")?, data("ret")?);
        let order = match column("order") {
            Some(array) => Some(cells::times(&array).map_err(|it| failed("order", it))?),
            None => None,
        };
        Ok(Cells { process, op, called, returned, key, object, id, arg, ret, order, is_json })
    }

    /// The recording of all rows.
    pub(crate) fn finish(self) -> Result<Recording, ReadError> {
        let Rows { values, processes, objects, columns, mut ids, mut orders, times, kept, .. } = self;
        let read = columns.len();
        let place = |row: usize| kept.get(row).copied().unwrap_or(row);
        let failed = |row: usize, message: String| after(read, place(row), message);
        if !ids.is_empty() {
            ids.resize(read, Value::ABSENT);
        }
        orders.resize(read, None);
        let history = columns.finish().map_err(|malformed| {
            let other = malformed.other().map(|it| format!(" (row {})", place(it) + 1)).unwrap_or_default();
            failed(malformed.index(), format!("{}{other}", malformed.reason()))
        })?;
        let names = Names {
            processes: processes.all.into_values(),
            objects: objects.all.into_values(),
            ids: (!ids.is_empty()).then_some(ids),
            times,
            orders: orders.iter().any(Option::is_some).then_some(orders),
            ..Names::default()
        };
        if let Some(own) = &names.ids {
            let mut all: Vec<(Value, usize)> = (0..own.len()).map(|it| (names.id(it), it)).collect();
            all.sort_unstable();
            let twice = all.windows(2).filter(|it| it[0].0 == it[1].0).map(|it| (it[1].1, it[0].1)).min();
            if let Some((again, first)) = twice {
                return Err(failed(
                    again,
                    format!("column `id`: it is the id of row {}, too", place(first) + 1),
                ));
            }
        }
        Ok(Recording::new(history, values, names))
    }
}
