"""Tracing of functions: compile() and trace()."""

import functools
import operator
from typing import Any, Callable, Dict, List, Optional, Protocol, Sequence, Tuple, overload

from hoist import _graph
from hoist.errors import InvalidArgument
from hoist.graph._program import Number, Program, Spec, Structure, flatten, unflatten
from hoist.graph._report import Report
from hoist.graph._traced import TraceError, Traced, has_traced, is_array
from hoist.graph._types import name_of

_MOST_PROGRAMS = 64  # of a function; with more shapes the oldest is dropped


def _is_example(value: Any) -> bool:
    return isinstance(value, Spec) or is_array(value)


def _signature(value: Any, i: int) -> Tuple[str, Tuple[int, ...]]:
    if isinstance(value, Spec):
        return name_of(value.dtype), tuple(value.shape)
    if isinstance(value, Number):
        return value.dtype, ()
    return _graph.signature(value, f"array {i}")


def _name_of(function: Callable[..., Any]) -> str:
    """Objects that may be called, such as those of functools.partial, have none of their own."""
    return getattr(function, "__name__", "function")


def _checked_threads(threads: int) -> int:
    count = operator.index(threads)
    if count < 0:
        raise InvalidArgument(f"threads={count}: give 0 or more")
    return min(count, 1 << 20)  # more than any machine has


def _traced(
    function: Callable[..., Any],
    arguments: Structure,
    signatures: Sequence[Tuple[str, Tuple[int, ...]]],
    fast_math: bool,
    threads: int,
    fuses: bool = True,
    native: str = "auto",
) -> Program:
    builder = _graph.Builder()
    inputs = [Traced(builder, builder.input(dtype, shape)) for dtype, shape in signatures]
    positional, named = unflatten(arguments, iter(inputs))
    name = _name_of(function)
    result = function(*positional, **named)
    leaves: List[Any] = []
    results = flatten(result, leaves, lambda one: isinstance(one, Traced) or is_array(one))
    if not leaves:
        raise NoArrays(f"{name} returns no array: return what it computes", result)
    outputs = []
    for leaf in leaves:
        if isinstance(leaf, Traced) and leaf._builder is not builder:
            raise TraceError(f"{name} returns an array of another traced function")
        outputs.append(
            leaf._id if isinstance(leaf, Traced) else builder.constant(leaf, f"result of {name}")
        )
    made = builder.compile(outputs, fast_math, fuses, threads, native)
    program = Program(made, arguments, results, name)
    code = getattr(function, "__code__", None)
    if code is not None:
        program._parameters = code.co_varnames[: code.co_argcount]
    return program


def trace(
    function: Callable[..., Any],
    *arguments: Any,
    fast_math: bool = False,
    threads: int = 0,
    native: str = "auto",
    **keywords: Any,
) -> Program:
    """The program of a function for arguments like these: arrays, or a Spec for each.

    fast_math: allows what rounds otherwise, or is wrong for infinities, NaN or -0.
    threads: at most so many; 0: as many as the process may use.
    native: when kernels are compiled for this CPU: "auto" (after a second of running), "now" or "off".
    """
    leaves: List[Any] = []
    structure = flatten((arguments, keywords), leaves, _is_example)
    signatures = [_signature(leaf, i) for i, leaf in enumerate(leaves)]
    count = _checked_threads(threads)
    return _traced(function, structure, signatures, fast_math, count, native=checked_native(native))


