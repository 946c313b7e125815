"""Model weights that load progressively and end bit-exact.

    from hoist import tensors

    tensors.save_file(weights, "model.holo")              # about two thirds of the size for bf16
    weights = tensors.load_file("model.holo")             # bit for bit what was saved
    rough = tensors.load_file("model.holo", target=0.99)  # the fewest layers that reach 0.99

`load_file` and `safe_open` take the place of those of `safetensors` and read its files too, and
GGUF, .npy and .npz. Results are torch tensors where PyTorch is installed, else NumPy arrays
(`framework="numpy"` asks for these); they own their memory.

Quality is 1 - |x - x'|² / |x|², measured when the file was written. A `policy` gives layers targets
of their own, by patterns of names:

    policy = {"attention.*": 0.999, "*mlp*": 0.95}

`*` stands for any characters, `?` for one; a pattern matches a name whole or from one of its dots
on. Of several that match the one given first counts; `(pattern, quality, priority)` in a list says
otherwise. Names that nothing matches follow `target`, or come whole.

Errors are those of `hoist.errors`.
"""

import json
import os
import threading
import warnings
from types import MappingProxyType, TracebackType
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
    Type,
    Union,
)

from hoist import _frameworks, _native
from hoist.errors import (
    Exhausted,
    FileNotFound,
    InvalidArgument,
    NotFound,
    Unavailable,
    Unsupported,
)

__all__ = [
    "Layer",
    "ProgressiveModel",
    "TensorInfo",
    "info",
    "load_directory",
    "load_file",
    "safe_open",
    "save_file",
    "stream",
]

PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Policy = Union[Mapping[str, float], Sequence[Tuple[Any, ...]]]


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


class _Holo:
    """A .holo file."""

    def __init__(self, path: str):
        self._reader = _native.HoloReader(path)
        self.infos = {
            name: TensorInfo(name, dtype, shape, encoding, tuple(Layer(*layer) for layer in layers))
            for name, dtype, shape, encoding, layers in self._reader.describe()
        }

    def load(self, name: str, target: Optional[float]) -> Tuple[Any, float, bool]:
        """Bytes, their quality, and whether that is all there is."""
        data, quality, parts = self._reader.decode(name, target)
        return data, quality, parts == len(self.infos[name].layers)

    def skeletons(self) -> Iterator[Tuple[str, bytes]]:
        for index, (_, kind) in enumerate(self._reader.files):
            yield kind, self._reader.skeleton(index)


class _Model:
    """A file of another format: every tensor is whole."""

    def __init__(self, path: str):
        self._source = _native.ModelSource([path])
        self.infos: Dict[str, TensorInfo] = {}
        self._index: Dict[str, int] = {}
        for index, (name, dtype, shape) in enumerate(self._source.describe()):
            self.infos[name] = TensorInfo(name, dtype, shape, "stored", ())
            self._index[name] = index

    def load(self, name: str, target: Optional[float]) -> Tuple[Any, float, bool]:
        return self._source.read(self._index[name]), 1.0, True

    def skeletons(self) -> Iterator[Tuple[str, bytes]]:
        for index, (_, kind) in enumerate(self._source.files):
            yield kind, self._source.skeleton(index)


_File = Union[_Holo, _Model]


_HOLO_MAGIC = b"\x89HOLO\r\n\x1a"


def _is_holo(path: str) -> bool:
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


def _open(path: PathLike) -> _File:
    text = os.fsdecode(path)
    return _Holo(text) if _is_holo(text) else _Model(text)


class _Targets:
    """What quality each name is wanted in; nothing: all of it, which a quality of 1 is taken for,
    because measured qualities are rounded."""

    def __init__(self, target: Optional[float], policy: Optional[Policy]):
        if target is not None and not 0 <= target <= 1:
            raise InvalidArgument(f"a target of {target}: 0 to 1")
        self.target = target
        self.policy: Optional[_native.QualityPolicy] = None
        if policy is not None:
            rules: Iterable[Tuple[Any, ...]] = (
                policy.items() if isinstance(policy, Mapping) else policy
            )
            self.policy = _native.QualityPolicy(1.0 if target is None else target)
            for rule in rules:
                self.policy.add(*rule)

    def of(self, name: str) -> Optional[float]:
        wanted = self.target if self.policy is None else self.policy.target(name)
        return None if wanted is None or wanted >= 1 else wanted


