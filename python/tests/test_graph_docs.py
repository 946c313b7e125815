"""The examples of docs/reference/graph-programs.md."""

import doctest
from pathlib import Path


def test_examples_of_the_page():
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "graph-programs.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 10 and failed == 0
