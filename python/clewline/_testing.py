"""For tests."""

from __future__ import annotations

from typing import Any

from ._check import check


def assert_linearizable(data: Any, spec: Any = "map", **options: Any) -> None:
    """As `check`, in a test: raises `AssertionError` with the report unless the history holds.

    A limit that was hit is no success: it fails, too.
    """
    __tracebackhide__ = True  # pytest shows the caller.
    result = check(data, spec, **options)
    if not result.holds:
        raise AssertionError("\n" + str(result))
