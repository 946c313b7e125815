"""The examples of docs/reference/match-python.md."""

import doctest
from pathlib import Path


def test_examples_of_the_page():
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "match-python.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 20 and failed == 0
