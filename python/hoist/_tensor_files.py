"""Files with tensors in them, whatever their format, and how much of each tensor is wanted."""

import functools
import json
import mmap
import os
from typing import (
    Any,
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
)

import numpy as np

from hoist import _native
from hoist._frameworks import is_foreign
from hoist.errors import Corrupt, FileNotFound, InvalidArgument, Unsupported

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Policy = Union[Mapping[str, float], Sequence[Tuple[Any, ...]]]
Elements = Tuple[str, Tuple[int, ...], str]  # dtype, shape, TensorInfo.stored_as
Wanted = Sequence[Tuple[str, Optional[float]]]  # names, and qualities: None is all

# A key of metadata. Its text is JSON: names of tensors that are stored under another one, with that one.
SHARED_KEY = "hoist.shared"

# Tensors that are read together share memory up to that, so that few tensors keep little of it.
GROUP_BYTES = 1 << 16

_ELEMENTS_SHARE_BYTES = ("F4", "F6_E2M3", "F6_E3M2")


class Layer(NamedTuple):
    """What the first so many parts of a tensor give together."""

    bytes: int  # of this part as stored
    quality: float
    cosine: float


class TensorInfo(NamedTuple):
    name: str
    dtype: str  # as safetensors writes it: "BF16"
    shape: Tuple[int, ...]
    encoding: str
    layers: Tuple[Layer, ...]  # none in files that are not .holo
    # What bytes that are no numbers hold: "Q4_K", "GGUF type 99", "numpy:<U5".
    stored_as: str = ""


class Infos(Mapping[str, TensorInfo]):
    """What is known of each tensor, by name, made when it is asked for: a file may have very many of
    them, and who loads them needs no more than their names."""

    def __init__(self, numbers: Dict[str, int], make: Callable[[int], TensorInfo]):
        self._numbers = numbers
        self._make = make

    def __getitem__(self, name: str) -> TensorInfo:
        info = self._make(self._numbers[name])
        return info if info.name == name else info._replace(name=name)

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


def _info_of(reader: _native.HoloReader, number: int) -> TensorInfo:
    name, dtype, shape, encoding, layers, stored_as = reader.describe(number)
    parts = tuple(Layer(*layer) for layer in layers)
    return TensorInfo(name, dtype, shape, encoding, parts, stored_as)


def _stored_info(name: str, dtype: str, shape: Tuple[int, ...], stored_as: str) -> TensorInfo:
    return TensorInfo(name, dtype, shape, "stored", (), stored_as)


class HoloFile:
    """A .holo file."""

    def __init__(self, path: str):
        self._reader = _native.HoloReader(path)
        self._outline = self._reader.outline()
        self._number = {tensor[0]: number for number, tensor in enumerate(self._outline)}
        # Names of tensors that were saved under another name, which they share.
        self.shared = self._shared_names()
        self._number.update((name, self._number[kept]) for name, kept in self.shared.items())
        self.infos = Infos(self._number, functools.partial(_info_of, self._reader))

    def elements(self, name: str) -> Elements:
        return self._outline[self._number[name]][1:4]

    def stored_bytes(self, name: str, target: Optional[float] = None) -> int:
        """Of what is read for that quality, about."""
        size = 0
        for layer in self.infos[name].layers:
            size += layer.bytes
            if target is not None and layer.quality >= target:
                break
        return size

    def load(self, name: str, target: Optional[float]) -> Tuple[Any, float, bool]:
        """Bytes, their quality, and whether that is all there is."""
        data, quality, parts = self._reader.decode(self.shared.get(name, name), target)
        return data, quality, self._is_whole(name, parts)

    def load_part(self, name: str, box: "Box") -> Any:
        """The bytes of what lies in the box; where the encoding allows it, no more is decoded than
        lies between its first and its last element."""
        return self._reader.decode_part(self._number[name], box.ranges)

    def can_load_part(self, name: str) -> bool:
        return self.elements(name)[0] not in _ELEMENTS_SHARE_BYTES

    def load_onto(self, device: str, wanted: Wanted) -> List[Tuple[Any, float, bool]]:
        """The same of many, decoded on a device of Hoist's, as arrays that speak DLPack."""
        numbers = [(self._number[name], target) for name, target in wanted]
        loaded = self._reader.load_onto(device, numbers)
        return [
            (array, quality, self._is_whole(name, parts))
            for (name, _), (array, quality, parts) in zip(wanted, loaded)
        ]

    def _is_whole(self, name: str, parts: int) -> bool:
        return parts == self._outline[self._number[name]][4]

    def metadata(self) -> Iterator[Tuple[str, Sequence[Tuple[str, Any]]]]:
        for index, (_, kind) in enumerate(self._reader.files):
            yield kind, self._reader.metadata(index)

    def skeletons(self) -> Iterator[Tuple[str, bytes]]:
        for index, (_, kind) in enumerate(self._reader.files):
            yield kind, self._reader.skeleton(index)

    def foreign(self) -> List[str]:
        return _foreign_names(self._outline)

    def _shared_names(self) -> Dict[str, str]:
        if [kind for _, kind in self._reader.files] != ["safetensors"]:
            return {}
        skeleton = self._reader.skeleton(0)
        if f'"{SHARED_KEY}"'.encode() not in skeleton:
            return {}
        texts = _metadata_of_header(skeleton) or {}
        try:
            shared = json.loads(texts.get(SHARED_KEY, "{}"))
            pairs = [(str(name), str(kept)) for name, kept in shared.items()]
        except (AttributeError, ValueError):
            return {}  # somebody else's text under that key
        number = self._number
        return {name: kept for name, kept in pairs if kept in number and name not in number}


