"""`clewline.check`, with each kind of data."""

import bz2
import gzip
import json
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import row
from generate import table

import clewline


def lines(rows):
    return "".join(json.dumps({k: v for k, v in it.items() if v is not None}) + "\n" for it in rows)


def test_rows_hold(held):
    result = clewline.check(held, "register")
    assert result.holds and result and result.verdict == "holds"
    assert (result.operations, result.objects) == (4, 1)
    assert not result.violated and not result.unknown
    assert str(result).startswith("holds:")


def test_a_violation_has_its_operations_and_its_report(stale):
    result = clewline.check(stale, "register")
    assert not result.holds and not result and result.verdict == "violated"
    [found] = result.violated
    assert set(found.ids) <= {"a", "b", "c"} and "c" in found.ids and found.is_minimal
    assert result.sentence == found.sentence and "1" in result.sentence
    assert str(result).startswith("violated:") and "read() → 1" in str(result)
    assert result.html().startswith("<!DOCTYPE html>") or "<html" in result.html()[:200].lower()
    assert "<iframe srcdoc=" in result._repr_html_()
    assert json.loads(result.json())["explanation"]["counterexample"] == list(found.ids)


def test_a_pending_operation_may_have_happened(stale):
    pending = [row(2, "write", 0, None, arg=3), row(1, "read", 4, 5, ret=3)]
    assert clewline.check(pending, "register").holds
    assert not clewline.check(stale + pending[:1], "register").holds


def test_files_of_every_kind(tmp_path, stale, held):
    for name, write in (("a.jsonl", lambda p, b: p.write_bytes(b)), ("a.jsonl.gz", lambda p, b: p.write_bytes(gzip.compress(b))),
                        ("a.jsonl.bz2", lambda p, b: p.write_bytes(bz2.compress(b)))):
        path = tmp_path / name
        write(path, lines(stale).encode())
        assert clewline.check(path, "register").verdict == "violated"
        assert clewline.check(str(path), "register").verdict == "violated"
    import pyarrow.parquet as pq

    pq.write_table(table(500, 7), tmp_path / "a.parquet")
    assert clewline.check(tmp_path / "a.parquet").holds


def test_several_files_are_one_history(tmp_path):
    # Each alone holds; together the read is stale.
    parts = [[row(0, "write", 0, 1, arg=1), row(0, "write", 2, 3, arg=2)], [row(1, "read", 4, 5, ret=1)]]
    for number, part in enumerate(parts):
        (tmp_path / f"{number}.jsonl").write_text(lines(part))
    (tmp_path / "2.jsonl.gz").write_bytes(gzip.compress(lines([row(2, "read", 8, 9, ret=2)]).encode()))
    result = clewline.check(f"{tmp_path}/*.jsonl*", "register")
    assert result.verdict == "violated" and result.operations == 4
    assert clewline.check([tmp_path / "0.jsonl", tmp_path / "1.jsonl"], "register").operations == 3


def test_what_is_wrong_is_an_exception(tmp_path):
    with pytest.raises(FileNotFoundError):
        clewline.check(tmp_path / "missing.jsonl", "register")
    with pytest.raises(FileNotFoundError):
        clewline.check(f"{tmp_path}/*.jsonl", "register")
    with pytest.raises(ValueError, match="no operation is called"):
        clewline.check([row(0, "enq", 0, 1, arg=1)], "register")
    with pytest.raises(ValueError, match="register"):
        clewline.check([], "registre")
    with pytest.raises(ValueError, match="expected a column `op`"):
        clewline.check(table(10, 2).drop_columns(["op"]))
    with pytest.raises(TypeError, match="expected a table, paths or dicts"):
        clewline.check([1, 2], "register")
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"PAR1" + b"\0" * 100)
    with pytest.raises(ValueError, match="damaged.parquet"):
        clewline.check(damaged)


