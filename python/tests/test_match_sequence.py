"""hoist.match.SequenceMatcher against Python's difflib, on every result."""

import difflib
import gc
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoist import _native
from hoist.match import SequenceMatcher, get_close_matches

JUNK = [None, lambda x: x in (" ", 1), lambda x: True, lambda x: x in ("a", 0, "b")]


def assert_same(isjunk, a, b, autojunk=True, windows=()):
    ours = SequenceMatcher(isjunk, a, b, autojunk)
    theirs = difflib.SequenceMatcher(isjunk, a, b, autojunk)
    for alo, ahi, blo, bhi in windows:
        assert ours.find_longest_match(alo, ahi, blo, bhi) == theirs.find_longest_match(
            alo, ahi, blo, bhi
        )
    for method in ("ratio", "get_matching_blocks", "get_opcodes", "quick_ratio",
                   "real_quick_ratio", "find_longest_match"):  # fmt: skip
        mine, value = getattr(ours, method)(), getattr(theirs, method)()
        assert mine == value and type(mine) is type(value), method
    for n in (0, 1, 3):
        assert list(ours.get_grouped_opcodes(n)) == list(theirs.get_grouped_opcodes(n))
    for attribute in ("a", "b", "isjunk", "autojunk", "bjunk", "bpopular", "b2j"):
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute


TEXTS = st.one_of(st.text(alphabet="ab", max_size=30), st.text(alphabet="abcde é", max_size=60))
LISTS = st.lists(st.sampled_from([0, 1, 2, "a", " ", "long", (1,), 1.5]), max_size=40)


@given(st.one_of(TEXTS, LISTS), st.one_of(TEXTS, LISTS), st.sampled_from(JUNK), st.booleans(),
       st.data())  # fmt: skip
@settings(max_examples=600, deadline=None)
def test_any_sequences(a, b, isjunk, autojunk, data):
    windows = []
    for _ in range(3):
        alo = data.draw(st.integers(0, len(a)))
        ahi = data.draw(st.integers(alo, len(a)))
        blo = data.draw(st.integers(0, len(b)))
        windows.append((alo, ahi, blo, data.draw(st.integers(blo, len(b)))))
    assert_same(isjunk, a, b, autojunk, windows)


