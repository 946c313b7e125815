"""One sequence with many, and many with many.

Where the scorer is one of `hoist.rapidfuzz`, the whole comparison is one call of C++; any other
function of two sequences will do.
"""

import operator
import sys
from heapq import nsmallest
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple

import numpy as np

from hoist import _native
from hoist._match_pairs import cdist as _pair_cdist
from hoist._native import is_missing
from hoist.rapidfuzz import fuzz
from hoist.rapidfuzz._scorers import Processor, checked_prefix_weight, checked_weights

__all__ = ["cdist", "cpdist", "extract", "extractOne", "extract_iter"]

Scorer = Callable[..., Any]
Match = Tuple[Any, Any, Any]  # a choice, its score, its place or key

_MOST_WORKERS = 1024
_FLAG_I64 = 1 << 6
_FLAG_SIZE_T = 1 << 7


def _options_of(name: str) -> Set[str]:
    """What C++ takes of a scorer's keywords; what else there is, a call takes or refuses."""
    family = name.rpartition(".")[0]
    if family in ("Levenshtein", "JaroWinkler"):
        return {"weights", "prefix_weight", "score_hint"}  # as in RapidFuzz, each leaves the other's
    return {"score_hint"} if family else set()


class _ScorerCall:
    """How a scorer is called, and what is a good score of it."""

    def __init__(self, scorer: Scorer, kwargs: Optional[Dict[str, Any]]):
        self.scorer = scorer
        self.kwargs = dict(kwargs or {})
        # A function that wraps one, with its attributes, is not that one.
        is_own = getattr(scorer, "_RF_OriginalScorer", None) is scorer
        known = getattr(scorer, "_RF_ScorerPy", None) if is_own else None
        self.best: Any = 100
        self.worst: Any = 0
        self.flags = 0
        if known is not None:
            flags = known["get_scorer_flags"](**self.kwargs)
            self.best, self.worst = flags["optimal_score"], flags["worst_score"]
            self.flags = flags["flags"]
        self.is_distance = self.best < self.worst
        # Its name where C++ does it all.
        name = getattr(scorer, "_hoist_scorer", None) if is_own else None
        self.name: Optional[str] = None
        self.options: Tuple[Any, float] = (None, 0.1)
        if name is not None and set(self.kwargs) <= _options_of(name):
            self.name = name
            weights = checked_weights(self.kwargs.get("weights", (1, 1, 1)))
            self.options = (weights, checked_prefix_weight(self.kwargs.get("prefix_weight", 0.1)))

    def passes(self, score: Any, cutoff: Any) -> bool:
        return bool(score <= cutoff if self.is_distance else score >= cutoff)

    def is_better(self, score: Any, other: Any) -> bool:
        return bool(score < other if self.is_distance else score > other)

    def multiplier(self, wanted: float) -> float:
        """Of counts only its integer part counts."""
        return float(int(wanted)) if self.flags & (_FLAG_SIZE_T | _FLAG_I64) else wanted

    def score(self, query: Any, choice: Any, cutoff: Any) -> Any:
        return self.scorer(query, choice, score_cutoff=cutoff, **self.kwargs)


_KNOWN_CALLS: Dict[Any, _ScorerCall] = {}  # of this module's scorers without arguments


def _scorer_call(scorer: Scorer, kwargs: Optional[Dict[str, Any]]) -> _ScorerCall:
    if kwargs or type(scorer) is not _native.FuzzFunction:
        return _ScorerCall(scorer, kwargs)
    known = _KNOWN_CALLS.get(scorer)
    if known is None:
        known = _KNOWN_CALLS[scorer] = _ScorerCall(scorer, None)
    return known


def _with_keys(choices: Any) -> Iterable[Tuple[Any, Any]]:
    return choices.items() if hasattr(choices, "items") else enumerate(choices)


def _keys_and_choices(choices: Any) -> Tuple[Optional[List[Any]], Any]:
    """Without keys where they are the places."""
    if type(choices) is list or type(choices) is tuple:
        return None, choices
    if not hasattr(choices, "items"):
        return None, list(choices)
    items = list(choices.items())
    return [key for key, _ in items], [choice for _, choice in items]


def _key(keys: Optional[List[Any]], place: int) -> Any:
    return place if keys is None else keys[place]


def _processed(items: Iterable[Any], processor: Processor) -> List[Any]:
    if processor is None:
        return list(items)
    return [item if is_missing(item) else processor(item) for item in items]


