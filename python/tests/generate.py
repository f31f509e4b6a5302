"""Histories of a map with many keys, as a table: linearizable but for what is planted."""

import numpy as np
import pyarrow as pa

PUT, REMOVE, GET = 0, 1, 2

# Operations take effect at one moment each, one after the other; an operation is called and returns
# at most this long before and after.
STEP, OVERLAP_MAX = 1000, 30_000

# About how many rows a batch has.
BATCH_ROWS = 1 << 16


def table(operations, keys, violated=(), hot=None, seed=7):
    """Operations on a map, each taking effect at one moment. One in ten is on the key `hot`, if it is
    given. The last read of each key in `violated` returns the first value, which was overwritten."""
    rng = np.random.default_rng(seed)
    key = rng.integers(0, keys, operations)
    if hot is not None:
        key[rng.random(operations) < 0.1] = hot
    return pa.Table.from_batches([_batch(rng, key, violated, 0)])


def batches(operations, keys, violated=(), seed=7):
    """The operations of a map as batches that are sorted by key and made when they are asked for. Each
    key has `operations // keys` of them; a batch is made of whole keys."""
    rng = np.random.default_rng(seed)
    each = operations // keys
    together = max(1, BATCH_ROWS // each)
    for first in range(0, keys, together):
        key = np.repeat(np.arange(first, min(first + together, keys)), each)
        # The operations of these keys alternate.
        turn = (key - first) + np.tile(np.arange(each), len(key) // each) * together
        yield _batch(rng, key, [it for it in violated if first <= it < first + together], first * each, turn)


def _batch(rng, key, violated, first, turn=None):
    """One operation on each of these keys; they are numbered from `first`. Their moments are in that
    order, or in that of `turn`."""
    operations = len(key)
    number = first + np.arange(operations)
    turn = number if turn is None else turn
    op = rng.choice(np.array([PUT, REMOVE, GET], np.int8), operations, p=[0.4, 0.05, 0.55])
    ret, has_ret = _results(key, op)
    ret += first
    moment = turn * STEP
    # Sixty-four processes, whose operations overlap those of others.
    process = turn % 64
    call = moment - rng.integers(0, OVERLAP_MAX, operations)
    returned = moment + rng.integers(0, OVERLAP_MAX, operations)
    for each in violated:
        read, stale = _stale(np.flatnonzero(key == each), op)
        ret[read], has_ret[read] = number[stale], True
        # After the value was overwritten, by a process of its own.
        process[read] = 64 + read
        call[read], returned[read] = moment[read] + 100_000, moment[read] + 100_001
    columns = {
        "id": pa.array(number),
        "process": pa.array(process),
        "op": pa.DictionaryArray.from_arrays(pa.array(op), ["put", "remove", "get"]).cast(pa.string()),
        "key": pa.array(key),
        "arg": pa.array(number, mask=op != PUT),
        "ret": pa.array(ret, mask=~has_ret),
        "call": pa.array(call),
        "return": pa.array(returned),
    }
    return pa.record_batch(columns)


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
