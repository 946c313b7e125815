"""Kernels in Hoist's px language, on NumPy arrays, PyTorch tensors and all that DLPack knows.

    from hoist import px

    program = px.compile(open("saxpy.px").read())
    program.kernels["saxpy"](x, y, 2.0, len(x))              # a thread for each element of y
    program.kernels["saxpy"][blocks, threads](x, y, 2.0, len(x))

Arrays are used where they lie: those of the CPU by its cores, those of a GPU there. Where `hoist
tune` has measured a GPU, arrays of the CPU are copied there and back for launches that are then
faster. A call returns when the kernel is done; the interpreter's lock is released meanwhile, and
Ctrl-C stops it between two blocks. Calls may come from any thread.

Errors are those of `hoist.errors`, and the two below.
"""

import operator
from types import MappingProxyType
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from hoist import _px
from hoist._diagnostic import Diagnostic
from hoist.errors import Error, InvalidArgument

__all__ = [
    "BoundsError",
    "CompileError",
    "Diagnostic",
    "Kernel",
    "Launcher",
    "Parameter",
    "Program",
    "compile",
]

Extents = Union[int, Sequence[int]]


class CompileError(InvalidArgument):
    """The text is no px. str() is what `hoist px check` prints; `diagnostics` has each error."""

    def __init__(self, text: str, diagnostics: Tuple[Diagnostic, ...]) -> None:
        super().__init__(text, diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return str(self.args[0])


class BoundsError(Error, IndexError):
    """A kernel went beyond an array's end, at that place; a checked build found it."""

    def __init__(
        self, text: str, line: int, column: int, array: str, index: int, length: int
    ) -> None:
        super().__init__(text, line, column, array, index, length)
        self.line = line
        self.column = column
        self.array = array
        self.index = index
        self.length = length

    def __str__(self) -> str:
        return str(self.args[0])


class Parameter(NamedTuple):
    """`type` is "f32[]" of an array, "i32" of a scalar; `direction` is "in", "out" or "inout"."""

    name: str
    type: str
    direction: str

    @property
    def is_array(self) -> bool:
        return self.type.endswith("[]")


class Launcher:
    """A kernel with its grid: what `kernel[blocks, threads]` gives."""

    def __init__(self, kernel: "Kernel", blocks: Extents, threads: Extents) -> None:
        self._kernel = kernel
        self._blocks = blocks
        self._threads = threads

    def __call__(self, *arguments: Any) -> None:
        self._kernel(*arguments, blocks=self._blocks, threads=self._threads)


class Kernel:
    """Called with its arguments, in the order of its parameters: arrays and numbers.

    `blocks` and `threads` (of a block) are an int, or up to three: x, y, z. Without both, the grid
    is that of the text's own launch where the arguments decide it, else one thread for each element
    of the longest array that the kernel writes, in blocks of 256. Without `blocks`, there are as
    many as that array needs.
    """

    def __init__(
        self, program: _px.Program, name: str, parameters: Tuple[Parameter, ...]
    ) -> None:
        self._program = program
        self.name = name
        self.parameters = parameters

    def __repr__(self) -> str:
        text = ", ".join(f"{p.name} {p.direction} {p.type}" for p in self.parameters)
        return f"<px kernel {self.name}({text})>"

    def __getitem__(self, grid: Tuple[Extents, Extents]) -> Launcher:
        if not isinstance(grid, tuple) or len(grid) != 2:
            raise TypeError(f"{self.name}[blocks, threads] takes two")
        return Launcher(self, grid[0], grid[1])

    def __call__(
        self,
        *arguments: Any,
        blocks: Optional[Extents] = None,
        threads: Optional[Extents] = None,
    ) -> None:
        if len(arguments) != len(self.parameters):
            names = ", ".join(parameter.name for parameter in self.parameters)
            raise TypeError(
                f"{self.name} takes {len(self.parameters)} arguments ({names}), not {len(arguments)}"
            )
        if blocks is not None and threads is None:
            raise InvalidArgument(f"{self.name} is given blocks: give threads, too")
        fault = self._program.launch(
            self.name,
            arguments,
            None if blocks is None else _extents(blocks, "blocks", 0),
            None if threads is None else _extents(threads, "threads", 1),
        )
        if fault is not None:
            raise BoundsError(*fault)


class Program:
    """`kernels` by name; `warnings`, which `hoist px check` prints, too."""

    def __init__(
        self, kernels: Mapping[str, Kernel], warnings: Tuple[Diagnostic, ...]
    ) -> None:
        self.kernels = kernels
        self.warnings = warnings

    def __repr__(self) -> str:
        return f"<px program: {', '.join(self.kernels)}>"


def compile(
    text: str, *, target: str = "auto", check_bounds: bool = False, name: str = "<text>"
) -> Program:
    """The kernels of a px text.

    target: "cpu", "cuda" or "interpreter" compiles for it at once; "cuda" copies arrays of the CPU
        to the GPU and back. "auto" compiles when a kernel is first called, for the device on which
        the arrays of the call lie, or for a GPU where the arrays lie in the CPU's memory and it is
        estimated to be faster with the copies. For the CPU it takes the system's C++ compiler, and
        without one the interpreter runs it (with a RuntimeWarning).
    check_bounds: accesses beyond an array's end raise BoundsError; the interpreter always checks.
    name: of the text, for messages.
    """
    kernels, messages, errors = _px.read_text(text, name)
    found = [
        (is_error, Diagnostic(name, line, column, message, mend))
        for is_error, line, column, message, mend, _ in messages
    ]
    if kernels is None:
        raise CompileError(
            errors.rstrip("\n"), tuple(diagnostic for is_error, diagnostic in found if is_error)
        )
    program = _px.Program(name, text, target, check_bounds)
    return Program(
        MappingProxyType(
            {
                kernel: Kernel(program, kernel, tuple(Parameter(*each) for each in parameters))
                for kernel, parameters in kernels
            }
        ),
        tuple(diagnostic for is_error, diagnostic in found if not is_error),
    )


def _extents(given: Extents, what: str, least: int) -> Tuple[int, int, int]:
    try:
        one_by_one = given if isinstance(given, (tuple, list)) else (given,)
        extents = [operator.index(each) for each in one_by_one]
    except TypeError:
        raise TypeError(f"{what} are an int, or up to three, not {given!r}") from None
    if not 1 <= len(extents) <= 3 or not all(least <= each < 2**31 for each in extents):
        raise InvalidArgument(f"{what} are one to three of {least} to 2147483647, not {given!r}")
    x, y, z = (extents + [1, 1])[:3]
    return x, y, z
