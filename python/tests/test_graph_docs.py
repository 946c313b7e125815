"""The examples of docs/reference/graph-programs.md and graph-arrays.md."""

import doctest
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["graph-programs.md", "graph-arrays.md"])
def test_examples_of_the_page(name):
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / name
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 10 and failed == 0
