"""Programs: what a traced function has become, and the structure of its arguments and results."""

import os
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

from hoist import _graph
from hoist.errors import InvalidArgument
from hoist.graph._report import Report, report_of
from hoist.graph._static import Static
from hoist.graph._traced import is_array


class Spec(NamedTuple):
    """In place of an example: an array's shape and type."""

    shape: Tuple[int, ...]
    dtype: str = "float32"


class Number(NamedTuple):
    """A number among arrays that a program is given, as an element of `dtype`."""

    value: Any
    dtype: str


# The structure of a value: ("array",), ("number", type), ("static", type, value), or a kind with
# what is inside.
Structure = Tuple[Any, ...]


def flatten(value: Any, leaves: List[Any], is_leaf: Callable[[Any], bool]) -> Structure:
    if is_leaf(value):
        leaves.append(value)
        return ("array",)
    if isinstance(value, Number):
        leaves.append(value)
        return ("number", type(value.value))
    if isinstance(value, dict) and not all(type(key) is str for key in value):
        keys = (flatten(key, [], lambda _: False) for key in value)
        values = (flatten(one, leaves, is_leaf) for one in value.values())
        return ("pairs", *(one for pair in zip(keys, values) for one in pair))
    if isinstance(value, dict):
        return ("dict", tuple(value), *(flatten(one, leaves, is_leaf) for one in value.values()))
    if isinstance(value, (tuple, list)) and not isinstance(value, Spec):
        inside = tuple(flatten(one, leaves, is_leaf) for one in value)
        if hasattr(value, "_fields"):
            return ("named", type(value), *inside)
        return ("list" if isinstance(value, list) else "tuple", *inside)
    return Static(("static", type(value), value))


def unflatten(structure: Structure, leaves: Any) -> Any:
    kind = structure[0]
    if kind in ("array", "number"):
        return next(leaves)
    if kind == "static":
        return structure[2]
    if kind == "dict":
        inside = [unflatten(one, leaves) for one in structure[2:]]
        return dict(zip(structure[1], inside))
    if kind == "named":
        return structure[1](*(unflatten(one, leaves) for one in structure[2:]))
    inside = [unflatten(one, leaves) for one in structure[1:]]
    if kind == "pairs":
        return dict(zip(inside[::2], inside[1::2]))
    return inside if kind == "list" else tuple(inside)


class Program:
    """A compiled graph. Called with arrays of the shapes that it was traced for.

    `inputs` and `outputs` have a Spec for each array. Any number of threads may call it at the
    same time.
    """

    def __init__(
        self, native: _graph.Program, arguments: Structure, results: Structure, name: str
    ) -> None:
        self._native = native
        self._arguments = arguments
        self._results = results
        self.name = name
        self._parameters: Tuple[str, ...] = ()  # of the function
        self._names: Optional[Tuple[List[str], List[str]]] = None  # of a text's arrays
        self.inputs = tuple(Spec(shape, dtype) for dtype, shape in native.inputs())
        self.outputs = tuple(Spec(shape, dtype) for dtype, shape in native.outputs())

    def __repr__(self) -> str:
        return f"<program {self.name}: {len(self.report().kernels)} kernels>"

    def __call__(self, *arguments: Any, out: Any = None, **keywords: Any) -> Any:
        leaves: List[Any] = []
        structure = flatten((arguments, keywords), leaves, is_array)
        if structure != self._arguments:
            raise InvalidArgument(
                f"{self.name} was traced for other arguments: trace it for these, or compile() it"
            )
        return self._run(leaves, out)

    def _run(self, leaves: Sequence[Any], out: Any) -> Any:
        outs: Optional[List[Any]] = None
        if out is not None:
            outs = []
            if flatten(out, outs, is_array) != self._results:
                raise InvalidArgument(f"out of {self.name}: give arrays as the function returns them")
        gives_arrays = any(isinstance(leaf, _graph.Array) for leaf in leaves)
        arrays = [
            _graph.asarray(leaf.value, leaf.dtype, None, None) if isinstance(leaf, Number) else leaf
            for leaf in leaves
        ]
        return unflatten(self._results, iter(self._native.run(arrays, outs, gives_arrays)))

    def report(self) -> Report:
        return report_of(self._native.report())

    def svg(self) -> str:
        """A picture of the nodes, grouped by kernel."""
        return _graph.picture(self._native, self.name)

    def text(self) -> str:
        """The graph as text, which parse() reads; as it was traced, so whatever rewrites it."""
        from hoist.graph._text import input_names, output_names

        return _graph.text(self._native, self.name, input_names(self), output_names(self))

    def save(self, path: Any, *, replace: bool = False) -> None:
        """Writes text() to a file; InvalidArgument where there is one, unless it may be replaced."""
        from hoist.graph._text import input_names, output_names

        names = input_names(self), output_names(self)
        _graph.save(self._native, self.name, *names, os.fspath(path), replace)
