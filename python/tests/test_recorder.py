"""The recorder, with threads and with asyncio."""

import asyncio
import json
import threading

import pytest

import clewline
from clewline import Recorder


def test_threads_that_lock_are_linearizable_and_those_that_do_not_are_found():
    recorder, state, lock = Recorder(), [0], threading.Lock()

    @recorder.record(op="inc")
    def increment():
        with lock:
            state[0] += 1
            return state[0] - 1

    threads = [threading.Thread(target=lambda: [increment() for _ in range(50)]) for _ in range(4)]
    [it.start() for it in threads]
    [it.join() for it in threads]
    rows = recorder.rows()
    assert len(rows) == len(recorder) == 200 and {it["op"] for it in rows} == {"inc"}

    def counter(state, op, args, ret):
        return state + 1 if ret is clewline.PENDING or ret == state else []

    assert recorder.check(counter, initial=0).holds
    rows[100]["ret"] = rows[99]["ret"]
    assert not clewline.check(rows, counter, initial=0).holds


def test_an_operation_that_raises_is_pending_and_its_process_goes_on(tmp_path):
    recorder = Recorder()
    with pytest.raises(TimeoutError):
        with recorder.operation("write", 5):
            raise TimeoutError
    with recorder.operation("read") as it:
        it.ret = 5
    first, second = recorder.rows()
    assert "return" not in first and second["ret"] == 5 and first["process"] != second["process"]
    assert recorder.check("register").holds
    with recorder.operation("read") as it:
        it.ret = None
    assert recorder.check("register").verdict == "violated"
    recorder.write(tmp_path / "a.jsonl")
    assert clewline.check(tmp_path / "a.jsonl", "register").verdict == "violated"
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == 3


def test_an_operation_that_failed_is_left_out():
    recorder = Recorder()
    it = recorder.operation("write", 1)
    it.failed()
    with pytest.raises(RuntimeError):
        it.returned()
    with recorder.operation("read") as it:
        it.ret = None
    assert [it["op"] for it in recorder.rows()] == ["read"]
    assert recorder.check("register").holds


def test_tasks_of_asyncio_are_processes_and_a_cancelled_one_is_pending():
    recorder, register = Recorder(), [None]

    @recorder.record
    async def write(value):
        register[0] = value
        await asyncio.sleep(0)

    @recorder.record
    async def read():
        await asyncio.sleep(0)
        return register[0]

    async def stuck():
        with recorder.operation("write", 99):
            await asyncio.Event().wait()

    async def main():
        task = asyncio.create_task(stuck())
        await asyncio.sleep(0)
        await asyncio.gather(*(write(it) for it in range(5)), *(read() for _ in range(5)))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(main())
    rows = recorder.rows()
    assert len(rows) == 11 and len({it["process"] for it in rows}) == 11
    assert [it["arg"] for it in rows if "return" not in it] == [99]
    assert recorder.check("register").holds


def test_values_are_recorded_as_they_are_then(tmp_path):
    recorder, contents = Recorder(), [1]
    with recorder.operation("write", contents) as it:
        contents.append(2)
        it.ret = contents
    contents.append(3)
    (row,) = recorder.rows()
    assert row["arg"] == [1] and row["ret"] == [1, 2]
    with recorder.operation("write", {3, 1}) as it:
        it.ret = None
    recorder.write(tmp_path / "a.jsonl")
    assert [json.loads(it)["arg"] for it in (tmp_path / "a.jsonl").read_text().splitlines()] == [[1], [1, 3]]


def test_an_operation_that_is_collected_while_the_recorder_is_at_work_does_not_wait():
    recorder = Recorder()
    it = recorder.operation("write", 1)
    with recorder._lock:
        # As the garbage collector does in the middle of a method, here in another thread as well.
        del it
        other = recorder.operation("write", 2)
        thread = threading.Thread(target=other.pending)
        thread.start()
        thread.join(10)
        assert not thread.is_alive()
    assert len(recorder.rows()) == 2


def test_a_dropped_operation_is_pending():
    recorder = Recorder()
    it = recorder.operation("write", 1)
    del it
    with recorder.operation("read") as it:
        it.ret = 1
    rows = recorder.rows()
    assert "return" not in rows[0] and rows[0]["process"] != rows[1]["process"]
    assert recorder.check("register").holds
    assert json.dumps(rows)
