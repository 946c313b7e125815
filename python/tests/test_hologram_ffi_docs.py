"""docs/reference/hologram-ffi.md: its examples run, and it names each function with its arguments."""

import doctest
import re
from pathlib import Path

import hologram_ffi as hg

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "hologram-ffi.md"


def test_examples_of_the_page():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried >= 10 and failed == 0


def test_the_page_names_each_function_with_its_arguments():
    text = PAGE.read_text(encoding="utf-8")
    signatures = dict(re.findall(r"`(\w+)\(([\w, ]*)\)`", text))
    for name in hg.__all__:
        assert f"`{name}" in text, name
        if name in signatures:
            assert f"({signatures[name]})" == getattr(hg, name).__text_signature__, name
    assert len(signatures) > 50