class NoArrays(TraceError):
    """A traced function returns none."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


def checked_native(native: Any) -> str:
    if not isinstance(native, str):
        raise TypeError(f'native: expected "auto", "now" or "off", not {native!r:.60}')
    if native not in ("auto", "now", "off"):
        raise InvalidArgument(f"native={native}: give auto, now or off")
    return native


class Tracer:
    """What a compiled function does with calls that no known program fits."""

    def __init__(
        self, function: Callable[..., Any], fast_math: bool, threads: int, native: str = "auto"
    ) -> None:
        self.function = function
        self.fast_math = fast_math
        self.threads = threads
        self.native = native
        self.programs: Dict[Any, Program] = {}
        self.added: Optional[Callable[[Program], None]] = None

    def __call__(self, arguments: Tuple[Any, ...], keywords: Dict[str, Any]) -> Any:
        out = keywords.pop("out", None)
        leaves: List[Any] = []
        if has_traced((arguments, keywords)):  # a compiled function inside of another one
            if out is not None:
                raise TraceError("out= in a function that is traced: return the array instead")
            return self.function(*arguments, **keywords)
        structure = flatten((arguments, keywords), leaves, is_array)
        signatures = tuple(_signature(leaf, i) for i, leaf in enumerate(leaves))
        try:
            program = self.programs.get((structure, signatures))
        except TypeError as error:
            raise TraceError(f"an argument that is neither array nor hashable: {error}") from None
        if program is None:
            program = _traced(
                self.function,
                structure,
                signatures,
                self.fast_math,
                self.threads,
                native=self.native,
            )
            self.programs[(structure, signatures)] = program
            # No lock: a child of fork() might never get it. The tuple is made at once, and of two
            # threads that drop the same program one finds nothing.
            while len(self.programs) > _MOST_PROGRAMS:
                self.programs.pop(tuple(self.programs)[0], None)
            if self.added is not None:
                self.added(program)
        return program._run(leaves, out)


class Compiled(Protocol):
    """What compile() gives: a callable with these attributes.

    programs: those traced so far, the newest last.
    report(): of the newest program.
    """

    programs: Tuple[Program, ...]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any: ...
    def report(self) -> Report: ...


def _flat_results(program: Program) -> Optional[bool]:
    """Whether a call returns a tuple of arrays (True) or one array (False); None: neither."""
    array = ("array",)
    if program._results == array:
        return False
    is_tuple = program._results[0] == "tuple"
    return True if is_tuple and all(one == array for one in program._results[1:]) else None


def _plain(structure: Structure) -> Any:
    """An argument as Call.add() takes it. ValueError for more than an array or a value."""
    if structure[0] == "array":
        return ...
    if structure[0] == "number":
        return NotImplemented
    if structure[0] == "static" and not any(
        structure[2] is one for one in (..., NotImplemented)
    ):
        return structure[2]
    if structure[0] == "tuple" and ("array",) not in structure:
        return tuple(_plain(one) for one in structure[1:])
    raise ValueError


def native_call(tracer: Tracer) -> Any:
    """A call of the native kind, which learns the simple ones of the tracer's programs."""
    call = _graph.Call(tracer)

    def added(program: Program) -> None:
        is_tuple = _flat_results(program)
        positional, named = program._arguments[1:]
        try:
            values = [_plain(one) for one in (*positional[1:], *named[2:])]
        except ValueError:
            return
        if is_tuple is not None:
            shapes = tuple(one.shape for one in program.outputs)
            types = tuple(one.dtype for one in program.outputs)
            count = len(positional) - 1
            call.add(program._native, is_tuple, shapes, types, count, named[1], values)

    tracer.added = added
    functools.update_wrapper(call, tracer.function)
    return call


@overload
def compile(function: Callable[..., Any]) -> Compiled: ...
@overload
def compile(
    function: None = None, *, fast_math: bool = False, threads: int = 0, native: str = "auto"
) -> Callable[[Callable[..., Any]], Compiled]: ...
@overload
def compile(
    function: Callable[..., Any],
    *,
    fast_math: bool = False,
    threads: int = 0,
    native: str = "auto",
) -> Compiled: ...
def compile(
    function: Optional[Callable[..., Any]] = None,
    *,
    fast_math: bool = False,
    threads: int = 0,
    native: str = "auto",
) -> Any:
    """The function as programs: one for each combination of shapes, types and other arguments.

    Arguments are arrays, tuples, lists and dicts of them, and hashable values, for each of which
    the function is traced anew. What else it uses, such as arrays of an outer scope, is taken as it
    is when it is traced. `out=` takes arrays as the function returns them.

    Of a method `self` is such a hashable value: its attributes are taken as they are when it is
    traced, and the programs keep the instance alive. Give what changes as an argument.

    fast_math: allows what rounds otherwise, or is wrong for infinities, NaN or -0.
    threads: at most so many; 0: as many as the process may use.
    native: when kernels are compiled for this CPU: "auto" (after a second of running), "now" or "off".
        Results do not depend on it.
    """
    checked_native(native)
    if function is None:
        return functools.partial(compile, fast_math=fast_math, threads=threads, native=native)
    tracer = Tracer(function, fast_math, _checked_threads(threads), native)
    call = native_call(tracer)
    learn = tracer.added

    def added(program: Program) -> None:
        if learn is not None:
            learn(program)
        call.programs = tuple(tracer.programs.values())

    def report() -> Report:
        if not call.programs:
            raise InvalidArgument(f"no program yet: call {_name_of(function)} first, or trace() it")
        newest: Program = call.programs[-1]
        return newest.report()

    tracer.added = added
    call.programs = ()
    call.report = report
    return call
