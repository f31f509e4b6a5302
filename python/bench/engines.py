"""What a check costs as JSON lines, as Parquet, in passes, by the wheel, and on Spark: the same history.

    python bench/engines.py FOLDER [OPERATIONS] [PART…]

FOLDER is for the files; those that are there already are not written again. Each part is one way (all, if
none is named: `lines`, `parquet`, `passes`, `wheel`, `spark-1`, `spark-2`). Prints processor time (user and
system) of all processes, peaks of resident memory, and elapsed time. Needs the wheel, numpy, pyarrow,
and for Spark pyspark and java.
"""

import json
import os
import pathlib
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).parents[1] / "tests"
sys.path.insert(0, str(TESTS))

FILES, HOT = 12, 5
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def write(run, operations):
    """Writes the history, as Parquet and as JSON lines."""
    import pyarrow.parquet as pq
    from generate import table

    keys = operations // 100
    arrow = table(operations, keys, (3, HOT, 77, keys - 1), HOT)
    step = operations // FILES + 1
    for number in range(FILES):
        pq.write_table(arrow.slice(number * step, step), run / f"part-{number:02}.parquet", compression="zstd")
    whole = run / "all.parquet.tmp"
    pq.write_table(arrow, whole)
    command(["convert", "--input-format", "parquet", str(whole), str(run / "all.jsonl")])
    whole.unlink()


def command(words):
    """Runs the command line of the wheel: seconds of processor, MiB, seconds elapsed."""
    return child([sys.executable, "-m", "clewline", *words])


def child(words):
    begun = time.monotonic()
    pid = os.posix_spawn(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    # 1 is a violation: some are planted.
    assert os.waitstatus_to_exitcode(status) in (0, 1), words
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, time.monotonic() - begun


def say(name, cpu, peak, wall):
    print(f"{name:<44} {cpu:8.1f} s of CPU {peak:>24} MiB {wall:8.1f} s elapsed", flush=True)


def descendants():
    """The processes that this one started, and those that they started; and itself."""
    parents = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            words = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.parent.name)] = int(words[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def cpu_s():
    """Processor time of all of them; a process that has ended counts for the one that waited for it."""
    total = 0
    for pid in descendants():
        try:
            words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, words[11:15]))
    return total / TICKS_PER_S


def peaks():
    """The largest peak of each kind of process, in MiB."""
    found = {}
    for pid in descendants():
        try:
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        kinds = {"executor": "CoarseGrainedExecutorBackend", "python": "pyspark.daemon", "driver": "SparkSubmit"}
        for kind, mark in kinds.items():
            if any(mark in it for it in words):
                peak = int(status.split("VmHWM:")[1].split()[0]) // 1024
                found[kind] = max(peak, found.get(kind, 0))
    return " ".join(f"{kind} {peak}" for kind, peak in sorted(found.items()))


def on_spark(run, workers):
    """Twice all files, the first time cold; and a half of them, which tells what does not depend on their number."""
    from cluster import Cluster
    from test_spark import session

    import clewline.spark

    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(folder, workers)
        try:
            spark = session(cluster)
            files = sorted(map(str, run.glob("part-*.parquet")))
            for name, some in (("cold", files), ("warm", files), ("half", files[::2])):
                cpu, begun = cpu_s(), time.monotonic()
                result = clewline.spark.check(spark.read.parquet(*some), "map", "key", partitions=16, reports=0)
                wall = time.monotonic() - begun
                say(f"spark, {workers} of one core, {name}: {result.operations:,}", cpu_s() - cpu, peaks(), wall)
                assert len(result.violated) == 4 or name.startswith("half")
            spark.stop()
        finally:
            cluster.stop()


WHEEL = """
import clewline, sys
result = clewline.check(sys.argv[1], "map", jobs=1)
assert len(result.violated) == 4, result
"""

STREAM = """
import clewline, pyarrow.dataset as ds, sys
table = ds.dataset(sys.argv[1].split("*")[0].rsplit("/", 1)[0], format="parquet",
                   exclude_invalid_files=True).to_table()
table = table.sort_by([("key", "ascending"), ("call", "ascending")])
result = clewline.check(table.to_reader(65_536), "map", object="key", sorted=True, jobs=1)
assert result.violated_count == 4, result
"""


def main():
    folder, *rest = sys.argv[1:]
    folder = str(pathlib.Path(folder).absolute())
    operations = int(rest.pop(0)) if rest and rest[0].isdigit() else 2_500_000
    parts = rest or ["lines", "parquet", "passes", "wheel", "spark-1", "spark-2"]
    run = pathlib.Path(folder) / f"{operations}"
    run.mkdir(parents=True, exist_ok=True)
    program = pathlib.Path(__file__).absolute()
    # Not beside the sources of the package: the wheel is measured.
    os.chdir(run)
    if parts == ["write"]:
        return write(run, operations)
    if not (run / "all.jsonl").exists():
        # By a process of its own: what it had in memory would count for those that this one starts.
        child([sys.executable, str(program), folder, str(operations), "write"])
    lines, columns = str(run / "all.jsonl"), str(run / "part-*.parquet")
    sizes = {"lines": os.path.getsize(lines), "parquet": sum(it.stat().st_size for it in run.glob("part-*.parquet"))}
    print(json.dumps({"operations": operations, "bytes": sizes}), flush=True)

    def row(name, figures):
        say(name, figures[0], f"{figures[1]:.0f}", figures[2])

    check = ["--spec", "map", "--jobs", "1"]
    if "lines" in parts:
        row("JSON lines", command(["check", lines, *check]))
    if "parquet" in parts:
        row("Parquet, 12 files", command(["check", columns, *check]))
    if "passes" in parts:
        for count in (4, 16):
            row(f"JSON lines, {count} passes", command(["check", lines, *check, "--passes", str(count)]))
            row(f"Parquet, {count} passes", command(["check", columns, *check, "--passes", str(count)]))
    if "wheel" in parts:
        row("the wheel, files", child([sys.executable, "-c", WHEEL, columns]))
        row("the wheel, sorted by pyarrow, a stream", child([sys.executable, "-c", STREAM, columns]))
    for workers in (1, 2):
        if f"spark-{workers}" in parts:
            on_spark(run, workers)


if __name__ == "__main__":
    main()
