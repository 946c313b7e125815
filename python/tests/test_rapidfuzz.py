"""hoist.rapidfuzz by itself: names, arguments and what they are documented to give."""

import copy
import functools
import inspect
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import hoist.rapidfuzz as rapidfuzz
from hoist.rapidfuzz import distance, fuzz, process, utils
from hoist.rapidfuzz.distance import (
    DamerauLevenshtein,
    Editop,
    Editops,
    Hamming,
    Indel,
    Jaro,
    JaroWinkler,
    Levenshtein,
    MatchingBlock,
    Opcode,
    Opcodes,
    ScoreAlignment,
)

RATIOS = [name for name in fuzz.__all__ if name != "partial_ratio_alignment"]
METRICS = [name for name in distance.__all__ if name[:3] not in ("Edi", "Opc", "Mat", "Sco")]
VALUES = ["distance", "similarity", "normalized_distance", "normalized_similarity"]
SCORERS = [getattr(fuzz, name) for name in RATIOS] + [
    getattr(getattr(distance, metric), value) for metric in METRICS for value in VALUES
]


class NAType:  # as pandas names its own
    __module__ = "pandas._libs.missing"


def test_import_of_hoist_leaves_it_alone():
    code = "import sys, hoist; print([m for m in sys.modules if 'rapidfuzz' in m])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_layout():
    assert (len(RATIOS), len(METRICS)) == (10, 10)
    assert rapidfuzz.distance.Levenshtein.distance("lewenstein", "levenshtein") == 2
    assert rapidfuzz.process.extractOne("b", ["a", "b"]) == ("b", 100.0, 1)
    assert set(process.__all__) == {"cdist", "cpdist", "extract", "extractOne", "extract_iter"}


@pytest.mark.parametrize("missing", [None, math.nan, NAType()])
def test_missing_sequences_have_the_worst_score(missing):
    for name in RATIOS:
        assert getattr(fuzz, name)(missing, "a") == 0
        assert getattr(fuzz, name)("a", missing, processor=str.lower) == 0
    for metric in METRICS:
        module = getattr(distance, metric)
        assert module.normalized_distance(missing, "a") == 1
        assert module.normalized_similarity("a", missing, processor=str.lower) == 0
    assert fuzz.partial_ratio_alignment(missing, "a") is None
    with pytest.raises(TypeError):
        Levenshtein.distance(missing, "a")
    assert process.extract("a", ["a", missing, "b"]) == [("a", 100.0, 0), ("b", 0.0, 2)]
    assert process.extract(missing, ["a"]) == []
    assert process.extractOne(missing, ["a"]) is None
    assert list(process.extract_iter("a", [missing])) == []
    assert process.cdist(["a"], [missing, "a"]).tolist() == [[0, 100]]
    assert process.cdist(["a", missing], ["a"], scorer=Jaro.normalized_distance).tolist() == [[0], [1]]
    with pytest.raises(ValueError):
        process.cdist(["a"], [missing], scorer=DamerauLevenshtein.distance)


@pytest.mark.parametrize("scorer", SCORERS)
def test_scorers_are_pickled_and_copied_as_what_they_are(scorer):
    assert pickle.loads(pickle.dumps(scorer)) is scorer
    assert copy.deepcopy(scorer) is scorer
    assert scorer.__doc__
    parameters = inspect.signature(scorer).parameters
    assert list(parameters)[:2] == ["s1", "s2"]
    assert {"processor", "score_cutoff"} < set(parameters)


@pytest.mark.parametrize("scorer", SCORERS)
def test_every_way_gives_the_same_score(scorer):
    a, others = "new york mets", ["new YORK mets", "york new", "", "atlanta braves", "mets"]
    name = scorer._hoist_scorer
    scores = [scorer(a, other) for other in others]
    row = process.cdist([a], others, scorer=scorer, dtype=np.float64)[0]
    assert row.tolist() == scores
    assert process.cpdist([a] * 5, others, scorer=scorer, dtype=np.float64).tolist() == scores
    found = {key: score for _, score, key in process.extract(a, others, scorer=scorer, limit=None)}
    assert [found[i] for i in range(5)] == scores
    assert [s for _, s, _ in process.extract_iter(a, others, scorer=scorer)] == scores
    is_distance = "distance" in name
    best = min(scores) if is_distance else max(scores)
    place = scores.index(best)
    assert process.extractOne(a, others, scorer=scorer) == (others[place], best, place)
    assert process.extract(a, others, scorer=scorer, limit=1) == [(others[place], best, place)]
    if not is_distance:  # as any function, of which nothing is known
        assert process.extractOne(a, others, scorer=functools.partial(scorer))[1] == best


