"""Histories of a map with many keys, as a table: linearizable but for what is planted."""

import random

import pyarrow as pa


def table(operations, keys, violated=(), hot=None, seed=7):
    """Operations on a map, each taking effect at one moment. One in ten is on the key `hot`, if it is
    given. The last read of each key in `violated` returns the first value, which was overwritten."""
    rng = random.Random(seed)
    state, first, last, reads = {}, {}, {}, {}
    columns = {name: [] for name in ("id", "process", "op", "key", "arg", "ret", "call", "return")}
    for number in range(operations):
        key = hot if hot is not None and rng.random() < 0.1 else rng.randrange(keys)
        kind, arg, ret = rng.random(), None, None
        if kind < 0.4:
            op, arg = "put", number
            state[key] = last[key] = number
            first.setdefault(key, number)
        elif kind < 0.45:
            op, ret = "remove", state.pop(key, None)
        else:
            op, ret = "get", state.get(key)
            # Puts of which one certainly came after the other.
            if key in first and first[key] + 60 < last[key]:
                reads[key] = number
        # Sixty-four processes, whose operations overlap those of others.
        moment = number * 1000
        values = (number, number % 64, op, key, arg, ret, moment - rng.randrange(30_000), moment + rng.randrange(30_000))
        for name, value in zip(columns, values):
            columns[name].append(value)
    for key in violated:
        number = reads[key]
        columns["ret"][number] = first[key]
        # After the value was overwritten, by a process of its own.
        columns["process"][number] = 64 + number
        columns["call"][number] = number * 1000 + 100_000
        columns["return"][number] = number * 1000 + 100_001
    types = {name: pa.int64() for name in columns}
    types["op"] = pa.string()
    return pa.table({name: pa.array(column, types[name]) for name, column in columns.items()})
