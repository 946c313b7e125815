"""Places that differ."""

from typing import Any

from hoist.rapidfuzz import _scorers
from hoist.rapidfuzz._scorers import Processor
from hoist.rapidfuzz.distance._edits import Editop, Editops, Opcodes

__all__ = [
    "distance",
    "editops",
    "normalized_distance",
    "normalized_similarity",
    "opcodes",
    "similarity",
]

distance: _scorers.PaddedCount = _scorers.function("Hamming.distance", __name__)
similarity: _scorers.PaddedCount = _scorers.function("Hamming.similarity", __name__)
normalized_distance: _scorers.PaddedMetric = _scorers.function("Hamming.normalized_distance", __name__)
normalized_similarity: _scorers.PaddedMetric = _scorers.function("Hamming.normalized_similarity", __name__)


def editops(s1: Any, s2: Any, *, pad: bool = True, processor: Processor = None) -> Editops:
    """What differs, place by place."""
    if processor is not None:
        s1, s2 = processor(s1), processor(s2)
    if not pad and len(s1) != len(s2):
        raise ValueError("Sequences are not the same length.")
    common = min(len(s1), len(s2))
    edits = [
        Editop("replace", i, i) for i in range(common) if distance(s1[i : i + 1], s2[i : i + 1])
    ]
    edits += [Editop("delete", i, len(s2)) for i in range(common, len(s1))]
    edits += [Editop("insert", len(s1), i) for i in range(common, len(s2))]
    return Editops(edits, len(s1), len(s2))


def opcodes(s1: Any, s2: Any, *, pad: bool = True, processor: Processor = None) -> Opcodes:
    """The same, as blocks that cover both sequences."""
    return editops(s1, s2, pad=pad, processor=processor).as_opcodes()
