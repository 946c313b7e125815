"""One sequence with many, and many with many.

Where the scorer is one of `hoist.rapidfuzz`, the whole comparison is one call of C++; any other
function of two sequences will do.
"""

import operator
import sys
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

import numpy as np

from hoist import _native
from hoist._match_pairs import cdist as _pair_cdist
from hoist._native import is_missing
from hoist.rapidfuzz import fuzz
from hoist.rapidfuzz._index_choices import best_patterns, each_pattern, is_index
from hoist.rapidfuzz._scorer_calls import (
    FLAG_I64,
    FLAG_SIZE_T,
    Match,
    Scorer,
    ScorerCall,
    best_items,
    each_match,
    first_best,
    processed,
    scorer_call,
)
from hoist.rapidfuzz._scorers import Processor

__all__ = ["cdist", "cpdist", "extract", "extractOne", "extract_iter"]

_MOST_WORKERS = 1024


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

    choices: any iterable; a mapping, whose keys then are the third element of each match; or a
    hoist.match.Index, whose patterns' names are.
    """
    call = scorer_call(scorer, scorer_kwargs)
    if limit is not None:
        limit = _checked_limit(limit)
    if is_missing(query):
        return []
    asked = query
    if processor is not None:
        query = processor(query)
    if is_index(choices):
        return best_patterns(call, asked, query, choices, processor, limit, score_cutoff)
    keys, items = _keys_and_choices(choices)
    best = best_items(call, query, items, processor, limit, score_cutoff)
    if keys is None:
        return best
    return [(choice, score, keys[place]) for choice, score, place in best]


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
    call = scorer_call(scorer, scorer_kwargs)
    if is_missing(query):
        return None
    asked = query
    if processor is not None:
        query = processor(query)
    if is_index(choices):
        best = best_patterns(call, asked, query, choices, processor, 1, score_cutoff)
        return best[0] if best else None
    if call.name is not None:
        has_keys = hasattr(choices, "items")
        items = choices.items() if has_keys else choices
        return _native.fuzz_best(
            call.name, query, items, has_keys, processor, score_cutoff, *call.options
        )
    return first_best(call, query, _with_keys(choices), processor, score_cutoff)


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
    call = scorer_call(scorer, scorer_kwargs)
    if is_missing(query):
        return
    asked = query
    if processor is not None:
        query = processor(query)
    if is_index(choices):
        yield from each_pattern(call, asked, query, choices, processor, score_cutoff)
        return
    yield from each_match(call, query, _with_keys(choices), processor, score_cutoff)


def _element(call: ScorerCall, dtype: Any) -> Any:
    if dtype is not None:
        return np.dtype(dtype)
    if call.flags & FLAG_SIZE_T:
        return np.dtype(np.uint32)
    return np.dtype(np.int32 if call.flags & FLAG_I64 else np.float32)


def _as_elements(scores: Any, call: ScorerCall, multiplier: float, element: Any) -> Any:
    scaled = scores * call.multiplier(multiplier)
    if element.kind in "iu":
        scaled = np.where(scaled < 0, np.ceil(scaled - 0.5), np.floor(scaled + 0.5))
        if element.kind == "u" or element.itemsize < 8:
            return scaled.astype(np.int64).astype(element)
    return scaled.astype(element)


def _native_scores(
    call: ScorerCall,
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
    call = scorer_call(scorer, scorer_kwargs)
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
    rows = processed(queries, processor)
    columns = processed(choices, processor)
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
    call = scorer_call(scorer, scorer_kwargs)
    if len(queries) != len(choices):
        raise ValueError("Length of queries and choices must be the same!")
    if call.name is not None:
        scores = _native_scores(
            call, queries, choices, processor, True, score_cutoff, score_multiplier, dtype, workers
        )
        return scores[:, 0]
    rows = processed(queries, processor)
    others = processed(choices, processor)
    scores = np.array(
        [call.score(row, other, score_cutoff) for row, other in zip(rows, others)], np.float64
    )
    return _as_elements(scores, call, score_multiplier, _element(call, dtype))
