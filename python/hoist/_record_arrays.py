"""NumPy arrays of what hoist._records reads."""

from typing import Any, Optional, Protocol, Tuple

import numpy as np


class Column(Protocol):
    @property
    def unit(self) -> str: ...
    @property
    def nullable(self) -> bool: ...
    @property
    def is_list(self) -> bool: ...


def array_of(type_: str, column: Column, read: Tuple[Any, Any, Any, Any]) -> Any:
    """`read`: the values, which are valid, and of lists where they begin and which are valid."""
    values, valid, lists, list_valid = read
    is_masked = column.nullable if lists is None else not valid.all()
    array = _flat_array(type_, column.unit, values, valid if is_masked else None)
    if lists is None:
        return array
    rows = np.empty(len(list_valid), dtype=object)
    for row, (begin, end) in enumerate(zip(lists[:-1].tolist(), lists[1:].tolist())):
        rows[row] = array[begin:end] if list_valid[row] else None
    return rows


def _flat_array(type_: str, unit: str, values: Any, valid: Optional[Any]) -> Any:
    if type_ == "text":
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    if type_ == "timestamp":
        array = values.view(f"datetime64[{unit}]")
        if valid is not None:
            array[valid == 0] = np.datetime64("NaT")
        return array
    array = values.astype(bool) if type_ == "bool" else values
    return array if valid is None else np.ma.MaskedArray(array, mask=valid == 0)
