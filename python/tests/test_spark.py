"""`clewline.spark` on a real cluster whose processes are killed."""

import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("needs java", allow_module_level=True)

import pyarrow as pa
import pyarrow.parquet as pq
from cluster import DEADLINE_S, Cluster, Killer, wait_until
from generate import table
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import clewline
import clewline.spark
from clewline.spark import __main__ as command
from clewline.spark import _campaign, _task
from clewline.spark import _check as spark_check

OPERATIONS = int(os.environ.get("CLEWLINE_TEST_OPERATIONS", 2_500_000))
KEYS, HOT, FILES, PARTITIONS = OPERATIONS // 100, 5, 12, 16
PLANTED = (3, HOT, 77, KEYS - 1)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("spark"))
    yield cluster
    cluster.stop()


def session(cluster, **settings):
    builder = SparkSession.builder.master(cluster.url).appName("tests")
    given = {
        "spark.executor.memory": "640m",
        "spark.executor.cores": "1",
        "spark.driver.memory": "640m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.files.openCostInBytes": "128m",
        "spark.task.maxFailures": "8",
        # What a lost executor had written is soon given up.
        "spark.shuffle.io.retryWait": "1s",
        **settings,
    }
    for name, value in given.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The folder of the files, and the result of one process."""
    folder = tmp_path_factory.mktemp("recorded")
    arrow = table(OPERATIONS, KEYS, PLANTED, HOT)
    step = OPERATIONS // FILES + 1
    for number in range(FILES):
        pq.write_table(arrow.slice(number * step, step), folder / f"part-{number:02}.parquet", compression="zstd")
    whole = clewline.check(arrow, object="key")
    assert sorted(it.object for it in whole.violated) == sorted(PLANTED)
    return folder, whole


@pytest.fixture(scope="module")
def spark(cluster):
    made = session(cluster)
    yield made
    made.stop()


def same(result, whole):
    """Whether both found the same."""
    assert (result.verdict, result.operations, result.objects) == (whole.verdict, whole.operations, whole.objects)
    ours = [(it.object, sorted(it.ids), it.operations) for it in result.violated]
    assert ours == sorted((it.object, sorted(it.ids), it.operations) for it in whole.violated)
    assert result.violated_count == len(PLANTED) and result.unknown_count == 0


def run(spark, folder):
    df = spark.read.parquet(str(folder))
    return clewline.spark.check(df, "map", "key", partitions=PARTITIONS, reports=0)


def test_a_cluster_finds_what_one_process_finds(spark, recorded, tmp_path):
    seen = []
    df = spark.read.parquet(str(recorded[0]))
    result = clewline.spark.check(
        df, "map", "key", partitions=PARTITIONS, progress=lambda *numbers: seen.append(numbers)
    )
    same(result, recorded[1])
    assert seen == sorted(seen) and all(judged <= total == OPERATIONS for judged, total, _ in seen)
    assert all(objects <= KEYS for _, _, objects in seen)
    # The histories of the violated objects were fetched, and drawn.
    assert all(it.text().startswith("violated:") for it in result.violated)
    index = pathlib.Path(result.write_html(tmp_path / "out"))
    assert len(list(index.parent.iterdir())) == len(PLANTED) + 1 and str(KEYS - 1) in index.read_text()
    assert f"4 violated of {KEYS:,} objects" in str(result)


def test_progress_counts_an_object_once_that_is_in_two_batches():
    class Counter:
        def __init__(self, value):
            self.value = value

        def add(self, more):
            self.value += more

    context = SimpleNamespace(accumulator=Counter)
    df = SimpleNamespace(sparkSession=SimpleNamespace(sparkContext=context))
    watch = spark_check._Watch(df, "key", 7, print)
    batches = [pa.record_batch({"key": it}) for it in ([None, 1, 1], [1, 2], [3, 3])]
    assert list(watch.counted(lambda it: it)(iter(batches))) == batches
    assert [it.value for it in watch._counters] == [7, 4]


# A run may end before there is something to kill.
ATTEMPTS_MAX = 4


def killed(spark, recorded, tasks, nth, victim, waited_for=None):
    """Checks while a process is killed, so that a task is repeated. Then the file that tasks wait for
    is written."""
    for _ in range(ATTEMPTS_MAX):
        if waited_for is not None:
            waited_for.unlink(missing_ok=True)
        with Killer(spark.sparkContext, tasks, nth, victim, waited_for) as killer:
            result = run(spark, recorded[0])
        same(result, recorded[1])
        if killer.killed is not None and killer.has_repeated():
            return
    pytest.fail(f"in {ATTEMPTS_MAX} runs no task was repeated because of a process that was killed")


def executor(cluster, spark):
    application = spark.sparkContext.applicationId
    wait_until(lambda: len(cluster.executors(application)) == 2, "two executors")
    return lambda: cluster.executors(application)[0]


def test_an_executor_killed_in_the_shuffle_changes_nothing(cluster, spark, recorded):
    # The second stage that reads all files: the first counts their rows.
    killed(spark, recorded, FILES, 2, executor(cluster, spark))


@pytest.fixture
def waiting_tasks(monkeypatch, tmp_path):
    """Every other task that judges waits, once, until the process is killed: the path of a file that
    says so."""
    path, original = tmp_path / "killed", spark_check._task

    def with_waits(*arguments):
        task, killed, deadline = original(*arguments), str(path), DEADLINE_S

        def waiting(batches):
            import os
            import time

            from pyspark import TaskContext

            context, end = TaskContext.get(), time.monotonic() + deadline
            while context.attemptNumber() == 0 and context.partitionId() % 2 and not os.path.exists(killed):
                assert time.monotonic() < end, "nothing was killed"
                time.sleep(0.01)
            return task(batches)

        return waiting

    monkeypatch.setattr(spark_check, "_task", with_waits)
    return path


def test_an_executor_killed_while_judging_changes_nothing(cluster, spark, recorded, waiting_tasks):
    killed(spark, recorded, PARTITIONS, 1, executor(cluster, spark), waiting_tasks)


def test_a_worker_killed_while_judging_changes_nothing(cluster, spark, recorded, waiting_tasks):
    executor(cluster, spark)
    worker = cluster.workers[0]
    killed(spark, recorded, PARTITIONS, 1, lambda: worker.pid, waiting_tasks)
    assert worker.wait(timeout=DEADLINE_S) == -signal.SIGKILL
    cluster.workers[0] = cluster.worker(0)


def test_an_object_that_exceeds_the_memory_of_its_task_is_judged_or_unknown(spark, tmp_path):
    # The size does not depend on that of the other tests, since the limit does not.
    pq.write_table(table(400_000, 2_000, (3, HOT), HOT), tmp_path / "all.parquet")
    df = spark.read.parquet(str(tmp_path)).where("key < 8")
    size = df.where(F.col("key") == HOT).count()
    settings = {"partitions": 2, "memory": 16 << 20}
    # It is judged while it comes, where that is possible.
    result = clewline.spark.check(df, "map", "key", **settings)
    assert [it.object for it in result.violated] == [3, HOT] and not result.unknown
    # Else it is unknown, by its name and size; the others are judged.
    result = clewline.spark.check(df, "map", "key", algorithm="jit-graph", **settings)
    [unknown] = result.unknown
    assert unknown.object == HOT and f"its {size} operations are too many" in unknown.sentence
    assert [it.object for it in result.violated] == [3]


def test_a_function_is_a_specification_on_a_cluster(spark):
    def step(state, op, args, ret):
        if op == "write":
            return args[0]
        return [state] if ret == state else []

    rows = [(0, "write", 0, 1, 7, None, "a"), (1, "read", 2, 3, None, 7, "a"), (1, "read", 2, 3, None, 8, "b")]
    names = "process int, op string, call long, `return` long, arg int, ret int, account string"
    result = clewline.spark.check(spark.createDataFrame(rows, names), step, "account", partitions=2)
    assert [it.object for it in result.violated] == ["b"] and result.objects == 2


def test_texts_that_are_json_are_values(spark):
    rows = [(0, "put", 0, 1, "k", '{"a": 1}', None), (1, "get", 2, 3, "k", None, '{"a": 1}')]
    names = "process int, op string, call long, `return` long, key string, arg string, ret string"
    df = spark.createDataFrame(rows, names)
    assert clewline.spark.check(df, json=("arg", "ret")).holds


def test_a_damaged_file_is_an_error_with_its_name(spark, recorded, tmp_path):
    for name in os.listdir(recorded[0])[:3]:
        shutil.copy(recorded[0] / name, tmp_path / name)
    damaged = sorted(tmp_path.iterdir())[1]
    data = bytearray(damaged.read_bytes())
    for place in range(1000, len(data) * 3 // 4, 500):
        data[place] ^= 0xFF
    damaged.write_bytes(data)
    with pytest.raises(clewline.spark.ReadError, match=damaged.name):
        clewline.spark.check(spark.read.parquet(str(tmp_path)))


def test_rows_that_are_no_history_are_an_error(spark):
    df = spark.createDataFrame([(0, "enq", 0, 1, 7)], "process int, op string, call long, `return` long, key int")
    with pytest.raises(ValueError, match="object 7: .*no operation is called"):
        clewline.spark.check(df)
    with pytest.raises(ValueError, match="expected a column `key`"):
        clewline.spark.check(df.drop("key"))
    with pytest.raises(ValueError, match="found none"):
        clewline.spark.check(df.where("key = 8"))


def test_a_campaign_prints_what_one_process_prints(spark, tmp_path):
    words = ["--threads", "2", "--operations", "2", "--seed", "7"]
    settings = {"threads": 2, "operations": 2, "seed": 7}
    for subject, verdict, code in (("treiber-stack", "holds", 0), ("ms-queue:unlinked-tail", "violated", 1)):
        page = tmp_path / f"{code}.html"
        one = subprocess.run(
            [sys.executable, "-m", "clewline", "explore", subject, "--samples", "6", *words, "--html", page],
            capture_output=True, text=True,
        )
        assert one.returncode == code, one
        page.unlink()
        many = clewline.spark.explore(subject, samples=6, **settings, shards=3, spark=spark, html=page)
        assert (many.verdict, many.exit_code) == (verdict, code) and page.exists()
        assert untimed(many.text) == untimed(one.stdout)
    with pytest.raises(clewline.spark.SparkError, match="shard ./2: .*no-such"):
        clewline.spark.explore("no-such", samples=2, seed=1, shards=2, spark=spark)
    words = ["actors", "dr:repaired", "--lose", "1"]
    one = subprocess.run([sys.executable, "-m", "clewline", *words], capture_output=True, text=True)
    many = clewline.spark.actors("dr:repaired", lose=1, shards=2, spark=spark)
    assert (many.exit_code, untimed(many.text)) == (one.returncode, untimed(one.stdout))
    kept = tmp_path / "journals"
    kept.mkdir()
    assert clewline.spark.stress("treiber-stack", executions=40, seed=3, shards=2, spark=spark, journals=kept)
    assert sorted(it.name for it in kept.iterdir()) == ["0.journal", "1.journal"]


def test_a_journal_that_an_orphan_holds_does_not_end_a_campaign(tmp_path, monkeypatch):
    line = ["explore", "treiber-stack", "--samples", "2", "--seed", "7", "--threads", "2", "--operations", "2"]
    first = _campaign.run_shard(line, 0, 2, None, str(tmp_path))
    # What an executor had begun when it was killed goes on, and has the lock.
    path = tmp_path / "0.journal"
    path.write_bytes(b"".join(first.splitlines(keepends=True)[:-1]))
    with open(path, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        again = _campaign.run_shard(line, 0, 2, None, str(tmp_path))
    assert again == path.read_bytes() and again.splitlines()[0] == first.splitlines()[0]
    assert b'"end"' in again.splitlines()[-1]


def test_a_campaign_uses_the_cores_of_its_tasks_and_a_folder_by_its_whole_name(spark, tmp_path, monkeypatch):
    line = _campaign._line("explore", ("treiber-stack",), {"samples": 2}, spark)
    assert line == ["explore", "treiber-stack", "--samples", "2", "--jobs", "1"]
    assert _campaign._line("stress", ("x",), {"jobs": 3}, spark) == ["stress", "x", "--jobs", "3"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept").mkdir()
    settings = {"samples": 2, "seed": 7, "threads": 2, "operations": 2}
    clewline.spark.explore("treiber-stack", **settings, shards=2, spark=spark, journals="kept")
    assert sorted(it.name for it in (tmp_path / "kept").iterdir()) == ["0.journal", "1.journal"]


def untimed(text):
    """The text without durations, and what depends on them."""
    return re.sub(r"\d+(\.\d+)? ?(ms|s|µs|min)\b", "TIME", text)


def test_equal_rows_count_once_and_all_must_account_for_the_input():
    def certificate(partition, operations, checksum):
        about = {"operations": operations, "objects": 1, "violated": 0, "unknown": 0, "checksum": str(checksum)}
        return partition, "certificate", json.dumps(about)

    rows = [certificate(0, 10, 5), certificate(1, 20, -7)]
    joined = spark_check._joined
    assert joined(rows, "map", 30, -2).holds
    assert joined([*rows, rows[0], rows[1]], "map", 30, -2).holds
    incomplete = clewline.spark.IncompleteError
    with pytest.raises(incomplete, match="judged 10 operations, and the input has 30"):
        joined(rows[:1], "map", 30, -2)
    with pytest.raises(incomplete, match="judged 50 operations"):
        joined([*rows, certificate(2, 20, -7)], "map", 30, -2)
    with pytest.raises(incomplete, match="not those of the input"):
        joined(rows, "map", 30, -3)
    with pytest.raises(incomplete, match="twice"):
        joined([*rows, certificate(1, 21, -7)], "map", 30, -2)


def test_an_input_that_changes_while_it_is_judged_is_an_error(spark):
    # Ids that are drawn anew each time that they are read.
    drawn = F.udf(lambda: int.from_bytes(os.urandom(7), "big"), "long").asNondeterministic()
    df = spark.range(1000).select(
        F.col("id").alias("process"), F.lit("get").alias("op"), F.col("id").alias("call"),
        (F.col("id") + 1).alias("return"), F.lit(1).alias("key"), drawn().alias("id"),
        F.lit(None).cast("int").alias("ret"),
    )
    with pytest.raises(clewline.spark.IncompleteError, match="not those of the input"):
        clewline.spark.check(df, partitions=2)


def test_the_memory_of_a_task_is_its_share(monkeypatch):
    monkeypatch.setattr(_task, "_mapped_bytes", lambda: 200 << 20)
    # Spark says what the share of a worker is, and limits its address space to it.
    monkeypatch.setenv("PYSPARK_EXECUTOR_MEMORY_MB", "1000")
    assert _task.memory_max(4) == (800 << 20) // 4 * 3
    monkeypatch.delenv("PYSPARK_EXECUTOR_MEMORY_MB")
    free = clewline._native.available_memory()
    assert _task.memory_max(4) == pytest.approx(free / 4, rel=0.2)
    # Without a number of cores there may be as many tasks as the machine has.
    assert _task.memory_max(None) == pytest.approx(free / os.cpu_count(), rel=0.2)


def test_histories_are_fetched_with_their_types(spark):
    # A null makes no fraction of an integer, and no number of a text.
    rows = [(0, 2**60 + 1, None, "7"), (1, None, 5, "8")]
    df = spark.createDataFrame(rows, "process int, call long, ret int, op string").sort("process")
    fetched = spark_check._fetched(df)
    assert fetched.to_pylist() == [dict(zip(("process", "call", "ret", "op"), row)) for row in rows]
    assert str(fetched.schema.field("ret").type) == "int32"


def test_a_state_of_the_command_line_is_json_or_a_text_or_a_file(tmp_path):
    (tmp_path / "state").write_text("[1, 2]")
    given = {"0": 0, '{"a": 1}': {"a": 1}, "free": "free", f"@{tmp_path / 'state'}": [1, 2]}
    for text, state in given.items():
        assert command._state(text) == state


def test_a_command_that_fails_is_no_violation(tmp_path, capsys):
    words = ["--spec", "map", "--master", "local[1]", "--conf", "spark.ui.enabled=false"]
    done = subprocess.run(
        [sys.executable, "-m", "clewline.spark", str(tmp_path / "missing.parquet"), *words],
        capture_output=True, text=True, timeout=300,
    )
    assert done.returncode == 2 and done.stdout == "", done
    assert "error: " in done.stderr and "missing.parquet" in done.stderr and "Traceback" not in done.stderr


# The last ones: they end the session.


def test_another_wheel_on_executors_is_an_error(cluster, spark, tmp_path):
    spark.stop()
    other = tmp_path / "clewline"
    shutil.copytree(pathlib.Path(clewline.__file__).parent, other)
    init = other / "__init__.py"
    init.write_text(init.read_text() + "\n__version__ = '0.0.9'\n")
    old = session(cluster, **{"spark.executorEnv.PYTHONPATH": str(tmp_path), "spark.task.maxFailures": "1"})
    try:
        df = old.createDataFrame([(0, "get", 0, 1, 7)], "process int, op string, call long, `return` long, key int")
        with pytest.raises(clewline.spark.VersionError, match="0.0.9 on the executor"):
            clewline.spark.check(df)
        with pytest.raises(clewline.spark.VersionError, match="0.0.9"):
            clewline.spark.explore("treiber-stack", samples=2, seed=1, shards=2, spark=old)
    finally:
        old.stop()


def test_a_killed_driver_claims_nothing_and_the_command_can_be_run_again(cluster, recorded, tmp_path):
    files = [str(it) for it in sorted(recorded[0].iterdir())[:4]]
    words = [
        sys.executable, "-m", "clewline.spark", *files,
        "--spec", "map", "--master", cluster.url, "--html", str(tmp_path / "out"), "--partitions", "4",
        "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1",
        "--conf", "spark.executor.memory=640m", "--conf", "spark.driver.memory=640m", "--format", "json",
    ]
    log = cluster.folder / "worker-1.log"
    launched = lambda: len(re.findall("Launching executor|Asked to launch executor", log.read_text()))
    before = launched()
    driver = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    wait_until(lambda: driver.poll() is not None or before < launched(), "an executor of the driver")
    os.killpg(driver.pid, signal.SIGKILL)
    assert driver.stdout.read() == b"" and driver.wait(timeout=DEADLINE_S) == -signal.SIGKILL
    again = subprocess.run(words, capture_output=True, text=True)
    one = clewline.check(files)
    assert again.returncode == (0 if one.holds else 1), again
    about = json.loads(again.stdout)
    assert (about["verdict"], about["operations"]) == (one.verdict, one.operations)
    assert (tmp_path / "out" / "index.html").exists()


CAMPAIGN = """
import sys
import clewline.spark
from test_spark import session
from types import SimpleNamespace