def test_tables_and_frames_agree():
    import pandas as pd
    import polars as pl

    for violated in ((), (3,)):
        arrow = table(4000, 9, violated)
        results = [
            clewline.check(arrow),
            clewline.check(arrow.to_reader(max_chunksize=100)),
            clewline.check(arrow.to_pandas()),
            clewline.check(pd.DataFrame(arrow.to_pylist())),
            clewline.check(pl.from_arrow(arrow)),
            clewline.check(arrow.to_pylist()),
            clewline.check(iter(arrow.to_pylist())),
            clewline.check(arrow.combine_chunks().to_batches()[0]),
            clewline.check(arrow.to_batches(max_chunksize=100)),
            clewline.check(iter(arrow.to_batches(max_chunksize=100))),
            clewline.check(arrow, object="key"),
            clewline.check(arrow.sort_by([("key", "ascending"), ("call", "ascending")]), object="key", sorted=True),
        ]
        assert {it.verdict for it in results} == {"violated" if violated else "holds"}
        assert {it.operations for it in results} == {4000}
        assert len({tuple(sorted(it.violated[0].ids)) for it in results if it.violated}) == len(violated)
    assert [it.object for it in results[-1].violated] == [3] == [it.object for it in results[-2].violated]
    assert clewline.check(arrow.to_batches(), object="key", sorted=False).verdict_of(3) == "violated"


def test_a_sorted_stream_is_judged_object_by_object():
    arrow = table(100_000, 500, violated=(3, 77, 499), hot=9).sort_by([("key", "ascending"), ("call", "ascending")])
    for size in (100, 7_777, 300_000):
        result = clewline.check(arrow.to_reader(max_chunksize=size), object="key", sorted=True)
        assert (result.verdict, result.operations, result.objects) == ("violated", 100_000, 500)
        assert [it.object for it in result.violated] == [3, 77, 499] and result.violated_count == 3
        assert all(it.text().startswith("violated:") and it.html() for it in result.violated)
        assert result.verdict_of(3) == "violated" and result.verdict_of(4) == "holds"
    whole = clewline.check(arrow, object="key")
    assert sorted((it.object, sorted(it.ids)) for it in whole.violated) == [
        (it.object, sorted(it.ids)) for it in result.violated
    ]
    assert "3 violated of 500 objects" in str(result) and "object 77: violated" in str(result)


def test_a_stream_that_is_not_sorted_is_refused():
    arrow = table(1000, 10)
    with pytest.raises(ValueError, match="not sorted by the column `key`"):
        clewline.check(arrow, object="key", sorted=True)


def test_names_of_objects_are_texts_too(stale):
    import pyarrow as pa

    def of(name, ret):
        process = {"α": 0, "b": 10, None: 20}[name]
        more = [{"who": name, "id": f"{name}{it['id']}", "process": process + it["process"]} for it in stale]
        return [{**it, **own, "ret": ret if it["ret"] else None} for it, own in zip(stale, more)]

    rows = of("α", 1) + of("b", 1) + of(None, 2)
    arrow = pa.Table.from_pylist(rows)
    result = clewline.check(arrow, "register", object="who")
    assert sorted(it.object for it in result.violated) == ["b", "α"] and result.objects == 3
    ordered = arrow.sort_by([("who", "ascending"), ("call", "ascending")])
    again = clewline.check(ordered, "register", object="who", sorted=True)
    assert [it.object for it in again.violated] == ["b", "α"]


def test_a_process_may_be_in_two_objects_at_a_time_if_objects_are_judged_apart(held):
    import pyarrow as pa

    rows = [{**it, "object": name} for name in (1, 2) for it in held]
    assert clewline.check(pa.Table.from_pylist(rows), "register", sorted=True).holds
    rows[-1]["ret"] = 1
    result = clewline.check(pa.Table.from_pylist(rows), "register", sorted=True)
    assert [it.object for it in result.violated] == [2] and result.objects == 2


