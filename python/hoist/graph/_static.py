"""Arguments that are no arrays: a function is traced for each value."""

import dataclasses
from numbers import Number
from typing import Any, Tuple


def _key(value: Any) -> Any:
    """Equal for values for which a function is traced alike: 0.0 and -0.0 are equal, but not the same,
    and no NaN is equal to itself. TypeError for what is not hashable."""
    kind = type(value)
    if isinstance(value, Number):
        return kind, repr(value)
    if isinstance(value, tuple):
        return kind, *map(_key, value)
    if isinstance(value, frozenset):
        return kind, frozenset(map(_key, value))
    hash(value)
    if dataclasses.is_dataclass(value) and value.__dataclass_params__.eq:  # type: ignore[union-attr]
        fields = (one for one in dataclasses.fields(value) if one.compare)
        return kind, *(_key(getattr(value, one.name)) for one in fields)
    return kind, value


class Static(Tuple[Any, ...]):
    """("static", type, value), compared by the value's key."""

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Static) and _key(self[2]) == _key(other[2])

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_key(self[2]))
