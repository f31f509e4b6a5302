"""`check` on Spark."""

from __future__ import annotations

import json
import math
import threading
from typing import Any, Callable, Optional

from .. import _native
from .._check import Specification, settings_of
from .._result import VIOLATED, ObjectResult, Result
from ._errors import IncompleteError, ReadError, SparkError, cause, understood
from ._task import SCHEMA

# The columns that are read.
_COLUMNS = ("process", "op", "call", "return", "arg", "ret", "key", "object", "id")
_REQUIRED = ("process", "op", "call")

_CHECKSUM = "clewline_checksum"

# A task has at most about this many operations, unless one object has more.
_PARTITION_ROWS = 2_000_000

# Histories of violated objects with more operations in all are not fetched for their reports.
_FETCHED_ROWS = 2_000_000


def check(
    df: Any,
    spec: Specification = "map",
    object: str = "key",
    *,
    partitions: Optional[int] = None,
    json: tuple = (),
    reports: int = 20,
    progress: Optional[Callable[[int, int, int], None]] = None,
    **options: Any,
) -> Result:
    """Judges the objects in a DataFrame, and returns a `Result` as `clewline.check` does.

    The columns are those of a table: `process`, `op`, `call`, `return`, `arg`, `ret`, `key`,
    `object`, `id`; others are not read. `object` names the column that says of which object an
    operation is. Of `key` the values are the first argument, too, if the specification has keys.

    `partitions` is the number of tasks; `json` names columns of texts that are JSON; `reports` says
    for how many violated objects the whole history is fetched, for text and pages; `progress` is
    called now and then with the numbers of operations that are judged and that there are, and of the
    objects that these are of. Options are those of `clewline.check`; limits are for each task.

    Raises `IncompleteError` if the tasks did not judge exactly the operations of the input,
    `VersionError` if an executor has another wheel, `ReadError` with the name of a file that cannot
    be read, and `ValueError` if the rows are no history of such an object.
    """
    from pyspark.sql import functions as F

    _, name = settings_of(spec, options)  # What is wrong is said before anything runs.
    names = [it for it in _COLUMNS if it in df.columns]
    missing = [it for it in (*_REQUIRED, object) if it not in df.columns]
    if missing:
        raise ValueError(f"expected a column `{missing[0]}`, found only {', '.join(df.columns)}")
    if object not in names:
        names.append(object)
    # By their ids if they have some: then the other columns are read only once.
    identity = ["id"] if "id" in names else names
    prepared = df.select(
        *(F.col(f"`{it}`") for it in names),
        F.xxhash64(*(F.col(f"`{it}`") for it in identity)).alias(_CHECKSUM),
    )
    try:
        total, checksum = prepared.agg(
            F.count(F.lit(1)), F.sum(F.col(_CHECKSUM).cast("decimal(38,0)"))
        ).collect()[0]
        if not total:
            raise ValueError("expected operations, found none")
        if partitions is None:
            partitions = max(2 * _parallelism(df), math.ceil(total / _PARTITION_ROWS))
        order = [f"`{it}`" for it in (object, "call", "return", "id") if it in names]
        sorted_rows = prepared.repartition(partitions, f"`{object}`").sortWithinPartitions(*order)
        task = _task(df, spec, object, options, tuple(json))
        with _Watch(df, object, total, progress) as watch:
            judged = sorted_rows.mapInArrow(watch.counted(task), SCHEMA).collect()
    except ValueError:
        raise
    except Exception as error:
        raise _understood(error, df, names) from error
    result = _joined(judged, name, total, int(checksum))
    if not result.violated or not reports:
        return result
    return _with_reports(result, prepared, spec, object, options, tuple(json), reports)


def _understood(error: Exception, df: Any, names: list) -> Exception:
    """The exception for an exception of a job over a DataFrame, of which columns were read."""
    found = understood(error)
    # Spark's reader names a file whose end is damaged, and not one whose pages are.
    return _damaged_file(df, names) or found if type(found) is SparkError else found


