"""The functions of `fuzz` and `distance`: what they are called, what they take, what they ask for."""

from typing import Any, Callable, Dict, Optional, Protocol, Tuple

from hoist._native import fuzz_score as _score
from hoist._native import is_missing

Processor = Optional[Callable[[Any], Any]]
Weights = Optional[Tuple[int, int, int]]

# What RapidFuzz's processes ask a scorer for.
_FLAG_F64 = 1 << 5
_FLAG_SIZE_T = 1 << 7
_FLAG_SYMMETRIC = 1 << 11
_MOST = (1 << 63) - 1


class Ratio(Protocol):
    __name__: str

    def __call__(
        self, s1: Any, s2: Any, *, processor: Processor = None, score_cutoff: Optional[float] = None
    ) -> float: ...


class Metric(Protocol):
    __name__: str

    def __call__(
        self,
        s1: Any,
        s2: Any,
        *,
        processor: Processor = None,
        score_cutoff: Optional[float] = None,
        score_hint: Optional[float] = None,
    ) -> float: ...


class Count(Protocol):
    __name__: str

    def __call__(
        self,
        s1: Any,
        s2: Any,
        *,
        processor: Processor = None,
        score_cutoff: Optional[float] = None,
        score_hint: Optional[float] = None,
    ) -> int: ...


class WeightedMetric(Protocol):
    __name__: str

    def __call__(
        self,
        s1: Any,
        s2: Any,
        *,
        weights: Weights = (1, 1, 1),
        processor: Processor = None,
        score_cutoff: Optional[float] = None,
        score_hint: Optional[float] = None,
    ) -> float: ...


class WeightedCount(Protocol):
    __name__: str

    def __call__(
        self,
        s1: Any,
        s2: Any,
        *,
        weights: Weights = (1, 1, 1),
        processor: Processor = None,
        score_cutoff: Optional[float] = None,
        score_hint: Optional[float] = None,
    ) -> int: ...


class PaddedMetric(Protocol):
    __name__: str

    def __call__(
        self,
        s1: Any,
        s2: Any,
        *,
        pad: bool = True,
        processor: Processor = None,
        score_cutoff: Optional[float] = None,
        score_hint: Optional[float] = None,
    ) -> float: ...


class PaddedCount(Protocol):
    __name__: str

    def __call__(
        self,
        s1: Any,
        s2: Any,
        *,
        pad: bool = True,
        processor: Processor = None,
        score_cutoff: Optional[float] = None,
        score_hint: Optional[float] = None,
    ) -> int: ...


class WinklerMetric(Protocol):
    __name__: str

    def __call__(
        self,
        s1: Any,
        s2: Any,
        *,
        prefix_weight: float = 0.1,
        processor: Processor = None,
        score_cutoff: Optional[float] = None,
        score_hint: Optional[float] = None,
    ) -> float: ...


def is_asymmetric(weights: Any) -> bool:
    return bool(weights) and weights[0] != weights[1]


def _flags(name: str) -> Callable[..., Dict[str, Any]]:
    """What is best and worst, and of which type."""
    value = name.rpartition(".")[2]
    is_metric = "." in name
    is_count = is_metric and value in ("distance", "similarity") and "Jaro" not in name
    if not is_metric:
        worst, best = 0, 100
    elif value.endswith("distance"):
        worst, best = (_MOST if is_count else 1), 0
    else:
        worst, best = 0, (_MOST if is_count else 1)

    def get_scorer_flags(weights: Any = None, **kwargs: Any) -> Dict[str, Any]:
        flags = _FLAG_SIZE_T if is_count else _FLAG_F64
        if not is_asymmetric(weights):
            flags |= _FLAG_SYMMETRIC
        return {"optimal_score": best, "worst_score": worst, "flags": flags}

    return get_scorer_flags


def _published(function: Any, name: str, module: str, what: str) -> Any:
    """As a function of its module: pickles, help() and RapidFuzz's processes find it."""
    function.__module__ = module
    function.__name__ = function.__qualname__ = name.rpartition(".")[2]
    function.__doc__ = what
    function._hoist_scorer = name
    function._RF_ScorerPy = {"get_scorer_flags": _flags(name)}
    function._RF_OriginalScorer = function
    return function


