"""Logs, JSON Lines and CSV as small files whose columns are read as arrays.

    from hoist import records

    records.encode("trades.jsonl", "trades.hrec")
    trades = records.open("trades.hrec")
    prices = trades.columns(["price"])["price"]           # a NumPy array
    table = pyarrow.table(trades)                         # as polars.DataFrame(trades) does
    text = trades.text(rows=(500, 502))                   # bytes, as they were
    lines = records.convert("trades.hrec", to="csv")      # the same records in another format

A row is a line of text. `rows` are a pair (first, end), a slice or a range, counted from 0; `where`
is a condition such as "price>=117000", or several that must all hold.

Errors are those of `hoist.errors`. All may be called from any thread; the interpreter's lock is
released while files are read, decoded and encoded.
"""

import os
import warnings
from typing import (
    Any,
    BinaryIO,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
    overload,
)

from hoist import _records
from hoist._record_arguments import (
    checked_device,
    checked_flags,
    checked_names,
    checked_output,
    checked_path,
    checked_rows,
    checked_text,
    checked_threads,
    checked_types,
    conditions,
    no_column,
    wrong_type,
)
from hoist._record_arrays import array_of
from hoist._record_device import DeviceColumn, DeviceColumns, LoadInfo
from hoist._record_text import reader_of, source_path
from hoist.errors import InvalidArgument, NotFound

__all__ = [
    "ColumnInfo",
    "DeviceColumn",
    "DeviceColumns",
    "Encoded",
    "ExactArrow",
    "FileInfo",
    "LoadInfo",
    "Records",
    "Selection",
    "convert",
    "decode",
    "encode",
    "open",
]

PathLike = Union[str, "os.PathLike[str]"]
Rows = Union[None, slice, range, Tuple[int, int]]
Where = Union[None, str, Sequence[str]]

_ALL_ROWS = 2**64 - 1


class Encoded(NamedTuple):
    """What `encode` wrote; sizes in bytes."""

    format: str
    rows: int
    text_bytes: int
    file_bytes: int


class ColumnInfo(NamedTuple):
    """A column of a file.

    `type` is "bool", "int64", "float64", "timestamp" or "text". Timestamps count `unit`s ("s",
    "ms", "us" or "ns"; else it is empty), in UTC where `is_utc`, else as written. With `is_list` a
    row may have several values. With `nullable` some row has none. Sizes are bytes: those of the
    values as text, and what they take in the file.
    """

    name: str
    type: str
    unit: str
    is_utc: bool
    is_list: bool
    nullable: bool
    values: int
    text_bytes: int
    stored_bytes: int


class FileInfo(NamedTuple):
    """A file as a whole; sizes in bytes.

    `state` is "committed"; "unfinished" where `unfinished_bytes` follow the last commit, which are
    not read: a writer is adding rows or was killed; "rebuilt" where the index was damaged but all
    rows are there; "damaged" where rows are lost, which needs `partial`.
    """

    format: str
    rows: int
    blocks: int
    text_bytes: int
    file_bytes: int
    state: str
    unfinished_bytes: int