def _checked_steps(steps: Iterable[Optional[float]]) -> Tuple[Optional[float], ...]:
    """All of them qualities, or None."""
    return tuple(_Targets(step, None).target for step in steps)


def _metadata(file: _File) -> Optional[Dict[str, str]]:
    for kind, skeleton in file.skeletons():
        if kind == "safetensors":
            size = int.from_bytes(skeleton[:8], "little")
            found = json.loads(skeleton[8 : 8 + size]).get("__metadata__")
            return dict(found) if found is not None else None
    return None


def info(path: PathLike) -> List[TensorInfo]:
    """What a file holds, without reading a tensor."""
    return list(_open(path).infos.values())


def _load_onto(
    device: str, path: PathLike, targets: _Targets, arrays: Any
) -> Optional[Dict[str, Any]]:
    """All tensors of a file, decoded on the device that Hoist calls so; nothing, and a warning, where
    it cannot be used."""
    text = os.fsdecode(path)
    try:
        native = _native.load_model(
            text, device, _is_holo(text), targets.target, targets.policy
        )
    except (Exhausted, Unavailable) as why:
        warnings.warn(
            f"decoding on the CPU and copying to {device}, because: {why}",
            RuntimeWarning,
            stacklevel=3,
        )
        return None
    return {name: arrays.wrap(array, dtype, shape) for name, dtype, shape, array, _ in native}


def load_file(
    path: PathLike,
    device: str = "cpu",
    *,
    target: Optional[float] = None,
    policy: Optional[Policy] = None,
    framework: str = "auto",
) -> Dict[str, Any]:
    """All tensors of a file by name; whole, or of the quality that is asked for.

    With `device="cuda:0"` what is stored is copied to the GPU and decoded there; the tensors share
    one piece of the GPU's memory, which is free again when the last of them is gone. Where Hoist
    cannot use the GPU (its plug-in, the driver or room is missing), the tensors are decoded on the
    CPU and copied, with a RuntimeWarning that says why.
    """
    arrays = _frameworks.framework(framework)
    arrays.check_device(str(device))
    targets = _Targets(target, policy)
    place = arrays.device_name(str(device))
    if place is not None:
        on_device = _load_onto(place, path, targets, arrays)
        if on_device is not None:
            return on_device
    file = _open(path)
    loaded: Dict[str, Any] = {}
    for name, about in file.infos.items():
        data, _, _ = file.load(name, targets.of(name))
        loaded[name] = arrays.tensor(data, about.dtype, about.shape, device)
    return loaded


def load_directory(
    folder: PathLike,
    min_quality: float = 1.0,
    device: str = "cpu",
    *,
    policy: Optional[Policy] = None,
    framework: str = "auto",
) -> Tuple[Dict[str, Any], Dict[str, float], Dict[str, int]]:
    """All tensors of a folder's .holo and .safetensors files, their qualities, and how many came
    from each kind ("holographic", "standard")."""
    arrays = _frameworks.framework(framework)
    arrays.check_device(str(device))
    native = _native.load_directory(os.fsdecode(folder), min_quality, _Targets(min_quality, policy).policy)
    tensors: Dict[str, Any] = {}
    qualities: Dict[str, float] = {}
    for name, dtype, shape, data, quality in native[0]:
        tensors[name] = arrays.tensor(data, dtype, shape, device)
        qualities[name] = quality
    return tensors, qualities, {"holographic": native[1], "standard": native[2]}


