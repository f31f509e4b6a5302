from typing import Any, Optional

VERSION: str

class Settings:
    def __init__(
        self,
        spec: Any,
        *,
        algorithm: str = "auto",
        timeout: Optional[float] = None,
        memory: Optional[int] = None,
        jobs: Optional[int] = None,
        input_format: str = "auto",
        keyed: bool = False,
        quasi: Optional[str] = None,
        reading: Optional[str] = None,
        may_fail: Optional[str] = None,
        skew: int = 0,
        initial: Optional[str] = None,
        mapping: Optional[str] = None,
        violations: int = 100,
        criterion: Optional[str] = None,
    ) -> None: ...
    takes_keys: bool

class Found:
    object: Any
    verdict: str
    operations: Optional[int]
    ids: list[Any]
    is_minimal: bool
    sentence: str
    def text(self) -> Optional[str]: ...
    def html(self) -> Optional[str]: ...

class Judged:
    verdict: str
    operations: int
    objects: int
    headline: str
    found: list[Found]
    violated: int
    unknown: int
    is_named: bool
    def text(self) -> str: ...
    def json(self, witness: bool) -> str: ...
    def html(self) -> str: ...
    def svg(self) -> str: ...

class Sorted:
    operations: int
    objects: int
    violated: int
    unknown: int
    found: list[Found]
    checksum: str

def available_memory() -> int: ...
def check_paths(paths: list[str], settings: Settings) -> Judged: ...
def check_rows(name: str, text: bytes, settings: Settings) -> Judged: ...
def check_sorted(
    stream: Any, settings: Settings, object: str, reports: int = 20, most: int = 10_000, held: Optional[int] = None
) -> Sorted: ...
def check_table(stream: Any, settings: Settings, object: Optional[str] = None) -> Judged: ...
def main(program: str, words: list[str]) -> int: ...
def page_of_all(
    title: str, verdict: str, rows: list[tuple[str, str, str, Optional[int], Optional[str]]]
) -> str: ...
