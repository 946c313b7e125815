"""Exact similarity of sequences: an index to search, and the comparisons of RapidFuzz and difflib.

    from hoist.match import Index, SequenceMatcher, cdist

    with Index("shop.index") as index:
        index.learn([["shoe"], ["sock"], ["hat"]])
        records = index.predict([["shoe"], ["sock"]])
        scores, ids = index.search([[["shoe"], ["sock"]]], k=10)

    distances = cdist(queries, choices, scorer=Levenshtein.distance, workers=-1)
    ratio = SequenceMatcher(None, "abcd", "bcde").ratio()

No candidate is lost to a filter, and every score is exact. Everything may be called from any
thread; the interpreter's lock is released while an index works and while pairs are compared.

Errors are those of `hoist.errors`.
"""

from hoist._match_index import Found, Index
from hoist._match_pairs import Indel, LCSseq, Levenshtein, cdist, ratio
from hoist._match_sequence import SequenceMatcher, get_close_matches
from hoist._native import Scorer as Scorer

__all__ = [
    "Found",
    "Indel",
    "Index",
    "LCSseq",
    "Levenshtein",
    "Scorer",
    "SequenceMatcher",
    "cdist",
    "get_close_matches",
    "ratio",
]
