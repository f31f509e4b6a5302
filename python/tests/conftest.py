"""Histories for tests."""

import pytest


def row(process, op, call, returned, arg=None, ret=None, **more):
    """An operation as a dict."""
    given = {"process": process, "op": op, "call": call, "return": returned, "arg": arg, "ret": ret}
    return {**given, **more}


@pytest.fixture
def held():
    """A register: 1 is read while it is written, and later 2."""
    return [
        row(0, "write", 0, 5, arg=1),
        row(1, "read", 1, 4, ret=1),
        row(0, "write", 6, 7, arg=2),
        row(1, "read", 8, 9, ret=2),
    ]


@pytest.fixture
def stale():
    """A register: 1 is read after 2 was written."""
    return [
        row(0, "write", 0, 1, arg=1, id="a"),
        row(0, "write", 2, 3, arg=2, id="b"),
        row(1, "read", 4, 5, ret=1, id="c"),
    ]