def _foreign_names(outline: Sequence[Tuple[Any, ...]]) -> List[str]:
    """Of what is stored as something that only NumPy has."""
    return [tensor[0] for tensor in outline if tensor[3] and is_foreign(tensor[3])]


class ModelFile:
    """A file of another format, or several: every tensor is whole. `zero_copy`: what is loaded is the
    file itself, mapped into memory, where its place in the file allows that."""

    shared: Dict[str, str] = {}

    def __init__(self, path: str, zero_copy: bool):
        self._source = _native.ModelSource(path)
        self._maps = self._map_files(path) if zero_copy else []
        self._outline = outline = self._source.outline()
        self._index = {tensor[0]: index for index, tensor in enumerate(outline)}
        # Not of `self`: files are closed, and their maps undone, when the last reference goes.
        self.infos = Infos(self._index, lambda index: _stored_info(*outline[index]))
        if not self.infos and self._source.files[0][1] == "npz":
            _check_empty_archive(path)

    def elements(self, name: str) -> Elements:
        return self._outline[self._index[name]][1:]

    def load_part(self, name: str, box: "Box") -> Any:
        """The bytes of what lies in the box; no more of the file is read than that takes."""
        return self._source.read_part(self._index[name], box.ranges)

    def can_load_part(self, name: str) -> bool:
        """Not where the tensor is in memory anyway, nor where elements share bytes."""
        return not self._maps and self.elements(name)[0] not in _ELEMENTS_SHARE_BYTES

    def load(self, name: str, target: Optional[float]) -> Tuple[Any, float, bool]:
        index = self._index[name]
        if self._maps:
            data, offset = self._mapped(index)
            return np.frombuffer(data, np.uint8, self.stored_bytes(name), offset), 1.0, True
        return self._source.read(index), 1.0, True

    def load_together(self, names: Sequence[str]) -> Iterator[Tuple[str, str, Any, Any, int]]:
        """Name, dtype, shape, and a buffer that has the tensor at an offset, of each."""
        indices = [self._index[name] for name in names]
        outline = self._outline
        if self._maps:
            for index in indices:
                yield (*outline[index][:3], *self._mapped(index))
            return
        numbers = iter(indices)
        for data, offsets in self._source.read_groups(indices, GROUP_BYTES):
            buffer = memoryview(data)
            for offset, index in zip(offsets, numbers):
                yield (*outline[index][:3], buffer, offset)

    def _mapped(self, index: int) -> Tuple[Any, int]:
        """What of the map has the tensor, and where; memory of its own where it cannot."""
        file, offset, size, is_aligned = self._source.place(index)
        if size and is_aligned:
            return self._maps[file].buffer(offset + size), offset
        return self._source.read(index), 0

    def load_onto(self, device: str, wanted: Wanted) -> List[Tuple[Any, float, bool]]:
        """Many onto a device of Hoist's, as arrays that speak DLPack."""
        loaded = self._source.load_onto(device, [(self._index[name], None) for name, _ in wanted])
        return [(array, 1.0, True) for array, _, _ in loaded]

    def stored_bytes(self, name: str, target: Optional[float] = None) -> int:
        return self._source.place(self._index[name])[2]

    def foreign(self) -> List[str]:
        return _foreign_names(self._outline)

    def metadata(self) -> Iterator[Tuple[str, Sequence[Tuple[str, Any]]]]:
        for index, (_, kind) in enumerate(self._source.files):
            yield kind, self._source.metadata(index)

    def skeletons(self) -> Iterator[Tuple[str, bytes]]:
        for index, (_, kind) in enumerate(self._source.files):
            yield kind, self._source.skeleton(index)

    def _map_files(self, path: str) -> List["_MappedFile"]:
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        return [_MappedFile(os.path.join(folder, name)) for name, _ in self._source.files]


