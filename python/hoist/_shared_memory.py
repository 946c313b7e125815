"""Tensors that lie in the same memory, of which a file needs one copy."""

import sys
from typing import Any, Dict, List, Mapping, Optional, Set, Tuple

import numpy as np


def is_packed(tensor: Any) -> bool:
    """Whether it is a PackedTensor, whose module is loaded where there are any."""
    packed = sys.modules.get("hoist._packed_tensor")
    return packed is not None and isinstance(tensor, packed.PackedTensor)


def _memory_of(tensor: Any) -> Any:
    """The torch tensor whose memory keeps the elements."""
    return tensor.packed_memory if is_packed(tensor) else tensor


def same_memory(tensors: Mapping[str, Any]) -> Dict[str, str]:
    """Names of tensors that are, element for element, the memory of an earlier one: its name."""
    arrays = list(tensors.values())
    if all(type(array) is np.ndarray and array.base is None for array in arrays):
        if len(set(map(id, arrays))) == len(arrays):
            return {}  # each owns its memory
    first: Dict[Tuple[Any, ...], str] = {}
    found: Dict[str, str] = {}
    for name, tensor in tensors.items():
        place = _place(tensor)
        if place is not None and first.setdefault(place, name) != name:
            found[name] = first[place]
    return found


def _place(tensor: Any) -> Optional[Tuple[Any, ...]]:
    """What two tensors share that are the same; nothing of tensors without memory."""
    if isinstance(tensor, np.ndarray):
        start = tensor.__array_interface__["data"][0]
        return (start, tensor.dtype.str, tensor.shape, tensor.strides) if tensor.size else None
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
        return None
    tensor = _memory_of(tensor)
    if tensor.is_nested or not tensor.numel() or not tensor.data_ptr():
        return None
    flags = (tensor.is_conj(), tensor.is_neg())
    place = (tensor.device, tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
    return (*place, *flags)


def storage_ptr(tensor: Any) -> int:
    """Where the memory begins of which a torch tensor shows a part; 0 where it has none."""
    return int(tensor.untyped_storage().data_ptr())


def storage_size(tensor: Any) -> int:
    """Bytes of that memory."""
    return int(tensor.untyped_storage().nbytes())


def end_ptr(tensor: Any) -> int:
    """Behind the last element of a torch tensor."""
    start = int(tensor.data_ptr())
    if not tensor.numel():
        return start
    last = int(sum((extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.stride())))
    return start + (last + 1) * int(tensor.element_size())


def is_complete(tensor: Any) -> bool:
    """Whether a torch tensor is all of its memory."""
    size = tensor.numel() * tensor.element_size()
    return bool(tensor.data_ptr() == storage_ptr(tensor) and size == storage_size(tensor))


def overlapping(tensors: Mapping[str, Any]) -> List[Set[str]]:
    """Torch tensors by their names, in sets that no memory leads out of: those of a set overlap, or
    it has one. Tensors without memory (of the meta device, or empty) are left out."""
    tensors = {name: _memory_of(tensor) for name, tensor in tensors.items()}
    of_storage: Dict[Tuple[Any, int, int], List[str]] = {}
    for name, tensor in tensors.items():
        if tensor.device.type != "meta" and storage_ptr(tensor) and storage_size(tensor):
            storage = (tensor.device, storage_ptr(tensor), storage_size(tensor))
            of_storage.setdefault(storage, []).append(name)
    found: List[Set[str]] = []
    for names in of_storage.values():
        spans = sorted((int(tensors[name].data_ptr()), end_ptr(tensors[name]), name) for name in names)
        reached = -1
        for start, end, name in spans:
            if start < reached:
                found[-1].add(name)
            else:
                found.append({name})
            reached = max(reached, end)
    return found


def one_name_each(
    tensors: Mapping[str, Any], preferred: Set[str], unwanted: Set[str]
) -> Dict[str, List[str]]:
    """Of each set of overlapping torch tensors the name that keeps them all, and the others: the
    first in the alphabet of the tensors that are all of their memory, rather one that is
    `preferred`, else one that is not `unwanted`. ValueError, with the set, where none is."""
    found: Dict[str, List[str]] = {}
    for names in overlapping(tensors):
        complete = {name for name in names if is_complete(_memory_of(tensors[name]))}
        if not complete:
            raise ValueError(sorted(names))
        kept = min(complete & preferred or complete - unwanted or complete)
        others = sorted(names - {kept})
        if others:
            found[kept] = others
    return found
