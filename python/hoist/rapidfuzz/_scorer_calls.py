"""How a scorer is called, and the best of a list of choices by it."""

import sys
from heapq import nsmallest
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple

from hoist import _native
from hoist._native import is_missing
from hoist.rapidfuzz._scorers import Processor, checked_prefix_weight, checked_weights

Scorer = Callable[..., Any]
Match = Tuple[Any, Any, Any]  # a choice, its score, its place or key

FLAG_I64 = 1 << 6
FLAG_SIZE_T = 1 << 7


def _options_of(name: str) -> Set[str]:
    """What C++ takes of a scorer's keywords; what else there is, a call takes or refuses."""
    family = name.rpartition(".")[0]
    if family in ("Levenshtein", "JaroWinkler"):
        return {"weights", "prefix_weight", "score_hint"}  # as in RapidFuzz, each leaves the other's
    return {"score_hint"} if family else set()


class ScorerCall:
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
        return float(int(wanted)) if self.flags & (FLAG_SIZE_T | FLAG_I64) else wanted

    def order(self, match: Match) -> Any:
        """By which matches ascend from the best on."""
        return match[1] if self.is_distance else -match[1]

    def score(self, query: Any, choice: Any, cutoff: Any) -> Any:
        return self.scorer(query, choice, score_cutoff=cutoff, **self.kwargs)


_KNOWN_CALLS: Dict[Any, ScorerCall] = {}  # of this module's scorers without arguments


def scorer_call(scorer: Scorer, kwargs: Optional[Dict[str, Any]]) -> ScorerCall:
    if kwargs or type(scorer) is not _native.FuzzFunction:
        return ScorerCall(scorer, kwargs)
    known = _KNOWN_CALLS.get(scorer)
    if known is None:
        known = _KNOWN_CALLS[scorer] = ScorerCall(scorer, None)
    return known


def processed(items: Iterable[Any], processor: Processor) -> List[Any]:
    if processor is None:
        return list(items)
    return [item if is_missing(item) else processor(item) for item in items]


def best_items(
    call: ScorerCall,
    query: Any,
    items: Any,
    processor: Processor,
    limit: Optional[int],
    score_cutoff: Optional[float],
) -> List[Match]:
    """The `limit` best of a list, each with its place; all that reach the cut-off where it is None."""
    if call.name is not None:
        most = sys.maxsize if limit is None else limit
        found: List[Match] = _native.fuzz_extract(
            call.name, query, items, processor, score_cutoff, *call.options, most
        )
        return found
    if limit is None:
        limit = len(items)
    compared = processed(items, processor)
    if limit == 1:  # which stops where nothing can be better
        first = first_best(call, query, enumerate(compared), None, score_cutoff)
        return [] if first is None else [(items[first[2]], first[1], first[2])]
    cutoff = call.worst if score_cutoff is None else score_cutoff
    found = []
    for place, (item, to_compare) in enumerate(zip(items, compared)):
        if is_missing(to_compare):
            continue
        score = call.score(query, to_compare, cutoff)
        if call.passes(score, cutoff):
            found.append((item, score, place))
    return nsmallest(limit, found, key=call.order)


def first_best(
    call: ScorerCall,
    query: Any,
    keyed_choices: Iterable[Tuple[Any, Any]],
    processor: Processor,
    score_cutoff: Optional[float],
) -> Optional[Match]:
    """The first of the best, one call of Python a choice."""
    best: Optional[Match] = None
    cutoff = call.worst if score_cutoff is None else score_cutoff
    for key, choice in keyed_choices:
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


def each_match(
    call: ScorerCall,
    query: Any,
    keyed_choices: Iterable[Tuple[Any, Any]],
    processor: Processor,
    score_cutoff: Optional[float],
) -> Iterator[Match]:
    """Every choice that reaches the cut-off, in their order."""
    if call.name is not None:
        score_of = _native.PreparedQuery(call.name, query, score_cutoff, *call.options).score
        for key, choice in keyed_choices:
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
    for key, choice in keyed_choices:
        if is_missing(choice):
            continue
        compared = choice if processor is None else processor(choice)
        score = call.score(query, compared, cutoff)
        if call.passes(score, cutoff):
            yield choice, score, key