def _damaged_file(df: Any, names: list) -> Optional[ReadError]:
    """The error of a Parquet file of the input that cannot be read by itself, found by halves."""

    def failure(files: list) -> Optional[Exception]:
        try:
            columns = df.sparkSession.read.parquet(*files).select(*(f"`{it}`" for it in names))
            columns.write.format("noop").mode("overwrite").save()
        except Exception as error:  # noqa: BLE001 - of whatever kind
            return error
        return None

    try:
        files = [it for it in df.inputFiles() if it.endswith(".parquet")]
    except Exception:  # noqa: BLE001 - not every service tells
        return None
    while 1 < len(files):
        half = files[: len(files) // 2]
        files = half if failure(half) else files[len(half) :]
    error = failure(files) if files else None
    return ReadError(f"{files[0]}: it cannot be read ({cause(str(error))})") if error else None


def _task(df: Any, spec: Any, column: str, options: dict, as_json: tuple) -> Callable[[Any], Any]:
    """The function that tasks run. It is sent as a whole, so that it also runs, and says so, where
    another version is installed."""
    version, cores = _native.VERSION, _cores(df)
    options = {name: value for name, value in options.items() if value is not None}

    def judge(batches: Any) -> Any:
        import clewline

        if clewline.__version__ != version:
            import os

            raise RuntimeError(
                f"<<clewline:version:clewline {version} runs on the driver, and clewline "
                f"{clewline.__version__} on the executor {os.uname().nodename}: install one wheel "
                "everywhere:clewline>>"
            )
        from clewline.spark import _task

        return _task.judge(batches, spec, column, options, as_json, cores)

    return judge


def _joined(rows: list, spec: str, total: int, checksum: int) -> Result:
    """The result of all tasks. Equal rows count once, and all rows must account for the input."""
    certificates: dict = {}
    found: dict = {}
    for partition, kind, body in {(row[0], row[1], row[2]) for row in rows}:
        about = json.loads(body)
        if kind == "certificate":
            if partition in certificates:
                raise IncompleteError(f"partition {partition} was judged twice, with different results")
            certificates[partition] = about
        else:
            found[(partition, json.dumps(about["object"]))] = ObjectResult(
                object=about["object"],
                verdict=kind,
                operations=about["operations"],
                ids=tuple(about["ids"]),
                sentence=about["sentence"],
                is_minimal=about["is_minimal"],
            )
    sums = {
        name: sum(int(it[name]) for it in certificates.values())
        for name in ("operations", "objects", "violated", "unknown", "checksum")
    }
    if sums["operations"] != total:
        raise IncompleteError(
            f"the tasks judged {sums['operations']:,} operations, and the input has {total:,}: "
            "nothing is known; run it again"
        )
    if sums["checksum"] != checksum:
        raise IncompleteError(
            f"the tasks judged {total:,} operations, but not those of the input (the sum of their "
            "checksums is another): nothing is known; run it again"
        )
    ordered = sorted(found.values(), key=lambda it: _place(it.object))
    return Result.of_objects(
        spec, sums["operations"], sums["objects"], ordered, sums["violated"], sums["unknown"]
    )


def _place(name: Any) -> tuple:
    """The place of a name among others: none, numbers, texts."""
    if name is None:
        return 0, 0, ""
    return (2, 0, name) if isinstance(name, str) else (1, name, "")


def _with_reports(
    result: Result, prepared: Any, spec: Any, column: str, options: dict, as_json: tuple, reports: int
) -> Result:
    """The result with the reports of violated objects, whose histories are fetched: the shortest."""
    from pyspark.sql import functions as F

    from ._task import _with_json

    chosen, rows = [], 0
    for found in sorted(result.violated, key=lambda it: it.operations or 0)[:reports]:
        rows += found.operations or 0
        if _FETCHED_ROWS < rows:
            break
        chosen.append(found.object)
    if not chosen:
        return result
    key = F.col(f"`{column}`")
    names = [it for it in chosen if it is not None]
    wanted = key.isin(names)
    if len(names) < len(chosen):
        wanted = wanted | key.isNull()
    order = [f"`{it}`" for it in (column, "call", "return", "id") if it in prepared.columns]
    history = prepared.where(wanted).sort(*order)
    try:
        table = _fetched(history)
    except Exception as error:
        raise understood(error) from error
    table = table.cast(_with_json(table.schema, as_json))
    settings, _ = settings_of(spec, options)
    judged = _native.check_sorted(table, settings, column, reports, len(chosen))
    again = {repr(it.object): it for it in map(ObjectResult._of, judged.found) if it.verdict == VIOLATED}
    violated = [again.get(repr(it.object), it) for it in result.violated]
    return Result.of_objects(
        result.spec,
        result.operations,
        result.objects,
        [*violated, *result.unknown],
        result.violated_count,
        result.unknown_count,
    )


def _fetched(df: Any) -> Any:
    """The rows of a DataFrame as an Arrow table, in its order and with its types. (`toArrow` came
    with Spark 4.0, and `toPandas` makes fractions of integers if one is null.)"""
    import pyarrow as pa

    def serialized(batches: Any) -> Any:
        for batch in batches:
            out = pa.BufferOutputStream()
            with pa.ipc.new_stream(out, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.RecordBatch.from_arrays([pa.array([out.getvalue().to_pybytes()], pa.binary())], ["batch"])

    streams = (pa.ipc.open_stream(bytes(row[0])) for row in df.mapInArrow(serialized, "batch binary").collect())
    return pa.concat_tables([stream.read_all() for stream in streams])


class _Watch:
    """Reports the progress, by counters on which no verdict depends."""

    def __init__(
        self, df: Any, column: str, total: int, progress: Optional[Callable[[int, int, int], None]]
    ) -> None:
        self._column, self._total, self._progress = column, total, progress
        self._counters: Optional[tuple] = None
        self._done, self._thread = threading.Event(), None
        if progress is not None:
            try:
                context = df.sparkSession.sparkContext
                self._counters = context.accumulator(0), context.accumulator(0)
            except Exception:  # noqa: BLE001 - Spark Connect has no such thing
                self._counters = None

    def counted(self, task: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The task, which counts its rows and objects."""
        if self._counters is None:
            return task
        column, (rows, objects) = self._column, self._counters

        def counting(batches: Any) -> Any:
            def all_batches() -> Any:
                last: Any = None
                for batch in batches:
                    names = batch.column(batch.schema.get_field_index(column))
                    # A batch may be empty.
                    if batch.num_rows:
                        # They are sorted, so an object is new if it is not the one before.
                        objects.add(len(names.unique()) - (last is not None and names[0].equals(last)))
                        rows.add(batch.num_rows)
                        last = names[-1]
                    yield batch

            return task(all_batches())

        return counting

    def __enter__(self) -> "_Watch":
        if self._counters is not None:
            self._thread = threading.Thread(target=self._report, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._done.set()
        if self._thread is not None:
            self._thread.join()

    def _report(self) -> None:
        while not self._done.wait(0.5):
            # Repeated tasks count twice here.
            rows, objects = (it.value for it in self._counters)  # type: ignore
            self._progress(min(rows, self._total), self._total, objects)  # type: ignore


def _configured(df: Any, name: str) -> Optional[str]:
    try:
        return df.sparkSession.conf.get(name, None)
    except Exception:  # noqa: BLE001 - not every service lets it be read
        return None


def _cores(df: Any) -> Optional[int]:
    """How many tasks an executor runs at a time, if the settings say so."""
    cores = _configured(df, "spark.executor.cores")
    if cores and cores.isdigit():
        per_task = _configured(df, "spark.task.cpus") or "1"
        return max(1, int(cores) // int(per_task))
    # By default an executor has one core on YARN and Kubernetes, elsewhere those of its machine.
    is_one = (_configured(df, "spark.master") or "").startswith(("yarn", "k8s"))
    return 1 if is_one else None


def _parallelism(df: Any) -> int:
    try:
        return df.sparkSession.sparkContext.defaultParallelism
    except Exception:  # noqa: BLE001 - Spark Connect has no such thing
        shuffle = _configured(df, "spark.sql.shuffle.partitions")
        return int(shuffle) // 2 if shuffle and shuffle.isdigit() else 100
