"""Programs as text: what is saved computes the same, under the names of the function."""

import re
from pathlib import Path
from typing import Any, Dict, NamedTuple

import numpy as np
import pytest

from hoist import graph
from hoist.errors import InvalidArgument


class Pair(NamedTuple):
    least: Any
    greatest: Any


def layer(x: Any, params: Dict[str, Any], *scales: Any) -> Any:
    hidden = graph.gelu(x @ params["w"] + params["b"])
    for scale in scales:
        hidden = hidden * scale
    return {"hidden": hidden, "ends": Pair(hidden.min(axis=-1), hidden.max(axis=-1))}


def traced() -> graph.Program:
    weights = {"w": graph.Spec((4, 5)), "b": graph.Spec((5,))}
    return graph.trace(layer, graph.Spec((3, 4)), weights, graph.Spec(()))


def test_the_text_names_arguments_and_results() -> None:
    lines = traced().text().splitlines()
    assert lines[0] == "hoist graph 1 layer"
    assert lines[1:4] == [
        "%x = input : f32[3,4]",
        "%params.w = input : f32[4,5]",
        "%params.b = input : f32[5]",
    ]
    assert "%argument.2 = input : f32" in lines
    assert lines[-1].startswith("return hidden = %")
    assert "ends.least = %" in lines[-1] and "ends.greatest = %" in lines[-1]


def test_what_is_loaded_computes_the_same(tmp_path: Any) -> None:
    program = traced()
    program.save(tmp_path / "layer.graph")
    loaded = graph.load(tmp_path / "layer.graph")
    assert loaded.name == "layer"
    assert loaded.inputs == program.inputs and loaded.outputs == program.outputs
    assert loaded.text() == program.text()
    rng = np.random.default_rng(3)
    x, w, b, scale = (
        rng.standard_normal(shape).astype(np.float32) for shape in ((3, 4), (4, 5), (5,), ())
    )
    expected = program(x, {"w": w, "b": b}, scale)
    hidden, least, greatest = loaded(x, w, b, scale)
    np.testing.assert_array_equal(hidden, expected["hidden"])
    np.testing.assert_array_equal(least, expected["ends"].least)
    np.testing.assert_array_equal(greatest, expected["ends"].greatest)
    assert graph.parse(program.text()).report() == program.report()


def test_constants_keep_their_bits() -> None:
    weights = np.random.default_rng(4).standard_normal((30, 2)).astype(np.float32)
    weights[0] = [np.nan, -0.0]

    def scaled(x: Any) -> Any:
        return graph.abs(x) @ weights

    program = graph.trace(scaled, graph.Spec((1, 30)))
    assert " = constant hex " in program.text()
    again = graph.parse(program.text())
    x = np.ones((1, 30), np.float32)
    np.testing.assert_array_equal(again(x), program(x))
    assert again.text() == program.text()


def test_a_file_is_replaced_only_on_request(tmp_path: Any) -> None:
    path = tmp_path / "layer.graph"
    path.write_text("mine")
    with pytest.raises(InvalidArgument, match="replace=True"):
        traced().save(path)
    assert path.read_text() == "mine"
    traced().save(path, replace=True)
    assert path.read_text() == traced().text()


def test_what_is_wrong_is_said_with_its_place(tmp_path: Any) -> None:
    with pytest.raises(InvalidArgument, match="TEXT:2:6: error: no operation inpt"):
        graph.parse("hoist graph 1\n%x = inpt : f32\nreturn %x\n")
    path = tmp_path / "wrong.graph"
    path.write_text("hoist graph 9\n")
    with pytest.raises(InvalidArgument, match="wrong.graph:1:13: error: a text of version 9"):
        graph.load(path)
    with pytest.raises(FileNotFoundError):
        graph.load(tmp_path / "none.graph")


def test_the_texts_of_the_page() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "graph-text.md"
    program, error = re.findall(r"```text\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert graph.parse(program).text() == program
    wrong = program.replace("matmul %x, %w", "matmul %x, %v")
    with pytest.raises(InvalidArgument) as told:
        graph.parse(wrong)
    assert str(told.value).replace("TEXT", "layer.graph") + "\n" == error
