"""What a task does: it judges the objects of its partition."""

from __future__ import annotations

import json
import os
from typing import Any, Iterator, Optional

from .. import _native
from .._check import settings_of
from ._errors import marked

#: The rows that a task returns. `body` is JSON.
SCHEMA = "partition int, kind string, body string"

# Bodies of more objects than that are not returned by a task; their number is.
_FOUND_MAX = 1000


def judge(
    batches: Iterator[Any], spec: Any, column: str, options: dict, as_json: tuple, cores: Optional[int]
) -> Iterator[Any]:
    """One row for each object that does not hold, and one that certifies the partition."""
    import pyarrow as pa
    from pyspark import TaskContext

    options = {"memory": memory_max(cores), **options, "jobs": 1}
    context = TaskContext.get()
    partition = context.partitionId() if context is not None else -1
    first = next(batches, None)
    if first is None:
        return
    schema = _with_json(first.schema, as_json)

    def all_batches() -> Iterator[Any]:
        for batch in _chained(first, batches):
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    settings, _ = settings_of(spec, options)
    stream = pa.RecordBatchReader.from_batches(schema, all_batches())
    try:
        judged = _native.check_sorted(stream, settings, column, 0, _FOUND_MAX)
    except ValueError as error:
        raise RuntimeError(marked("data", str(error))) from None
    rows = [
        (
            it.verdict,
            {
                "object": it.object,
                "operations": it.operations,
                "ids": it.ids,
                "sentence": it.sentence,
                "is_minimal": it.is_minimal,
            },
        )
        for it in judged.found
    ]
    certificate = {
        "operations": judged.operations,
        "objects": judged.objects,
        "violated": judged.violated,
        "unknown": judged.unknown,
        "checksum": judged.checksum,
    }
    rows.append(("certificate", certificate))
    yield pa.RecordBatch.from_pydict(
        {
            "partition": pa.array([partition] * len(rows), pa.int32()),
            "kind": [it[0] for it in rows],
            "body": [json.dumps(it[1], sort_keys=True) for it in rows],
        }
    )


def _chained(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from rest


def _with_json(schema: Any, as_json: tuple) -> Any:
    """The schema in which the texts of these columns are JSON."""
    for name in as_json:
        place = schema.get_field_index(name)
        if 0 <= place:
            about = {"ARROW:extension:name": "arrow.json", "ARROW:extension:metadata": ""}
            schema = schema.set(place, schema.field(place).with_metadata(about))
    return schema


# Of the address space that a task may have, that much is for histories.
_HISTORY_SHARE = (3, 4)


def memory_max(cores: Optional[int]) -> int:
    """How many bytes a task may take for the histories that it judges, on an executor that runs this
    number of tasks at a time, if that is known."""
    # Spark's own limit of the address space of this process: `spark.executor.pyspark.memory`
    # divided by the tasks of an executor.
    share = os.environ.get("PYSPARK_EXECUTOR_MEMORY_MB", "")
    if share.isdigit():
        above, below = _HISTORY_SHARE
        return max(0, (int(share) << 20) - _mapped_bytes()) // below * above
    return _native.available_memory() // max(1, cores or os.cpu_count() or 1)


def _mapped_bytes() -> int:
    """The address space that this process has already; 0 where that cannot be read."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
