"""Insertions and deletions."""

from typing import Any, Optional

from hoist.rapidfuzz import _scorers
from hoist.rapidfuzz._scorers import Processor
from hoist.rapidfuzz.distance._edits import Editops, Opcodes, edits_between

__all__ = [
    "distance",
    "editops",
    "normalized_distance",
    "normalized_similarity",
    "opcodes",
    "similarity",
]

distance: _scorers.Count = _scorers.function("Indel.distance", __name__)
similarity: _scorers.Count = _scorers.function("Indel.similarity", __name__)
normalized_distance: _scorers.Metric = _scorers.function("Indel.normalized_distance", __name__)
normalized_similarity: _scorers.Metric = _scorers.function("Indel.normalized_similarity", __name__)


def editops(
    s1: Any, s2: Any, *, processor: Processor = None, score_hint: Optional[float] = None
) -> Editops:
    """The edits that lead from s1 to s2."""
    return edits_between(s1, s2, processor, replaces=False)


def opcodes(
    s1: Any, s2: Any, *, processor: Processor = None, score_hint: Optional[float] = None
) -> Opcodes:
    """The same, as blocks that cover both sequences."""
    return editops(s1, s2, processor=processor).as_opcodes()
