"""Campaigns: each task runs one shard of a command, and their journals are merged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any, Optional

from .. import _native
from ._errors import SparkError, understood

_VERDICTS = {0: "holds", 1: "violated", 3: "unknown"}

# The end of what a failed command said.
_SAID_MAX = 2000


@dataclass(frozen=True)
class Campaign:
    """What `clewline merge` made of the journals of all shards. `str` is the report."""

    #: `holds`, `violated` or `unknown`.
    verdict: str
    #: The report, as one process would have printed it.
    text: str
    #: The exit code of `clewline merge`.
    exit_code: int

    @property
    def holds(self) -> bool:
        """Whether nothing was found, and no limit was hit."""
        return self.verdict == "holds"

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.text


def explore(*words: str, shards: int, **settings: Any) -> Campaign:
    """Runs `clewline explore WORDS` in shards: `explore("ms-queue", samples=1000, seed=7, shards=100)`.

    Other settings than these become flags (`samples=1000` is `--samples 1000`, `weak=True` is
    `--weak`):

    - `spark`: the session; the active one by default.
    - `program`: the command that is run, a list of words, where it is not the one in this wheel: a
      program with subjects of your own. It must be there on every executor.
    - `journals`: a folder that all executors see, in which the journals are kept: the same campaign
      goes on from there, also after the driver was killed.
    - `jobs`: threads of each task; by default those that Spark gives to a task.
    - `html`, `junit`, `markdown`: files that `clewline merge` writes.
    """
    return _run("explore", words, shards, settings)


def stress(*words: str, shards: int, **settings: Any) -> Campaign:
    """As `explore`, for `clewline stress`, with `executions` and `seed`."""
    return _run("stress", words, shards, settings)


def actors(*words: str, shards: int, **settings: Any) -> Campaign:
    """As `explore`, for `clewline actors`."""
    return _run("actors", words, shards, settings)


def _run(command: str, words: tuple, shards: int, settings: dict) -> Campaign:
    if shards < 1:
        raise ValueError(f"shards: expected 1 or more, found {shards}")
    spark = settings.pop("spark", None) or _active()
    program = settings.pop("program", None)
    folder = settings.pop("journals", None)
    outputs = {name: settings.pop(name, None) for name in ("html", "junit", "markdown")}
    line = _line(command, words, settings, spark)
    task = _task(line, shards, program, None if folder is None else os.path.abspath(folder))
    try:
        rows = spark.range(0, shards, 1, shards).mapInArrow(task, "shard int, journal binary").collect()
    except Exception as error:
        raise understood(error) from error
    # Equal rows count once; whatever else is there twice or missing, `merge` names.
    journals = sorted({(row[0], bytes(row[1])) for row in rows})
    with tempfile.TemporaryDirectory(prefix="clewline-") as place:
        paths = []
        for number, (shard, journal) in enumerate(journals):
            paths.append(os.path.join(place, f"{number}-{shard}.journal"))
            with open(paths[-1], "wb") as out:
                out.write(journal)
        return merge(paths, program, outputs)


def _line(command: str, words: tuple, settings: dict, spark: Any) -> list:
    """The words of the command line, with as many threads as Spark gives to a task."""
    cores = spark.conf.get("spark.task.cpus", "1")
    return [command, *map(str, words), *_flags({**settings, "jobs": settings.get("jobs", cores)})]


def merge(paths: list, program: Optional[list], outputs: dict) -> Campaign:
    """What `clewline merge` makes of these journals."""
    wanted = [word for name, path in outputs.items() if path for word in (f"--{name}", os.fspath(path))]
    done = subprocess.run(
        [*(program or own_program()), "merge", *paths, *wanted], capture_output=True, text=True, check=False
    )
    if done.returncode not in _VERDICTS:
        raise SparkError(f"clewline merge: {done.stderr.strip()[-_SAID_MAX:]}")
    return Campaign(_VERDICTS[done.returncode], done.stdout, done.returncode)


def own_program() -> list:
    """The command line of this wheel."""
    return [sys.executable, "-m", "clewline"]


def _task(line: list, shards: int, program: Optional[list], folder: Optional[str]) -> Any:
    """The function that tasks run; sent as a whole, as that of `check` is."""
    version = _native.VERSION

    def run(batches: Any) -> Any:
        import pyarrow as pa

        import clewline

        if clewline.__version__ != version:
            raise RuntimeError(
                f"<<clewline:version:clewline {version} runs on the driver, and clewline "
                f"{clewline.__version__} on an executor: install one wheel everywhere:clewline>>"
            )
        from clewline.spark import _campaign

        for batch in batches:
            for shard in batch.column(0).to_pylist():
                journal = _campaign.run_shard(line, shard, shards, program, folder)
                yield pa.RecordBatch.from_arrays(
                    [pa.array([shard], pa.int32()), pa.array([journal], pa.binary())], ["shard", "journal"]
                )

    return run


# What the command line says of a journal that is locked.
_IN_USE = "another process writes this journal"


def run_shard(line: list, shard: int, shards: int, program: Optional[list], folder: Optional[str]) -> bytes:
    """Runs one shard, and returns its journal."""
    from ._errors import marked

    def run(path: str) -> str:
        command = [*(program or own_program()), *line, "--shard", f"{shard}/{shards}", "--journal", path]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=own)
        return "" if done.returncode == 0 else done.stderr.strip()[-_SAID_MAX:] or f"exit code {done.returncode}"

    with tempfile.TemporaryDirectory(prefix="clewline-") as own:
        path = os.path.join(folder or own, f"{shard}.journal")
        said = run(path)
        if _IN_USE in said:
            # The command of an attempt whose executor is gone may still run, and an attempt on a
            # slow machine does: this one goes on from a copy, and replaces the journal at its end.
            copy = os.path.join(own, "copy.journal")
            shutil.copyfile(path, copy)
            said = run(copy)
            if not said:
                aside = f"{path}.{os.getpid()}"
                shutil.copyfile(copy, aside)
                os.replace(aside, path)
        if said:
            raise RuntimeError(marked("shard", f"shard {shard}/{shards}: {said}"))
        with open(path, "rb") as journal:
            return journal.read()


def _flags(settings: dict) -> list:
    """Settings as flags of the command line."""
    flags = []
    for name, value in settings.items():
        flag = f"--{name.replace('_', '-')}"
        if value is True:
            flags.append(flag)
        elif value is not None and value is not False:
            for each in value if isinstance(value, (list, tuple)) else (value,):
                flags += [flag, str(each)]
    return flags


def _active() -> Any:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise ValueError("spark: expected a session, found none that is active")
    return session
