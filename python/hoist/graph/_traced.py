"""The stand-in for an array while a function is traced."""

import operator
from numbers import Number, Real
from typing import Any, Iterator, List, NoReturn, Optional, Sequence, Tuple, Union

from hoist import _graph
from hoist.errors import Error, InvalidArgument
from hoist.graph._methods import Reductions
from hoist.graph._operators import IntegerOperators
from hoist.graph._types import float_for, is_integer, name_of, takes_integers, type_of_all

Axes = Union[int, Sequence[int], None]


class TraceError(Error, TypeError):
    """The function does what cannot be traced, such as a condition on an array's values."""


def is_array(value: Any) -> bool:
    """Whether a value is an array, of those that programs may take."""
    if isinstance(value, (bytes, str, type, Number, Traced)):
        return False
    if any(
        hasattr(value, name)
        for name in ("__dlpack__", "__array_interface__", "__cuda_array_interface__")
    ):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return True


def has_traced(value: Any) -> bool:
    """Whether a value is a stand-in, or one lies in its tuples, lists and dicts."""
    if isinstance(value, dict):
        return any(map(has_traced, value.values()))
    if isinstance(value, (tuple, list)):
        return any(map(has_traced, value))
    return isinstance(value, Traced)


def axes_of(axis: Axes) -> List[int]:
    if axis is None:
        return []
    if isinstance(axis, (tuple, list)):
        return [operator.index(one) for one in axis]
    return [operator.index(axis)]  # type: ignore[arg-type]


