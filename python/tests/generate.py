"""Histories of a map with many keys, as a table: linearizable but for what is planted."""

import numpy as np
import pyarrow as pa

PUT, REMOVE, GET = 0, 1, 2

# Operations take effect at one moment each, one after the other; an operation is called and returns
# at most this long before and after.
STEP, OVERLAP_MAX = 1000, 30_000


def table(operations, keys, violated=(), hot=None, seed=7):
    """Operations on a map, each taking effect at one moment. One in ten is on the key `hot`, if it is
    given. The last read of each key in `violated` returns the first value, which was overwritten."""
    rng = np.random.default_rng(seed)
    number = np.arange(operations)
    key = rng.integers(0, keys, operations)
    if hot is not None:
        key[rng.random(operations) < 0.1] = hot
    op = rng.choice([PUT, REMOVE, GET], operations, p=[0.4, 0.05, 0.55])
    ret, has_ret = _results(key, op)
    moment = number * STEP
    # Sixty-four processes, whose operations overlap those of others.
    process = number % 64
    call = moment - rng.integers(0, OVERLAP_MAX, operations)
    returned = moment + rng.integers(0, OVERLAP_MAX, operations)
    for each in violated:
        read, first = _stale(np.flatnonzero(key == each), op)
        ret[read], has_ret[read] = first, True
        # After the value was overwritten, by a process of its own.
        process[read] = 64 + read
        call[read], returned[read] = read * STEP + 100_000, read * STEP + 100_001
    names = pa.DictionaryArray.from_arrays(pa.array(op, pa.int8()), ["put", "remove", "get"])
    return pa.table(
        {
            "id": pa.array(number),
            "process": pa.array(process),
            "op": names.cast(pa.string()),
            "key": pa.array(key),
            "arg": pa.array(number, mask=op != PUT),
            "ret": pa.array(ret, mask=~has_ret),
            "call": pa.array(call),
            "return": pa.array(returned),
        }
    )


def _results(key, op):
    """The result of each operation, and whether it has one. A put writes its own number."""
    place = np.arange(len(key))
    order = np.argsort(key, kind="stable")
    own_key, own_op = key[order], op[order]
    is_first = np.append(True, own_key[1:] != own_key[:-1])
    first = np.maximum.accumulate(np.where(is_first, place, 0))
    # The last put or remove of the same key, before each operation.
    last = np.maximum.accumulate(np.where(own_op != GET, place, -1))
    before = np.append(-1, last[:-1])
    is_there = (first <= before) & (own_op[before] == PUT) & (own_op != PUT)
    ret, has_ret = np.zeros(len(key), np.int64), np.zeros(len(key), bool)
    ret[order], has_ret[order] = np.where(is_there, order[before], 0), is_there
    return ret, has_ret


def _stale(own, op):
    """Of the operations `own` of a key: the last read that a second put certainly precedes, and the
    first put, which certainly precedes that one."""
    puts, reads = own[op[own] == PUT], own[op[own] == GET]
    second = puts[puts[0] + 2 * OVERLAP_MAX // STEP < puts][0]
    return reads[second < reads][-1], puts[0]
