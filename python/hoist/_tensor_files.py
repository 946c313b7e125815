"""Files with tensors in them, whatever their format, and how much of each tensor is wanted."""

import json
import mmap
import os
from typing import (
    Any,
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
from hoist.errors import Corrupt, FileNotFound, InvalidArgument, Unsupported

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Policy = Union[Mapping[str, float], Sequence[Tuple[Any, ...]]]
Wanted = Sequence[Tuple[str, Optional[float]]]  # names, and qualities: None is all


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
    # Of bytes that are no numbers what they are: "Q4_K", "GGUF type 99", "numpy:<U5".
    stored_as: str = ""


class HoloFile:
    """A .holo file."""

    def __init__(self, path: str):
        self._reader = _native.HoloReader(path)
        self.infos = {
            name: TensorInfo(
                name, dtype, shape, encoding, tuple(Layer(*layer) for layer in layers), stored_as
            )
            for name, dtype, shape, encoding, layers, stored_as in self._reader.describe()
        }
        self._number = {name: number for number, name in enumerate(self.infos)}

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
        data, quality, parts = self._reader.decode(name, target)
        return data, quality, self._is_whole(name, parts)

    def load_onto(self, device: str, wanted: Wanted) -> List[Tuple[Any, float, bool]]:
        """The same of many, decoded on a device of Hoist's, as arrays that speak DLPack."""
        numbers = [(self._number[name], target) for name, target in wanted]
        loaded = self._reader.load_onto(device, numbers)
        return [
            (array, quality, self._is_whole(name, parts))
            for (name, _), (array, quality, parts) in zip(wanted, loaded)
        ]

    def _is_whole(self, name: str, parts: int) -> bool:
        return parts == len(self.infos[name].layers)

    def metadata(self) -> Iterator[Tuple[str, Sequence[Tuple[str, Any]]]]:
        for index, (_, kind) in enumerate(self._reader.files):
            yield kind, self._reader.metadata(index)

    def skeletons(self) -> Iterator[Tuple[str, bytes]]:
        for index, (_, kind) in enumerate(self._reader.files):
            yield kind, self._reader.skeleton(index)


class ModelFile:
    """A file of another format, or several: every tensor is whole. `zero_copy`: what is loaded is the
    file itself, mapped into memory, where its place in the file allows that."""

    def __init__(self, path: str, zero_copy: bool):
        self._source = _native.ModelSource(path)
        self._maps = self._map_files(path) if zero_copy else []
        self.infos: Dict[str, TensorInfo] = {}
        self._index: Dict[str, int] = {}
        for index, (name, dtype, shape, stored_as) in enumerate(self._source.describe()):
            self.infos[name] = TensorInfo(name, dtype, shape, "stored", (), stored_as)
            self._index[name] = index
        if not self.infos and self._source.files[0][1] == "npz":
            _check_empty_archive(path)

    def load(self, name: str, target: Optional[float]) -> Tuple[Any, float, bool]:
        index = self._index[name]
        if self._maps:
            file, offset, size, is_aligned = self._source.place(index)
            if size and is_aligned:
                return self._maps[file].part(offset, size), 1.0, True
        return self._source.read(index), 1.0, True

    def load_onto(self, device: str, wanted: Wanted) -> List[Tuple[Any, float, bool]]:
        """Many onto a device of Hoist's, as arrays that speak DLPack."""
        loaded = self._source.load_onto(device, [(self._index[name], None) for name, _ in wanted])
        return [(array, 1.0, True) for array, _, _ in loaded]

    def stored_bytes(self, name: str, target: Optional[float] = None) -> int:
        return self._source.place(self._index[name])[2]

    def metadata(self) -> Iterator[Tuple[str, Sequence[Tuple[str, Any]]]]:
        for index, (_, kind) in enumerate(self._source.files):
            yield kind, self._source.metadata(index)

    def skeletons(self) -> Iterator[Tuple[str, bytes]]:
        for index, (_, kind) in enumerate(self._source.files):
            yield kind, self._source.skeleton(index)

    def _map_files(self, path: str) -> List["_MappedFile"]:
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        return [_MappedFile(os.path.join(folder, name)) for name, _ in self._source.files]


class _MappedFile:
    """Copy on write: nobody else sees what is written there."""

    def __init__(self, path: str):
        self._path = path
        with open(path, "rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)

    def part(self, offset: int, size: int) -> Any:
        if self._bytes.size() < offset + size:  # of the file that is mapped, whatever its name is now
            raise Corrupt(f"the file was cut off since it was opened ({self._path}): get it again")
        return np.frombuffer(self._bytes, np.uint8, size, offset)


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
            size = int.from_bytes(skeleton[:8], "little")
            texts = json.loads(skeleton[8 : 8 + size]).get("__metadata__")
            return dict(texts) if texts is not None else None
    return None


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
