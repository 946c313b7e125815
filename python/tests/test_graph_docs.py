"""The examples of docs/reference/graph-programs.md and graph-arrays.md."""

import doctest
import re
from pathlib import Path

import pytest

from hoist import graph

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
PAGES = ("graph-programs.md", "graph-arrays.md")


@pytest.mark.parametrize("name", PAGES)
def test_examples_of_the_page(name):
    failed, tried = doctest.testfile(str(REFERENCE / name), module_relative=False)
    assert tried > 10 and failed == 0


def test_the_pages_name_all_functions():
    text = "".join((REFERENCE / name).read_text(encoding="utf-8") for name in PAGES)
    functions = {name for name in graph.__all__ if name.islower()}
    assert len(functions) > 80 and functions <= set(re.findall(r"\w+", text))
