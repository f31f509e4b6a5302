"""The examples of the manual for other engines, as they are."""

import pathlib
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from generate import batches, table

DOCS = pathlib.Path(__file__).parents[2] / "docs"
PAGE = DOCS / "how-to" / "spark.md"


def examples(text):
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_a_sample_and_a_sorted_stream_as_in_the_tutorial(tmp_path, monkeypatch, capsys):
    for folder, rows in (("run", table(200_000, 2_000, (3, 1_500))), ("sorted", None)):
        (tmp_path / folder).mkdir()
        parts = [rows] if rows else list(batches(200_000, 200, (7,)))
        for number, part in enumerate(parts):
            pq.write_table(pa.table(part), tmp_path / folder / f"{number:02}.parquet")
    monkeypatch.chdir(tmp_path)
    sample, stream = examples((DOCS / "tutorials" / "billion.md").read_text())
    names: dict = {}
    exec(sample, names)
    printed = capsys.readouterr().out
    assert printed.startswith("violated: the table is not linearizable") and "1,000 independent parts" in printed
    exec(stream, names)
    assert capsys.readouterr().out == "200000 violated\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """In a folder with the recording, where keys 3 and 77 are violated."""
    arrow = table(30_000, 300, violated=(3, 77), hot=5)
    (tmp_path / "run").mkdir()
    for part in range(5):
        pq.write_table(arrow.slice(part * 6_000, 6_000), tmp_path / "run" / f"{part}.parquet")
    monkeypatch.chdir(tmp_path)


def run_examples(other):
    """Runs the examples of the page but for those of the other engine, and returns their names."""
    blocks = examples(PAGE.read_text().split("## Other engines")[1])
    words = ("def judged", "dask.compute", "map_groups", "violated = ")
    assert [sum(word in it for it in blocks) for word in words] == [1, 1, 1, 1]
    names: dict = {}
    for block in blocks:
        if f"{other}." not in block:
            exec(block, names)
    return names


def test_dask_judges_whole_objects(here):
    pytest.importorskip("dask.dataframe")
    assert sorted(run_examples("ray")["violated"]) == [3, 77]


def test_ray_judges_whole_objects(here):
    """Where Ray is installed: it is large, and `python/test` does not install it."""
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=200 << 20)
    try:
        assert sorted(run_examples("dask")["violated"]) == [3, 77]
    finally:
        ray.shutdown()