@pytest.mark.parametrize("isjunk", JUNK)
@pytest.mark.parametrize("autojunk", [True, False])
def test_long_sequences_with_popular_elements(isjunk, autojunk):
    random = np.random.default_rng(20261122)
    for size in (195, 199, 200, 201, 299, 300, 400, 600):
        for alphabet in (3, 26, 90, 400):
            b = random.integers(0, alphabet, size).tolist()
            a = [x for x in b if random.random() < 0.8] + [0] * 5
            if alphabet <= 90:
                assert_same(isjunk, "".join(chr(33 + x) for x in a),
                            "".join(chr(33 + x) for x in b), autojunk)  # fmt: skip
            assert_same(isjunk, a, b, autojunk, [(3, len(a) - 2, 5, len(b) // 2)])


def test_long_runs_and_popular_elements_at_the_corner():
    unique = [str(i) for i in range(196)]
    for a in (["x", "x", "q"], ["q", "x", "x"], ["x"] * 300, ["x", "q"] * 40):
        for b in (["x"] * 4 + unique, unique + ["x"] * 4, ["x"] * 300, ["x", "y"] * 150):
            for autojunk in (True, False):
                assert_same(None, a, b, autojunk)
    assert_same(None, "a" * 500, "a" * 700)
    assert_same(None, "ab" * 300, "ba" * 300, False)


@pytest.mark.parametrize("seed", range(4))
def test_random_pairs(seed):
    random = np.random.default_rng(seed)
    for _ in range(1500):
        alphabet = "abc \ud800é"[: random.integers(1, 6)]
        a, b = ("".join(random.choice(list(alphabet), random.integers(0, 13))) for _ in "ab")
        assert_same(JUNK[random.integers(0, 4)], a, b, bool(random.integers(0, 2)))


def test_elements_are_equal_as_a_dict_finds_them():
    assert_same(None, [1, True, 1.0, "1"], [1.0, "1", 1, True])
    assert_same(None, "abc", ["a", "b", "c", "bc"])
    assert_same(None, ["a", "b"], "abab")
    assert_same(None, b"abc", b"bcd")
    assert_same(None, b"abc", [97, 98])
    assert_same(lambda x: x == "b", ["a", "b"], "abab")
    with pytest.raises(TypeError):
        SequenceMatcher(None, [[1]], [[1]]).ratio()


def test_sequences_are_changed_one_at_a_time():
    ours, theirs = SequenceMatcher(), difflib.SequenceMatcher()
    assert ours.ratio() == theirs.ratio() == 1.0
    for step, text in [(1, "abcd"), (2, "bcde"), (1, ["b", "c"]), (2, "bc"), (1, ""), (2, [])] * 2:
        for matcher in (ours, theirs):
            (matcher.set_seq1 if step == 1 else matcher.set_seq2)(text)
        assert ours.ratio() == theirs.ratio()
        assert ours.get_opcodes() == theirs.get_opcodes()
        assert ours.get_matching_blocks() == theirs.get_matching_blocks()
    ours.set_seqs("x", "yx")
    assert ours.get_matching_blocks() == [(0, 1, 1), (1, 2, 0)]
    assert isinstance(ours, difflib.SequenceMatcher)


def test_elements_that_cannot_be_hashed_leave_the_pair_as_it_was():
    pair = _native.SequencePair(["x", "y"], True, None)
    pair.set_first(["x"])
    before = pair.ratio()
    with pytest.raises(TypeError, match="unhashable"):
        pair.set_first([[]])
    assert pair.ratio() == before
    reached = []

    class Asking:
        """Asks the pair while it is being numbered for it."""

        def __hash__(self):
            reached.append(pair.ratio())
            return 1

    pair.set_first([Asking(), "y"])
    assert reached and set(reached) == {before} and pair.ratio() == 0.5
    pair = None  # which its elements know: no collector would find that circle


def test_cycles_are_collected():
    class Element:
        """Refers to the matcher that compares it."""

    for isjunk in (None, lambda element: True):
        element = Element()
        element.matcher = SequenceMatcher(isjunk, [element], [element])
        element.matcher.ratio()
        gone = weakref.ref(element)
        del element
        gc.collect()
        assert gone() is None
    pair = _native.SequencePair(["x"], True, {"x"})
    assert gc.is_tracked(pair)


def test_windows_beyond_the_ends_are_refused():
    matcher = SequenceMatcher(None, "abc", "abc")
    for window in ((0, 4, 0, 3), (0, 3, 0, 4), (-1, 3, 0, 3), (0, 3, -1, 3), (0, 2**40, 0, 3)):
        with pytest.raises(IndexError):
            matcher.find_longest_match(*window)
    assert matcher.find_longest_match(2, 1, 0, 3) == (2, 0, 0)


@given(TEXTS, st.lists(TEXTS, max_size=20), st.integers(1, 5), st.floats(0, 1))
@settings(max_examples=300, deadline=None)
def test_close_matches(word, possibilities, n, cutoff):
    expected = difflib.get_close_matches(word, possibilities, n, cutoff)
    assert get_close_matches(word, possibilities, n, cutoff) == expected


def test_close_matches_of_lists_and_wrong_arguments():
    possibilities = [["a", "b"], ["a", "c"], ["x"]]
    expected = difflib.get_close_matches(["a", "b"], possibilities, cutoff=0.1)
    assert get_close_matches(["a", "b"], possibilities, cutoff=0.1) == expected
    assert get_close_matches("ab", possibilities, cutoff=0.1) == expected
    for wrong in ({"n": 0}, {"cutoff": 1.5}):
        with pytest.raises(ValueError):
            get_close_matches("a", ["a"], **wrong)


def test_one_matcher_in_several_threads():
    """Answers are of some pair of the sequences that were set, and nothing else breaks."""
    random = np.random.default_rng(1)
    texts = ["".join(random.choice(list("abcd"), 400)) for _ in range(4)]
    b = texts[0]
    possible = {difflib.SequenceMatcher(None, a, b).ratio() for a in texts}
    matcher = SequenceMatcher(None, texts[1], b)
    wrong = []

    def work(start):
        for i in range(200):
            matcher.set_seq1(texts[(start + i) % 4])
            if matcher.ratio() not in possible:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