class Selection:
    """Some columns and rows of a file, read when they are asked for."""

    def __init__(
        self,
        reader: _records.Reader,
        names: Optional[Sequence[str]],
        rows: Tuple[int, int],
        where: Tuple[str, ...],
    ) -> None:
        self._reader = reader
        self._names = names
        self._rows = rows
        self._where = where

    @property
    def rows(self) -> range:
        """The rows that it is about, before conditions."""
        return range(*self._rows)

    @property
    def columns_info(self) -> List[ColumnInfo]:
        """The file's columns, in the order in which it has them. The first call reads the file once."""
        return [
            ColumnInfo(each[0], each[1], _unit(each[1], each[2]), *each[3:])
            for each in self._reader.types()
        ]

    def select(
        self, names: Optional[Sequence[str]] = None, *, rows: Rows = None, where: Where = None
    ) -> "Selection":
        """A part of it. `rows` count from the file's first; conditions add to those that there are."""
        first, end = checked_rows(rows, self._reader.rows)
        first, end = max(first, self._rows[0]), min(end, self._rows[1])
        return Selection(
            self._reader,
            self._names if names is None else checked_names(names),
            (first, max(first, end)),
            self._where + conditions(where),
        )

    @overload
    def columns(
        self, names: Optional[Sequence[str]] = None, rows: Rows = None, where: Where = None
    ) -> Dict[str, Any]: ...
    @overload
    def columns(
        self,
        names: Optional[Sequence[str]] = None,
        rows: Rows = None,
        where: Where = None,
        *,
        device: str,
        types: Optional[Mapping[str, str]] = None,
    ) -> DeviceColumns: ...
    def columns(
        self,
        names: Optional[Sequence[str]] = None,
        rows: Rows = None,
        where: Where = None,
        *,
        device: Optional[str] = None,
        types: Optional[Mapping[str, str]] = None,
    ) -> Union[Dict[str, Any], DeviceColumns]:
        """NumPy arrays by name, with an entry a row; all columns where no names are given.

        bool, int64 and float64 are arrays of these types, masked arrays where the column is
        nullable. Timestamps are datetime64, with NaT for what is missing. Texts are arrays of str
        objects, with None. Columns of lists are arrays of such arrays, with None. A CSV's header is
        no row here. NotFound where there is no such column.

        With `device` ("cuda", "cuda:1", "cpu", or "auto": the first GPU, else "cpu") the columns are decoded in that device's memory and
        DeviceColumns come back, which other libraries take by DLPack or Arrow. `types` has, by
        name, the types that columns shall have there: numbers may be "float64", "float32" or
        "decimal". Columns of lists are InvalidArgument there. Unavailable without such a device.
        """
        part = self.select(names, rows=rows, where=where)
        infos = self.columns_info
        places = part._places(infos)
        if device is not None:
            checked_device(device)
            return part._load(infos, places, device, checked_types(types))
        if types is not None:
            raise InvalidArgument("types are for columns on a device")
        found = self._reader.read(places, *part._rows, part._where)
        keys = [infos[place].name for place in places] if part._names is None else part._names
        return {
            key: array_of(infos[place].type, infos[place], values)
            for key, place, values in zip(keys, places, found)
        }

    def _load(
        self, infos: List[ColumnInfo], places: List[int], device: str, types: Mapping[str, str]
    ) -> DeviceColumns:
        keys = [infos[place].name for place in places] if self._names is None else self._names
        unknown = [name for name in types if name not in keys]
        if unknown:
            raise NotFound(f"no column {unknown[0]} among those that are loaded: {', '.join(keys)}")
        as_types = [types.get(key, "") for key in keys]
        table = self._reader.load(places, as_types, *self._rows, self._where, device)
        return DeviceColumns(table, keys)

    def text(self, rows: Rows = None, where: Where = None) -> bytes:
        """The text of the rows, byte for byte."""
        pieces: List[bytes] = []
        part = self.select(rows=rows, where=where)
        self._reader.text(*part._rows, part._where, pieces.append)
        return b"".join(pieces)

    def blocks(self) -> Iterator["Selection"]:
        """Parts of some 10 000 rows, as they are decoded: a loop over them takes little memory."""
        for first, end in self._reader.blocks():
            if first < self._rows[1] and self._rows[0] < end:
                yield self.select(rows=(first, end))

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Arrow's PyCapsule interface, a batch a block. The requested schema is not looked at."""
        places = self._places(self.columns_info)
        return self._reader.arrow_stream(places, *self._rows, self._where, False)

    def exact_arrow(self) -> "ExactArrow":
        """The same for Arrow, with exact types: numbers with a point are decimal128 where all are
        written without an exponent, texts that repeat have dictionaries, and texts of which some
        are no UTF-8 are binary. The first call reads the file once more."""
        return ExactArrow(self)

    def _places(self, infos: List[ColumnInfo]) -> List[int]:
        if self._names is None:
            return list(range(len(infos)))
        by_name = {info.name: place for place, info in enumerate(infos)}
        places = []
        for name in self._names:
            place = by_name.get(name, by_name.get(name[1:]) if name.startswith("/") else None)
            if place is None:
                raise no_column(name, by_name)
            places.append(place)
        return places


