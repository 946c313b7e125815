"""Modules of PyTorch whose weights stay packed."""

import importlib
import weakref
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from hoist._packed_tensor import PackedTensor, check_exact_like, packed_or_reason, parameter_of
from hoist.errors import InvalidArgument

torch: Any = importlib.import_module("torch")
nn: Any = importlib.import_module("torch.nn")
# Multi-head attention has it, and calls a function that takes its weight as it lies in memory.
_ATTENTIONS_LINEAR: Any = importlib.import_module(
    "torch.nn.modules.linear"
).NonDynamicallyQuantizableLinear


class PackedModule(NamedTuple):
    """What `pack_module` did."""

    bytes_before: int  # of all parameters and buffers; what is shared counts once
    bytes_after: int
    packed: List[str]  # names of the weights that are packed now
    plain: Dict[str, str]  # of those of linear layers and embeddings that stay plain, and why


def pack_module(model: Any, exact_like: Optional[str]) -> PackedModule:
    """`hoist.tensors.pack_module`."""
    check_exact_like(exact_like)
    before = _bytes_of(model)
    users = _users(model)
    for used in users.values():
        for name, layer in used:
            if _can_pack(layer) and layer.training and layer.weight.requires_grad:
                raise InvalidArgument(
                    f"{name} is being trained, and packed weights cannot be: call model.eval() or "
                    "model.requires_grad_(False) first"
                )
    packed: List[str] = []
    plain: Dict[str, str] = {}
    for used in users.values():
        # Nothing else holds the plain weights: they are gone when the packed ones are in place.
        made, why = _packed_of(used, exact_like)
        names = [name for name, layer in used if _can_pack(layer)]
        if made is None:
            plain.update({name: why for name in names})
            continue
        packed.extend(names)
        for _, layer in used:
            was_packed = isinstance(layer.weight, PackedTensor)
            layer.weight = made
            if not was_packed:
                layer.register_state_dict_post_hook(_give_plain)
    return PackedModule(before, _bytes_of(model), packed, plain)


def _can_pack(layer: Any) -> bool:
    return isinstance(layer, (nn.Linear, nn.Embedding))


def _users(model: Any) -> Dict[int, List[Tuple[str, Any]]]:
    """For each weight of a linear layer or an embedding the modules that have it, by its id."""
    users: Dict[int, List[Tuple[str, Any]]] = {}
    wanted = set()
    for path, module in model.named_modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                full = f"{path}.{name}" if path else name
                users.setdefault(id(parameter), []).append((full, module))
                if name == "weight" and _can_pack(module):
                    wanted.add(id(parameter))
    return {key: used for key, used in users.items() if key in wanted}


def _packed_of(
    used: List[Tuple[str, Any]], exact_like: Optional[str]
) -> Tuple[Optional[Any], str]:
    """The parameter that they shall have, or None and why they stay as they are."""
    for name, module in used:
        if not _can_pack(module) or name.rpartition(".")[2] != "weight":
            return None, f"shared with {name}, which is no weight of a linear layer or embedding"
        if isinstance(module, _ATTENTIONS_LINEAR):
            return None, "multi-head attention uses it as it lies in memory"
        if isinstance(module, nn.Embedding) and module.max_norm is not None:
            return None, "max_norm changes it"
    weight = next(layer.weight for _, layer in used)
    if isinstance(weight, PackedTensor):
        is_right = weight.exact_like == exact_like
        return weight if is_right else parameter_of(weight.like_this(exact_like=exact_like)), ""
    made, why = packed_or_reason(weight, exact_like)
    return (None, why) if made is None else (parameter_of(made), "")


def _give_plain(module: Any, state: Any, prefix: str, metadata: Any) -> None:
    """A state_dict has plain weights, those that are shared once. (With keep_vars it has the
    parameters themselves.)"""
    weight = state.get(prefix + "weight")
    if not isinstance(weight, PackedTensor) or weight is module.weight:
        return
    try:
        made = state.__dict__.setdefault("_hoist_unpacked", weakref.WeakValueDictionary())
    except AttributeError:  # a dict that the caller gave
        made = {}
    key = id(weight.packed_memory)
    plain = made.get(key)
    if plain is None:
        plain = made[key] = weight.unpack()
    state[prefix + "weight"] = plain


def _bytes_of(model: Any) -> int:
    sizes: Dict[int, int] = {}
    for tensor in (*model.parameters(), *model.buffers()):
        size = tensor.numel() * tensor.element_size()
        if isinstance(tensor, PackedTensor):
            size = tensor.packed_bytes
        sizes[id(tensor)] = size
    return sum(sizes.values())
