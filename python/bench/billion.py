"""A billion operations on one machine: they are made while they are judged, and none is kept.

    python bench/billion.py [OPERATIONS [KEYS [SECONDS]]]

After that many seconds no more operations are made, and those that there are have a verdict. Prints processor time, elapsed time and the peak of memory. Needs the wheel, numpy and pyarrow. What it
costs to make the operations is measured by itself: it is not the judge's.
"""

import pathlib
import resource
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))

import pyarrow as pa
from generate import batches

import clewline

# How often it says how far it is.
SAID_EVERY = 50_000_000


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def made(all_batches, about, until):
    """The batches; how long it took to make them is added up in `about`."""
    judged, said = 0, 0
    while time.monotonic() < until:
        begun = time.thread_time()
        batch = next(all_batches, None)
        about["made_s"] += time.thread_time() - begun
        if batch is None:
            return
        yield batch
        judged += batch.num_rows
        if said + SAID_EVERY <= judged:
            said = judged
            print(f"{judged:,} after {time.process_time():.0f} s of CPU, {peak():.0f} MiB", file=sys.stderr, flush=True)


def main():
    defaults = ("1000000000", "1000000", "1000000")
    operations, keys, seconds = map(int, (*sys.argv[1:], *defaults[len(sys.argv) - 1 :]))
    planted = {0, keys // 3, keys // 2, keys - 1}
    about = {"made_s": 0.0}
    first = next(batches(operations, keys))
    begun, cpu = time.monotonic(), time.process_time()
    rows = made(batches(operations, keys, planted), about, begun + seconds)
    stream = pa.RecordBatchReader.from_batches(first.schema, rows)
    before = peak()
    result = clewline.check(stream, "map", object="key", sorted=True, jobs=1)
    cpu, wall = time.process_time() - cpu, time.monotonic() - begun
    assert {it.object for it in result.violated} == {it for it in planted if it < result.objects}
    print(str(result).splitlines()[0])
    judged = cpu - about["made_s"]
    rate = result.operations / judged / 1e6
    print(f"{result.operations:,} of {operations:,} operations, on {result.objects:,} keys")
    print(f"to make them {about['made_s']:.1f} s, to judge them {judged:.1f} s of CPU ({rate:.2f} M a second)")
    print(f"{wall:.1f} s elapsed; peak {peak():.0f} MiB, {before:.0f} of them before the first operation")


if __name__ == "__main__":
    main()
