"""hoist.rapidfuzz against RapidFuzz itself, where it is installed: scripts/compare-rapidfuzz, little of it."""

import runpy
from pathlib import Path

import pytest

pytest.importorskip("rapidfuzz")
SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "compare-rapidfuzz"


def test_every_scorer_gives_the_same():
    compare = runpy.run_path(str(SCRIPT))["compare"]
    reports = []
    pairs, calls, differences, _ = compare(1500, None, seed=None, report=reports.append)
    assert pairs == 1500 and calls > 100_000
    assert not differences, reports


def test_lists_give_the_same():
    compare = runpy.run_path(str(SCRIPT))["compare"]
    reports = []
    _, calls, differences, _ = compare(0, None, seed=None, report=reports.append, lists=12)
    assert calls > 5000
    assert not differences, reports


def test_processes_give_the_same():
    import numpy as np
    import rapidfuzz as theirs

    import hoist.rapidfuzz as ours

    names = ["new york mets", "york", "", "NEW York jets", "atlanta braves", "mets new", "jets"]
    names += ["a" * 70 + name for name in names]
    for scorer in ("ratio", "WRatio", "token_set_ratio", "partial_token_ratio"):
        x, y = getattr(ours.fuzz, scorer), getattr(theirs.fuzz, scorer)
        for query in names:
            for keywords in ({}, {"score_cutoff": 50}, {"limit": None}, {"limit": 1}):
                mine = ours.process.extract(query, names, scorer=x, **keywords)
                assert mine == theirs.process.extract(query, names, scorer=y, **keywords)
            mine = ours.process.extractOne(query, names, scorer=x, score_cutoff=40)
            assert mine == theirs.process.extractOne(query, names, scorer=y, score_cutoff=40)
        for dtype in (None, np.uint8, np.float64):
            mine = ours.process.cdist(names, names, scorer=x, dtype=dtype)
            other = theirs.process.cdist(names, names, scorer=y, dtype=dtype)
            assert mine.dtype == other.dtype and np.array_equal(mine, other)
