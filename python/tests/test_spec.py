"""Specifications in Python."""

import pytest
from conftest import row

import clewline
from clewline import PENDING


def register(state, op, args, ret):
    if op == "write":
        return args[0]
    return [state] if ret is PENDING or ret == state else []


def test_a_function_is_a_specification(held, stale):
    assert clewline.check(held, register, initial=0).holds
    result = clewline.check(stale, register)
    assert result.verdict == "violated" and result.spec == "register" and result.violated[0].ids
    assert str(result).startswith("violated: ") and "as a register" in str(result)


class Bank:
    """Accounts; a transfer fails if there is not enough."""

    name = "bank"

    def initial(self):
        return {"a": 10, "b": 0}

    def step(self, state, op, args, ret):
        if op == "read":
            return state if ret is PENDING or dict(ret) == state else []
        source, target, amount = args
        if state[source] < amount:
            return state if ret is PENDING or ret is False else []
        state[source] -= amount
        state[target] += amount
        return state if ret is PENDING or ret is True else []


def test_states_may_be_dicts_which_are_changed():
    good = [
        row(0, "transfer", 0, 5, arg=["a", "b", 7], ret=True),
        row(1, "transfer", 1, 6, arg=["a", "b", 7], ret=False),
        row(2, "read", 7, 8, ret=[["a", 3], ["b", 7]]),
    ]
    assert clewline.check(good, Bank()).holds
    both = [good[0], {**good[1], "ret": True}, good[2]]
    assert clewline.check(both, Bank()).verdict == "violated"


def test_several_next_states_are_a_list():
    def flip(state, op, args, ret):
        if op == "flip":
            return [0, 1]
        return [state] if ret == state else []

    rows = [row(0, "flip", 0, 1), row(0, "look", 2, 3, ret=1), row(0, "look", 4, 5, ret=1)]
    assert clewline.check(rows, flip, initial=0).holds
    assert not clewline.check(rows + [row(0, "look", 6, 7, ret=0)], flip, initial=0).holds


def test_parts_are_judged_apart():
    class Registers:
        calls = 0

        def step(self, state, op, args, ret):
            Registers.calls += 1
            return register(state, op, args[1:], ret)

        def part(self, op, args):
            return args[0]

    rows = []
    for number in range(8):
        rows += [
            row(2 * number, "write", 0, 100, arg=[number, 1]),
            row(2 * number + 1, "read", 0, 100, arg=[number], ret=1),
        ]
    assert clewline.check(rows, Registers()).holds
    # Not 2 to the power of 8: steps are known by state and call, too.
    assert Registers.calls < 100
    rows.append(row(50, "read", 200, 201, arg=[3], ret=None))
    assert clewline.check(rows, Registers()).verdict == "violated"


def test_an_exception_of_the_function_is_not_a_verdict(held):
    def broken(state, op, args, ret):
        raise ZeroDivisionError("oh")

    with pytest.raises(ZeroDivisionError, match="oh"):
        clewline.check(held, broken)
    with pytest.raises(TypeError, match="step returned None for"):
        clewline.check(held, lambda state, op, args, ret: None)
    with pytest.raises(TypeError, match="expected step"):
        clewline.check(held, lambda state, op: state)
    with pytest.raises(TypeError, match="spec: expected"):
        clewline.check(held, 5)


def test_a_script_is_a_specification(tmp_path, held, stale):
    script = tmp_path / "register.star"
    script.write_text(
        "def initial():\n    return None\n\n"
        "def step(state, op, args, ret):\n"
        "    if op == 'write':\n        return [args[0]]\n"
        "    return [state] if ret == state else []\n"
    )
    assert clewline.check(held, str(script)).holds
    assert clewline.check(stale, str(script)).verdict == "violated"
    with pytest.raises(ValueError, match="missing.star"):
        clewline.check(held, str(tmp_path / "missing.star"))


def test_objects_and_fractions_are_dicts_and_floats():
    def counts(state, op, args, ret):
        if op == "add":
            return {**state, args[0]["name"]: state.get(args[0]["name"], 0) + args[0]["by"]}
        return state if ret == state else []

    rows = [
        row(0, "add", 0, 1, arg={"name": "a", "by": 1.5}),
        row(0, "add", 2, 3, arg={"name": "a", "by": 2}),
        row(0, "read", 4, 5, ret={"a": 3.5}),
    ]
    assert clewline.check(rows, counts, initial={}).holds
    rows[2] = row(0, "read", 4, 5, ret={"a": 3.0})
    assert clewline.check(rows, counts, initial={}).verdict == "violated"
    seen = []

    def look(state, op, args, ret):
        seen.append(ret)
        return state

    values = [0.5, {"x": [1, {"y": None}]}, 2**70, -1.5, "1.5", {"s": "{"}]
    assert clewline.check([row(0, "op", 2 * i, 2 * i + 1, ret=it) for i, it in enumerate(values)], look, initial=0).holds
    assert seen == [0.5, {"x": (1, {"y": None})}, 2**70, -1.5, "1.5", {"s": "{"}]


def test_a_pending_result_cannot_be_compared_by_mistake():
    def careless(state, op, args, ret):
        if op == "write":
            return args[0]
        return [state] if ret == state else []

    rows = [row(0, "swap", 0, None, arg=[None, 1]), row(1, "read", 2, 3, ret=1)]

    def swap(state, op, args, ret):
        if op == "swap":
            return args[1] if ret == state else []
        return careless(state, op, args, ret)

    def careful(state, op, args, ret):
        return args[1] if op == "swap" and ret is PENDING else swap(state, op, args, ret)

    with pytest.raises(TypeError, match="the operation is pending"):
        clewline.check(rows, swap)
    assert clewline.check(rows, careful).holds
    # Where every operation has returned, results are forgotten only to make a counterexample small.
    rows[0] = row(0, "swap", 0, 1, arg=[None, 1], ret=None)
    assert clewline.check(rows, swap).holds
    result = clewline.check([*rows, row(1, "read", 4, 5, ret=None)], swap)
    assert result.verdict == "violated" and 2 in result.violated[0].ids


def test_the_callable_agrees_with_the_catalog():
    import random

    verdicts = set()
    for seed in range(60):
        rng = random.Random(seed)
        rows, clock = [], {p: 0 for p in range(3)}
        for number in range(5):
            process = rng.randrange(3)
            call = clock[process] + rng.randrange(3)
            clock[process] = returned = call + 1 + rng.randrange(8)
            if rng.random() < 0.5:
                rows.append(row(process, "write", call, returned, arg=rng.randrange(3)))
            else:
                rows.append(row(process, "read", call, returned, ret=rng.choice([None, 0, 1, 2])))
            clock[process] += 1
        one, other = clewline.check(rows, register), clewline.check(rows, "register")
        assert one.verdict == other.verdict, (seed, rows)
        verdicts.add(one.verdict)
    assert verdicts == {"holds", "violated"}
