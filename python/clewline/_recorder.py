"""Records the operations of a program, in threads and in tasks of asyncio."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import json
import threading
import time
from typing import Any, Callable, Optional

from ._check import Row, _as_json, check
from ._result import Result


class Operation:
    """An operation under way: `with recorder.operation("get", key) as it: it.ret = client.get(key)`.

    It is pending, that is, its effect is unknown, if the block raises, is cancelled, or never ends.
    """

    __slots__ = ("_recorder", "_row", "_whose", "_is_open", "ret")

    def __init__(self, recorder: "Recorder", row: dict, whose: Any) -> None:
        self._recorder, self._row, self._whose, self._is_open = recorder, row, whose, True
        #: The result.
        self.ret: Any = None

    def returned(self, ret: Any = None) -> None:
        """The operation has returned."""
        self._end(time.monotonic_ns(), ret)

    def failed(self) -> None:
        """The operation certainly had no effect: it is not part of the history."""
        self._end(None, None)

    def pending(self) -> None:
        """It is not known whether the operation had an effect."""
        # Its process stays busy. There is nothing else to do: an operation that is dropped does
        # nothing either, as the garbage collector may come while the recorder is at work.
        self._is_open = False

    def _end(self, returned: Optional[int], ret: Any) -> None:
        if not self._is_open:
            raise RuntimeError("the operation has ended before")
        self._is_open = False
        self._recorder._end(self._row, self._whose, returned, _kept(ret))

    def __enter__(self) -> "Operation":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if not self._is_open:
            return
        if kind is None:
            self.returned(self.ret)
        else:
            self.pending()


class Recorder:
    """Records operations with the times of one clock. Safe to use from threads and asyncio.

    Results and arguments are values that JSON has; they are recorded as they are at the call and at
    the return, whatever becomes of them later. Each thread, and each task, is a process of the
    history; one whose operation is pending goes on as a new process.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._rows: list = []
        # By thread and task: the process that it is, unless an operation of it is under way.
        self._idle: dict = {}
        self._processes = 0

    def operation(self, op: str, *args: Any, object: Any = None, process: Any = None) -> Operation:
        """Begins an operation, to be used in a `with` statement. Several arguments are a list."""
        row: dict = {"op": op}
        if args:
            row["arg"] = _kept(args[0] if len(args) == 1 else list(args))
        if object is not None:
            row["object"] = _kept(object)
        whose = _whose()
        with self._lock:
            if process is None:
                process = self._idle.pop(whose, None)
                if process is None:
                    process = self._processes
                    self._processes += 1
            row["process"], row["id"] = process, len(self._rows)
            self._rows.append(row)
            row["call"] = time.monotonic_ns()
        return Operation(self, row, whose)

    def record(self, function: Optional[Callable[..., Any]] = None, *, op: Optional[str] = None) -> Any:
        """A decorator: each call of the function, or coroutine function, is an operation with its
        arguments and its result. If it raises, the operation is pending."""
        if function is None:
            return functools.partial(self.record, op=op)
        name = op or function.__name__
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def recorded_later(*args: Any) -> Any:
                with self.operation(name, *args) as it:
                    it.ret = await function(*args)
                return it.ret

            return recorded_later

        @functools.wraps(function)
        def recorded(*args: Any) -> Any:
            with self.operation(name, *args) as it:
                it.ret = function(*args)
            return it.ret

        return recorded

    def rows(self) -> list:
        """The operations so far, as dicts. Those under way are pending."""
        with self._lock:
            kept = [row for row in self._rows if "_failed" not in row]
            return [Row((name, it) for name, it in row.items() if name[0] != "_") for row in kept]

    def write(self, path: Any) -> None:
        """Writes the operations as JSON lines, which `clewline check` reads."""
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(row, default=_as_json) + "\n" for row in self.rows())

    def check(self, spec: Any = "map", **options: Any) -> Result:
        """Judges the operations so far."""
        return check(self.rows(), spec, **options)

    def __len__(self) -> int:
        return sum("_failed" not in row for row in self._rows)

    def _end(self, row: dict, whose: Any, returned: Optional[int], ret: Any) -> None:
        with self._lock:
            if returned is None:
                row["_failed"] = True
            else:
                row["return"], row["ret"] = returned, ret
            self._idle.setdefault(whose, row["process"])


def _kept(value: Any) -> Any:
    """The value as it is now."""
    return value if isinstance(value, (str, int, float, bool, type(None))) else copy.deepcopy(value)


def _whose() -> tuple:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return threading.get_ident(), id(task) if task is not None else None
