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


def test_dask_judges_whole_objects(tmp_path, monkeypatch):
    pytest.importorskip("dask.dataframe")
    arrow = table(30_000, 300, violated=(3, 77), hot=5)
    (tmp_path / "run").mkdir()
    for part in range(5):
        pq.write_table(arrow.slice(part * 6_000, 6_000), tmp_path / "run" / f"{part}.parquet")
    monkeypatch.chdir(tmp_path)
    blocks = examples(PAGE.read_text().split("## Other engines")[1])
    assert [sum(word in it for it in blocks) for word in ("def judged", "dask.compute", "violated = ")] == [1, 1, 1]
    names: dict = {}
    for block in blocks:
        if "ray." not in block:
            exec(block, names)
    assert sorted(names["violated"]) == [3, 77]
