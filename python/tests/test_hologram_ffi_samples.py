"""The samples of the original's PyTorch guide (hologram_samples/) run as they are printed there."""

import json
import pathlib
import subprocess
import sys

import hologram_ffi as hg
import pytest

SAMPLES = pathlib.Path(__file__).parent / "hologram_samples"


def text_of(name):
    return (SAMPLES / f"{name}.py").read_text(encoding="utf-8")


def run(text):
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_vector_addition():
    assert run(text_of("vector_addition")) == (
        "Result: [0.0, 3.0, 6.0, 9.0, 12.0, 15.0, 18.0, 21.0, 24.0, 27.0]\n"
    )


def test_convert_and_compute():
    pytest.importorskip("torch")
    assert run(text_of("convert_and_compute")) == "Match: True\n"


def test_training_step():
    pytest.importorskip("torch")
    text = """
import json, math, torch
import hologram_ffi as hg
{sample}
inputs, targets = torch.ones(4, 8), torch.tensor([3.0, 1.0])
for _ in range(300):        # an executor a step, as it is printed
    loss = train_step_with_hologram(None, inputs, targets, None)
print(loss)
"""
    assert float(run(text.format(sample=text_of("training_step")))) == 5.0


def test_linear_layer():
    torch = pytest.importorskip("torch")
    names = {"torch": torch, "hg": hg, "json": json, "np": pytest.importorskip("numpy")}
    exec(text_of("linear_layer"), names)
    x, weight = torch.rand(3, 5), torch.rand(2, 5)
    assert torch.allclose(names["linear_layer_hologram"](x, weight), x @ weight.T)
