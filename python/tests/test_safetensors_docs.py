"""The examples of docs/reference/safetensors.md."""

import doctest
from pathlib import Path


def test_examples_of_the_page(tmp_path, monkeypatch):
    page = Path(__file__).resolve().parents[2] / "docs" / "reference" / "safetensors.md"
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried >= 7 and failed == 0
