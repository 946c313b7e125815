"""The examples of docs/reference/graph-programs.md and graph-arrays.md."""

import doctest
import re
from pathlib import Path

import pytest

from hoist import graph
from hoist.graph._types import DTYPES


@pytest.mark.parametrize("name", ["graph-programs.md", "graph-arrays.md"])
def test_examples_of_the_page(name):
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / name
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 10 and failed == 0


def test_the_pages_name_all_functions():
    pages = (Path(__file__).resolve().parents[2] / "docs" / "reference").glob("graph*.md")
    words = set(re.findall(r"\w+", "".join(page.read_text(encoding="utf-8") for page in pages)))
    functions = {name for name in graph.__all__ if name.islower()} - set(DTYPES)
    assert len(functions) > 150 and functions <= words
