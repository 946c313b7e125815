"""The functions of `fuzz` and `distance`: what they are called, what they take, what they ask for."""

from typing import Any, Callable, Dict, Optional, Protocol, Tuple

from hoist._native import FuzzFunction

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


_PROTOCOLS = {
    "Levenshtein": (WeightedMetric, "weights: the costs of an insertion, a deletion, a replacement."),
    "Hamming": (PaddedMetric, "pad: whether the shorter one counts as filled up with differences."),
    "JaroWinkler": (WinklerMetric, "prefix_weight: of each equal element at the beginning, 0 to 1."),
}


def function(name: str, module: str) -> Any:
    """The function called `name`, "OSA.distance" or "ratio", as one of that module."""
    made = FuzzFunction(name)
    family, _, value = name.rpartition(".")
    _, more = _PROTOCOLS.get(family, (None, ""))
    what = f"{name} of two sequences; None, NaN and pandas.NA have the worst normalized score."
    made.__module__ = module
    made.__name__ = made.__qualname__ = value
    made.__doc__ = f"{what}\n\n{more}" if more else what
    made._hoist_scorer = name
    # RapidFuzz's processes look for these.
    made._RF_ScorerPy = {"get_scorer_flags": _flags(name)}
    made._RF_OriginalScorer = made
    return made


def signature_of(made: Any) -> Any:
    """What inspect.signature() says of one of these functions."""
    import inspect

    family, _, value = made._hoist_scorer.rpartition(".")
    protocol: Any = Metric if family else Ratio
    if family in _PROTOCOLS:
        protocol = _PROTOCOLS[family][0]
    signature = inspect.signature(protocol.__call__)
    arguments = list(signature.parameters.values())[1:]
    is_count = _flags(made._hoist_scorer)()["flags"] & _FLAG_SIZE_T
    answer = int if is_count else float
    return signature.replace(parameters=arguments, return_annotation=answer)


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
