"""docs/reference/kato.md names what there is."""

import re
from pathlib import Path

import hoist.kato
from hoist.kato import Settings

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "kato.md"


def test_every_setting_is_told_and_none_that_is_not():
    page = PAGE.read_text()
    rows = dict(re.findall(r"^\| `(HOIST_KATO\w*)` \| `(\w+)`", page, re.MULTILINE))
    assert set(rows.values()) == set(Settings.__dataclass_fields__)
    for variable, field in rows.items():
        value = "7" if variable != "HOIST_KATO" else "0"
        assert getattr(Settings.from_environment({variable: value}), field) not in (
            getattr(Settings(), field),
        )


def test_every_function_and_class_is_there():
    page = PAGE.read_text()
    for name in re.findall(r"hoist\.kato\.(\w+)\(", page):
        assert hasattr(hoist.kato, name), name
    for module, classes in re.findall(r"^\| `hoist\.kato\.(\w+)` \| (.*?) \|", page, re.MULTILINE):
        found = __import__(f"hoist.kato.{module}", fromlist=["x"])
        for name in re.findall(r"`(\w+)`", classes):
            assert hasattr(found, name), name