def test_a_limit_is_never_a_success():
    arrow = table(50_000, 3).sort_by([("key", "ascending"), ("call", "ascending")])
    result = clewline.check(arrow, object="key", sorted=True, memory=1 << 20, algorithm="jit-graph")
    assert result.verdict == "unknown" and not result and result.unknown_count == 3
    assert "operations are too many for the memory limit of 1 MiB" in result.unknown[0].sentence
    assert result.operations == 50_000
    late = clewline.check(arrow, object="key", sorted=True, timeout=0.0)
    assert late.verdict == "unknown" and late.unknown_count == 3
    with pytest.raises(AssertionError, match="unknown"):
        clewline.assert_linearizable(arrow, object="key", sorted=True, timeout=0.0)


def test_a_memory_limit_is_for_what_is_judged_and_not_for_the_interpreter():
    # The interpreter with its libraries has more than the limit.
    arrow = table(400_000, 4_000, (3,), hot=5).sort_by([("key", "ascending"), ("call", "ascending")])
    given = {"object": "key", "sorted": True, "memory": 16 << 20}
    assert clewline.check(arrow, **given).verdict_of(5) == "holds"
    result = clewline.check(arrow, **given, algorithm="jit-graph")
    [unknown] = result.unknown
    assert unknown.object == 5 and f"its {unknown.operations} operations are too many" in unknown.sentence
    assert [it.object for it in result.violated] == [3] and result.operations == 400_000


def test_keys_are_not_names_of_objects():
    violated = tuple(range(150))
    arrow = table(90_000, 300, violated)
    result = clewline.check(arrow)
    # Each key is judged by itself, but no column names objects.
    assert result.violated_count == 150 and len(result.violated) == 100
    with pytest.raises(LookupError, match="name no objects"):
        result.verdict_of(3)
    for found in result.violated[:10]:
        key = arrow["key"][found.ids[0]].as_py()
        assert found.operations == arrow["key"].to_pylist().count(key)
    named = clewline.check(arrow, object="key")
    assert named.violated_count == 150 == len(named.violated) and named.verdict_of(3) == "violated"
    assert named.violated[-1].operations == arrow["key"].to_pylist().count(named.violated[-1].object)
    assert clewline.check(table(1000, 10)).verdict_of(3) == "holds"


def test_numbers_are_no_texts_where_an_object_is_judged_while_it_comes():
    import pyarrow as pa

    def of(*rets):
        rows = [row(0, "write", 0, 1, arg=rets[0]), row(0, "read", 2, 3, ret=rets[1])]
        arrow = pa.Table.from_pylist([{**it, "object": 1} for it in rows])
        about = {"ARROW:extension:name": "arrow.json", "ARROW:extension:metadata": ""}
        for name in ("arg", "ret"):
            place = arrow.schema.get_field_index(name)
            arrow = arrow.cast(arrow.schema.set(place, pa.field(name, pa.string(), metadata=about)))
        return [clewline.check(arrow, "register", sorted=True, held=held).verdict for held in (None, 1)]

    assert of("1.5", "1.5") == of('{"a": [1]}', '{"a": [1]}') == ["holds", "holds"]
    assert of("1.5", '"1.5"') == of('{"a": 1}', '"{\\"a\\":1}"') == ["violated", "violated"]


def test_an_object_that_is_not_held_is_judged_while_it_comes():
    arrow = table(12_000, 5, violated=(4,), hot=2).sort_by([("key", "ascending"), ("call", "ascending")])
    # Keys of which more than that many operations come are streamed.
    for held in (3_000, 10):
        result = clewline.check(arrow.to_reader(max_chunksize=999), object="key", sorted=True, held=held)
        assert [it.object for it in result.violated] == [4] and result.operations == 12_000, held
        assert result.violated[0].ids and result.violated[0].text().startswith("violated:")
    mixed = arrow.sort_by([("key", "ascending"), ("return", "descending")])
    result = clewline.check(mixed, object="key", sorted=True, held=10)
    assert result.verdict != "holds"
    function = clewline.check(arrow, lambda state, op, args, ret: [state], object="key", sorted=True, held=10)
    assert function.unknown_count == 5 and "too many" in function.unknown[0].sentence


