"""What may go wrong on a cluster."""

from __future__ import annotations

import re

# Before and after a message of a task, within the text of an exception of Spark.
_BEGIN, _END = "<<clewline:", ":clewline>>"


class SparkError(RuntimeError):
    """A job failed."""


class VersionError(SparkError):
    """An executor has another wheel than the driver, or none."""


class ReadError(SparkError):
    """A file cannot be read."""


class IncompleteError(SparkError):
    """The tasks did not judge exactly the operations of the input."""


def marked(kind: str, message: str) -> str:
    """The message of a task, so that `understood` finds it again."""
    return f"{_BEGIN}{kind}:{message}{_END}"


def understood(error: Exception) -> Exception:
    """The exception for what is behind an exception of Spark."""
    text = str(error)
    own = re.search(f"{_BEGIN}(\\w+):(.*?){_END}", text, re.DOTALL)
    if own:
        kinds = {"version": VersionError, "data": ValueError, "shard": SparkError}
        return kinds.get(own.group(1), SparkError)(own.group(2))
    if "No module named 'clewline'" in text:
        return VersionError("clewline is not installed where the tasks run: install the wheel on every executor")
    file = re.search(r"(?:reading file|read file|file)[:]?\s+\[?(\w+:/[^\s\]]+?)[\].]*(?:\s|$)", text)
    reading = ("FAILED_READ_FILE", "Parquet", "parquet", "CORRUPT")
    if file and any(it in text for it in reading):
        return ReadError(f"{file.group(1)}: it cannot be read ({cause(text)})")
    return SparkError(cause(text))


def cause(text: str) -> str:
    """The innermost cause that a trace of Spark names, in one line."""
    causes = re.findall(r"Caused by: (.+)", text)
    lines = [it for it in (causes or text.splitlines()) if it.strip()]
    return (lines[-1] if causes else lines[0]).strip()[:400] if lines else "no reason is given"
