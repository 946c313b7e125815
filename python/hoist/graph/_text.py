"""Programs as text: names for their arrays, and programs from texts and files."""

import os
from typing import Any, Dict, List, Sequence, Tuple, Union

from hoist import _graph
from hoist.graph._compile import checked_native
from hoist.graph._program import Program

_Path = Union[str, "os.PathLike[str]"]


def _array_names(structure: Tuple[Any, ...], name: str, names: List[str]) -> None:
    """Of each array of a structure the place: "weights.0"."""
    kind = structure[0]
    if kind == "array":
        names.append(name)
        return
    if kind == "static":
        return
    if kind == "dict":
        places: Sequence[Any] = structure[1]
        inside = structure[2:]
    elif kind == "named":
        places, inside = structure[1]._fields, structure[2:]
    else:
        inside = structure[1:]
        places = range(len(inside))
    for place, one in zip(places, inside):
        _array_names(one, f"{name}.{place}" if name else str(place), names)


def input_names(program: Program) -> List[str]:
    """Those of the function's parameters; what cannot be written has none."""
    if program._names is not None:
        return program._names[0]
    (_, *positional), (_, keywords, *named) = program._arguments[1:]
    parameters = [*program._parameters[: len(positional)]]
    parameters += [f"argument.{i}" for i in range(len(parameters), len(positional))]
    names: List[str] = []
    for parameter, one in zip([*parameters, *keywords], [*positional, *named]):
        _array_names(one, parameter, names)
    return names


def output_names(program: Program) -> List[str]:
    """Those of dicts and named tuples."""
    if program._names is not None:
        return program._names[1]
    names: List[str] = []
    _array_names(program._results, "", names)
    return names


def _program(native: Tuple[_graph.Program, str, List[str], List[str]]) -> Program:
    program, name, inputs, outputs = native
    array: Tuple[Any, ...] = ("array",)
    arguments = ("tuple", ("tuple", *[array] * len(inputs)), ("dict", ()))
    results = array if len(outputs) == 1 else ("tuple", *[array] * len(outputs))
    made = Program(program, arguments, results, name or "program")
    made._names = (inputs, outputs)
    return made


def load(
    path: _Path, *, fast_math: bool = False, threads: int = 0, native: str = "auto"
) -> Program:
    """The program of a file that Program.save() wrote, or somebody else.

    It takes its arrays one by one, in the order of the text, and gives one array, or a tuple.
    InvalidArgument for a text with errors: the message has the line, the column and what to do.
    """
    return _program(_graph.load(os.fspath(path), fast_math, threads, checked_native(native)))


def parse(
    text: str, *, fast_math: bool = False, threads: int = 0, native: str = "auto"
) -> Program:
    """As load(), of a text that Program.text() gave."""
    return _program(_graph.parse(text, fast_math, threads, checked_native(native)))