class Box(NamedTuple):
    """What of a tensor an index touches, axis by axis, and what it then takes of that."""

    ranges: Tuple[Tuple[int, int, int], ...]  # start, step, count: in the order of the file
    rest: Tuple[Any, ...]

    @property
    def shape(self) -> Tuple[int, ...]:
        return tuple(count for _, _, count in self.ranges)


def box_of(index: Any, shape: Sequence[int]) -> Optional[Box]:
    """Of integers, slices, `...` and None. Nothing for other indices: they may touch anything."""
    parts = index if isinstance(index, tuple) else (index,)
    if not all(_is_basic(part) for part in parts):
        return None
    taken = sum(part is not None and part is not ... for part in parts)
    if taken > len(shape) or sum(part is ... for part in parts) > 1:
        raise IndexError(f"{len(parts)} indices for a tensor of {len(shape)} dimensions: {index!r}")
    ranges: List[Tuple[int, int, int]] = []
    left: List[Any] = []
    for part in parts:
        if part is ...:
            ranges += [(0, 1, extent) for extent in shape[len(ranges) :][: len(shape) - taken]]
            left.append(...)
        elif part is None:
            left.append(None)
        else:
            one, rest = _range_of(part, len(ranges), shape)
            ranges.append(one)
            left.append(rest)
    ranges += [(0, 1, extent) for extent in shape[len(ranges) :]]
    return Box(tuple(ranges), tuple(left))


def _is_basic(part: Any) -> bool:
    if isinstance(part, slice):
        ends = (part.start, part.stop, part.step)
        return part.step != 0 and all(end is None or _is_integer(end) for end in ends)
    return part is None or part is ... or _is_integer(part)


def _is_integer(part: Any) -> bool:
    return isinstance(part, (int, np.integer)) and not isinstance(part, bool)


def _range_of(part: Any, axis: int, shape: Sequence[int]) -> Tuple[Tuple[int, int, int], Any]:
    """What is read of an axis, and what is then taken of it."""
    extent = shape[axis]
    if not isinstance(part, slice):
        if not -extent <= part < extent:
            raise IndexError(f"index {part} is out of bounds for axis {axis} with size {extent}")
        return (int(part) % extent, 1, 1), 0
    places = range(*part.indices(extent))
    if len(places) == 0:
        return (0, 1, 0), slice(None)
    if len(places) == 1:
        return (places[0], 1, 1), slice(None)  # however large the step is
    if places.step > 0:
        return (places[0], places.step, len(places)), slice(None)
    return (places[-1], -places.step, len(places)), slice(None, None, -1)


class _MappedFile:
    """Copy on write: nobody else sees what is written there."""

    def __init__(self, path: str):
        self._path = path
        with open(path, "rb") as file:
            # No room is set aside for copies: a file may be larger than the memory.
            flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0x4000)
            prot = mmap.PROT_READ | mmap.PROT_WRITE
            self._bytes = mmap.mmap(file.fileno(), 0, flags=flags, prot=prot)
        self._buffer = memoryview(self._bytes)

    def buffer(self, size: int) -> memoryview:
        """Of at least so many bytes."""
        if self._bytes.size() < size:  # of the file that is mapped, whatever its name is now
            raise Corrupt(f"the file was cut off since it was opened ({self._path}): get it again")
        return self._buffer


