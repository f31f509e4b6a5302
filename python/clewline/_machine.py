"""Specifications that are written in Python."""

from __future__ import annotations

import copy
import inspect
from typing import Any, Callable, Optional

MISSING = object()


class PendingError(TypeError):
    """The result of a pending operation was used as if there were one."""


class Pending:
    """The result of an operation that did not return.

    It may have any result, so it is not to be compared with one: that raises. A step function tests
    `ret is clewline.PENDING`, and returns every state to which the operation may lead.
    """

    def _refuse(self, *_: object) -> Any:
        raise PendingError(
            "the operation is pending: there is no result to compare. Where `ret is clewline.PENDING`, "
            "`step` returns every state to which the operation may lead"
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __bool__ = __len__ = __iter__ = __getitem__ = __contains__ = _refuse
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse()

    def __repr__(self) -> str:
        return "PENDING"

    def __reduce__(self) -> str:
        return "PENDING"


PENDING = Pending()

# The state after an operation of which nothing is known: it allows everything.
_ANY = 0xFFFF_FFFF

# Longer states are cut in reports.
_SHOWN_MAX = 300


class Machine:
    """The states of a specification, by number."""

    def __init__(self, spec: Any, initial: Any = MISSING) -> None:
        step = getattr(spec, "step", None) or spec
        if not callable(step):
            raise TypeError(
                "spec: expected the name of a specification, a function step(state, op, args, ret), "
                f"or an object with a method of that name; found {type(spec).__name__}"
            )
        _has_parameters("step", step, ("state", "op", "args", "ret"))
        self._step: Callable[..., Any] = step
        self._part: Optional[Callable[..., Any]] = getattr(spec, "part", None)
        if self._part is not None:
            _has_parameters("part", self._part, ("op", "args"))
        if initial is MISSING:
            initial = getattr(spec, "initial", None)
        self._initial = initial
        self.name: str = getattr(spec, "name", None) or getattr(spec, "__name__", type(spec).__name__)
        self.has_parts: bool = self._part is not None
        self._states: list = []
        self._numbers: dict = {}
        self._parts: dict = {}

    def initial(self) -> tuple:
        """The number of the first state, and how a report shows it."""
        state = self._initial() if callable(self._initial) else self._initial
        return self._numbered(state)

    def step(self, number: int, op: str, args: Any, ret: Any) -> list:
        """The states to which an operation leads that returned `ret`."""
        if number == _ANY:
            return [(_ANY, "any state")]
        state, is_plain = self._states[number]
        given = state if is_plain else copy.deepcopy(state)
        found = self._step(given, op, _tuple(args), ret)
        if found is None:
            raise TypeError(
                f"step returned None for `{op}`: it returns the next state, a list of all next states, "
                "or an empty list if the result is not allowed ([None] is the state None)"
            )
        if isinstance(found, list):
            return [self._numbered(it) for it in found]
        return [self._numbered(found)]

    def step_pending(self, number: int, op: str, args: Any, is_pending: bool) -> list:
        """The states to which an operation leads that did not return, or whose result is left out
        of a counterexample. For the latter the function need not know `PENDING`."""
        try:
            return self.step(number, op, args, PENDING)
        except PendingError:
            if is_pending:
                raise
            return [(_ANY, "any state")]

    def part(self, op: str, args: Any) -> Optional[int]:
        """The number of the independent part that the operation is about."""
        if self._part is None:
            return None
        part = self._part(op, _tuple(args))
        if part is None:
            return None
        return self._parts.setdefault(_frozen(part), len(self._parts))

    def _numbered(self, state: Any) -> tuple:
        try:
            hash(state)
            key, is_plain = (type(state), state), True
        except TypeError:
            key, is_plain = _frozen(state), False
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._states)
            # One that can be changed is kept apart from the user's.
            self._states.append((state if is_plain else copy.deepcopy(state), is_plain))
        shown = repr(self._states[number][0])
        return number, shown if len(shown) <= _SHOWN_MAX else shown[:_SHOWN_MAX] + "…"

    def __reduce__(self) -> Any:
        raise TypeError("a machine belongs to one process")


def _tuple(args: Any) -> tuple:
    """The arguments: none, one, or those of a list."""
    if args is None:
        return ()
    return args if isinstance(args, tuple) else (args,)


def _frozen(value: Any) -> Any:
    """A key that is equal for equal states."""
    if isinstance(value, dict):
        return dict, frozenset((_frozen(key), _frozen(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return type(value), tuple(_frozen(it) for it in value)
    if isinstance(value, (set, frozenset)):
        return frozenset, frozenset(_frozen(it) for it in value)
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"a state of type {type(value).__name__} cannot be compared: use numbers, texts, tuples, "
            "frozensets, lists, sets and dicts, or define __hash__ and __eq__"
        ) from None
    return type(value), value


def _has_parameters(what: str, function: Callable[..., Any], names: tuple) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*names)
    except TypeError:
        raise TypeError(f"spec: expected {what}({', '.join(names)}), found {what}{signature}") from None