def _checked_limit(limit: Any) -> int:
    try:
        checked = operator.index(limit)
    except TypeError:
        raise TypeError(f"limit={limit!r}: an integer, or None for all") from None
    if checked < 0:
        raise ValueError(f"limit={limit}: 0 or more, or None for all")
    return min(checked, sys.maxsize)


def extract(
    query: Any,
    choices: Any,
    *,
    scorer: Scorer = fuzz.WRatio,
    processor: Processor = None,
    limit: Optional[int] = 5,
    score_cutoff: Optional[float] = None,
    score_hint: Optional[float] = None,
    scorer_kwargs: Optional[Dict[str, Any]] = None,
) -> List[Match]:
    """The `limit` best choices, best first; all that reach the cut-off where it is None.

    choices: any iterable, or a mapping, whose keys then are the third element of each match.
    """
    call = _scorer_call(scorer, scorer_kwargs)
    if limit is not None:
        limit = _checked_limit(limit)
    if is_missing(query):
        return []
    if processor is not None:
        query = processor(query)
    keys, items = _keys_and_choices(choices)
    if call.name is not None:
        most = sys.maxsize if limit is None else limit
        best = _native.fuzz_extract(
            call.name, query, items, processor, score_cutoff, *call.options, most
        )
        if keys is None:
            return best
        return [(choice, score, keys[place]) for choice, score, place in best]
    if limit is None:
        limit = len(items)
    if limit == 1:  # which stops where nothing can be better
        first = extractOne(
            query,
            _processed(items, processor),
            scorer=scorer,
            score_cutoff=score_cutoff,
            scorer_kwargs=scorer_kwargs,
        )
        return [] if first is None else [(items[first[2]], first[1], _key(keys, first[2]))]
    compared = _processed(items, processor)
    cutoff = call.worst if score_cutoff is None else score_cutoff
    found = []
    for place, (choice, to_compare) in enumerate(zip(items, compared)):
        if is_missing(to_compare):
            continue
        score = call.score(query, to_compare, cutoff)
        if call.passes(score, cutoff):
            found.append((choice, score, _key(keys, place)))
    sign = 1 if call.is_distance else -1
    return nsmallest(limit, found, key=lambda match: sign * match[1])


def extractOne(
    query: Any,
    choices: Any,
    *,
    scorer: Scorer = fuzz.WRatio,
    processor: Processor = None,
    score_cutoff: Optional[float] = None,
    score_hint: Optional[float] = None,
    scorer_kwargs: Optional[Dict[str, Any]] = None,
) -> Optional[Match]:
    """The first of the best choices; None where none reaches the cut-off."""
    call = _scorer_call(scorer, scorer_kwargs)
    if is_missing(query):
        return None
    if processor is not None:
        query = processor(query)
    if call.name is not None:
        has_keys = hasattr(choices, "items")
        items = choices.items() if has_keys else choices
        return _native.fuzz_best(
            call.name, query, items, has_keys, processor, score_cutoff, *call.options
        )
    best: Optional[Match] = None
    cutoff = call.worst if score_cutoff is None else score_cutoff
    for key, choice in _with_keys(choices):
        if is_missing(choice):
            continue
        score = call.score(query, choice if processor is None else processor(choice), cutoff)
        if not call.passes(score, cutoff) or (best and not call.is_better(score, best[1])):
            continue
        best = (choice, score, key)
        cutoff = score
        if score == call.best:
            break
    return best


def extract_iter(
    query: Any,
    choices: Any,
    *,
    scorer: Scorer = fuzz.WRatio,
    processor: Processor = None,
    score_cutoff: Optional[float] = None,
    score_hint: Optional[float] = None,
    scorer_kwargs: Optional[Dict[str, Any]] = None,
) -> Iterator[Match]:
    """Every choice that reaches the cut-off, in their order, one by one."""
    call = _scorer_call(scorer, scorer_kwargs)
    if is_missing(query):
        return
    if processor is not None:
        query = processor(query)
    if call.name is not None:
        score_of = _native.PreparedQuery(call.name, query, score_cutoff, *call.options).score
        for key, choice in _with_keys(choices):
            if processor is None:
                score = score_of(choice)
            elif is_missing(choice):
                continue
            else:
                score = score_of(processor(choice))
            if score is not None:
                yield choice, score, key
        return
    cutoff = call.worst if score_cutoff is None else score_cutoff
    for key, choice in _with_keys(choices):
        if is_missing(choice):
            continue
        compared = choice if processor is None else processor(choice)
        score = call.score(query, compared, cutoff)
        if call.passes(score, cutoff):
            yield choice, score, key


