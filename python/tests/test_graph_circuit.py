"""hoist.graph.circuit: circuits from Python, and the examples of its page."""

import doctest
import json
import os
import pathlib
import subprocess
import sys
import threading

import pytest

import hoist
from hoist import errors
from hoist.graph import circuit

H = "copy@c05->c06 . mark@c21"
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/reference/graph-circuits-python.md"


def test_loading_is_lazy():
    code = (
        "import sys, hoist; assert 'hoist.graph' not in sys.modules;"
        "hoist.graph; assert 'hoist._graph_circuit' not in sys.modules;"
        "hoist.graph.circuit.parse; assert 'hoist._px' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError):
        hoist.graph.circuits


def test_canonical():
    got = circuit.canonical(f"{H} . {H}")
    assert got == ("mark@c00", (0, 1, (("1", "0"), ("0", "1"))), 4, 1, ("H² = I",))
    assert circuit.canonical("mark@c21 . mark@c21", gates=False).group_element is None
    assert circuit.canonical("copy@c05 . mark@c21 . copy@c05 . mark@c21", grammar="spec").text == "mark@c00"
    again = circuit.parse(got.text).canonical()
    assert (again.text, again.before) == (got.text, got.after)


def test_circuits_are_values():
    one, same = circuit.parse("mark@c5  .mark@c06"), circuit.parse("mark@c05 . mark@c6 // the same")
    assert one == same and hash(one) == hash(same) and str(one) == "mark@c05 . mark@c06"
    assert repr(one) == "<circuit mark@c05 . mark@c06>"
    assert one != circuit.parse("mark@c05 . mark@c06", grammar="spec")
    assert one != "mark@c05 . mark@c06"
    assert circuit.parse(str(one)) == one
    # A circuit has a grammar of its own.
    assert circuit.canonical(circuit.parse("copy@c05", grammar="spec")).text == "copy@c05"


def test_eval():
    got = circuit.eval("R+1@ (copy@c05@2 . evaluate@c21)", grammar="spec")
    assert got.bytes == b"\x4a\x6a" and got.addresses == (2 * 256 + 0x4A,)
    assert got.words == ("→ρ[1]", "phase[h₂=1]", "evaluate", "copy[d=0]", "←ρ[1]")
    assert circuit.parse("mark@c21").eval() == (b"\x2a", (), ("mark",))


def test_errors():
    with pytest.raises(circuit.CircuitError) as caught:
        circuit.parse("mark@c21 .\n mrak@c00 ⊗ mark@c0", name="a.circuit")
    assert isinstance(caught.value, errors.InvalidArgument)
    assert str(caught.value).startswith("a.circuit:2:2: error: mrak means nothing here\n")
    assert caught.value.diagnostics == (
        ("a.circuit", 2, 2, "mrak means nothing here", "is it mark?"),
        ("a.circuit", 2, 11, "⊗ means nothing here", "branches are parted by ||"),
    )
    with pytest.raises(circuit.CircuitError, match="longer than 1048576 bytes"):
        circuit.parse(" " * (1 << 20) + "mark@c0")
    with pytest.raises(errors.InvalidArgument, match='no grammar c: give "compiler" or "spec"'):
        circuit.parse("mark@c0", grammar="c")
    with pytest.raises(TypeError):
        circuit.parse(b"mark@c0")


def test_the_command_says_the_same():
    command = pathlib.Path(os.environ.get("HOIST_BUILD_DIR", "build/release")) / "bin/hoist"
    text = f"{H} . mark@c07 . mark@c07 . {H} || mark@c[0..9]^+1 . quote@c06"
    said = json.loads(subprocess.run([command, "graph", "canon", "--json", text], check=True, capture_output=True).stdout)
    got = circuit.canonical(text)
    assert said["canonical"] == got.text and said["rules"] == list(got.rules)
    assert (said["before"], said["after"]) == (got.before, got.after)


def test_from_many_threads():
    texts = [" . ".join([H, "mark@c07"] * count) for count in range(1, 40)]
    wanted = [circuit.canonical(text) for text in texts]
    wrong = []

    def work():
        if [circuit.canonical(text) for text in texts] != wanted:
            wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_examples_of_the_page():
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0
    assert doctest.testfile(str(PAGE), module_relative=False).attempted > 5