def stream(
    path: PathLike,
    device: str = "cpu",
    *,
    steps: Sequence[Optional[float]] = (0.96, None),
    policy: Optional[Policy] = None,
    framework: str = "auto",
) -> Iterator[Tuple[str, Any, float]]:
    """(name, tensor, quality) of each tensor, once for each of the `steps` that makes it better:
    first all of them as good as the first step asks, then better. None: whole. Every tensor is
    memory of its own."""
    arrays = _frameworks.framework(framework)
    arrays.check_device(str(device))
    file = _open(path)
    most_of = _Targets(None, policy)
    steps = _checked_steps(steps)
    reached: Dict[str, Optional[float]] = {}
    qualities: Dict[str, float] = {}
    for step in steps:
        for name, about in file.infos.items():
            most = most_of.of(name)
            wanted = most if step is None or (most is not None and most < step) else step
            if name in reached and (reached[name] is None or wanted == reached[name]):
                continue
            if name in reached and wanted is not None and qualities[name] >= wanted:
                continue
            data, quality, is_whole = file.load(name, wanted)
            reached[name], qualities[name] = None if is_whole else wanted, quality
            yield name, arrays.tensor(data, about.dtype, about.shape, device), quality


class ProgressiveModel:
    """Tensors that get better while they are used.

        with ProgressiveModel("model.holo") as model:
            while generating:
                weights = model.tensors    # one version: it stays as it is
                step(weights)

    The constructor returns once all tensors are as good as the first of `steps`; a thread loads the
    others. What `tensors` gave never changes under its reader: a better tensor is new memory in a
    new version, so for each tensor both may exist until the older version is let go.
    """

    def __init__(
        self,
        path: PathLike,
        device: str = "cpu",
        *,
        steps: Sequence[Optional[float]] = (0.96, None),
        policy: Optional[Policy] = None,
        framework: str = "auto",
    ):
        steps = _checked_steps(steps)
        if not steps:
            raise InvalidArgument("steps: at least one")
        self._changed = threading.Condition()
        self._tensors: Mapping[str, Any] = MappingProxyType({})
        self._qualities: Mapping[str, float] = MappingProxyType({})
        self._version = 0
        self._error: Optional[BaseException] = None
        self._closing = False
        self._done = False
        first = list(
            stream(path, device, steps=steps[:1], policy=policy, framework=framework)
        )
        self._publish({name: (tensor, quality) for name, tensor, quality in first})
        self._thread = threading.Thread(
            target=self._improve, args=(path, device, steps, policy, framework), daemon=True
        )
        self._thread.start()

    @property
    def tensors(self) -> Mapping[str, Any]:
        """The newest version, read-only."""
        return self._tensors

    @property
    def qualities(self) -> Mapping[str, float]:
        return self._qualities

    @property
    def version(self) -> int:
        """Rises with each tensor that got better."""
        return self._version

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits until nothing gets better any more; False: the time was up. Raises what went wrong
        while loading."""
        with self._changed:
            self._changed.wait_for(lambda: self._done, timeout)
            if self._error is not None:
                raise self._error
            return self._done

    def close(self) -> None:
        """Stops loading. Versions that were given stay."""
        self._closing = True
        self._thread.join()

    def __enter__(self) -> "ProgressiveModel":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def _publish(self, better: Mapping[str, Tuple[Any, float]]) -> None:
        tensors = dict(self._tensors)
        qualities = dict(self._qualities)
        for name, (tensor, quality) in better.items():
            tensors[name] = tensor
            qualities[name] = quality
        with self._changed:
            self._tensors = MappingProxyType(tensors)
            self._qualities = MappingProxyType(qualities)
            self._version += 1
            self._changed.notify_all()

    def _improve(self, path: PathLike, device: str, steps: Any, policy: Any, framework: str) -> None:
        try:
            rest = stream(path, device, steps=steps[1:], policy=policy, framework=framework)
            for name, tensor, quality in rest:
                if self._closing:
                    break
                self._publish({name: (tensor, quality)})
        except BaseException as error:  # handed to whoever waits
            self._error = error
        finally:
            with self._changed:
                self._done = True
                self._changed.notify_all()


class safe_open:  # the name that it has in safetensors
    """Lazy access, as `safetensors.safe_open` gives it: opening reads the header only.

        with safe_open("model.holo", framework="pt", device="cpu") as file:
            for name in file.keys():
                tensor = file.get_tensor(name)
    """

    def __init__(self, filename: PathLike, framework: str = "auto", device: str = "cpu"):
        self._arrays = _frameworks.framework(framework)
        self._arrays.check_device(str(device))
        self._device = device
        self._file: Optional[_File] = _open(filename)

    def _opened(self) -> _File:
        if self._file is None:
            raise InvalidArgument("the file was closed")
        return self._file

    def __enter__(self) -> "safe_open":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._file = None

    def keys(self) -> List[str]:
        return list(self._opened().infos)

    def offset_keys(self) -> List[str]:
        """In the order of the file."""
        return self.keys()

    def metadata(self) -> Optional[Dict[str, str]]:
        return _metadata(self._opened())

    def get_tensor(self, name: str, target: Optional[float] = None) -> Any:
        """The tensor, whole or with the fewest layers that reach `target`."""
        file = self._opened()
        if name not in file.infos:
            raise NotFound(f"no such tensor: {name}")
        about = file.infos[name]
        data, _, _ = file.load(name, _Targets(target, None).of(name))
        return self._arrays.tensor(data, about.dtype, about.shape, self._device)

    def get_slice(self, name: str) -> "_Slice":
        if name not in self._opened().infos:
            raise NotFound(f"no such tensor: {name}")
        return _Slice(self, name)


class _Slice:
    def __init__(self, file: safe_open, name: str):
        self._file = file
        self._name = name

    def _info(self) -> TensorInfo:
        return self._file._opened().infos[self._name]

    def get_shape(self) -> List[int]:
        return list(self._info().shape)

    def get_dtype(self) -> str:
        return self._info().dtype

    def __getitem__(self, index: Any) -> Any:
        if self.get_dtype() == "F4":
            raise Unsupported("slices of F4, of which torch counts pairs: slice its get_tensor()")
        return self._file.get_tensor(self._name)[index]


def save_file(
    tensors: Mapping[str, Any],
    path: PathLike,
    metadata: Optional[Mapping[str, str]] = None,
    *,
    encoding: str = "embedded",
    fragments: int = 8,
    parity: int = 0,
    order: str = "layer",
    seed: int = 0,
    precision: Optional[str] = None,
) -> None:
    """Writes tensors, of torch or NumPy, as a .holo file.

    `encoding`: "embedded" (ends bit-exact), "spectral", "rph", "lrdf" (any subset of `fragments`
    gives an approximation) or "lossless". Of every `fragments` + `parity` shards any `parity` may be
    lost. `hoist tensors unpack` turns the file into the .safetensors that these tensors make.
    """
    output = os.fsdecode(path)
    _check_saved(tensors, output, metadata)
    numpy = _frameworks.NumPy()
    prepared = []
    for name, tensor in tensors.items():
        is_torch = type(tensor).__module__.partition(".")[0] == "torch"
        arrays = _frameworks.Torch() if is_torch else numpy
        dtype, shape, data = arrays.parts(tensor)
        prepared.append((name, dtype, shape, data))
    prepared.sort(key=lambda entry: (-_width(entry[3].size, entry[2]), entry[0]))

    header: Dict[str, Any] = {}
    if metadata is not None:
        header["__metadata__"] = dict(metadata)
    offset = 0
    for name, dtype, shape, data in prepared:
        end = offset + data.size
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    skeleton = len(text).to_bytes(8, "little") + text

    writer = _native.HoloWriter(
        output, skeleton, len(skeleton) + offset, encoding, fragments, parity, order, seed, precision,
    )
    for name, dtype, shape, data in prepared:
        writer.add(name, dtype, list(shape), data)
    writer.finish()


def _check_saved(
    tensors: Mapping[str, Any], output: str, metadata: Optional[Mapping[str, str]]
) -> None:
    """What no .safetensors could hold is not saved either."""
    if output.endswith(".safetensors"):
        raise InvalidArgument(
            f"{output}: what is written here is a .holo file; safetensors has a save_file of its own"
        )
    for name in tensors:
        if not isinstance(name, str):
            raise TypeError(f"names of tensors are str, not {type(name).__name__}")
    if "__metadata__" in tensors:
        raise InvalidArgument("no tensor can be called __metadata__ in safetensors")
    for key, value in (metadata or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"metadata is of str to str, not {key!r}: {value!r}")


def _width(size: int, shape: Sequence[int]) -> int:
    """Bytes of an element: the widest come first, so that all are aligned."""
    count = 1
    for extent in shape:
        count *= extent
    return size // count if count else 0