class Traced(IntegerOperators, Reductions):
    """An array of a function that is being traced: its shape and type, but no values."""

    __slots__ = ("_builder", "_id")
    # NumPy's arrays leave operators to us.
    __array_ufunc__ = None
    __array_priority__ = 1000

    def __init__(self, builder: _graph.Builder, id: int) -> None:
        self._builder = builder
        self._id = id

    @property
    def shape(self) -> Tuple[int, ...]:
        return self._builder.shape(self._id)

    @property
    def dtype(self) -> str:
        """Its name: "float32"."""
        return self._builder.dtype(self._id)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    @property
    def T(self) -> "Traced":
        return self.permute_dims(tuple(range(self.ndim))[::-1])

    @property
    def mT(self) -> "Traced":
        if self.ndim < 2:
            raise InvalidArgument(f"mT of an array of shape {self.shape}: it needs two axes")
        axes = list(range(self.ndim))
        axes[-2:] = axes[:-3:-1]
        return self.permute_dims(axes)

    def __repr__(self) -> str:
        return f"<traced {self.dtype} array of shape {self.shape}>"

    # What a trace makes of values and of nodes.

    def _made(self, id: int) -> "Traced":
        return Traced(self._builder, id)

    def _id_of(self, value: Any, dtype: Optional[str] = None) -> int:
        """`dtype`: None is its own, of a number the one that it has alone."""
        if isinstance(value, Traced):
            if value._builder is not self._builder:
                raise TraceError("an array of one traced function is used in another one")
            id = value._id
        elif isinstance(value, Real):
            return self._builder.number(value, dtype or type_of_all((), [value]))
        elif is_array(value):
            id = self._builder.constant(value, "a constant")
        else:
            raise TraceError(f"an operation on an array and a {type(value).__name__}")
        if dtype is None or dtype == self._builder.dtype(id):
            return id
        return self._builder.cast(id, dtype)

    def _alike(self, values: Sequence[Any], to_float: bool = False) -> List[int]:
        """All as one type; `to_float`: as floats."""
        made = [
            value if isinstance(value, Real) else self._made(self._id_of(value)) for value in values
        ]
        numbers = [value for value in made if isinstance(value, Real)]
        arrays = [value.dtype for value in made if isinstance(value, Traced)]
        dtype = type_of_all(arrays, numbers)
        if to_float and is_integer(dtype):
            dtype = float_for(dtype)
        return [self._id_of(value, dtype) for value in made]

    def _node(self, op: str, *values: Any) -> "Traced":
        """Of values as one type; the first one of "where" is a condition."""
        first = [self._id_of(value) for value in values[:1]] if op == "where" else []
        ids = first + self._alike(values[len(first) :], to_float=not takes_integers(op))
        return self._made(self._builder.node(op, ids))

    def _reduce(self, op: str, axis: Axes, keepdims: bool) -> "Traced":
        if axis is not None and not axes_of(axis):
            raise InvalidArgument(f"{op} over no axes: give at least one, or None for all")
        return self._made(self._builder.reduce(op, self._id, axes_of(axis), bool(keepdims)))

    # Operators.

    def __add__(self, other: Any) -> "Traced":
        return self._node("add", self, other)

    def __radd__(self, other: Any) -> "Traced":
        return self._node("add", other, self)

    def __sub__(self, other: Any) -> "Traced":
        return self._node("subtract", self, other)

    def __rsub__(self, other: Any) -> "Traced":
        return self._node("subtract", other, self)

    def __mul__(self, other: Any) -> "Traced":
        return self._node("multiply", self, other)

    def __rmul__(self, other: Any) -> "Traced":
        return self._node("multiply", other, self)

    def __truediv__(self, other: Any) -> "Traced":
        return self._node("divide", self, other)

    def __rtruediv__(self, other: Any) -> "Traced":
        return self._node("divide", other, self)

    def __pow__(self, other: Any) -> "Traced":
        if isinstance(other, Real) and other in (2, 3):
            dtype = type_of_all([self.dtype], [other])
            base = self if dtype == self.dtype else self.astype(dtype)
            square = base * base
            return square if other == 2 else square * base
        return self._node("pow", self, other)

    def __rpow__(self, other: Any) -> "Traced":
        return self._node("pow", other, self)

    def __matmul__(self, other: Any) -> "Traced":
        return self._matmul(self, self._made(self._id_of(other)))

    def __rmatmul__(self, other: Any) -> "Traced":
        return self._matmul(self._made(self._id_of(other)), self)

    @staticmethod
    def _matmul(a: "Traced", b: "Traced") -> "Traced":
        """Vectors count as a row and a column, which the result lacks."""
        if a.ndim == 0 or b.ndim == 0:
            raise InvalidArgument(f"matmul of {a.shape} and {b.shape}: both need an axis")
        rows = a.reshape((1, a.size)) if a.ndim == 1 else a
        columns = b.reshape((b.size, 1)) if b.ndim == 1 else b
        product = a._node("matmul", rows, columns)
        shape = list(product.shape)
        if b.ndim == 1:
            del shape[-1]
        if a.ndim == 1:
            del shape[-1 if b.ndim == 1 else -2]
        return product.reshape(tuple(shape)) if len(shape) != product.ndim else product

    def __neg__(self) -> "Traced":
        return self._node("negative", self)

    def __pos__(self) -> "Traced":
        return self

    def __abs__(self) -> "Traced":
        return self._node("abs", self)

    def __lt__(self, other: Any) -> "Traced":
        return self._node("less", self, other)

    def __le__(self, other: Any) -> "Traced":
        return self._node("less_equal", self, other)

    def __gt__(self, other: Any) -> "Traced":
        return self._node("greater", self, other)

    def __ge__(self, other: Any) -> "Traced":
        return self._node("greater_equal", self, other)

    def __eq__(self, other: Any) -> "Traced":  # type: ignore[override]
        return self._node("equal", self, other)

    def __ne__(self, other: Any) -> "Traced":  # type: ignore[override]
        return self._node("not_equal", self, other)

    __hash__ = None  # type: ignore[assignment]

    # Methods.

    def astype(self, dtype: Any) -> "Traced":
        return self._made(self._builder.cast(self._id, name_of(dtype)))

    def reshape(self, *shape: Any) -> "Traced":
        extents = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return self._made(self._builder.reshape(self._id, [operator.index(e) for e in extents]))

    def permute_dims(self, axes: Sequence[int]) -> "Traced":
        return self._made(self._builder.permute(self._id, axes_of(tuple(axes))))

    def transpose(self, *axes: Any) -> "Traced":
        if not axes:
            return self.T
        return self.permute_dims(axes[0] if isinstance(axes[0], (tuple, list)) else axes)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __iter__(self) -> Iterator["Traced"]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> "Traced":
        from hoist.graph._indexing import indexed

        return indexed(self, key)

    # What needs values.

    def _refuse(self, what: str, mend: str) -> NoReturn:
        raise TraceError(f"{what} of an array whose values are not known while it is traced: {mend}")

    def __bool__(self) -> bool:
        self._refuse("a condition on the values", "use hoist.graph.where(), or decide outside")

    def __float__(self) -> float:
        self._refuse("float()", "keep it an array")

    def __int__(self) -> int:
        self._refuse("int()", "keep it an array, or give the number as an argument")

    def __index__(self) -> int:
        self._refuse("an index", "give the number as an argument")

    def __array__(self, dtype: Optional[Any] = None, copy: Optional[bool] = None) -> NoReturn:
        self._refuse("a NumPy array", "use the function of hoist.graph instead of NumPy's")

    def __array_namespace__(self, *, api_version: Optional[str] = None) -> Any:
        from hoist import graph

        return graph