class ExactArrow:
    """What `exact_arrow` gives: all that knows Arrow's PyCapsule interface reads it."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A batch a block. The requested schema is not looked at."""
        part = self._selection
        places = part._places(part.columns_info)
        return part._reader.arrow_stream(places, *part._rows, part._where, True)


class Records(Selection):
    """A file of records; `len` is its rows. What is added to the file later is not seen."""

    def __init__(self, path: PathLike, *, partial: bool = False) -> None:
        self._begin(_opened(path, partial, 3))

    def _begin(self, reader: _records.Reader) -> None:
        super().__init__(reader, None, (0, reader.rows), ())

    @classmethod
    def _of(cls, reader: _records.Reader) -> "Records":
        made = cls.__new__(cls)
        made._begin(reader)
        return made

    def __len__(self) -> int:
        return self._reader.rows

    def __repr__(self) -> str:
        return f"<records: {len(self)} rows ({self._reader.format})>"

    def info(self) -> FileInfo:
        """What is known of the file without decoding it."""
        reader = self._reader
        return FileInfo(
            reader.format, reader.rows, len(reader.blocks()), reader.text_bytes, reader.file_size,
            reader.state, reader.unfinished_bytes,
        )  # fmt: skip


def _opened(path: PathLike, partial: bool, level: int) -> _records.Reader:
    """Warns the caller, `level` frames up, of what the file has beside whole rows."""
    checked_flags(partial=partial)
    reader = _records.Reader(checked_path(path), partial)
    if reader.warning:
        warnings.warn(reader.warning, RuntimeWarning, stacklevel=level)
    return reader


def open(path: PathLike, *, partial: bool = False) -> Records:
    """A file of records. Corrupt where it is none, or where rows of it are lost: it is damaged, cut
    off or was never finished. With `partial` its rows are those that are whole from the first on.

    RuntimeWarning where bytes behind the last commit are not read, since somebody is adding rows or
    died while doing so, or where the index was damaged and made anew."""
    return Records._of(_opened(path, partial, 3))


def encode(
    source: Union[PathLike, bytes, bytearray, memoryview, BinaryIO, Iterable[Union[str, bytes]]],
    path: PathLike,
    *,
    format: Optional[str] = None,
    header: Optional[bool] = None,
    best: bool = False,
    threads: int = 0,
    replace: bool = False,
) -> Encoded:
    """Writes a file of records. It appears under its name when it is whole.

    source: the path of a text file, its bytes, an object with `read`, or lines, to which a line feed
        is added where they have none. str is written as UTF-8.
    format: "json", "csv", "pairs", "symbolic", "log" or "plain"; else the end of the source's name and the first 64
        lines tell. A name that misleads is a UserWarning.
    header: whether the first line of a CSV has the names of its columns; else the first lines tell.
    best: compresses texts harder, which takes longer.
    threads: so many; 0 for all cores.
    replace: what has this name is replaced; else InvalidArgument is raised.
    """
    checked_text("format", format)
    checked_flags(best=best, replace=replace)
    if header is not None and not isinstance(header, bool):
        raise wrong_type("header", "True, False or None", header)
    threads = checked_threads(threads)
    path = checked_path(path)
    inputs = source_path(source)
    with reader_of(source) as read:
        return Encoded(
            *_records.encode(read, path, format, header, best, threads, replace, inputs)
        )