words = {"samples": 64, "seed": 7, "threads": 3, "operations": 3}
spark = session(SimpleNamespace(url=sys.argv[1]))
print(clewline.spark.explore("ms-queue", **words, shards=8, spark=spark, journals=sys.argv[2]).text, end="")
"""


def test_a_campaign_goes_on_after_its_driver_was_killed(cluster, tmp_path):
    words = [sys.executable, "-c", CAMPAIGN, cluster.url, str(tmp_path)]
    here = {"cwd": pathlib.Path(__file__).parent}
    driver = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True, **here
    )
    # Two tasks run at a time, so most of the work is not done when the first has begun.
    wait_until(lambda: driver.poll() is not None or any(tmp_path.iterdir()), "a journal of a task")
    os.killpg(driver.pid, signal.SIGKILL)
    assert driver.stdout.read() == b"" and driver.wait(timeout=DEADLINE_S) == -signal.SIGKILL
    again = subprocess.run(words, capture_output=True, text=True, **here)
    flags = "--samples 64 --seed 7 --threads 3 --operations 3 --jobs 1"
    one = [sys.executable, "-m", "clewline", "explore", "ms-queue", *flags.split()]
    whole = subprocess.run(one, capture_output=True, text=True).stdout
    assert whole.startswith("holds") and untimed(again.stdout) == untimed(whole), again
