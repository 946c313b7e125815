"""Model weights that load progressively and end bit-exact.

    from hoist import tensors

    tensors.save_file(weights, "model.holo")              # about two thirds of the size for bf16
    weights = tensors.load_file("model.holo")             # bit for bit what was saved
    rough = tensors.load_file("model.holo", target=0.99)  # the fewest layers that reach 0.99

`load_file` and `safe_open` take the place of those of `safetensors` and read its files too, and
GGUF, .npy and .npz. Results are torch tensors where PyTorch is installed, else NumPy arrays
(`framework="numpy"` asks for these); they own their memory.

Arrays of .npy and .npz of types that only NumPy has (text, dates, structures, long double) are NumPy
arrays as well; where a framework has no type for one, or it holds pickled objects, calls that load a
whole file leave it out with a RuntimeWarning, and `get_tensor` raises. Quantised types of GGUF are
rows of bytes, and `info()` says what they are.

Quality is 1 - |x - x'|² / |x|², measured when the file was written. A `policy` gives layers targets
of their own, by patterns of names:

    policy = {"attention.*": 0.999, "*mlp*": 0.95}

`*` stands for any characters, `?` for one; a pattern matches a name whole or from one of its dots
on. Of several that match the one given first counts; `(pattern, quality, priority)` in a list says
otherwise. Names that nothing matches follow `target`, or come whole.

`pack_module` keeps the weights of a PyTorch model packed in memory, and `load_file(...,
resident="packed")` loads them so.

One tensor in fragments, without a file, as HoloTensor has it: `HoloTensorEncoder`,
`HoloTensorDecoder`, and on a device `GpuHoloContext` and its kin.

Errors are those of `hoist.errors`.
"""

import json
import warnings
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type

from hoist import _frameworks, _native
from hoist import _safetensors_layout as layout
from hoist._holo_context import (
    GpuAccumulator,
    GpuHoloContext,
    MultiGpuHoloContext,
    ProgressiveHoloLoader,
    StreamedTensor,
    StreamingHoloContext,
)
from hoist._holo_tensor import (
    EncodedTensor,
    HoloTensorDecoder,
    HoloTensorEncoder,
    TensorDescription,
)
from hoist._ownership import OwnsResources
from hoist._shared_memory import same_memory
from hoist._tensor_arrays import ArrayLoader
from hoist._tensor_bytes import opened_bytes
from hoist._tensor_files import (
    SHARED_KEY,
    HoloFile,
    Layer,
    PathLike,
    Policy,
    Targets,
    TensorInfo,
    check_backend,
    checked_steps,
    file_path,
    files_of_folder,
    metadata_of,
    open_file,
)
from hoist._tensor_versions import Improvements, ProgressiveModel
from hoist.errors import (
    Corrupt,
    FileNotFound,
    InvalidArgument,
    IoError,
    NotFound,
    Unavailable,
    Unsupported,
)

if TYPE_CHECKING:
    from hoist._packed_module import PackedModule

__all__ = [
    "EncodedTensor",
    "GpuAccumulator",
    "GpuHoloContext",
    "HoloTensorDecoder",
    "HoloTensorEncoder",
    "Layer",
    "MultiGpuHoloContext",
    "ProgressiveHoloLoader",
    "ProgressiveModel",
    "StreamedTensor",
    "StreamingHoloContext",
    "TensorDescription",
    "TensorInfo",
    "info",
    "load",
    "load_directory",
    "load_file",
    "pack_module",
    "safe_open",
    "save",
    "save_file",
    "stream",
]


def info(path: PathLike) -> List[TensorInfo]:
    """What a file holds, without reading a tensor."""
    return list(open_file(path).infos.values())