def _what(name: str) -> str:
    return f"{name} of two sequences; None, NaN and pandas.NA have the worst normalized score."


def ratio(name: str, module: str) -> Any:
    def scorer(
        s1: Any, s2: Any, *, processor: Processor = None, score_cutoff: Optional[float] = None
    ) -> float:
        if processor is not None:
            if is_missing(s1) or is_missing(s2):
                return 0.0
            s1, s2 = processor(s1), processor(s2)
        return _score(name, s1, s2, score_cutoff, None, 0.0)

    return _published(scorer, name, module, _what(name))


def metric(name: str, module: str) -> Any:
    def scorer(
        s1: Any,
        s2: Any,
        *,
        processor: Processor = None,
        score_cutoff: Optional[float] = None,
        score_hint: Optional[float] = None,
    ) -> float:
        if processor is not None and not is_missing(s1) and not is_missing(s2):
            s1, s2 = processor(s1), processor(s2)
        return _score(name, s1, s2, score_cutoff, None, 0.0)

    return _published(scorer, name, module, _what(name))


def weighted_metric(name: str, module: str) -> Any:
    def scorer(
        s1: Any,
        s2: Any,
        *,
        weights: Weights = (1, 1, 1),
        processor: Processor = None,
        score_cutoff: Optional[float] = None,
        score_hint: Optional[float] = None,
    ) -> float:
        if processor is not None and not is_missing(s1) and not is_missing(s2):
            s1, s2 = processor(s1), processor(s2)
        return _score(name, s1, s2, score_cutoff, checked_weights(weights), 0.0)

    what = _what(name) + "\n\nweights: the costs of an insertion, a deletion, a replacement."
    return _published(scorer, name, module, what)


def padded_metric(name: str, module: str) -> Any:
    def scorer(
        s1: Any,
        s2: Any,
        *,
        pad: bool = True,
        processor: Processor = None,
        score_cutoff: Optional[float] = None,
        score_hint: Optional[float] = None,
    ) -> float:
        if (processor is not None or not pad) and not is_missing(s1) and not is_missing(s2):
            if processor is not None:
                s1, s2 = processor(s1), processor(s2)
            # RapidFuzz looks at the cut-off first.
            most = score_cutoff if name == "Hamming.similarity" else None
            if not pad and (most is None or most <= max(len(s1), len(s2))):
                refuse_lengths(s1, s2)
        return _score(name, s1, s2, score_cutoff, None, 0.0)

    what = _what(name) + "\n\npad: whether the shorter one counts as filled up with differences."
    return _published(scorer, name, module, what)


def winkler_metric(name: str, module: str) -> Any:
    def scorer(
        s1: Any,
        s2: Any,
        *,
        prefix_weight: float = 0.1,
        processor: Processor = None,
        score_cutoff: Optional[float] = None,
        score_hint: Optional[float] = None,
    ) -> float:
        if processor is not None and not is_missing(s1) and not is_missing(s2):
            s1, s2 = processor(s1), processor(s2)
        return _score(name, s1, s2, score_cutoff, None, checked_prefix_weight(prefix_weight))

    what = _what(name) + "\n\nprefix_weight: of each equal element at the beginning, 0 to 1."
    return _published(scorer, name, module, what)


def checked_weights(weights: Any) -> Weights:
    """Three integers, or None where every edit costs 1."""
    if weights is None or weights == (1, 1, 1):
        return None
    insertion, deletion, replacement = weights
    costs = (int(insertion), int(deletion), int(replacement))
    if min(costs) < 0:
        raise OverflowError("can't convert negative value to size_t")
    return None if costs == (1, 1, 1) else costs


def checked_prefix_weight(weight: float) -> float:
    if not 0.0 <= weight <= 1.0:
        raise ValueError("prefix_weight has to be in the range 0.0 - 1.0")
    return weight


def refuse_lengths(s1: Any, s2: Any) -> None:
    if len(s1) != len(s2):
        raise ValueError("Sequences are not the same length.")
