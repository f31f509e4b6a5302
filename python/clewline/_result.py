"""Verdicts, with their evidence."""

from __future__ import annotations

import html as _html
import json
import os
import re
from dataclasses import dataclass, field
from typing import Any, Optional

from . import _native

HOLDS, VIOLATED, UNKNOWN = "holds", "violated", "unknown"


@dataclass(frozen=True)
class ObjectResult:
    """An object that is violated, or for which a limit was hit."""

    #: Its name; `None` if the operations name none.
    object: Any
    #: `violated` or `unknown`.
    verdict: str
    #: How many operations it has, if that is known.
    operations: Optional[int]
    #: The ids of the operations that contradict each other; positions of rows if there are no ids.
    ids: tuple
    #: What is wrong, or which limit was hit.
    sentence: str
    #: Whether no operation can be left out of the counterexample.
    is_minimal: bool = False
    _found: Any = field(default=None, repr=False, compare=False)

    @staticmethod
    def _of(found: Any) -> "ObjectResult":
        return ObjectResult(
            object=found.object,
            verdict=found.verdict,
            operations=found.operations,
            ids=tuple(found.ids),
            sentence=found.sentence,
            is_minimal=found.is_minimal,
            _found=found,
        )

    def text(self) -> Optional[str]:
        """The report on this object alone, if it was kept."""
        return self._found.text() if self._found is not None else None

    def html(self) -> Optional[str]:
        """The page of this object alone, if it was kept."""
        return self._found.html() if self._found is not None else None

    def __str__(self) -> str:
        return self.text() or _line(self)


