"""examples/graph: each program of Python runs, and says what it should."""

import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "graph"


def said(script, *arguments):
    command = [sys.executable, str(FOLDER / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    return done.stdout


def test_mlp(tmp_path):
    out = said("mlp.py", tmp_path / "mlp.graph")
    assert re.match(r"rows sum to 1: True\n\d+ nodes traced, \d+ left, 2 kernels", out)
    assert out.endswith("same: True\nloaded: mlp True\n")
    assert (tmp_path / "mlp.graph").read_text().startswith("hoist graph 1 mlp\n%x = input")


def test_lstm():
    out = said("lstm.py")
    assert out.startswith("as NumPy: True\n")
    operations, kernels = map(int, re.search(r"(\d+) operations, (\d+) kernels", out).groups())
    assert kernels <= operations / 3


def test_hologram_buffers():
    assert said("hologram_buffers.py") == "[[4.0, 5.0], [0.0, 0.0]]\nsum: 9.0\n"
