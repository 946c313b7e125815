from typing import Any, Optional

MOST_FUSED: int
MOST_FUSED_WIDE: int

class Plan:
    def __init__(self, weights: Any, stream: Optional[int] = None) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def escapes(self) -> int: ...
    @property
    def most_in_row(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def plain_bytes(self) -> int: ...
    @property
    def reason(self) -> Optional[str]: ...
    def pack(self, weights: Any, out: Any = None, stream: Optional[int] = None) -> Any: ...

class Matrix:
    def __init__(
        self,
        packed: int,
        bytes: int,
        gpu: Optional[int],
        rows: int,
        columns: int,
        escapes: int,
    ) -> None: ...
    def multiply(
        self, x: int, count: int, x_stride: int, y: int, bias: int, stream: int
    ) -> None: ...
    def unpack(self, out: int, stream: int) -> None: ...
    def unpack_rows(
        self, indices: int, count: int, are_wide: bool, out: int, stream: int
    ) -> None: ...

def packed_bytes(rows: int, columns: int, escapes: int) -> int: ...
def check(
    packed: Any, rows: int, columns: int, escapes: int, stream: Optional[int] = None
) -> None: ...
def unpack(
    packed: Any,
    rows: int,
    columns: int,
    escapes: int,
    out: Any,
    stream: Optional[int] = None,
) -> None: ...
def unpack_rows(
    packed: Any,
    rows: int,
    columns: int,
    escapes: int,
    indices: Any,
    out: Any,
    stream: Optional[int] = None,
) -> None: ...
def matmul(
    x: Any,
    packed: Any,
    rows: int,
    columns: int,
    escapes: int,
    out: Any,
    bias: Any = None,
    activation: str = "none",
    stream: Optional[int] = None,
) -> None: ...
