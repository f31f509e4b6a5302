"""`check`: what it takes, and how that becomes a history."""

from __future__ import annotations

import glob
import itertools
import json
import os
from typing import Any, Callable, Mapping, Optional, Union

from . import _machine, _native
from ._result import Result

Specification = Union[str, Callable[..., Any], object]


def check(
    data: Any,
    spec: Specification = "map",
    *,
    object: Optional[str] = None,
    sorted: bool = False,
    held: Optional[int] = None,
    **options: Any,
) -> Result:
    """Judges whether the history in `data` is linearizable, or satisfies `criterion`, and returns a
    `Result`.

    `data` is one of:

    - an Arrow table, a `RecordBatch`, several of them, a `RecordBatchReader`, or anything with
      `__arrow_c_stream__` (no copy is made); a frame of pandas or polars. The columns are `process`,
      `op`, `call`, `return`, `arg`, `ret`, `key`, `object`, `id`;
    - a path, or a list of paths. Patterns (`run/*.parquet`) are expanded; several files are one
      history, by the times of one clock. All formats of `clewline check` are read;
    - an iterable of dicts with the same names, as JSON lines have them;
    - a `Recorder`.

    `spec` is the name of a specification (`clewline specs` lists them), a function
    `step(state, op, args, ret)`, or an object with `initial`, `step` and `part`.

    `object` names the column that says of which object an operation is; each object is judged by
    itself. With `sorted=True` a stream of batches is sorted by that column, and is judged while it
    comes, with few objects in memory at a time. An object with more than `held` operations (by
    default, as many as `memory` allows) is judged while it comes, if they are in the order of `call`.

    Options are those of `clewline check`: `algorithm`, `timeout` (seconds), `memory` (bytes, besides
    those that the process has when the check begins), `jobs`, `input_format`, `keyed`, `quasi`,
    `reading`, `may_fail`, `skew`, `initial`, `mapping`, `criterion`, and `violations`, for how many
    violated objects a counterexample is made.

    Raises `ValueError` if the data is no history of such an object, and `OSError` if a file cannot
    be opened. A limit that was hit is no exception: the verdict is `unknown`.
    """
    settings, name = settings_of(spec, options)
    if isinstance(data, (str, os.PathLike)):
        data = [data]
    paths = _paths(data)
    data = _joined(data)
    if sorted:
        if paths is not None or not hasattr(data, "__arrow_c_stream__"):
            raise TypeError("sorted: expected a table or a stream of batches")
        judged = _native.check_sorted(data, settings, object or "object", held=held)
        return Result.of_sorted(judged, name)
    if paths is not None:
        if object is not None:
            raise TypeError("object: the files say of which object an operation is")
        return Result.of_judged(_native.check_paths(paths, settings), name)
    rows = getattr(data, "rows", None)
    if callable(rows) and not hasattr(data, "__arrow_c_stream__"):
        data = rows()
    elif _is_pandas(data):
        data = _typed(data)
    if hasattr(data, "__arrow_c_stream__"):
        return Result.of_judged(_native.check_table(data, settings, object), name)
    text = _lines(data, object, settings.takes_keys)
    return Result.of_judged(_native.check_rows("the rows", text, settings), name)


class Row(dict):
    """An operation as a recorder saw it."""


def settings_of(spec: Specification, options: Mapping[str, Any]) -> tuple:
    """The settings for the judge, and the name of the specification."""
    options = dict(options)
    if isinstance(spec, str):
        given, name = spec, spec
        if options.get("initial") is not None:
            options["initial"] = json.dumps(options["initial"])
    else:
        given = _machine.Machine(spec, options.pop("initial", _machine.MISSING))
        name = given.name
    if isinstance(options.get("mapping"), Mapping):
        options["mapping"] = json.dumps(options["mapping"])
    return _native.Settings(given, **options), name


def _paths(data: Any) -> Optional[list]:
    """The files that `data` names; `None` if it is no list of paths."""
    if not isinstance(data, (list, tuple)) or not data:
        return None
    if not all(isinstance(it, (str, os.PathLike)) for it in data):
        return None
    paths: list = []
    for item in map(os.fspath, data):
        if os.path.exists(item) or not glob.has_magic(item):
            paths.append(item)
            continue
        matching = [it for it in glob.glob(item, recursive=True) if os.path.isfile(it)]
        if not matching:
            raise FileNotFoundError(f"{item}: no file has a name like this")
        paths.extend(sorted(matching))
    return paths


def _joined(data: Any) -> Any:
    """`data`; if it is a record batch, or several, the stream of them."""
    if hasattr(data, "__arrow_c_stream__"):
        return data
    if hasattr(data, "__arrow_c_array__"):
        data = [data]
    if not isinstance(data, (list, tuple)) and not hasattr(data, "__next__"):
        return data
    batches = iter(data)
    first = next(batches, None)
    if not hasattr(first, "__arrow_c_array__"):
        # A list can be read again.
        return data if batches is not data else itertools.chain([] if first is None else [first], batches)
    import pyarrow

    all_batches = map(pyarrow.record_batch, itertools.chain([first], batches))
    return pyarrow.RecordBatchReader.from_batches(pyarrow.record_batch(first).schema, all_batches)


def _is_pandas(data: Any) -> bool:
    module = type(data).__module__
    return module.split(".")[0] == "pandas" and hasattr(data, "to_dict")


def _typed(frame: Any) -> Any:
    """A frame of pandas in which whole numbers with gaps are integers, or its rows as dicts if a
    column has values of several types."""
    frame = frame.convert_dtypes()
    try:
        import pyarrow

        return pyarrow.Table.from_pandas(frame, preserve_index=False)
    except ImportError:
        pass
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        pass
    return [
        {name: value for name, value in row.items() if not _is_gap(value)} for row in frame.to_dict("records")
    ]


def _is_gap(value: Any) -> bool:
    """Whether pandas means by this that there is no value."""
    import pandas

    return value is None or value is pandas.NA or value is pandas.NaT or value != value


def _lines(rows: Any, object: Optional[str], takes_keys: bool) -> bytes:
    """The rows as JSON lines."""
    lines = []
    for row in rows:
        if not isinstance(row, Mapping):
            raise TypeError(f"expected a table, paths or dicts, found {type(row).__name__}")
        # A gap of a table is no value; what a recorder saw is one.
        row = dict(row) if isinstance(row, Row) else {k: v for k, v in row.items() if v is not None or k == "ret"}
        if object is not None and object != "object" and object in row:
            row["object"] = row[object] if object == "key" and takes_keys else row.pop(object)
        if "key" in row:
            key = row.pop("key")
            row["arg"] = [key, row["arg"]] if "arg" in row else key
        if "event" not in row and row.get("return") is None:
            # It is pending: it has no result.
            row.pop("return", None)
            row.pop("ret", None)
        lines.append(json.dumps(row, default=_as_json))
    return "\n".join(lines).encode()


def _as_json(value: Any) -> Any:
    """Values of other libraries, such as NumPy's numbers."""
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    item = getattr(value, "item", None)
    if callable(item):
        return item()
    raise TypeError(f"expected values that JSON has, found {type(value).__name__}")