def _element(call: _ScorerCall, dtype: Any) -> Any:
    if dtype is not None:
        return np.dtype(dtype)
    if call.flags & _FLAG_SIZE_T:
        return np.dtype(np.uint32)
    return np.dtype(np.int32 if call.flags & _FLAG_I64 else np.float32)


def _as_elements(scores: Any, call: _ScorerCall, multiplier: float, element: Any) -> Any:
    scaled = scores * call.multiplier(multiplier)
    if element.kind in "iu":
        scaled = np.where(scaled < 0, np.ceil(scaled - 0.5), np.floor(scaled + 0.5))
        if element.kind == "u" or element.itemsize < 8:
            return scaled.astype(np.int64).astype(element)
    return scaled.astype(element)


def _native_scores(
    call: _ScorerCall,
    queries: Any,
    choices: Any,
    processor: Processor,
    pairwise: bool,
    cutoff: Any,
    multiplier: float,
    dtype: Any,
    workers: int,
) -> Any:
    threads = 0 if workers < 0 else min(max(1, workers), _MOST_WORKERS)
    element = _element(call, dtype)
    # NumPy has more types than C++.
    is_known = element.kind in "iuf" and element.itemsize in (1, 2, 4, 8)
    is_known = is_known and element.isnative and element != np.float16
    made = element if is_known else np.dtype(np.float64)

    def allocate(rows: int, columns: int) -> Any:
        return np.empty((rows, columns), dtype=made)

    scores = _native.fuzz_matrix(
        call.name or "",
        queries,
        choices,
        processor,
        pairwise,
        cutoff,
        *call.options,
        call.multiplier(multiplier) if is_known else 1.0,
        threads,
        allocate,
    )
    return scores if is_known else _as_elements(scores, call, multiplier, element)


def cdist(
    queries: Any,
    choices: Any,
    *,
    scorer: Scorer = fuzz.ratio,
    processor: Processor = None,
    score_cutoff: Optional[float] = None,
    score_hint: Optional[float] = None,
    score_multiplier: float = 1,
    dtype: Any = None,
    workers: int = 1,
    scorer_kwargs: Optional[Dict[str, Any]] = None,
) -> Any:
    """Scores of every query with every choice, as a NumPy matrix."""
    call = _scorer_call(scorer, scorer_kwargs)
    len(queries), len(choices)
    is_pair_scorer = call.name is not None and (
        call.name == "ratio"
        or (call.name.partition(".")[0] in ("LCSseq", "Indel", "Levenshtein") and not call.options[0])
    )
    if is_pair_scorer and (score_cutoff is None or score_cutoff >= 0):
        return _pair_cdist(
            queries,
            choices,
            scorer=call.name,
            processor=processor,
            score_cutoff=score_cutoff,
            score_multiplier=score_multiplier,
            dtype=_element(call, dtype),
            workers=workers,
        )
    if call.name is not None:
        return _native_scores(
            call, queries, choices, processor, False, score_cutoff, score_multiplier, dtype, workers
        )
    rows = _processed(queries, processor)
    columns = _processed(choices, processor)
    scores = np.zeros((len(rows), len(columns)))
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            scores[i, j] = call.score(row, column, score_cutoff)
    return _as_elements(scores, call, score_multiplier, _element(call, dtype))


def cpdist(
    queries: Any,
    choices: Any,
    *,
    scorer: Scorer = fuzz.ratio,
    processor: Processor = None,
    score_cutoff: Optional[float] = None,
    score_hint: Optional[float] = None,
    score_multiplier: float = 1,
    dtype: Any = None,
    workers: int = 1,
    scorer_kwargs: Optional[Dict[str, Any]] = None,
) -> Any:
    """Scores of each query with the choice of the same place, as a NumPy vector."""
    call = _scorer_call(scorer, scorer_kwargs)
    if len(queries) != len(choices):
        raise ValueError("Length of queries and choices must be the same!")
    if call.name is not None:
        scores = _native_scores(
            call, queries, choices, processor, True, score_cutoff, score_multiplier, dtype, workers
        )
        return scores[:, 0]
    rows = _processed(queries, processor)
    others = _processed(choices, processor)
    scores = np.array(
        [call.score(row, other, score_cutoff) for row, other in zip(rows, others)], np.float64
    )
    return _as_elements(scores, call, score_multiplier, _element(call, dtype))
