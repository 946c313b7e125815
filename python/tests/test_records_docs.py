"""The examples of docs/reference/records-python.md."""

import doctest
from pathlib import Path


def test_examples_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "records-python.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 10 and failed == 0
