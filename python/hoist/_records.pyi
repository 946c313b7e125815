from typing import Any, Callable, List, Optional, Sequence, Tuple

def encode(
    read: Callable[[int], bytes],
    path: str,
    format: Optional[str],
    header: Optional[bool],
    best: bool,
    threads: int,
    replace: bool,
    inputs: Sequence[str],
) -> Tuple[str, int, int, int]: ...

def convert(
    path: Optional[str],
    text: bytes,
    to: str,
    format: Optional[str],
    delimiter: Optional[str],
    header: bool,
    skip: bool,
    keep: Optional[str],
    first: int,
    end: int,
    where: Sequence[str],
    output: Optional[str],
    write: Optional[Callable[[bytes], Any]],
    replace: bool,
    inputs: Sequence[str],
) -> Tuple[int, int]: ...

class DeviceTable:
    @property
    def rows(self) -> int: ...
    @property
    def device(self) -> str: ...
    @property
    def statistics(self) -> Tuple[int, int, int, int, int, float, float]: ...
    def columns(self) -> List[Tuple[Any, Any, str, int, bool, Any, int]]: ...
    def arrow(self) -> Tuple[Any, Any]: ...

class Reader:
    def __init__(self, path: str, partial: bool = False) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def text_bytes(self) -> int: ...
    @property
    def file_size(self) -> int: ...
    @property
    def format(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def unfinished_bytes(self) -> int: ...
    @property
    def warning(self) -> str: ...
    def types(self) -> List[Tuple[str, str, int, bool, bool, bool, int, int, int]]: ...
    def blocks(self) -> List[Tuple[int, int]]: ...
    def read(
        self, columns: Sequence[int], first: int, end: int, where: Sequence[str]
    ) -> List[Tuple[Any, Any, Any, Any]]: ...
    def load(
        self,
        columns: Sequence[int],
        types: Sequence[str],
        first: int,
        end: int,
        where: Sequence[str],
        device: str,
    ) -> DeviceTable: ...
    def arrow_stream(
        self, columns: Sequence[int], first: int, end: int, where: Sequence[str], exact: bool
    ) -> Any: ...
    def text(
        self, first: int, end: int, where: Sequence[str], write: Callable[[bytes], Any]
    ) -> None: ...
    def save_text(
        self, path: str, first: int, end: int, where: Sequence[str], replace: bool
    ) -> None: ...
