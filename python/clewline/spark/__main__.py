"""`python -m clewline.spark 'run/*.parquet' --spec map --html out/`: `clewline check` on Spark."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Optional

from .. import __version__
from ._check import check
from ._errors import SparkError, understood

_CODES = {"holds": 0, "violated": 1, "unknown": 3}


def main(arguments: Optional[list] = None) -> int:
    """Runs the command, and returns its exit code."""
    args = _parser().parse_args(arguments)
    try:
        return _run(args)
    except Exception as error:  # noqa: BLE001 - 1, Python's exit code of any exception, is a verdict
        known = error if isinstance(error, (SparkError, ValueError, OSError)) else understood(error)
        print(f"error: {known}", file=sys.stderr)
        return 2


def _run(args: argparse.Namespace) -> int:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("clewline check")
    if args.master:
        builder = builder.master(args.master)
    for setting in args.conf:
        name, _, value = setting.partition("=")
        builder = builder.config(name, value)
    options = {name: value for name in _PASSED if (value := getattr(args, name)) is not None}
    if args.initial is not None:
        options["initial"] = _state(args.initial)
    spark = builder.getOrCreate()
    try:
        df = spark.sql(args.sql) if args.sql else spark.read.format(args.read_format).load(args.paths)
        result = check(
            df,
            args.spec,
            args.object,
            partitions=args.partitions,
            json=tuple(args.json),
            reports=args.reports,
            progress=_show if sys.stderr.isatty() else None,
            **options,
        )
    finally:
        spark.stop()
    print(result.json() if args.format == "json" else result, end="\n" if args.format == "json" else "")
    if args.html:
        print(f"pages: {result.write_html(args.html)}", file=sys.stderr)
    return _CODES[result.verdict]


def _state(text: str) -> Any:
    """A state as `clewline check --initial` takes it: JSON, a text, or `@FILE`."""
    if text.startswith("@"):
        with open(text[1:], encoding="utf-8") as file:
            text = file.read()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


_PASSED = ("algorithm", "timeout", "memory", "may_fail", "violations")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m clewline.spark",
        description="Checks recorded histories for linearizability on Apache Spark.",
        epilog="Exit codes: 0 holds, 1 violated, 2 invalid arguments, unreadable input or a lost part, 3 unknown.",
    )
    parser.add_argument("paths", nargs="*", help="files, folders or patterns, of any file system that Spark reads")
    parser.add_argument("--spec", required=True, help="sequential specification; `clewline specs` lists them")
    parser.add_argument("--object", default="key", help="the column that names the object of an operation")
    parser.add_argument("--read-format", default="parquet", help="format of the files, for Spark [parquet]")
    parser.add_argument("--sql", help="a query whose rows are the operations, instead of files")
    parser.add_argument("--json", action="append", default=[], metavar="COLUMN", help="its texts are JSON")
    parser.add_argument("--html", metavar="FOLDER", help="write pages of the violated objects")
    parser.add_argument("--reports", type=int, default=20, help="for how many objects there are reports")
    parser.add_argument("--partitions", type=int, help="number of tasks")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="of the output")
    parser.add_argument("--master", help="address of the cluster, if it is not in the configuration")
    parser.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE", help="setting of Spark")
    parser.add_argument("--algorithm", help="checking algorithm")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="time limit of each task")
    parser.add_argument("--memory", type=int, metavar="BYTES", help="memory limit of each task")
    parser.add_argument("--initial", help="state of each object before the first operation: JSON, a text, or @FILE")
    parser.add_argument("--may-fail", help="results that operations may return with no effect")
    parser.add_argument("--violations", type=int, help="for how many violations there are counterexamples")
    parser.add_argument("--version", action="version", version=f"clewline {__version__}")
    return parser


def _show(judged: int, total: int, objects: int) -> None:
    print(f"\r{judged:,} of {total:,} operations judged, of {objects:,} objects", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
