"""hoist.rapidfuzz.process among threads, and with lists that change: what others do meanwhile, signals,
and an interpreter that ends."""

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from hoist.rapidfuzz import distance, fuzz, process

DAEMONS = """
import threading, time
from hoist.rapidfuzz import process

choices = [f"new york jets {i % 977}" for i in range(200_000)]
begun = threading.Barrier(3)

def work():
    begun.wait()
    while True:
        process.CALL

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(0.3)
"""


@pytest.mark.parametrize(
    "call",
    [
        "extract('new york mets', choices, limit=5)",
        "extract('new york mets' * 30, choices, limit=5)",
        "extractOne('new york mets', choices)",
    ],
)
def test_daemon_threads_when_the_interpreter_ends(call):
    code = DAEMONS.replace("CALL", call)
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")


def jets(count):
    return [f"new york jets {i % 977}" for i in range(count)]


@pytest.mark.parametrize("limit", [1, 5, None])
def test_a_list_that_another_thread_replaces(limit):
    """Every text comes with its own score, whatever is in the list by then."""
    query = "new york mets"
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for round in range(8):
            choices = jets(100_000)
            choices[::1000] = ["x" * 300 + query] * 100  # compared at the end

            def change():
                time.sleep(0.001 * round)
                del choices[100:]
                choices[:] = [f"{i}" for i in range(50)]

            thread = threading.Thread(target=change)
            thread.start()
            found = process.extract(query, choices, scorer=fuzz.ratio, limit=limit)
            best = process.extractOne(query, choices, scorer=fuzz.ratio)
            thread.join()
            assert len(found) == limit or limit is None
            for choice, score, _ in [*found, best]:
                assert fuzz.ratio(query, choice) == score
    finally:
        sys.setswitchinterval(interval)


class Clearing:
    """"abc", which clears a list when it is read."""

    def __init__(self, choices):
        self.choices = choices

    def __len__(self):
        return 3

    def __getitem__(self, place):
        self.choices.clear()
        return "abc"[place]


def test_choices_that_clear_the_list():
    choices = ["aaa", "abb"] * 100
    choices[5] = Clearing(choices)
    found = process.extract("aab", choices, scorer=fuzz.ratio, limit=3)
    assert [(choice, place) for choice, _, place in found] == [("aaa", 0), ("abb", 1), ("aaa", 2)]
    assert choices == []
    choices[:] = ["abb", "aaa", Clearing(choices), "aab"]
    assert process.extractOne("aab", choices, scorer=fuzz.ratio)[0::2] == ("abb", 0)
    for call in (process.extract, process.extractOne):
        choices[:] = ["aaa", "bbb"] * 6000

        def processor(choice):
            if choice != "aab":
                choices.clear()
            return choice

        found = call("aab", choices, processor=processor, scorer=fuzz.ratio)
        assert (found if call is process.extractOne else found[0])[0::2] == ("aaa", 0)


def test_a_signal_handler_that_shortens_the_list():
    choices = jets(400_000)
    before = signal.signal(signal.SIGALRM, lambda *_: choices.__delitem__(slice(100, None)))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        found = process.extract("new york mets", choices, scorer=fuzz.WRatio)
        while len(choices) > 100:  # it comes
            time.sleep(0.01)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert [fuzz.WRatio("new york mets", choice) for choice, _, _ in found] == [s for _, s, _ in found]


def test_extract_one_takes_no_more_than_it_needs():
    taken = []

    def endless():
        for i in itertools.count():
            taken.append(i)
            yield "abc" if i == 3 else f"{i}x"

    assert process.extractOne("abc", endless()) == ("abc", 100, 3)
    assert process.extractOne("ABC", endless(), processor=str.lower) == ("abc", 100, 3)
    assert taken == [0, 1, 2, 3] * 2
    processed = []

    def lower(text):
        processed.append(text)
        return text.lower()

    choices = {"x": "abd", "y": "ABC", "z": "abc"}
    assert process.extractOne("abc", choices, processor=lower) == ("ABC", 100, "y")
    assert processed == ["abc", "abd", "ABC"]


def test_extract_iter_has_the_rules_of_extract():
    """Its cut-offs of percents have 32 bits, its Jaro similarities no distance in between."""
    score = fuzz.ratio("abc", "abcd ef")
    for cutoff in (score - 1e-6, score, score + 1e-6, score + 1e-5):
        found = list(process.extract_iter("abc", ["abcd ef"], scorer=fuzz.ratio, score_cutoff=cutoff))
        assert found == process.extract("abc", ["abcd ef"], scorer=fuzz.ratio, score_cutoff=cutoff)
        assert len(found) == (cutoff < score + 1e-5)
    jaro = distance.Jaro.normalized_similarity
    choices = {i: text[:9] for i, text in enumerate(LONG[:500])}
    found = list(process.extract_iter(LONG[0][:20], choices, scorer=jaro))
    assert [key for _, _, key in found] == list(range(500))
    assert sorted(found) == sorted(process.extract(LONG[0][:20], choices, scorer=jaro, limit=None))
    each = process.extract_iter("b", itertools.cycle(["a", None, "B"]), processor=str.lower)
    assert [next(each) for _ in range(3)] == [("a", 0, 0), ("B", 100, 2), ("a", 0, 3)]


