"""Tensors and models of PyTorch."""

import importlib
from typing import Any, Dict, Iterable, List, Mapping, Optional, Set, Tuple

from hoist._shared_memory import end_ptr, is_complete, one_name_each, overlapping
from hoist._shared_memory import storage_ptr as storage_ptr
from hoist._shared_memory import storage_size as storage_size
from hoist._tensor_files import PathLike
from hoist.safetensors import _arrays
from hoist.safetensors._errors import SharedTensors

__all__ = [
    "load",
    "load_file",
    "load_model",
    "save",
    "save_file",
    "save_model",
    "storage_ptr",
    "storage_size",
]

_torch: Any = importlib.import_module("torch")

# Names that others use of safetensors.
_end_ptr, _find_shared_tensors, _is_complete = end_ptr, overlapping, is_complete


def save(tensors: Dict[str, Any], metadata: _arrays.Metadata = None) -> bytes:
    """The bytes of a .safetensors file of these tensors. ValueError where one is sparse or not
    contiguous, RuntimeError where some overlap in memory: `save_model` writes them once."""
    _check(tensors)
    return _arrays.save(tensors, metadata)


def save_file(
    tensors: Dict[str, Any], filename: PathLike, metadata: _arrays.Metadata = None
) -> None:
    """The same into a file. What is there is replaced once the new file is whole."""
    _check(tensors)
    _arrays.save_file(tensors, filename, metadata)


def load(data: Any) -> Dict[str, Any]:
    """All tensors of the bytes of a file by name, in host memory."""
    return _arrays.load(data, "torch")


def load_file(filename: PathLike, device: Any = "cpu", *, backend: str = "mmap") -> Dict[str, Any]:
    """All tensors of a file by name. In host memory they are the file itself, mapped copy-on-write;
    with the backend "pread" they own their memory."""
    return _arrays.load_file(filename, "pt", device, backend)


def save_model(
    model: Any,
    filename: PathLike,
    metadata: Optional[Dict[str, str]] = None,
    force_contiguous: bool = True,
) -> None:
    """A model's tensors, of those that overlap in memory one: the one that covers the others.
    `metadata` gets, for each name that is left out, the name that stands for it."""
    tensors = model.state_dict()
    texts = dict(metadata or {})
    for kept, left_out in _remove_duplicate_names(tensors).items():
        for name in left_out:
            texts.setdefault(name, kept)
            del tensors[name]
    if force_contiguous:
        tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
    try:
        save_file(dict(tensors), filename, metadata if not texts else texts)
    except ValueError as error:
        if force_contiguous:
            raise
        raise ValueError(
            f"{error} Or use save_model(..., force_contiguous=True), which stores them in rows."
        ) from None


def load_model(
    model: Any, filename: PathLike, strict: bool = True, device: Any = "cpu", *, backend: str = "mmap"
) -> Tuple[List[str], List[str]]:
    """Loads a file into a model. Gives the names that the file lacks and those that the model does
    not take; where there are some, `strict` makes that a RuntimeError. Names of one memory count as
    one."""
    loaded = load_file(filename, device, backend=backend)
    others = _remove_duplicate_names(model.state_dict(), preferred_names=list(loaded))
    absent, unexpected = model.load_state_dict(loaded, strict=False)
    missing = set(absent)
    for name in (name for names in others.values() for name in names):
        if name in missing:
            missing.remove(name)
        else:
            unexpected.append(name)
    if strict and (missing or unexpected):
        problems = {"Missing": sorted(missing), "Unexpected": sorted(unexpected)}
        lines = [f"Error(s) in loading state_dict for {type(model).__name__}:"]
        for kind, names in problems.items():
            if names:
                quoted = ", ".join(f'"{name}"' for name in names)
                lines.append(f"    {kind} key(s) in state_dict: {quoted}")
        raise RuntimeError("\n".join(lines))
    return sorted(missing), list(unexpected)


def _remove_duplicate_names(
    state_dict: Mapping[str, Any],
    *,
    preferred_names: Optional[Iterable[str]] = None,
    discard_names: Optional[Iterable[str]] = None,
) -> Dict[str, List[str]]:
    try:
        return one_name_each(state_dict, set(preferred_names or ()), set(discard_names or ()))
    except ValueError as error:
        raise SharedTensors(
            f"no tensor covers the memory of {error}: saving one of them would store much more than "
            "it shows, or lose the others. Make them tensors of their own by clone()"
        ) from None


def _check(tensors: Any) -> None:
    if not isinstance(tensors, dict):
        raise ValueError(f"tensors are saved as a dict by name, not as {type(tensors)}")
    for name, tensor in tensors.items():
        if not isinstance(tensor, _torch.Tensor):
            raise ValueError(f"`{name}` is no torch.Tensor but {type(tensor)}")
    sparse = [name for name, tensor in tensors.items() if tensor.layout != _torch.strided]
    if sparse:
        raise ValueError(f"sparse tensors cannot be saved: {sparse}. Make them dense by to_dense()")
    shared: List[Set[str]] = [names for names in overlapping(tensors) if len(names) > 1]
    if shared:
        raise SharedTensors(
            f"tensors share memory: {shared}. They would be stored several times, and no longer be "
            "shared when they are loaded. `save_model` stores them once"
        )
    for name, tensor in tensors.items():
        if not tensor.is_contiguous():
            raise ValueError(f"`{name}` is not contiguous: save its contiguous() copy.")
