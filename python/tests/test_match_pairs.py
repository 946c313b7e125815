"""hoist.match.cdist and its scorers against RapidFuzz, on every value."""

import math
import threading
import time

import numpy as np
import pytest
import rapidfuzz
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import distance, process

from hoist import errors, match

FAMILIES = ["LCSseq", "Indel", "Levenshtein"]
VALUES = ["distance", "similarity", "normalized_distance", "normalized_similarity"]
NAMES = [f"{family}.{value}" for family in FAMILIES for value in VALUES] + ["ratio"]


def theirs(name):
    if name == "ratio":
        return rapidfuzz.fuzz.ratio
    family, value = name.split(".")
    return getattr(getattr(distance, family), value)


def same(ours, expected):
    return (
        ours.dtype == expected.dtype
        and ours.shape == expected.shape
        and np.array_equal(ours, expected)
    )


def random_texts(random, count, longest, alphabet):
    return [
        "".join(random.choice(list(alphabet), size=random.integers(0, longest + 1)))
        for _ in range(count)
    ]


@pytest.fixture
def random():
    return np.random.default_rng(20261122)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("longest", [3, 9, 17, 40, 70, 300])
def test_texts_of_every_length(random, name, longest):
    for alphabet in ("ab", "abcdefghijklmnop", "aé€😀\ud800"):
        queries = random_texts(random, 30, longest, alphabet)
        choices = random_texts(random, 50, longest, alphabet)
        ours = match.cdist(queries, choices, scorer=name)
        assert same(ours, process.cdist(queries, choices, scorer=theirs(name)))


