"""Ctrl-C stops long calls of hoist.match, which leave an index whole. Each call here would go on for
hours if nothing stopped it, but for learning, which would be complete."""

import os
import signal
import threading

import numpy as np
import pytest

from hoist import match
from hoist.rapidfuzz import distance, fuzz


def soon():
    """SIGINT comes a moment later."""
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()


ALIKE = [["a"]] * 60_000


@pytest.fixture(scope="module")
def long_patterns():
    index = match.Index()
    for last in range(40):
        index.learn([*ALIKE, [str(last)]])
    yield index
    index.close()


@pytest.mark.parametrize("synced", [False, True])
def test_search(long_patterns, synced):
    if synced:
        long_patterns.sync()
    with pytest.raises(KeyboardInterrupt):
        soon()
        long_patterns.search([[*ALIKE[:50_000], ["b"], *ALIKE[:9_000]]] * 3, scorer="difflib")
    assert long_patterns.search([[["a"], ["7"]]], k=1, scorer="lcs").names() != [[]]


def test_predict(long_patterns):
    with pytest.raises(KeyboardInterrupt):
        soon()
        long_patterns.predict([[f"{i % 2}a"] for i in range(3)] + ALIKE[:60_000])


@pytest.mark.parametrize("scorer", ["ratio", "Levenshtein.distance"])
def test_cdist(scorer):
    text, other = "ab" * 5_000_000, "aab" * 3_000_000  # with millions of edits between them
    with pytest.raises(KeyboardInterrupt):
        soon()
        match.cdist([text], [other], scorer=scorer)
    many = ["ab" * 1_500 + str(i) for i in range(3_000)]
    with pytest.raises(KeyboardInterrupt):
        soon()
        while True:  # some seconds each
            match.cdist(many, many, scorer=scorer, workers=-1)
    with pytest.raises(KeyboardInterrupt):
        soon()
        pair = match.ratio if scorer == "ratio" else match.Levenshtein.distance
        pair(text, other)
    assert match.cdist(["ab"], ["ab"]).tolist() == [[100]]


@pytest.mark.parametrize(
    "scorer", [fuzz.ratio, fuzz.QRatio, distance.Levenshtein.distance, distance.LCSseq.similarity]
)
def test_pairs_of_rapidfuzz(scorer):
    text, other = "ab" * 5_000_000, "aab" * 3_000_000
    with pytest.raises(KeyboardInterrupt):
        soon()
        scorer(text, other)


@pytest.mark.parametrize("isjunk", [None, "c".__eq__])
def test_sequence_matcher(isjunk):
    matcher = match.SequenceMatcher(isjunk, "ab" * 300_000, "ba" * 300_000 + "c", autojunk=False)
    for call in (matcher.ratio, matcher.find_longest_match):
        with pytest.raises(KeyboardInterrupt):
            soon()
            call()
    matcher.set_seqs("ab", "bc")
    assert matcher.ratio() == 0.5


@pytest.mark.parametrize("bulk", [False, True])
def test_learning_keeps_what_was_learned(tmp_path, bulk):
    count = 3_000_000 if bulk else 4_000
    path = tmp_path / "index"
    with match.Index(path, durability="batch" if bulk else "sync") as index:
        symbols = np.arange(2 * count)
        with pytest.raises(KeyboardInterrupt):
            soon()
            if bulk:
                index.learn_arrays(symbols, np.arange(0, 2 * count + 1, 2))
            else:
                while True:
                    start = len(index)
                    index.learn_many([[[f"{start + i}"], ["b"]] for i in range(count)])
        learned = len(index)
        assert learned < count or not bulk
        assert index.verify() == learned
        index.learn([["after"], ["wards"]])
    with match.Index(path) as index:
        assert len(index) == learned + 1
        assert index.verify() == learned + 1


def test_handlers_that_do_not_raise_run_meanwhile():
    ran = threading.Event()
    before = signal.signal(signal.SIGALRM, lambda *_: ran.set())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        assert match.Levenshtein.distance("ab" * 60_000, "cd" * 60_000) == 120_000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ran.is_set()


def test_other_threads_take_no_interrupts():
    """Their calls go on: Python gives signals to the main thread."""
    results = []
    text = "ab" * 40_000
    thread = threading.Thread(
        target=lambda: results.append(match.Levenshtein.distance(text, text[1:] + "c"))
    )
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        thread.join()
    thread.join()
    assert results == [2]
