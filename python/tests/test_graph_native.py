"""Kernels compiled for this CPU in the place of precompiled ones: hoist.graph.compile(native=...)."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from hoist import errors, graph

NEEDS_COMPILER = pytest.mark.skipif(
    not any(
        os.access(os.path.join(folder, name), os.X_OK)
        for folder in os.get_exec_path()
        for name in ("c++", "g++", "clang++")
    ),
    reason="there is no C++ compiler",
)
MEASURING_CALLS = 8


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HOIST_GRAPH_NATIVE", raising=False)


def polynomial(x):
    for factor in (0.3, 0.2, -0.7, 1.1, 0.4, -0.2, 0.9, -1.3):
        x = x * x + factor
    return x


def floats(count, seed=0):
    return np.random.default_rng(seed).standard_normal(count, dtype=np.float32) / 2


def same_bits(a, b):
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def test_off_says_so():
    function = graph.compile(polynomial, native="off")
    function(floats(100))
    report = function.report()
    assert report.native == "off" and report.native_error == ""
    assert [kernel.code for kernel in report.kernels] == ["precompiled"]
    assert report.kernels[0].compiled_us == 0
    assert "precompiled" not in str(report)


def test_short_scripts_start_no_compiler():
    function = graph.compile(polynomial)
    for _ in range(40):
        function(floats(100))
    assert function.report().native == "waiting"


def test_a_value_that_is_none():
    with pytest.raises(errors.InvalidArgument, match="native=always: give auto, now or off"):
        graph.compile(polynomial, native="always")(floats(3))
    with pytest.raises(errors.InvalidArgument, match="auto, now or off"):
        graph.parse("hoist graph 1\n%x = input : f32[2]\nreturn %x\n", native="")


def test_the_environment_decides_for_auto_alone(monkeypatch):
    monkeypatch.setenv("HOIST_GRAPH_NATIVE", "OFF")
    assert graph.trace(polynomial, floats(3)).report().native == "off"
    monkeypatch.setenv("HOIST_GRAPH_NATIVE", "nonsense")
    assert graph.trace(polynomial, floats(3)).report().native == "waiting"
    assert graph.trace(polynomial, floats(3), native="off").report().native == "off"


@NEEDS_COMPILER
@pytest.mark.parametrize("count", [1, 7, 1000, 50_000])
def test_results_keep_their_bits(count, monkeypatch):
    x = floats(count)
    expected = graph.compile(polynomial, native="off")(x)
    monkeypatch.setenv("HOIST_GRAPH_NATIVE", "now")
    function = graph.compile(polynomial)
    for _ in range(MEASURING_CALLS + 3):
        assert same_bits(function(x), expected)
    report = function.report()
    assert report.native == "done"
    (kernel,) = report.kernels
    assert kernel.code in ("compiled", "not faster")
    assert kernel.precompiled_us > 0 and kernel.compiled_us > 0
    assert " us precompiled, " in str(report)


@NEEDS_COMPILER
def test_texts_and_out_arrays():
    def scaled(x):
        numbers = x.astype("float32")
        return numbers / 255 - numbers

    text = graph.trace(scaled, graph.Spec((300,), "uint8")).text()
    program = graph.parse(text, native="now")
    x = np.arange(300).astype(np.uint8)
    out = np.empty(300, np.float32)
    for _ in range(MEASURING_CALLS + 3):
        assert program(x, out=out) is out
        np.testing.assert_array_equal(
            out, x.astype(np.float32) / np.float32(255) - x.astype(np.float32)
        )
    assert program.report().native == "done"


@NEEDS_COMPILER
def test_in_place_while_it_is_measured():
    function = graph.compile(polynomial, native="now")
    expected = graph.compile(polynomial, native="off")
    for i in range(MEASURING_CALLS + 3):
        x = floats(500, seed=i)
        wanted = expected(x)
        function(x, out=x)
        assert same_bits(x, wanted)


@NEEDS_COMPILER
def test_kernels_are_replaced_after_a_while():
    x = floats(100_000)
    function = graph.compile(polynomial)
    expected = function(x)
    end = time.monotonic() + 120
    while function.report().native not in ("done", "failed") and time.monotonic() < end:
        assert same_bits(function(x), expected)
    assert function.report().native == "done", function.report()
    assert same_bits(function(x), expected)


@NEEDS_COMPILER
def test_threads_call_while_kernels_are_measured():
    x = floats(3000)
    expected = graph.compile(polynomial, native="off")(x)
    function = graph.compile(polynomial, native="now")
    wrong = []

    def run():
        for _ in range(300):
            if not same_bits(function(x), expected):
                wrong.append(1)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and function.report().native == "done"


def test_nothing_to_compile():
    function = graph.compile(lambda x: graph.exp(x), native="now")
    x = floats(10)
    np.testing.assert_allclose(function(x), np.exp(x), rtol=1e-6)
    assert function.report().native == "done"
    assert function.report().kernels[0].code == "nothing to compile"


def test_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    function = graph.compile(polynomial, native="now")
    x = floats(10)
    assert same_bits(function(x), graph.compile(polynomial, native="off")(x))
    assert function.report().native == "failed"
    assert "install g++" in function.report().native_error
    assert "kernels stay precompiled: " in str(function.report())


def script(text, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(text)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


HANGING = """
    import numpy as np, os, sys, time
    from hoist import graph

    def polynomial(x):
        for factor in (0.3, 0.2, -0.7, 1.1, 0.4, -0.2, 0.9, -1.3):
            x = x * x + factor
        return x

    x = np.full(100_000, 0.25, np.float32)
    function = graph.compile(polynomial)
    while not os.path.exists(os.environ["STARTED"]):
        result = function(x)
    assert function.report().native == "compiling"
"""


@pytest.fixture
def hanging(tmp_path):
    """The environment of a compiler that never ends, and how to find it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    started = tmp_path / "started"
    (folder / "c++").write_text(f"#!/bin/sh\necho $$ > {started}.new\n/bin/mv {started}.new {started}\nexec /bin/sleep 300\n")
    (folder / "c++").chmod(0o755)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    yield {"PATH": str(folder), "STARTED": str(started), "TMPDIR": str(temporary)}
    if started.exists():
        try:
            os.kill(int(started.read_text()), signal.SIGKILL)
        except ProcessLookupError:
            pass


def ended(hanging):
    try:
        os.kill(int(open(hanging["STARTED"], encoding="ascii").read()), 0)
    except ProcessLookupError:
        return os.listdir(hanging["TMPDIR"]) == []
    return False


def test_the_interpreter_ends_while_a_compiler_runs(hanging):
    with script(HANGING + '    print("done")\n', **hanging) as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, "done\n", "")
    assert ended(hanging)


def test_children_do_not_end_their_parents_compiler(hanging):
    with script(
        HANGING
        + """
    child = os.fork()
    if child == 0:
        assert np.array_equal(function(x), result)
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    os.kill(int(open(os.environ["STARTED"]).read()), 0)
    print("done")
    """,
        **hanging,
    ) as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (0, "done\n", "")
    assert ended(hanging)


@pytest.mark.parametrize("native", [None, 1, b"auto", ["auto"]])
def test_native_of_a_wrong_type_is_named(native):
    for call in (
        lambda: graph.compile(lambda x: x + 1, native=native),
        lambda: graph.compile(native=native),
        lambda: graph.trace(lambda x: x + 1, graph.Spec((2,), "float32"), native=native),
        lambda: graph.parse("", native=native),
    ):
        with pytest.raises(TypeError, match="native: expected"):
            call()