@pytest.mark.parametrize("name", NAMES)
def test_cutoffs_at_every_value(random, name):
    """Each score that there is, as a cut-off: what equals it must pass, whatever was rounded."""
    texts = random_texts(random, 25, 12, "abc") + random_texts(random, 5, 150, "abc")
    scores = np.unique(process.cdist(texts, texts, scorer=theirs(name), dtype=np.float64))
    for cutoff in [*scores[:: max(1, len(scores) // 40)], 0, 1]:
        ours = match.cdist(texts, texts, scorer=name, score_cutoff=cutoff, dtype=np.float64)
        expected = process.cdist(
            texts, texts, scorer=theirs(name), score_cutoff=cutoff, dtype=np.float64
        )
        assert same(ours, expected), cutoff


@pytest.mark.parametrize("name", NAMES)
def test_cutoffs_of_long_texts_that_are_alike(random, name):
    """Those that stop early, and those that a few edits make equal."""
    texts = random_texts(random, 6, 400, "abc") + ["".join(random.choice(list("abcé"), size=300))]
    for text in texts[-3:] * 5:
        for _ in range(random.integers(1, 9)):
            at = random.integers(0, len(text) + 1)
            text = text[:at] + "x"[: random.integers(0, 2)] + text[at + random.integers(0, 2) :]
        texts.append(text)
    scores = process.cdist(texts, texts, scorer=theirs(name), dtype=np.float64)
    nearest = np.unique(scores)[:12] if "distance" in name else np.unique(scores)[-12:]
    for cutoff in [*nearest, np.median(scores)]:
        for some in (texts, texts[-1:]):
            ours = match.cdist(some, texts, scorer=name, score_cutoff=cutoff)
            expected = process.cdist(some, texts, scorer=theirs(name), score_cutoff=cutoff)
            assert same(ours, expected), cutoff


@pytest.mark.parametrize("name", ["Indel.distance", "Levenshtein.distance", "ratio"])
@pytest.mark.parametrize("few", [1, 3, 40])
def test_characters_of_every_size(random, name, few):
    """Strs of 1, 2 and 4 bytes a character together, some alike, with NUL and lone surrogates."""
    letters = ("ab", "abcdefghijklmnopqrstuvwxyz", "é\0a", "аб\u0161a", "ab\ud800", "a😀\u0100")
    for longest in (12, 45, 150, 700):
        texts = [text for some in letters for text in random_texts(random, 12, longest, some)]
        texts += [text[: len(text) // 2] + "😀я" + text[len(text) // 2 :] for text in texts[::3]]
        texts += [text[:5] + text[7:] + "z" for text in texts[::2]]
        for cutoff in (None, 0, 1, 2, 3, 5, 10, 31, 63, 100):
            for some, others in ((texts[-few:], texts), (texts, texts[:few])):
                ours = match.cdist(some, others, scorer=name, score_cutoff=cutoff)
                expected = process.cdist(some, others, scorer=theirs(name), score_cutoff=cutoff)
                assert same(ours, expected), (longest, cutoff)


@given(
    st.lists(st.text(alphabet="abé", max_size=80), max_size=6),
    st.lists(st.text(alphabet="abé", max_size=80), max_size=6),
    st.sampled_from(NAMES),
)
@settings(max_examples=200, deadline=None)
def test_any_texts(queries, choices, name):
    ours = match.cdist(queries, choices, scorer=name)
    expected = process.cdist(queries, choices, scorer=theirs(name))
    assert ours.shape == (len(queries), len(choices))
    assert np.array_equal(ours, expected) or not ours.size


ELEMENT = st.one_of(
    st.integers(-1, 120), st.sampled_from(["a", "b", "x", "long"]), st.booleans(),
    st.sampled_from([1.0, 97.0, 2.5]), st.tuples(st.integers(0, 2)), st.none(),
)  # fmt: skip


@given(
    st.lists(st.lists(ELEMENT, max_size=20), min_size=1, max_size=5),
    st.lists(st.one_of(st.lists(ELEMENT, max_size=20), st.text("abx", max_size=9)), min_size=1,
             max_size=5),
    st.sampled_from(NAMES),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_lists_of_hashables(queries, choices, name):
    ours = match.cdist(queries, choices, scorer=name)
    assert np.array_equal(ours, process.cdist(queries, choices, scorer=theirs(name)))


def test_equal_hashes_are_not_equal_elements():
    class Sly:
        def __hash__(self):
            return 7

    assert match.cdist([[Sly()]], [[Sly()], [7]], scorer="LCSseq.distance").tolist() == [[1, 1]]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
                                   "uint64", "float32", "float64"])  # fmt: skip
@pytest.mark.parametrize("name", ["LCSseq.distance", "Indel.normalized_similarity", "ratio"])
def test_types_and_multipliers(random, name, dtype):
    texts = random_texts(random, 20, 30, "abcd")
    for multiplier in (1, 3, 0.5, 100):
        keywords = {"dtype": dtype, "score_multiplier": multiplier}
        ours = match.cdist(texts, texts, scorer=name, **keywords)
        assert same(ours, process.cdist(texts, texts, scorer=theirs(name), **keywords))


@pytest.mark.parametrize("workers", [0, 1, 2, 3, -1])
def test_many_pairs_on_several_threads(random, workers):
    queries = random_texts(random, 700, 20, "abcdef")
    choices = random_texts(random, 1500, 70, "abcdef")
    for name in ("ratio", "Levenshtein.distance"):
        for some, others in ((queries, choices), (choices, queries[:7]), (queries[:1], choices)):
            ours = match.cdist(some, others, scorer=name, workers=workers)
            assert same(ours, process.cdist(some, others, scorer=theirs(name), workers=2))


def test_scorers_by_name_by_object_and_by_rapidfuzz():
    queries, choices = ["abc", "", "x"], ["abd", "abc"]
    for name in NAMES:
        family, _, value = name.partition(".")
        scorer = getattr(getattr(match, family), value) if value else match.ratio
        expected = process.cdist(queries, choices, scorer=theirs(name))
        for wanted in (name, scorer, theirs(name)):
            assert same(match.cdist(queries, choices, scorer=wanted), expected)
        for query in queries:
            for choice in choices:
                ours, value = scorer(query, choice), theirs(name)(query, choice)
                assert ours == value and type(ours) is type(value)
                assert scorer(query, choice, score_cutoff=1) == theirs(name)(
                    query, choice, score_cutoff=1
                )
    assert same(match.cdist(queries, choices), process.cdist(queries, choices))


def test_processor_bytes_and_other_collections():
    assert match.cdist(["AB"], ["ab"], processor=str.lower).tolist() == [[100.0]]
    assert match.cdist([b"abc"], ["abc"]).tolist() == [[100.0]]
    assert match.cdist({"ab": 1}, ("ab",)).tolist() == [[100.0]]
    assert match.cdist(np.array(["ab", "x"]), (text for text in ["ab"])).tolist() == [[100.0], [0]]
    assert match.cdist([np.array([1, 2, 3])], [[1, 2, 3]]).tolist() == [[100.0]]
    assert match.cdist([], ["a"]).shape == (0, 1)
    assert match.cdist(["a"], []).shape == (1, 0)


def test_nothing_has_the_worst_score():
    for missing in (None, math.nan):
        queries, choices = ["ab", missing], [missing, "ab"]
        assert match.cdist(queries, choices).tolist() == [[0, 100], [0, 0]]
        ours = match.cdist(queries, choices, scorer=match.Indel.normalized_distance)
        assert ours.tolist() == [[1, 0], [1, 1]]
        with pytest.raises(errors.InvalidArgument):
            match.cdist(queries, choices, scorer=match.Indel.distance)


def test_what_is_wrong_is_said():
    with pytest.raises(errors.Unsupported, match="no such scorer"):
        match.cdist(["a"], ["b"], scorer=len)
    with pytest.raises(errors.InvalidArgument, match="score_cutoff"):
        match.cdist(["a"], ["b"], scorer="Indel.normalized_distance", score_cutoff=1.5)
    with pytest.raises(errors.InvalidArgument, match="score_cutoff"):
        match.cdist(["a"], ["b"], scorer="Indel.distance", score_cutoff=-1)
    for multiplier in (math.inf, -math.inf, math.nan):
        for scorer in ("Indel.distance", "ratio"):
            with pytest.raises(errors.InvalidArgument, match="score_multiplier"):
                match.cdist(["a"], ["b"], scorer=scorer, score_multiplier=multiplier)
    for dtype in (bool, ">i4"):
        with pytest.raises(errors.Unsupported, match="scores of the type"):
            match.cdist(["a"], ["b"], dtype=dtype)
    assert match.cdist(["a"], ["a"], workers=2**40).tolist() == [[100]]
    with pytest.raises(errors.Unsupported, match="weights"):
        match.cdist(["a"], ["b"], scorer_kwargs={"weights": (1, 2, 3)})
    for wrong in ([3], [[[]]]):
        with pytest.raises(TypeError):
            match.cdist(wrong, ["b"])


def test_what_nobody_else_keeps(random):
    """Texts that are made on the way are there until they are compared."""
    texts = random_texts(random, 300, 90, "abcdefgé")
    reversed_texts = [text[::-1] for text in texts]
    expected = match.cdist(reversed_texts, reversed_texts)
    made = match.cdist((text[::-1] for text in texts), (text[::-1] for text in texts))
    assert np.array_equal(made, expected)
    assert np.array_equal(match.cdist(texts, texts, processor=lambda text: text[::-1]), expected)


def test_other_threads_run_meanwhile(random):
    """The lock is released: a thread that needs it goes on while pairs are compared."""
    texts = random_texts(random, 3000, 60, "abcdef")
    steps = 0
    most_in_a_call = 0
    end = time.monotonic() + 60

    def compare():
        nonlocal most_in_a_call
        while most_in_a_call < 2 and time.monotonic() < end:
            before = steps
            match.cdist(texts, texts)
            most_in_a_call = max(most_in_a_call, steps - before)

    thread = threading.Thread(target=compare)
    thread.start()
    while thread.is_alive():
        steps += 1
        thread.join(0.001)
    assert most_in_a_call > 1