def test_extract_and_its_arguments():
    choices = {"x": "abc", 7: "abd", "z": "xyz"}
    assert process.extract("ABC", choices, processor=utils.default_process, scorer=fuzz.ratio) == [
        ("abc", 100.0, "x"),
        ("abd", pytest.approx(66.67, abs=0.01), 7),
        ("xyz", 0.0, "z"),
    ]
    assert process.extract("abc", choices, scorer=Levenshtein.distance, score_cutoff=1) == [
        ("abc", 0, "x"),
        ("abd", 1, 7),
    ]
    assert process.extract("a", iter(["a", "b"]), limit=0) == []
    assert process.extractOne("abc", ["xyz"], score_cutoff=1) is None
    weights = {"weights": (1, 1, 3)}
    assert process.extract("abc", ["abd"], scorer=Levenshtein.distance, scorer_kwargs=weights) == [
        ("abd", 2, 0)
    ]
    assert process.cdist(["abc"], ["abd"], scorer=Levenshtein.distance, scorer_kwargs=weights) == 2
    with pytest.raises(ValueError):
        process.cpdist(["a"], [])
    with pytest.raises(TypeError):
        process.extract("a", 5)


def test_cdist_types_and_multipliers():
    matrix = process.cdist(["ab"], ["ac", "ab"], scorer=distance.OSA.distance)
    assert matrix.dtype == np.uint32 and matrix.tolist() == [[1, 0]]
    assert process.cdist(["ab"], ["ac"], scorer=fuzz.WRatio).dtype == np.float32
    scaled = process.cdist(
        ["abc"], ["abd"], scorer=Jaro.similarity, score_multiplier=100, dtype=np.uint8, workers=-1
    )
    assert scaled.tolist() == [[78]]
    same = process.cdist(["a", "b"] * 50, ["a"], scorer=fuzz.token_ratio, workers=2)
    assert same.ravel().tolist() == [100, 0] * 50


def test_cutoffs():
    assert Levenshtein.distance("kitten", "sitting", score_cutoff=1) == 2
    assert Jaro.similarity("ab", "cd", score_cutoff=0.5) == 0
    assert JaroWinkler.distance("ab", "cd", score_cutoff=0.5) == 1
    assert fuzz.WRatio("ab", "abcd", score_cutoff=99) == 0
    with pytest.raises(TypeError, match="0.0 - 1.0"):
        Jaro.similarity("a", "b", score_cutoff=3)
    with pytest.raises(OverflowError):
        Levenshtein.distance("a", "b", score_cutoff=-1)
    with pytest.raises(ValueError, match="prefix_weight"):
        JaroWinkler.similarity("a", "b", prefix_weight=2)
    with pytest.raises(ValueError, match="same length"):
        Hamming.distance("a", "bc", pad=False)


def test_edits():
    edits = Levenshtein.editops("qabxcd", "abycdf")
    assert edits.as_list() == [("delete", 0, 0), ("replace", 3, 2), ("insert", 6, 5)]
    assert edits[0].tag == "delete" and edits[-1] == Editop("insert", 6, 5)
    assert edits.apply("qabxcd", "abycdf") == "abycdf"
    assert edits.inverse() == Editops([("insert", 0, 0), ("replace", 2, 3), ("delete", 5, 6)], 6, 6)
    blocks = edits.as_opcodes()
    assert blocks.as_editops() == edits and Opcodes(edits.as_list(), 6, 6) == blocks
    assert blocks[1] == Opcode("equal", 1, 3, 0, 2)
    assert edits.as_matching_blocks() == [
        MatchingBlock(1, 0, 2),
        MatchingBlock(4, 3, 2),
        MatchingBlock(6, 6, 0),
    ]
    assert edits.remove_subsequence(edits[:1]).as_list() == [("replace", 2, 2), ("insert", 5, 5)]
    for value in (edits, blocks, edits[0], blocks[0]):
        assert pickle.loads(pickle.dumps(value)) == value
    assert Hamming.editops("abc", "axcd").as_list() == [("replace", 1, 1), ("insert", 3, 3)]
    with pytest.raises(ValueError):
        Editops([("delete", 9, 1)], 3, 3)
    with pytest.raises(ValueError):
        edits[::-1]
    with pytest.raises(TypeError):
        hash(edits)


def test_alignment():
    assert fuzz.partial_ratio_alignment("a cat", "the cats") == ScoreAlignment(80.0, 0, 5, 2, 7)
    assert fuzz.partial_ratio_alignment("a", "b", score_cutoff=50) is None


def test_default_process():
    assert utils.default_process("  Ünï-Code_ 12\n") == "ünï code  12"
    assert utils.default_process(b"aB") == "ab"
    assert fuzz.ratio("A B", "a-b!", processor=utils.default_process) == 100
    with pytest.raises(TypeError):
        utils.default_process(None)
