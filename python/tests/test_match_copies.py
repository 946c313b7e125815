"""Copies and pickles of what hoist.match and hoist.tensors give: the same answers, or a TypeError."""

import copy
import difflib
import functools
import pickle

import numpy as np
import pytest

from hoist import match, tensors

WAYS = [copy.copy, copy.deepcopy] + [
    lambda value, protocol=protocol: pickle.loads(pickle.dumps(value, protocol))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
]
FAMILIES = [match.LCSseq, match.Indel, match.Levenshtein]
SCORERS = [match.ratio] + [
    getattr(family, value)
    for family in FAMILIES
    for value in ("distance", "similarity", "normalized_distance", "normalized_similarity")
]


@pytest.mark.parametrize("way", WAYS)
def test_scorers_stay_themselves(way):
    for scorer in SCORERS + FAMILIES:
        assert way(scorer) is scorer
    partial = way(functools.partial(match.Levenshtein.distance, score_cutoff=2))
    assert partial("kitten", "sitting") == 3 and partial("abcdef", "ghijkl") == 3
    assert match.Scorer("ratio")("ab", "ab") == 100


def is_space(symbol):
    return symbol == " "


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("isjunk", [None, is_space])
@pytest.mark.parametrize("is_used", [False, True])
def test_sequence_matcher(way, isjunk, is_used):
    pair = (isjunk, "private Thread currentThread;", "private volatile Thread currentThread;")
    matcher, plain = match.SequenceMatcher(*pair), difflib.SequenceMatcher(*pair)
    if is_used:
        assert matcher.get_opcodes() == plain.get_opcodes() and matcher.ratio() == plain.ratio()
    other = way(matcher)
    assert type(other) is match.SequenceMatcher
    assert other.get_matching_blocks() == plain.get_matching_blocks()
    assert other.get_opcodes() == plain.get_opcodes()
    assert other.quick_ratio() == plain.quick_ratio() and other.bjunk == plain.bjunk
    for one in (other, plain):
        one.set_seq1("private Thread")
    assert other.ratio() == plain.ratio()
    assert matcher.get_opcodes() == difflib.SequenceMatcher(*pair).get_opcodes()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("k", [None, 2])
def test_found(way, k):
    with match.Index() as index:
        index.learn_many([[["a"], ["b"]], [["a"], ["c"]], [["d"], ["e"]]])
        found = index.search([[["a"], ["b"]], [["d"]]], k=k)
        other = way(found)
        names = found.names()
    for ours, theirs in zip(other.scores, found.scores):
        assert np.array_equal(ours, theirs, equal_nan=True)
    for ours, theirs in zip(other.ids, found.ids):
        assert np.array_equal(ours, theirs)
    assert other.names() == names


def test_what_owns_files_or_an_index_says_so(tmp_path):
    path = tmp_path / "some.holo"
    tensors.save_file({"a": np.arange(8, dtype=np.float32)}, path)
    with match.Index() as index, tensors.safe_open(path, framework="np") as file:
        for way in WAYS:
            for owner in (index, file):
                with pytest.raises(TypeError, match="cannot copy or pickle"):
                    way(owner)
        with tensors.ProgressiveModel(path, framework="np") as model:
            for way in WAYS:
                with pytest.raises(TypeError, match="cannot copy or pickle ProgressiveModel"):
                    way(model)
        assert file.get_tensor("a")[3] == 3
    for way in WAYS:
        assert way(tensors.info(path)) == tensors.info(path)