def test_scorers_of_the_users_below_the_worst_score():
    def scorer(a, b, score_cutoff=None):
        return -len(b)

    choices = ["ab", "", "a"]
    assert process.extract("a", choices, scorer=scorer) == [("", 0, 1)]
    assert process.extractOne("a", choices, scorer=scorer) == ("", 0, 1)
    assert list(process.extract_iter("a", choices, scorer=scorer)) == [("", 0, 1)]
    found = process.extract("a", choices, scorer=scorer, score_cutoff=-1, limit=None)
    assert found == [("", 0, 1), ("a", -1, 2)]
    assert list(process.extract_iter("a", choices, scorer=scorer, score_cutoff=-1)) == found


def test_unknown_keywords_and_limits():
    for kwargs in ({"prefix_weight": 0.3}, {"weights": (1, 1, 1)}, {"score_hint": 3}):
        for call in (process.extract, process.extractOne):
            with pytest.raises(TypeError, match=next(iter(kwargs))):
                call("a", ["a"], scorer=fuzz.ratio, scorer_kwargs=kwargs)
    for limit in (1.5, "2"):
        with pytest.raises(TypeError, match=f"limit={limit!r}: an integer, or None for all"):
            process.extract("a", ["a"], limit=limit)
    assert len(process.extract("a", ["a", "b"], limit=True)) == 1
    assert len(process.extract("a", ["a", "b"], limit=1 << 70)) == 2


@pytest.mark.parametrize("workers", [1, 2, -1])
@pytest.mark.parametrize(
    "scorer", [fuzz.WRatio, fuzz.ratio, distance.Hamming.distance, distance.OSA.distance]
)
def test_cpdist_by_several_threads(scorer, workers):
    queries = ["new york mets", "", None, "x" * 600] * 900
    choices = jets(len(queries))
    if scorer in (distance.Hamming.distance, distance.OSA.distance):
        queries = [query or "" for query in queries]
    found = process.cpdist(queries, choices, scorer=scorer, workers=workers, dtype="float64")
    assert found.tolist() == [scorer(query, choice) for query, choice in zip(queries, choices)]


RANDOM = random.Random(5)
LONG = ["".join(RANDOM.choices("abcdef gh", k=250)) for _ in range(40_000)]
DAMERAU = distance.DamerauLevenshtein.distance
WEIGHTS = {"scorer_kwargs": {"weights": (1, 2, 3)}}


@pytest.mark.parametrize(
    "call",
    [
        lambda: process.extract(LONG[0], LONG, scorer=DAMERAU),
        lambda: process.extract(LONG[0][:50], LONG * 9, scorer=DAMERAU),
        lambda: process.extract(LONG[0] * 9, LONG * 9, scorer=fuzz.partial_token_ratio),
        lambda: process.extract("ab" * 5_000_000, ["aab" * 3_000_000], scorer=fuzz.ratio),
        lambda: process.extractOne(LONG[0], LONG[1:], scorer=distance.Levenshtein.distance, **WEIGHTS),
        lambda: process.extractOne("ab" * 40_000, ["ba" * 40_000] * 9_000, scorer=distance.OSA.distance),
        lambda: process.extractOne("ab" * 5_000_000, ["aab" * 3_000_000], scorer=fuzz.ratio),
        lambda: list(process.extract_iter(LONG[0], LONG, scorer=DAMERAU)),
        lambda: next(process.extract_iter("ab" * 5_000_000, ["aab" * 3_000_000], scorer=fuzz.ratio)),
        lambda: process.cdist(LONG, ["ab" * 20_000], scorer=distance.OSA.distance),
        lambda: process.cdist(["a"], ["ab" * 20_000] * 60_000, scorer=distance.OSA.distance),
        lambda: process.cdist(LONG, LONG[:9_000], scorer=distance.Jaro.distance, dtype="u1", workers=-1),
        lambda: process.cdist(LONG[:200], LONG, scorer=fuzz.partial_ratio),
        lambda: process.cdist(LONG[:9_000], LONG, scorer=distance.Hamming.distance, dtype="u1"),
        lambda: process.cpdist(["ab" * 1500] * 9_000, ["ba" * 1500] * 9_000, scorer=DAMERAU),
        lambda: process.cpdist(["ab" * 5_000_000], ["aab" * 3_000_000], workers=-1),
    ],
)
def test_interrupts(call):
    """Each would take seconds, if not hours."""
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        call()
        timer.cancel()
    assert time.monotonic() - begin < 60  # on a machine that has other work, too
