"""Choices that are the patterns of a hoist.match.Index, each a sequence of symbols.

    with Index("names.index") as index:
        index.learn_many([[[letter] for letter in name] for name in names])
        process.extract("jon smith", index, scorer=fuzz.ratio, limit=3)

A query that is a str stands for its characters, and choices of characters come back as strs. Any
other query is a sequence of symbols, and choices are lists of them. The third element of a match is the pattern's
name, by which equal scores are ordered.

`ratio`, `QRatio` and the distances and normalized scores of LCSseq, Indel and Levenshtein without
weights are searches of the index: all cores, or a GPU where it is ahead. Every other scorer, and a
processor, reads every pattern.
"""

import sys
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple

from hoist.rapidfuzz._scorer_calls import Match, ScorerCall, best_items, each_match
from hoist.rapidfuzz._scorers import Processor

_CHUNK = 1 << 16  # patterns that are read at a time
# A search compares in 64 bits where RapidFuzz rounds a cut-off to 32.
_ROUNDING = 1e-6


def is_index(choices: Any) -> bool:
    if type(choices) is list or type(choices) is tuple:
        return False
    module = sys.modules.get("hoist._match_index")  # without which there is none
    return module is not None and isinstance(choices, module.Index)


class _Search(NamedTuple):
    scorer: str  # of Index.search
    scale: float = 1.0  # what a normalized score of 1 is
    value: str = "normalized_similarity"


_FAMILIES = {"LCSseq": "lcs", "Indel": "indel", "Levenshtein": "levenshtein"}


def _search_for(call: ScorerCall) -> Optional[_Search]:
    """None: no search ranks patterns as this scorer does."""
    if call.name in ("ratio", "QRatio"):
        return _Search("indel", 100.0)
    family, _, value = (call.name or "").partition(".")
    if family not in _FAMILIES or value == "similarity" or call.options[0]:
        return None
    return _Search(_FAMILIES[family], 1.0, value)


class _Choices:
    """The patterns that searches of one index found, as choices for one query. `asked`: the query
    before its processor."""

    def __init__(self, index: Any, asked: Any, query: Any):
        self.index = index
        self.query = query
        self.form = "texts" if isinstance(asked, str) else "symbols"
        for symbol in asked:
            if not isinstance(symbol, str):
                raise TypeError(f"an index has symbols that are str, not {type(symbol).__name__}")

    def search(self, scorer: str, limit: Optional[int], threshold: float) -> Any:
        """Hits of the index, the best normalized scores first, then by name."""
        state = [[symbol] for symbol in self.query]
        return self.index.search([state], limit, max(0.0, min(1.0, threshold)), scorer)

    def read(self, found: Any, begin: int, end: int) -> List[Any]:
        patterns: List[Any] = found._index.patterns(found._hits, 0, begin, end, self.form)
        return patterns

    def scored(self, call: ScorerCall, found: Any, cutoff: Any) -> List[Match]:
        """What was found and reaches the cut-off, with the scorer's own scores."""
        patterns = self.read(found, 0, sys.maxsize)
        best = best_items(call, self.query, patterns, None, None, cutoff)
        return [(choice, score, found._hits.name(0, place)) for choice, score, place in best]


def best_patterns(
    call: ScorerCall,
    asked: Any,
    query: Any,
    index: Any,
    processor: Processor,
    limit: Optional[int],
    score_cutoff: Optional[float],
) -> List[Match]:
    if limit == 0:
        return []
    choices = _Choices(index, asked, query)
    search = _search_for(call)
    if search is None or processor is not None or not len(query):
        return _best_of_all(call, choices, processor, limit, score_cutoff)
    if search.value == "distance":
        return _nearest(call, search, choices, limit, score_cutoff)
    threshold = 0.0
    if score_cutoff is not None:
        share = score_cutoff / search.scale
        threshold = (share if search.value == "normalized_similarity" else 1.0 - share) - _ROUNDING
    return choices.scored(call, choices.search(search.scorer, limit, threshold), score_cutoff)


def _nearest(
    call: ScorerCall,
    search: _Search,
    choices: _Choices,
    limit: Optional[int],
    score_cutoff: Optional[float],
) -> List[Match]:
    """The least distances. The `limit` best normalized scores tell how far those are at most; what is
    no farther has at least some normalized score."""
    farthest = score_cutoff
    if limit is not None:
        found = choices.scored(call, choices.search(search.scorer, limit, 0.0), None)
        if len(found) == limit:
            known = max(score for _, score, _ in found)
            farthest = known if farthest is None else min(farthest, known)
    threshold = 0.0
    if farthest is not None:
        size = len(choices.query)
        # The longer of a query of n symbols and a pattern of m has at least n, and m >= n - distance.
        total = size if search.scorer != "indel" else 2 * size - farthest
        threshold = 1.0 - farthest / total - _ROUNDING if total > 0 else 0.0
    near = choices.scored(call, choices.search(search.scorer, None, threshold), farthest)
    near.sort(key=lambda match: (match[1], match[2]))
    return near if limit is None else near[:limit]


def _all_chunks(choices: _Choices) -> Iterator[Tuple[Any, int, List[Any]]]:
    """All patterns by name: what was found, the place of the chunk's first, the chunk."""
    # Nothing has a symbol in common with no symbols: all scores are 0, and names decide.
    found = choices.index.search([[]], None, 0.0, "lcs")
    for begin in range(0, len(found.ids[0]), _CHUNK):
        yield found, begin, choices.read(found, begin, begin + _CHUNK)


def _best_of_all(
    call: ScorerCall,
    choices: _Choices,
    processor: Processor,
    limit: Optional[int],
    score_cutoff: Optional[float],
) -> List[Match]:
    best: List[Match] = []
    for found, begin, chunk in _all_chunks(choices):
        for choice, score, place in best_items(
            call, choices.query, chunk, processor, limit, score_cutoff
        ):
            best.append((choice, score, found._hits.name(0, begin + place)))
        best.sort(key=call.order)  # stable: the earlier chunk's first
        if limit is not None:
            del best[limit:]
    return best


def each_pattern(
    call: ScorerCall,
    asked: Any,
    query: Any,
    index: Any,
    processor: Processor,
    score_cutoff: Optional[float],
) -> Iterator[Match]:
    """Every pattern that reaches the cut-off, by name."""
    choices = _Choices(index, asked, query)
    for found, begin, chunk in _all_chunks(choices):
        keyed = enumerate(chunk, begin)
        for choice, score, place in each_match(call, query, keyed, processor, score_cutoff):
            yield choice, score, found._hits.name(0, place)