def load_file(
    path: PathLike,
    device: Any = "cpu",
    *,
    target: Optional[float] = None,
    policy: Optional[Policy] = None,
    framework: str = "auto",
    zero_copy: bool = False,
    backend: str = "mmap",
    skip_damaged: bool = False,
    resident: str = "plain",
    exact_like: Optional[str] = None,
) -> Dict[str, Any]:
    """All tensors of a file by name; whole, or of the quality that is asked for.

    With `device="cuda:0"` what is stored is copied to the GPU and decoded there; the tensors share
    one piece of the GPU's memory, which is free again when the last of them is gone. Where Hoist
    cannot use the GPU (its plug-in, the driver or room is missing), the tensors are decoded on the
    CPU and copied, with a RuntimeWarning that says why.

    With `zero_copy` the tensors of files that need no decoding (.safetensors, GGUF, .npy, .npz) are
    the file itself, mapped copy-on-write: read when they are used, and never to be used once someone
    has cut the file off. `backend` ("mmap" or "pread") is safetensors' and changes nothing.

    With `skip_damaged` tensors of a .holo file that are damaged beyond what its parity mends are
    left out, with a RuntimeWarning that names them, instead of the Corrupt that is raised otherwise
    and where no tensor is left.

    With `resident="packed"` bfloat16 matrices are `PackedTensor`s of PyTorch, which stay packed in
    memory, where they gain by it; other tensors are as ever. Plain weights are there for one part of
    the file at a time. `exact_like` is `pack_module`'s. Unavailable without PyTorch,
    InvalidArgument for another framework.
    """
    check_backend(backend)
    arrays = _frameworks.framework(framework)
    arrays.check_device(device)
    targets = Targets(target, policy)
    loader = ArrayLoader(path, device, arrays, zero_copy)
    names = loader.names()
    packing = _packing(resident, exact_like, arrays.name)
    if target is None and policy is None and not skip_damaged and packing is None:
        return loader.load_whole(names)
    wanted = [(name, targets.of(name)) for name in names]
    if not skip_damaged:
        if packing is not None:
            some = loader.load(wanted, group_bytes=packing.GROUP_BYTES, ahead=True)
            return dict(packing.packed_tensors(some, exact_like))
        return {loaded.name: loaded.tensor for loaded in loader.load(wanted, at_once=True)}
    intact, left_out = loader.load_intact(wanted)
    if left_out:
        if not intact:
            raise Corrupt(next(iter(left_out.values())))
        warnings.warn(
            f"damaged tensors were left out ({file_path(path)}): {', '.join(left_out)}",
            RuntimeWarning,
            stacklevel=2,
        )
    if packing is not None:
        return dict(packing.packed_tensors(intact, exact_like))
    return {loaded.name: loaded.tensor for loaded in intact}


def pack_module(model: Any, exact_like: Optional[str] = None) -> "PackedModule":
    """Packs the weights of a PyTorch model's linear layers and embeddings in place, and says how
    many bytes its parameters and buffers took and take.

        packed = tensors.pack_module(model.eval())
        print(packed.bytes_before, packed.bytes_after, packed.plain)

    The weights become `PackedTensor`s: bfloat16 matrices in about 75 % of their bytes, bit for bit, which stay
    on their device. Those that are tied stay one. What does not gain, or is no bfloat16, stays
    plain; `plain` says why, by name. At most one matrix is there twice at a time.

    Afterwards `state_dict()` has plain weights, `load_state_dict` packs what it is given, `to(device)`,
    `copy.deepcopy` and `torch.save` work. Products are those of plain weights within the order of f32
    sums. `exact_like="cublas"` gives the bits of plain weights: each product unpacks, and is slower.

    Packed weights are not trained: InvalidArgument where a weight wants a gradient and its module is
    in training mode. Unavailable without PyTorch.
    """
    packed: PackedModule = _of_torch("hoist._packed_module").pack_module(model, exact_like)
    return packed


def _packing(resident: str, exact_like: Optional[str], framework: str) -> Any:
    if resident not in ("plain", "packed"):
        raise InvalidArgument(f'resident of {resident!r}: "plain" or "packed"')
    if resident == "plain":
        if exact_like is not None:
            raise InvalidArgument('exact_like is for resident="packed"')
        return None
    packing = _of_torch("hoist._packed_loading")
    if framework != "torch":
        raise InvalidArgument(f'resident="packed" gives tensors of torch, not of {framework}')
    return packing


def _of_torch(module: str) -> Any:
    if not _frameworks.has_torch():
        raise Unavailable("packed weights need PyTorch, which is not installed")
    return import_module(module)


