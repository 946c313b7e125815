"""What arrays do by way of Python: operators by the functions, text, NumPy."""

from typing import Any, Callable, Dict, Mapping, Optional

from hoist import _graph
from hoist._graph import Array
from hoist.graph._dtypes import dtype_name
from hoist.graph._traced import Axes

# What booleans have, as long as there is none of integers.
_LOGICAL = {
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_xor": "logical_xor",
    "bitwise_invert": "logical_not",
}
_OPERATORS = (
    ["add", "subtract", "multiply", "divide", "pow", "matmul", "floor_divide", "remainder"]
    + ["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"]
    + ["bitwise_invert", "negative", "abs", "less", "less_equal", "equal", "not_equal", "greater"]
    + ["greater_equal"]
)


def _elements_text(array: Array) -> str:
    if array.size == 0:  # whose shape may be one that NumPy refuses
        return "[]"
    import numpy

    there = array.to_device("cpu")
    values = numpy.asarray(there._as_type("float32") if there.dtype == "bfloat16" else there)
    return str(numpy.array2string(values, separator=", ", prefix="array("))


def _text(array: Array) -> str:
    parts = [_elements_text(array)]
    if array.size == 0 and array.ndim != 1:
        parts.append(f"shape={array.shape}")
    parts.append(f"dtype={array.dtype}")
    if array.device != "cpu":
        parts.append(f"device={array.device!r}")
    return f"array({', '.join(parts)})"


def _formatted(self: Array, spec: str) -> str:
    return format(self.item() if self.ndim == 0 else str(self), spec)


def _numpy(self: Array, dtype: Any = None, copy: Optional[bool] = None) -> Any:
    import numpy

    if self.device != "cpu":
        raise TypeError(f"an array of {self.device} as a NumPy array: copy it by to_device('cpu')")
    if self.dtype == "bfloat16":
        from ml_dtypes import bfloat16

        values = numpy.asarray(self._bits()).view(bfloat16)
    else:
        values = numpy.asarray(memoryview(self))
    return numpy.array(values, dtype=dtype, copy=copy)


def _namespace(self: Array, *, api_version: Optional[str] = None) -> Any:
    from hoist import graph

    return graph


def _as_type(self: Array, dtype: Any, copy: bool = True) -> Array:
    return self._as_type(str(dtype_name(dtype)), copy)


def _restored(data: bytes, dtype: str, shape: Any) -> Array:
    made = _graph.empty(shape, dtype, "cpu")
    memoryview(made._bits()).cast("B")[:] = data
    return made


def _reduce(self: Array) -> Any:
    whole = self.to_device("cpu")
    whole = whole if whole._is_contiguous() else whole.copy()
    data = bytes(memoryview(whole._bits()))
    return _restored, (data, str(self.dtype), self.shape)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    # With `out` and `dtype`, NumPy's functions of the same names call it, too.
    def method(
        self: Array, axis: Axes = None, keepdims: bool = False, out: Any = None, dtype: Any = None
    ) -> Any:
        array = self if dtype is None else _as_type(self, dtype, copy=False)
        return function(array, axis=axis, keepdims=keepdims, out=out)

    method.__doc__ = function.__doc__
    return method


def install(functions: Mapping[str, Any]) -> None:
    """Gives the type what it has from Python; `functions` are hoist.graph's."""
    operators: Dict[str, Any] = {"repr": _text, "take": functions["take"]}
    for name in _OPERATORS:
        found = functions.get(name) or functions.get(_LOGICAL.get(name, name))
        if found is not None:
            operators[name] = found
    _graph.set_operators(operators)
    methods: Dict[str, Any] = {
        "__array__": _numpy,
        "__array_namespace__": _namespace,
        "__format__": _formatted,
        "__reduce__": _reduce,
        "astype": _as_type,
    }
    for name in ("sum", "prod", "mean", "var", "std", "max", "min", "any", "all"):
        methods[name] = _method(functions[name])
    for name, function in methods.items():
        setattr(Array, name, function)
