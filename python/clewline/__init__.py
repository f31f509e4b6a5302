"""Checks recorded histories of concurrent operations for linearizability.

    >>> import clewline
    >>> result = clewline.check("run/*.parquet", spec="map")
    >>> result.holds
    True

`check` takes files, Arrow tables, frames of pandas or polars, and lists of dicts. `Recorder` makes
such lists, and `assert_linearizable` is `check` for tests. `clewline.spark` does the same on a
cluster.
"""

from ._check import check
from ._machine import PENDING
from ._native import VERSION as __version__
from ._recorder import Operation, Recorder
from ._result import ObjectResult, Result
from ._testing import assert_linearizable

__all__ = [
    "PENDING",
    "ObjectResult",
    "Operation",
    "Recorder",
    "Result",
    "__version__",
    "assert_linearizable",
    "check",
]
