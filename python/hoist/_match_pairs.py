"""All pairs of two collections, with the argument names and the results of RapidFuzz."""

import math
import sys
from typing import Any, Callable, Collection, Dict, Hashable, Optional, Sequence

import numpy as np

from hoist import _native
from hoist._native import Scorer
from hoist.errors import InvalidArgument, Unsupported

_MOST_WORKERS = 1024
_VALUES = ("distance", "similarity", "normalized_distance", "normalized_similarity")

Item = Optional[Sequence[Hashable]]


class _Family:
    """The four scorers that come from one way of counting."""

    def __init__(self, name: str):
        self._name = name
        self.distance = Scorer(f"{name}.distance")
        self.similarity = Scorer(f"{name}.similarity")
        self.normalized_distance = Scorer(f"{name}.normalized_distance")
        self.normalized_similarity = Scorer(f"{name}.normalized_similarity")

    def __reduce__(self) -> str:
        return self._name  # there is one of each


LCSseq = _Family("LCSseq")
Indel = _Family("Indel")
Levenshtein = _Family("Levenshtein")
ratio = Scorer("ratio")

_SCORERS: Dict[str, Scorer] = {"ratio": ratio}
for _family in (LCSseq, Indel, Levenshtein):
    for _value in _VALUES:
        _scorer: Scorer = getattr(_family, _value)
        _SCORERS[_scorer.name] = _scorer


def _scorer_named(name: str) -> Scorer:
    """What a pickled scorer is read as."""
    return _SCORERS[name]


def _scorer_of(wanted: Any) -> Scorer:
    """Ours, by itself, by name, or by RapidFuzz's function."""
    if isinstance(wanted, Scorer):
        return wanted
    if isinstance(wanted, str) and wanted in _SCORERS:
        return _SCORERS[wanted]
    if callable(wanted):
        fuzz = sys.modules.get("rapidfuzz.fuzz")
        if fuzz is not None and wanted is fuzz.ratio:
            return ratio
        distances = sys.modules.get("rapidfuzz.distance")
        for name, scorer in _SCORERS.items():
            family, _, value = name.partition(".")
            if wanted is getattr(getattr(distances, family, None), value or "?", scorer):
                return scorer
    raise Unsupported(f"no such scorer: {wanted!r} ({', '.join(_SCORERS)})")


def _refuse_weights(keywords: Dict[str, Any]) -> None:
    for key, value in keywords.items():
        if key != "weights" or tuple(value) != (1, 1, 1):
            raise Unsupported(f"{key}={value!r}: every edit costs 1")


def cdist(
    queries: Collection[Item],
    choices: Collection[Item],
    *,
    scorer: Any = ratio,
    processor: Optional[Callable[[Any], Sequence[Hashable]]] = None,
    score_cutoff: Optional[float] = None,
    score_hint: Optional[float] = None,
    score_multiplier: float = 1,
    dtype: Any = None,
    workers: int = 1,
    scorer_kwargs: Optional[Dict[str, Any]] = None,
) -> Any:
    """Scores of every query with every choice: a NumPy matrix of len(queries) x len(choices).

    Sequences are str, bytes, or any sequences of hashable elements; characters are compared by
    code point. `scorer` is one of `LCSseq`, `Indel` and `Levenshtein` (`.distance`, `.similarity`,
    `.normalized_distance`, `.normalized_similarity`) or `ratio` (0 to 100), its name
    ("Indel.distance"), or RapidFuzz's function of that name. Values are those of
    `rapidfuzz.process.cdist`, but for LCSseq distances near a cut-off of a few, where its are wrong.

    score_cutoff: similarities below it are 0, distances above it are one more than it, normalized
    distances above it are 1; for percents and normalized scores it is rounded to 32 bits. score_hint is understood and not needed.
    score_multiplier: what each score is multiplied with at the end, for counts its integer part.
    dtype: uint32 for counts, else float32, unless it says otherwise; integers get rounded scores.
    workers: threads, -1 for all CPUs.

    None, NaN and pandas.NA, as a query or a choice, have the worst normalized score.

    Raises InvalidArgument for a cut-off that no score has, a multiplier that is not finite, and None where scores are counts,
    Unsupported for other scorers and weights, TypeError for what is no sequence of hashables.
    """
    chosen = _scorer_of(scorer)
    _refuse_weights(scorer_kwargs or {})
    if not math.isfinite(score_multiplier):
        raise InvalidArgument(f"a score_multiplier of {score_multiplier}: a finite number")
    element = np.dtype(dtype if dtype is not None else "uint32" if chosen.is_count else "float32")
    known = element.kind in "iuf" and element.itemsize in (1, 2, 4, 8) and element != np.float16
    if not known or not element.isnative:
        raise Unsupported(f"scores of the type {element}")

    def allocate(rows: int, columns: int) -> Any:
        return np.empty((rows, columns), dtype=element)

    return _native.pair_scores(
        queries,
        choices,
        chosen,
        processor,
        score_cutoff,
        float(int(score_multiplier) if chosen.is_count else score_multiplier),
        0 if workers < 0 else min(max(1, workers), _MOST_WORKERS),
        allocate,
    )
