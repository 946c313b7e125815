"""Circuits over the 96 classes of bytes.

    from hoist.graph import circuit

    circuit.canonical("mark@c21 . mark@c21").text     # 'mark@c00'
    circuit.eval("mark@c42^+3~@17").addresses         # (4442,)

The language is that of `hoist graph` (docs/reference/graph-circuits.md). `grammar` is "compiler", in which
copy names source and destination, or "spec", in which it names one class.
"""

from typing import NamedTuple, Optional, Tuple, Union

from hoist import _graph_circuit
from hoist._diagnostic import Diagnostic
from hoist.errors import InvalidArgument

__all__ = [
    "Canonical",
    "Circuit",
    "CircuitError",
    "Diagnostic",
    "Evaluation",
    "GroupElement",
    "canonical",
    "eval",
    "parse",
]


class CircuitError(InvalidArgument):
    """The text is no circuit. str() is what `hoist graph` prints; `diagnostics` has each error."""

    def __init__(self, text: str, diagnostics: Tuple[Diagnostic, ...]) -> None:
        super().__init__(text, diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return str(self.args[0])


class GroupElement(NamedTuple):
    """A product of gates. `number` is 0 to 191, 0 the identity. `matrix` has two rows of exact
    numbers, such as "-i" or "1/√2"."""

    number: int
    order: int
    matrix: Tuple[Tuple[str, str], Tuple[str, str]]


class Canonical(NamedTuple):
    """`group_element` where the circuit is a product of gates. `before` and `after` count operations.
    `rules` has the names of those that were used."""

    text: str
    group_element: Optional[GroupElement]
    before: int
    after: int
    rules: Tuple[str, ...]


class Evaluation(NamedTuple):
    """The representatives of the classes, the addresses of those with a page, and words."""

    bytes: bytes
    addresses: Tuple[int, ...]
    words: Tuple[str, ...]


class Circuit:
    """A text that has been read. str() prints it in one layout; equal circuits print alike."""

    def __init__(self, native: _graph_circuit.Circuit, grammar: str) -> None:
        self._native = native
        self.grammar = grammar

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        return f"<circuit {self}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Circuit):
            return NotImplemented
        return self.grammar == other.grammar and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((self.grammar, str(self)))

    def canonical(self, *, gates: bool = True) -> Canonical:
        """One text for all circuits that are known to do the same. Without `gates`, all operations
        are on memory."""
        text, element, before, after, rules = self._native.canonical(gates)
        return Canonical(
            text, None if element is None else GroupElement(*element), before, after, tuple(rules)
        )

    def eval(self) -> Evaluation:
        """What it stands for."""
        representatives, addresses, words = self._native.evaluate()
        return Evaluation(representatives, tuple(addresses), tuple(words))


def parse(text: str, *, grammar: str = "compiler", name: str = "<text>") -> Circuit:
    """Raises CircuitError. `name` stands in its messages."""
    native, messages, errors = _graph_circuit.parse(text, grammar, name)
    if native is None:
        diagnostics = tuple(Diagnostic(name, *message) for message in messages)
        raise CircuitError(errors.rstrip("\n"), diagnostics)
    return Circuit(native, grammar)


def canonical(
    circuit: Union[str, Circuit], *, grammar: str = "compiler", gates: bool = True
) -> Canonical:
    """Circuit.canonical() of a text or a circuit, which has a grammar of its own."""
    read = circuit if isinstance(circuit, Circuit) else parse(circuit, grammar=grammar)
    return read.canonical(gates=gates)


def eval(circuit: Union[str, Circuit], *, grammar: str = "compiler") -> Evaluation:
    """Circuit.eval() of a text or a circuit, which has a grammar of its own."""
    read = circuit if isinstance(circuit, Circuit) else parse(circuit, grammar=grammar)
    return read.eval()
