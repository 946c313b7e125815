"""Element types."""

from typing import Any, Dict, Optional

from hoist import _graph
from hoist.graph._types import name_of

__all__ = [
    "DType",
    "bfloat16",
    "float16",
    "float32",
    "float64",
    "int16",
    "int32",
    "int64",
    "int8",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]


class DType(str):
    """An element type: its name, as NumPy and PyTorch call it, and so equal to that name."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return 1 if self == "bool" else int(self.lstrip("bfloatuint")) // 8

    def __str__(self) -> str:
        return "".join(self)

    def __repr__(self) -> str:
        return f"hoist.graph.{self.name}"


boolean = DType("bool")
int8 = DType("int8")
int16 = DType("int16")
int32 = DType("int32")
int64 = DType("int64")
uint8 = DType("uint8")
uint16 = DType("uint16")
uint32 = DType("uint32")
uint64 = DType("uint64")
float16 = DType("float16")
bfloat16 = DType("bfloat16")
float32 = DType("float32")
float64 = DType("float64")

_BY_NAME: Dict[str, DType] = {
    str(one): one
    for one in (boolean, int8, int16, int32, int64, uint8, uint16, uint32, uint64)
    + (float16, bfloat16, float32, float64)
}
_graph.set_dtypes(_BY_NAME)


def dtype_name(dtype: Any) -> Optional[str]:
    """The name of a type of ours, NumPy's or PyTorch's, or the name itself; None of None."""
    return None if dtype is None else name_of(dtype)