def __getattr__(name: str) -> Any:
    if name == "PackedTensor" and _frameworks.has_torch():
        return import_module("hoist._packed_tensor").PackedTensor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load(data: Any, device: Any = "cpu", *, framework: str = "auto") -> Dict[str, Any]:
    """All tensors of the bytes of a file by name, as safetensors' `load` gives them; of any file
    that `load_file` reads."""
    arrays = _frameworks.framework(framework)
    arrays.check_device(device)
    with opened_bytes(data, is_for_cpu=arrays.device_name(device) is None) as file:
        loader = ArrayLoader(file, device, arrays)
        return loader.load_whole(loader.names())


def load_directory(
    folder: PathLike,
    min_quality: float = 1.0,
    device: Any = "cpu",
    *,
    policy: Optional[Policy] = None,
    framework: str = "auto",
) -> Tuple[Dict[str, Any], Dict[str, float], Dict[str, int]]:
    """All tensors of a folder's .holo and .safetensors files, their qualities, and how many came
    from each kind ("holographic", "standard")."""
    arrays = _frameworks.framework(framework)
    arrays.check_device(device)
    targets = Targets(min_quality, policy)
    tensors: Dict[str, Any] = {}
    qualities: Dict[str, float] = {}
    counts = {"holographic": 0, "standard": 0}
    folder = file_path(folder)
    for path in _paths_of(folder):
        loader = ArrayLoader(path, device, arrays)
        wanted = [(name, targets.of(name)) for name in loader.names()]
        for name, _ in wanted:
            if name in tensors:
                raise InvalidArgument(
                    f"two files have a tensor '{name}' ({folder}): keep one of them in the folder"
                )
        for loaded in loader.load(wanted, at_once=True):
            tensors[loaded.name] = loaded.tensor
            qualities[loaded.name] = loaded.quality
        counts["holographic" if isinstance(loader.file, HoloFile) else "standard"] += len(wanted)
    return tensors, qualities, counts


def _paths_of(folder: str) -> List[str]:
    try:
        paths = files_of_folder(folder)
    except FileNotFoundError as error:
        raise FileNotFound(error.errno, error.strerror, folder) from None
    except OSError as error:
        raise IoError(error.errno, error.strerror, folder) from None
    if not paths:
        raise NotFound(f"neither .holo nor .safetensors in the folder ({folder})")
    return paths


def stream(
    path: PathLike,
    device: Any = "cpu",
    *,
    steps: Sequence[Optional[float]] = (0.96, None),
    policy: Optional[Policy] = None,
    framework: str = "auto",
) -> Iterator[Tuple[str, Any, float]]:
    """(name, tensor, quality) of each tensor, once for each of the `steps` that makes it better:
    first all of them as good as the first step asks, then better. None: whole. Every tensor is
    memory of its own; on a GPU those of 512 MiB of the file at a time share theirs."""
    steps = checked_steps(steps)
    return Improvements(path, device, policy, framework).all_steps(steps)


class safe_open(OwnsResources):  # the name that it has in safetensors
    """Lazy access, as `safetensors.safe_open` gives it: opening reads the header only.

        with safe_open("model.holo", framework="pt", device="cpu") as file:
            for name in file.keys():
                tensor = file.get_tensor(name)

    `zero_copy` and `backend` are those of `load_file`.
    """

    def __init__(
        self,
        filename: PathLike,
        framework: str = "auto",
        device: Any = "cpu",
        *,
        zero_copy: bool = False,
        backend: str = "mmap",
    ):
        check_backend(backend)
        arrays = _frameworks.framework(framework)
        arrays.check_device(device)
        self._loader: Optional[ArrayLoader] = ArrayLoader(filename, device, arrays, zero_copy)

    def _opened(self) -> ArrayLoader:
        if self._loader is None:
            raise InvalidArgument("the file was closed")
        return self._loader

    def __enter__(self) -> "safe_open":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self._loader = None

    def keys(self) -> List[str]:
        """In alphabetical order."""
        return sorted(self._opened().file.infos)

    def offset_keys(self) -> List[str]:
        """In the order of the file."""
        return list(self._opened().file.infos)

    def metadata(self) -> Optional[Dict[str, Any]]:
        """What the file says of itself: texts by name of safetensors, and of GGUF its key-value
        pairs, as int, float, bool, str and lists of them."""
        return metadata_of(self._opened().file)

    def get_tensor(self, name: str, target: Optional[float] = None) -> Any:
        """The tensor, whole or with the fewest layers that reach `target`."""
        self._check(name)
        wanted = None if target is None else Targets(target, None).of(name)
        return self._opened().load_one(name, wanted)

    def get_tensors(self) -> Dict[str, Any]:
        """All of them, whole; on a GPU in one piece of its memory."""
        return self._opened().load_whole(self._opened().names())

    def get_slice(self, name: str) -> "_Slice":
        """To take parts of the tensor, also once this is closed."""
        self._check(name)
        return _Slice(self._opened(), name)

    def _check(self, name: str) -> None:
        if name not in self._opened().file.infos:
            raise NotFound(f"no such tensor: {name}")