@dataclass(frozen=True)
class Result:
    """A verdict on a history, with its evidence. `str` is the report."""

    #: `holds`, `violated` or `unknown`.
    verdict: str
    #: The name of the specification.
    spec: str
    #: How many operations were judged.
    operations: int
    #: How many objects they are about.
    objects: int
    #: The violated objects (or parts of one), in their order; not all if there are very many.
    violated: tuple
    #: The objects for which a limit was hit.
    unknown: tuple
    #: How many violated objects there are; if operations name no objects, how many violated parts.
    violated_count: int
    #: How many objects there are for which a limit was hit.
    unknown_count: int
    _judged: Any = field(default=None, repr=False, compare=False)

    @property
    def holds(self) -> bool:
        """Whether the history is certainly linearizable."""
        return self.verdict == HOLDS

    def __bool__(self) -> bool:
        return self.holds

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        if self._judged is not None:
            if self.violated:
                return self.violated[0].sentence
            return self._judged.headline
        counted = f"{self.operations:,} operations on {_count(self.objects, 'object')}"
        if self.verdict == HOLDS:
            return f"all {counted} are linearizable as {_article(self.spec)}"
        parts = []
        if self.violated_count:
            parts.append(f"{self.violated_count:,} violated")
        if self.unknown_count:
            parts.append(f"{self.unknown_count:,} unknown")
        return f"{' and '.join(parts)} of {_count(self.objects, 'object')}, as {_article(self.spec)}"

    def verdict_of(self, object: Any) -> str:
        """The verdict on the object of that name, which occurs in the history.

        Raises `LookupError` if that is not known: operations name no object (`object=` of `check` says
        which column does), or not all objects that do not hold are listed.
        """
        if self.holds:
            return HOLDS
        if self._judged is not None and not self._judged.is_named:
            raise LookupError(f"the operations name no objects, so none is called {object!r}")
        for found in self.violated + self.unknown:
            if found.object == object:
                return found.verdict
        if len(self.violated) < self.violated_count or len(self.unknown) < self.unknown_count:
            raise LookupError(f"object {object!r} is not listed, and not all that do not hold are")
        return HOLDS

    def __str__(self) -> str:
        if self._judged is not None:
            return self._judged.text()
        lines = [f"{self.verdict}: {self.sentence}"]
        for found in self.violated + self.unknown:
            report = found.text()
            lines += ["", _line(found), *([] if report is None else ["", _indented(report)])]
        hidden = self.violated_count + self.unknown_count - len(self.violated) - len(self.unknown)
        if hidden:
            lines += ["", f"{hidden:,} more are not listed."]
        return "\n".join(lines) + "\n"

    def html(self) -> str:
        """The page with the report. Of many objects: a table; `write_html` adds their own pages."""
        if self._judged is not None:
            return self._judged.html()
        pages = [page for page in (it.html() for it in self.violated) if page is not None]
        if len(pages) == 1 and self.violated_count == 1 and not self.unknown_count:
            return pages[0]
        return self._index({})

    def write_html(self, folder: Any) -> str:
        """Writes `index.html`, and a page for each object whose report was kept, into `folder`.
        Returns the name of the first."""
        os.makedirs(folder, exist_ok=True)
        links = {}
        if self._judged is None:
            for number, found in enumerate(self.violated):
                page = found.html()
                if page is not None:
                    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", str(found.object))[:60]
                    links[number] = f"{number + 1:03}-{plain}.html"
                    _write(os.path.join(folder, links[number]), page)
        index = os.path.join(folder, "index.html")
        _write(index, self._index(links) if self._judged is None else self.html())
        return index

    def _index(self, links: dict) -> str:
        rows = [
            (str(it.object), it.verdict, it.sentence, it.operations, links.get(number))
            for number, it in enumerate(self.violated + self.unknown)
        ]
        return _native.page_of_all(self.sentence, self.verdict, rows)

    def _repr_html_(self) -> str:
        # A page of its own inside of a notebook: its styles and scripts stay there.
        page = _html.escape(self.html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" '
            'style="width: 100%; height: 40em; border: 1px solid #ccc"></iframe>'
        )

    def json(self, witness: bool = False) -> str:
        """The report for programs, as `clewline check --format json` has it."""
        if self._judged is not None:
            return self._judged.json(witness)
        found = [
            {
                "object": it.object,
                "verdict": it.verdict,
                "operations": it.operations,
                "counterexample": list(it.ids),
                "text": it.sentence,
            }
            for it in self.violated + self.unknown
        ]
        return json.dumps(
            {"verdict": self.verdict, "operations": self.operations, "objects": self.objects, "found": found}
        )

    @staticmethod
    def of_judged(judged: Any, spec: str) -> "Result":
        """The result on a history that was judged as a whole."""
        found = [ObjectResult._of(it) for it in judged.found]
        violated = tuple(it for it in found if it.verdict == VIOLATED)
        unknown = tuple(it for it in found if it.verdict == UNKNOWN)
        return Result(
            verdict=judged.verdict,
            spec=spec,
            operations=judged.operations,
            objects=judged.objects,
            violated=violated,
            unknown=unknown,
            violated_count=judged.violated,
            unknown_count=judged.unknown,
            _judged=judged,
        )

    @staticmethod
    def of_sorted(judged: Any, spec: str) -> "Result":
        """The result on the objects of a sorted stream."""
        found = [ObjectResult._of(it) for it in judged.found]
        return Result.of_objects(
            spec, judged.operations, judged.objects, found, judged.violated, judged.unknown
        )

    @staticmethod
    def of_objects(
        spec: str, operations: int, objects: int, found: list, violated: int, unknown: int
    ) -> "Result":
        """The result on objects that were judged by themselves: `found` are those that do not hold,
        and the last two numbers say how many there are of each kind."""
        return Result(
            verdict=VIOLATED if violated else UNKNOWN if unknown else HOLDS,
            spec=spec,
            operations=operations,
            objects=objects,
            violated=tuple(it for it in found if it.verdict == VIOLATED),
            unknown=tuple(it for it in found if it.verdict == UNKNOWN),
            violated_count=violated,
            unknown_count=unknown,
        )


def _line(found: ObjectResult) -> str:
    ids = f" (operations {', '.join(map(str, found.ids))})" if found.ids else ""
    return f"object {found.object}: {found.verdict}: {found.sentence}{ids}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.rstrip("\n").split("\n"))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
