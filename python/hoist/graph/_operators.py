"""The operators // % & | ^ ~ << >> of traced arrays."""

from typing import Any


class IntegerOperators:
    """What they are for a class that makes nodes."""

    __slots__ = ()

    def _node(self, op: str, *values: Any) -> Any:
        raise NotImplementedError

    def __floordiv__(self, other: Any) -> Any:
        return self._node("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._node("floor_divide", other, self)

    def __mod__(self, other: Any) -> Any:
        return self._node("remainder", self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._node("remainder", other, self)

    def __and__(self, other: Any) -> Any:
        return self._node("bitwise_and", self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        return self._node("bitwise_or", self, other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Any:
        return self._node("bitwise_xor", self, other)

    __rxor__ = __xor__

    def __lshift__(self, other: Any) -> Any:
        return self._node("bitwise_left_shift", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._node("bitwise_left_shift", other, self)

    def __rshift__(self, other: Any) -> Any:
        return self._node("bitwise_right_shift", self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._node("bitwise_right_shift", other, self)

    def __invert__(self) -> Any:
        return self._node("bitwise_invert", self)