class _Slice(OwnsResources):
    """A tensor to take parts of, which keeps its file open: `[...]` reads no more of it than
    integers, slices, `...` and None need, of a .holo file what lies between their first and last
    element; other indices load the tensor and keep the part."""

    def __init__(self, loader: ArrayLoader, name: str):
        self._loader = loader
        self._name = name

    def get_shape(self) -> List[int]:
        return list(self._loader.file.elements(self._name)[1])

    def get_dtype(self) -> str:
        return self._loader.file.elements(self._name)[0]

    def __getitem__(self, index: Any) -> Any:
        if self.get_dtype() == "F4":
            raise Unsupported("slices of F4, of which torch counts pairs: slice its get_tensor()")
        return self._loader.load_part(self._name, index)


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
    """Writes tensors, of torch or NumPy, as a .holo file. What is at `path` is replaced, as
    safetensors' `save_file` does, once the new file is whole; arrays that are mapped from it
    (`zero_copy`) keep their values.

    `encoding`: "embedded" (ends bit-exact), "spectral", "rph", "lrdf" (any subset of `fragments`
    gives an approximation) or "lossless". Of every `fragments` + `parity` shards any `parity` may be
    lost.

    Tensors that are the same memory are stored once, with a UserWarning that names them, and are the
    same memory again when they are loaded together. The file says so in its metadata
    ("hoist.shared"). Tensors that overlap otherwise are stored each. `hoist tensors unpack` turns the file into the .safetensors that safetensors' `save_file`
    makes of these tensors.
    """
    output = file_path(path)
    if output.endswith(".safetensors"):
        raise InvalidArgument(
            f"{output}: what is written here is a .holo file; hoist.safetensors writes .safetensors"
        )
    for option, count in {"fragments": fragments, "parity": parity, "seed": seed}.items():
        if not 0 <= count < 1 << (64 if option == "seed" else 32):
            raise InvalidArgument(f"{option} of {count}")
    distinct, described = _without_shared(tensors, metadata)
    skeleton, prepared = layout.laid_out(layout.prepared_of(distinct), described)
    size = len(skeleton) + sum(data.size for _, _, _, data in prepared)
    writer = _native.HoloWriter(
        output, skeleton, size, encoding, fragments, parity, order, seed, precision
    )
    for name, dtype, shape, data in prepared:
        writer.add(name, dtype, list(shape), data)
    writer.finish()


def save(tensors: Mapping[str, Any], metadata: Optional[Mapping[str, str]] = None) -> bytes:
    """The bytes of the .safetensors file that safetensors' `save_file` makes of these tensors, of
    torch or NumPy; several entries of metadata are in the order that they have."""
    return layout.to_bytes(layout.prepared_of(tensors), metadata)


def _without_shared(
    tensors: Mapping[str, Any], metadata: Optional[Mapping[str, str]]
) -> Tuple[Mapping[str, Any], Optional[Mapping[str, str]]]:
    """Each tensor once, and metadata that say which names stand for others, too."""
    shared = same_memory(tensors) if isinstance(tensors, Mapping) else {}
    if not shared:
        return tensors, metadata
    name, kept = next(iter(shared.items()))
    more = f" (and {len(shared) - 1} more)" if len(shared) > 1 else ""
    warnings.warn(
        f"tensors that share memory are stored once: {name!r} as {kept!r}{more}", stacklevel=3
    )
    distinct = {name: tensor for name, tensor in tensors.items() if name not in shared}
    return distinct, {**(metadata or {}), SHARED_KEY: json.dumps(shared)}