def test_options_are_those_of_the_command_line(stale):
    assert clewline.check([row(0, "read", 0, 1, ret=7)], "register", initial=7).holds
    assert clewline.check(stale, "register", algorithm="wg-graph").verdict == "violated"
    assert clewline.check([row(0, "deq", 0, 3), row(1, "enq", 1, 2, arg=1), row(2, "deq", 4, 5)], "queue",
                          may_fail="deq=null:always").holds
    with pytest.raises(ValueError, match="algorithm"):
        clewline.check(stale, "register", algorithm="none")
    with pytest.raises(TypeError):
        clewline.check(stale, "register", colour="red")


def test_the_interpreter_is_free_while_judging():
    arrow = table(100_000, 3)
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    clewline.check(arrow)
    done.set()
    thread.join()
    assert len(ticks) > 5


def test_assert_linearizable_shows_the_report(held, stale):
    clewline.assert_linearizable(held, "register")
    with pytest.raises(AssertionError, match="(?s)violated: .*read\\(\\) → 1"):
        clewline.assert_linearizable(stale, "register")


def command(*words, **more):
    return subprocess.run([sys.executable, "-m", "clewline", *words], capture_output=True, text=True, **more)


def test_the_command_line_is_in_the_wheel(tmp_path, stale):
    path = tmp_path / "a.jsonl"
    path.write_text(lines(stale))
    done = command("check", str(path), "--spec", "register")
    assert done.returncode == 1 and done.stdout.startswith("violated:"), done
    assert "read() → 1" in done.stdout
    assert command("check").returncode == 2
    assert command("--version").stdout.startswith("clewline ")
    script = pathlib.Path(sys.executable).with_name("clewline")
    assert subprocess.run([script, "specs"], capture_output=True, text=True, check=True).stdout.startswith("bag")


def test_shards_of_the_wheel_are_merged(tmp_path):
    words = ["explore", "treiber-stack", "--samples", "4", "--threads", "2", "--operations", "2", "--seed", "7"]
    for shard in range(2):
        done = command(*words, "--shard", f"{shard}/2", "--journal", f"{shard}.journal", cwd=tmp_path)
        assert done.returncode == 0, done
    assert command("merge", "0.journal", "1.journal", cwd=tmp_path).returncode == 0
    assert command("merge", "0.journal", cwd=tmp_path).returncode == 2


def test_a_criterion_is_another_question(stale):
    assert clewline.check(stale, "register").verdict == "violated"
    assert clewline.check(stale, "register", criterion="sequential").holds
    strongest = clewline.check(stale, "register", criterion="strongest")
    assert strongest.holds and "sequentially consistent" in str(strongest)
    with pytest.raises(ValueError, match="criterion: "):
        clewline.check(stale, "register", criterion="good")


def test_an_interrupt_ends_a_check():
    # A search that does not end in practice: values of many overlapping operations on a queue are
    # alike.
    code = (
        "import clewline\n"
        "rows = [{'process': p, 'op': 'enq' if p % 2 else 'deq', 'arg': 1 if p % 2 else None, 'ret': None if p % 2 else 1 + p % 3,\n"
        "         'call': p, 'return': 10_000 + p} for p in range(400)]\n"
        "try:\n"
        "    print('ready', flush=True)\n"
        "    clewline.check(rows, 'queue', algorithm='wg-graph')\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.stdout.read() == "interrupted\n" and process.wait() == 0


def test_memory_does_not_grow_with_operations_that_are_made_while_they_are_judged():
    # As in `docs/research/performance.md`, with fewer operations: each planted violation is found.
    program = pathlib.Path(__file__).parents[1] / "bench" / "billion.py"

    def peak(operations):
        words = [sys.executable, program, str(operations), str(operations // 1000)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert f"4 violated of {operations // 1000} objects" in done.stdout, done
        return int(re.search(r"peak (\d+) MiB", done.stdout)[1])

    few, many = peak(200_000), peak(800_000)
    # The rows alone would take 70 bytes each.
    assert many - few < 16, (few, many)