def _check_empty_archive(path: str) -> None:
    """Without arrays it is NumPy's only where it has no entries at all."""
    bytes_of_no_entries = 22
    if os.path.getsize(path) > bytes_of_no_entries:
        raise Unsupported(
            f"an archive without NumPy arrays ({path}): save what torch.save wrote as safetensors"
        )


TensorFile = Union[HoloFile, ModelFile]

_HOLO_MAGIC = b"\x89HOLO\r\n\x1a"


def file_path(path: PathLike) -> str:
    text = os.fsdecode(path)
    if "\0" in text:
        raise InvalidArgument(f"a zero in a path: {text!r}")
    return text


def is_holo(path: str) -> bool:
    """By the first bytes, or by its name: then it is damaged."""
    try:
        with open(path, "rb") as file:
            if file.read(len(_HOLO_MAGIC)) == _HOLO_MAGIC:
                return True
    except FileNotFoundError as error:
        raise FileNotFound(error.errno, error.strerror, path) from None
    except OSError:  # a folder, or what opening it properly will complain about
        pass
    return path.endswith(".holo")


def open_file(path: PathLike, zero_copy: bool = False) -> TensorFile:
    text = file_path(path)
    try:
        return HoloFile(text) if is_holo(text) else ModelFile(text, zero_copy)
    except UnicodeDecodeError as error:
        raise Corrupt(f"a name that is no UTF-8 ({text}): {error.reason}") from None


def metadata_of(file: TensorFile) -> Optional[Dict[str, Any]]:
    for kind, pairs in file.metadata():
        if kind == "gguf":
            found: Dict[str, Any] = {}
            for key, value in pairs:
                found.setdefault(key, value)  # as those who look a key up find it
            return found
    for kind, skeleton in file.skeletons():
        if kind == "safetensors":
            return _metadata_of_header(skeleton)
    return None


def _metadata_of_header(skeleton: bytes) -> Optional[Dict[str, str]]:
    size = int.from_bytes(skeleton[:8], "little")
    texts = json.loads(skeleton[8 : 8 + size]).get("__metadata__")
    return dict(texts) if texts is not None else None


def files_of_folder(folder: str) -> List[str]:
    """Its .holo and .safetensors files, by name; haagenti's too, which are refused when opened."""
    kinds = (".holo", ".safetensors", ".hct")
    found = sorted(name for name in os.listdir(folder) if os.path.splitext(name)[1] in kinds)
    return [os.path.join(folder, name) for name in found]


class Targets:
    """What quality each name is wanted in; nothing: all of it, which a quality of 1 is taken for,
    because measured qualities are rounded."""

    def __init__(self, target: Optional[float], policy: Optional[Policy]):
        if target is not None and not 0 <= target <= 1:
            raise InvalidArgument(f"a target of {target}: 0 to 1")
        self.target = target
        self.policy: Optional[_native.QualityPolicy] = None
        if policy is not None:
            self.policy = _native.QualityPolicy(1.0 if target is None else target)
            self._add(policy.items() if isinstance(policy, Mapping) else policy)

    def _add(self, rules: Iterable[Tuple[Any, ...]]) -> None:
        assert self.policy is not None
        for rule in rules:
            try:
                self.policy.add(*rule)
            except TypeError:
                raise TypeError(f"a rule is (pattern, quality[, priority]), not {rule!r}") from None

    def of(self, name: str) -> Optional[float]:
        wanted = self.target if self.policy is None else self.policy.target(name)
        return None if wanted is None or wanted >= 1 else wanted


def check_backend(backend: str) -> None:
    if backend not in ("mmap", "pread"):
        raise InvalidArgument(f"no backend {backend!r}: mmap or pread")


def checked_steps(steps: Iterable[Optional[float]]) -> Tuple[Optional[float], ...]:
    """All of them qualities, or None."""
    return tuple(Targets(step, None).target for step in steps)
