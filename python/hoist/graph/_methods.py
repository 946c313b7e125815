"""The reductions that traced arrays have as methods."""

from typing import Any


class Reductions:
    """What they are for a class that makes nodes. `axis`: one, several, or None for all."""

    __slots__ = ()

    def _reduce(self, op: str, axis: Any, keepdims: bool) -> Any:
        raise NotImplementedError

    def sum(self, axis: Any = None, keepdims: bool = False) -> Any:
        return self._reduce("sum", axis, keepdims)

    def prod(self, axis: Any = None, keepdims: bool = False) -> Any:
        return self._reduce("prod", axis, keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Any:
        return self._reduce("mean", axis, keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Any:
        return self._reduce("max", axis, keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Any:
        return self._reduce("min", axis, keepdims)

    def var(self, axis: Any = None, keepdims: bool = False, correction: float = 0.0) -> Any:
        from hoist.graph._reductions import var

        return var(self, axis=axis, keepdims=keepdims, correction=correction)

    def std(self, axis: Any = None, keepdims: bool = False, correction: float = 0.0) -> Any:
        from hoist.graph._reductions import std

        return std(self, axis=axis, keepdims=keepdims, correction=correction)

    def any(self, axis: Any = None, keepdims: bool = False) -> Any:
        from hoist.graph._reductions import any

        return any(self, axis=axis, keepdims=keepdims)

    def all(self, axis: Any = None, keepdims: bool = False) -> Any:
        from hoist.graph._reductions import all

        return all(self, axis=axis, keepdims=keepdims)
