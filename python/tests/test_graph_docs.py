"""The examples of docs/reference/graph-programs.md and graph-arrays.md."""

import doctest
import re
from pathlib import Path

import pytest

from hoist import graph


@pytest.mark.parametrize("name", ["graph-programs.md", "graph-arrays.md"])
def test_examples_of_the_page(name):
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / name
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 10 and failed == 0


def test_the_page_names_all_functions():
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "graph-programs.md"
    words = set(re.findall(r"\w+", page.read_text(encoding="utf-8")))
    functions = {name for name in graph.__all__ if name.islower()}
    assert len(functions) > 100 and functions <= words
