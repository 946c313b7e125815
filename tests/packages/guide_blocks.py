"""The commands of a guide, to run them where a package is installed."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from guides_test import BLOCK, stable_words  # noqa: E402  pylint: disable=wrong-import-position
from failure import Failure  # noqa: E402  pylint: disable=wrong-import-position

MARK = "here, but by scripts/packages-test: "


def blocks(page, kind=None):
    """The blocks that guides_test runs, too, or those marked `not run: here, but by
    scripts/packages-test: KIND`."""
    text = (ROOT / "docs/guides" / page).read_text(encoding="utf-8")
    found = [block for block in BLOCK.finditer(text)
             if (block["mark"] != "not run" if kind is None else block["what"] == MARK + kind)]
    if not found:
        raise Failure(f"{page} has no commands {kind or 'that are run'}")
    return found


def follow(page, run, kind=None, change=lambda commands: commands):
    """Runs them by `run`, which takes commands and returns what they print."""
    for block in blocks(page, kind):
        output = run(change(block["commands"]))
        lacking = [word for word in stable_words(block["output"] or "") if word not in output]
        if lacking:
            raise Failure(f"{page}: {' '.join(lacking)} is not printed by\n{block['commands']}", output)
