"""Columns of a file of records in a device's memory."""

from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from hoist import _records
from hoist.errors import NotFound

_UNITS = {0: "s", 3: "ms", 6: "us", 9: "ns"}


class DeviceColumn:
    """One column: `torch.from_dlpack(column)` and `cupy.from_dlpack(column)` take it without a copy.

    `type` is "bool", "int64", "float64", "float32", "decimal" (int64 that count units of
    10**-`scale`), "timestamp" (int64 that count `unit`s, in UTC where `is_utc`) or "codes" (int32,
    `dictionary[code]` is the text). `valid` is an array of bool of the same device, or None where
    the column is not nullable; what is missing is 0, NaN, NaT (the least int64) or code -1.
    `blocks_by_cpu` are the blocks that the CPU decoded because no kernel does.
    """

    def __init__(
        self, name: str, rows: int, read: Tuple[Any, Any, str, int, bool, Any, int]
    ) -> None:
        self._rows = rows
        self._values, valid, self.type, digits, is_utc, dictionary, on_cpu = read
        self.name = name
        self.valid = None if valid is None else DeviceMask(valid, rows)
        self.scale = digits if self.type == "decimal" else 0
        self.unit = _UNITS[digits] if self.type == "timestamp" else ""
        self.is_utc = is_utc
        self.dictionary: Optional[List[str]] = dictionary
        self.blocks_by_cpu = on_cpu

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"<column {self.name}: {len(self)} of {self.type}>"

    def __dlpack__(self, **options: Any) -> Any:
        """A capsule. The values are there: no stream is waited for."""
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        device: Tuple[int, int] = self._values.__dlpack_device__()
        return device


class DeviceMask:
    """Flags of bool on a device, for DLPack."""

    def __init__(self, values: Any, rows: int) -> None:
        self._values = values
        self._rows = rows

    def __len__(self) -> int:
        return self._rows

    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        device: Tuple[int, int] = self._values.__dlpack_device__()
        return device


class LoadInfo(NamedTuple):
    """How columns came to the device; sizes in bytes, times in seconds.

    Of `blocks`, `skipped` were not decoded since the ranges of their numbers show that no row can
    hold. `conditions_by_cpu` counts conditions of blocks that the CPU evaluated, those of dates and mixed
    columns. `by_cpu` has, for each column, the blocks that the CPU decoded because no kernel does.
    """

    device: str
    blocks: int
    skipped: int
    conditions_by_cpu: int
    stored_bytes: int
    copied_bytes: int
    prepare_seconds: float
    wait_seconds: float
    by_cpu: Dict[str, int]


class DeviceColumns(Mapping[str, DeviceColumn]):
    """Columns by name. Arrow's consumers of device arrays take them as a whole."""

    def __init__(self, table: _records.DeviceTable, names: Sequence[str]) -> None:
        self._table = table
        self._columns = {
            name: DeviceColumn(name, table.rows, read) for name, read in zip(names, table.columns())
        }

    @property
    def rows(self) -> int:
        return self._table.rows

    @property
    def device(self) -> str:
        return self._table.device

    def info(self) -> LoadInfo:
        by_cpu = {name: column.blocks_by_cpu for name, column in self._columns.items()}
        return LoadInfo(self._table.device, *self._table.statistics, by_cpu)

    def __getitem__(self, name: str) -> DeviceColumn:
        try:
            return self._columns[name]
        except KeyError:
            raise NotFound(f"no column {name}: there are {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __repr__(self) -> str:
        return f"<columns on {self.device}: {self.rows} rows of {', '.join(self._columns)}>"

    def __arrow_c_device_array__(self, requested_schema: Any = None, **options: Any) -> Any:
        """(schema, array): Arrow's C device interface, a struct of the columns."""
        return self._table.arrow()
