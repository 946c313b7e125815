"""hoist.rapidfuzz.process over an index, beside the same patterns as a mapping."""

import pickle
import random

import pytest

from hoist.errors import InvalidArgument
from hoist.match import Index
from hoist.rapidfuzz import distance, fuzz, process

METRICS = (distance.LCSseq, distance.Indel, distance.Levenshtein)
SEARCHED = [fuzz.ratio, fuzz.QRatio] + [
    getattr(metric, value)
    for metric in METRICS
    for value in ("distance", "normalized_distance", "normalized_similarity")
]
READ = [fuzz.WRatio, fuzz.partial_ratio, fuzz.token_set_ratio, distance.OSA.distance]
READ += [metric.similarity for metric in METRICS] + [distance.JaroWinkler.similarity]


def same_length(a, b, *, processor=None, score_cutoff=None):
    return 100.0 if len(a) == len(b) else 0.0


def texts(count, seed):
    draw = random.Random(seed)
    found = set()
    while len(found) < count:
        size = draw.choice((2, 3, 5, 8, 13, 21, 64, 65, 130))
        found.add("".join(draw.choice("abcd é€ ") for _ in range(size)))
    return sorted(found)


@pytest.fixture(scope="module", params=["recent", "segments"])
def names(request):
    index = Index()
    choices = texts(300, 1)
    learned = index.learn_many([[[symbol] for symbol in text] for text in choices])
    if request.param == "segments":
        index.sync()
    # What is removed is no choice.
    for name in learned[::30]:
        index.delete(name)
    mapping = dict(sorted((n, t) for i, (n, t) in enumerate(zip(learned, choices)) if i % 30))
    yield index, mapping
    index.close()


@pytest.mark.parametrize("scorer", SEARCHED + READ + [same_length], ids=repr)
def test_the_same_as_a_mapping(names, scorer):
    index, mapping = names
    draw = random.Random(2)
    is_ratio = scorer in (fuzz.ratio, fuzz.QRatio, same_length) or scorer in READ[:3]
    is_count = not is_ratio and "normalized" not in repr(scorer) and scorer not in READ[-1:]
    cutoffs = (0, 50, 66.66666666666667, 100, 101) if is_ratio else (0.0, 0.25, 0.4, 0.5, 1.0)
    if is_count:
        cutoffs = (0, 1, 3, 10, 64, 10**9)
    for query in [texts(300, 1)[7], "abcd", "x", "", *texts(12, 3)]:
        for limit in (1, 2, 5, 400, None):
            cutoff = draw.choice((None, *cutoffs))
            asked = {"scorer": scorer, "limit": limit, "score_cutoff": cutoff}
            expected = process.extract(query, mapping, **asked)
            assert process.extract(query, index, **asked) == expected, (query, asked)
        one = {"scorer": scorer, "score_cutoff": cutoff}
        assert process.extractOne(query, index, **one) == process.extractOne(query, mapping, **one)
        each = list(process.extract_iter(query, mapping, **one))
        assert list(process.extract_iter(query, index, **one)) == each


def test_weights_and_processors_read_every_pattern(names):
    index, mapping = names
    for asked in (
        {"scorer": distance.Levenshtein.distance, "scorer_kwargs": {"weights": (1, 2, 3)}},
        {"scorer": fuzz.ratio, "processor": str.upper},
        {"scorer": fuzz.partial_ratio, "processor": list},
        {},
    ):
        assert process.extract("abc d", index, **asked) == process.extract("abc d", mapping, **asked)


def test_symbols_are_lists():
    with Index() as index:
        index.learn([["shoe"], ["sock"], ["hat"]], name="outfit")
        index.learn([["hat", "coat"], ["glove"]], name="winter")  # events are sorted
        for scorer in (fuzz.ratio, fuzz.token_ratio, distance.Levenshtein.distance):
            found = process.extract(["shoe", "sock", "cap"], index, scorer=scorer, limit=1)
            assert found[0][0] == ["shoe", "sock", "hat"] and found[0][2] == "outfit"
        assert process.extractOne(("coat", "hat"), index, scorer=fuzz.ratio)[0] == [
            "coat",
            "hat",
            "glove",
        ]
        # The symbols of a str are its characters.
        index.learn([["h"], ["é"]], name="text")
        for scorer in (fuzz.ratio, fuzz.WRatio):
            assert process.extract("hé", index, scorer=scorer) == [
                ("hé", 100.0, "text"),
                (["shoe", "sock", "hat"], 0.0, "outfit"),
                (["coat", "hat", "glove"], 0.0, "winter"),
            ]


def test_what_is_refused():
    index = Index()
    index.learn([["a"], ["b"]])
    assert process.extract(None, index) == [] and process.extractOne(None, index) is None
    assert process.extract("ab", index, limit=0) == []
    for query in ([1, 2], b"ab", 5):
        with pytest.raises(TypeError):
            process.extract(query, index, scorer=fuzz.ratio)
        with pytest.raises(TypeError):
            list(process.extract_iter(query, index))
    with pytest.raises(ValueError):
        process.extract("ab", index, limit=-1)
    index.close()
    for scorer in (fuzz.ratio, fuzz.WRatio):
        with pytest.raises(InvalidArgument, match="closed"):
            process.extract("ab", index, scorer=scorer)


def test_patterns_of_what_was_found():
    with Index(sort=False) as index:
        index.learn([["b", "a"], ["c"]], name="one")
        index.learn([["c"], ["d"]], name="two")
        found = index.search([[["c"]], [["a"]]], k=5)
        assert found.patterns() == [
            [[["c"], ["d"]], [["b", "a"], ["c"]]],
            [[["b", "a"], ["c"]], [["c"], ["d"]]],
        ]
        copy = pickle.loads(pickle.dumps(found))
        with pytest.raises(InvalidArgument, match="pickled"):
            copy.patterns()
        with Index() as other, pytest.raises(InvalidArgument, match="another index"):
            other._index.patterns(found._hits, 0, 0, 1, "events")
    with pytest.raises(InvalidArgument, match="closed"):
        found.patterns()
