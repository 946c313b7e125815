"""The examples of docs/reference/graph-programs.md and graph-arrays.md."""

import doctest
import re
from pathlib import Path

import pytest

from hoist import graph
from hoist.graph._types import DTYPES

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGES = ("graph-programs.md", "graph-arrays.md")


@pytest.mark.parametrize("name", PAGES)
def test_examples_of_the_page(name):
    failed, tried = doctest.testfile(str(REFERENCE / name), module_relative=False)
    assert tried > 10 and failed == 0


def test_the_pages_name_all_functions():
    text = "".join(page.read_text(encoding="utf-8") for page in REFERENCE.glob("graph*.md"))
    functions = {name for name in graph.__all__ if name.islower()} - set(DTYPES)
    assert len(functions) > 150 and functions <= set(re.findall(r"\w+", text))