def convert(
    source: Union[PathLike, bytes, bytearray, memoryview, BinaryIO, Iterable[Union[str, bytes]]],
    to: str,
    *,
    format: Optional[str] = None,
    delimiter: Optional[str] = None,
    header: bool = True,
    skip_unparsed: bool = False,
    keep_text: Optional[str] = None,
    output: Union[None, PathLike, BinaryIO] = None,
    replace: bool = False,
) -> bytes:
    """Records in another format of text: "jsonl", "csv", "lt", "lts", "ltu" or "sym".

    Keys, values, digits and their order stay as they are, so the way back gives the same records.

    source: the path of a text file or of a file of records; else as for `encode`. What has no path
        is read as a whole.
    format: what the source is in; else the end of its name or its first lines tell.
    delimiter, header: of a CSV that is read. Without a header its keys are "0", "1" and so on.
    skip_unparsed: rows that are no records are left out; keep_text: they become records with this
        key and their text. Else they raise InvalidArgument with their line.

    With `output`, a path or an object with `write`, the text goes there and b"" comes back. A file
    that there is already is replaced only with `replace`; else InvalidArgument is raised.
    """
    checked_text("to", to, is_optional=False)
    for name, text_or_none in (("format", format), ("delimiter", delimiter), ("keep_text", keep_text)):
        checked_text(name, text_or_none)
    checked_flags(header=header, skip_unparsed=skip_unparsed, replace=replace)
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
    text = b""
    if path is None:
        with reader_of(source) as read:
            text = b"".join(iter(lambda: read(1 << 24), b""))
    pieces: List[bytes] = []
    saved, write = _target(output, pieces)
    _records.convert(
        path, text, to, format, delimiter, header, skip_unparsed, keep_text, 0, _ALL_ROWS, (), saved,
        write, replace, source_path(source),
    )  # fmt: skip
    return b"".join(pieces)


def decode(
    path: PathLike,
    rows: Rows = None,
    where: Where = None,
    *,
    to: Optional[str] = None,
    skip_unparsed: bool = False,
    keep_text: Optional[str] = None,
    output: Union[None, PathLike, BinaryIO] = None,
    replace: bool = False,
    partial: bool = False,
) -> bytes:
    """The text of a file of records, byte for byte; or of some of its rows.

    With `to`, these rows are converted, as `convert` does; a CSV's header is none of them.

    With `output`, a path or an object with `write`, the text goes there and b"" comes back. A file
    that there is already is replaced only with `replace`; else InvalidArgument is raised. `partial`
    is as in `open`.
    """
    checked_flags(skip_unparsed=skip_unparsed, replace=replace)
    checked_text("keep_text", keep_text)
    checked_text("to", to)
    reader = _opened(path, partial, 3)
    first, end = checked_rows(rows, reader.rows)
    checked_where = conditions(where)
    pieces: List[bytes] = []
    saved, write = _target(output, pieces)
    if to is not None:
        name = os.fspath(path)
        _records.convert(
            name, b"", to, None, None, True, skip_unparsed, keep_text, first, end, checked_where, saved,
            write, replace, [name],
        )  # fmt: skip
    elif saved is not None:
        reader.save_text(saved, first, end, checked_where, replace)
    else:
        reader.text(first, end, checked_where, write)
    return b"".join(pieces)


def _target(
    output: Union[None, PathLike, BinaryIO], pieces: List[bytes]
) -> Tuple[Optional[str], Callable[[bytes], None]]:
    """The path to write to, if it is one; else what takes the text."""
    output = checked_output(output)
    if isinstance(output, (str, os.PathLike)):
        return os.fspath(output), pieces.append
    return None, pieces.append if output is None else _writer(output)


def _writer(output: BinaryIO) -> Callable[[bytes], None]:
    def write(piece: bytes) -> None:
        rest = memoryview(piece)
        while rest:  # a raw file may take a part
            taken = output.write(rest)
            rest = rest[len(rest) if taken is None else taken :]

    return write


def _unit(type_: str, digits: int) -> str:
    return ("s", "ms", "us", "ns")[digits // 3] if type_ == "timestamp" else ""
