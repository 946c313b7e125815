"""Functions that do not know packed weights get plain ones."""

import importlib
import warnings
from typing import Any, Set

from hoist._tensor_arrays import callers_stack_level
from hoist.errors import Unsupported

torch: Any = importlib.import_module("torch")

_told: Set[str] = set()


def constant(what: str) -> str:
    return f"packed weights are constant, and {what} would change them: use unpack()"


def unpacked_call(packed: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """With plain weights in the place of packed ones (`packed` is their class), and a warning the
    first time. Unsupported where it would change them."""
    schema = getattr(func, "_schema", None)
    for i, argument in enumerate(schema.arguments if schema is not None else ()):
        given = args[i] if i < len(args) else kwargs.get(argument.name)
        is_changed = argument.alias_info is not None and argument.alias_info.is_write
        if is_changed and isinstance(given, packed):
            raise Unsupported(constant(str(func)))
    name = getattr(func, "__name__", str(func)) if schema is None else str(schema.name)
    if name not in _told:
        _told.add(name)
        warnings.warn(
            f"packed weights are unpacked for {name}, each time: only linear and embedding use them "
            "packed",
            RuntimeWarning,
            stacklevel=callers_stack_level(),
        )
    plain_args, plain_kwargs = torch.utils._pytree.tree_map_only(
        packed, lambda tensor: tensor.unpack(), (args, kwargs)
    )
    return func(*plain_args, **plain_kwargs)
