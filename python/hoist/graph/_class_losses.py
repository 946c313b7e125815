"""Losses of classes: cross_entropy and nll_loss, named as torch.nn.functional names them."""

import math
from typing import Any, List, Optional, Tuple

from hoist.errors import InvalidArgument
from hoist.graph._arguments import _arrays, _counted, _rounded_once
from hoist.graph._functions import _public, log_softmax, where
from hoist.graph._losses import _reduced
from hoist.graph._traced import Traced
from hoist.graph._types import is_integer

__all__: List[str] = []


def _class_mask(who: str, scores: Traced, target: Traced, axis: int) -> Tuple[Traced, Traced]:
    """The target with the axis of classes, and where along it the target's class is."""
    expected = scores.shape[:axis] + scores.shape[axis + 1 :]
    if target.shape != expected:
        raise InvalidArgument(
            f"{who} of {scores.shape} with classes of shape {target.shape}: it must be {expected}"
        )
    classes = scores.shape[axis]
    whole = is_integer(target.dtype)
    wide = target.reshape((*expected[:axis], 1, *expected[axis:]))
    if whole:
        wide = wide.astype("int64")
    known = _counted(target, classes, "int64" if whole else "float32")
    known = known.reshape((classes, *[1] * (scores.ndim - 1 - axis)))
    return wide, wide == known


def _of_classes(
    who: str,
    scores: Traced,
    target: Traced,
    weight: Any,
    ignore_index: Optional[int],
    reduction: str,
    axis: int,
    smoothing: float = 0.0,
) -> Any:
    """The loss of logarithms of probabilities, where the target has classes."""
    wide, mask = _class_mask(who, scores, target, axis)
    picked = where(mask, scores, -math.inf).max(axis, True)
    weights: Optional[Traced] = None
    if weight is not None:
        made = _arrays(weight, scores)[0]
        if made.shape != (scores.shape[axis],):
            raise InvalidArgument(f"{who} with weights {made.shape}: give ({scores.shape[axis]},)")
        made = made.reshape((made.size, *[1] * (scores.ndim - 1 - axis)))
        weights = where(mask, made, 0.0).sum(axis, True)
        picked = picked * weights
    loss = -picked
    if smoothing:
        every = scores if weight is None else scores * made
        loss = loss * (1.0 - smoothing) - every.sum(axis, True) * (smoothing / scores.shape[axis])
    if ignore_index is not None:
        kept = wide != ignore_index
        loss = where(kept, loss, 0.0)
        weights = where(kept, 1.0 if weights is None else weights, 0.0)
    if reduction == "mean" and weights is not None:
        return loss.sum() / weights.sum()
    return _reduced(loss.reshape(target.shape), reduction)


def _class_axis(who: str, scores: Traced) -> int:
    if scores.ndim == 0 or scores.shape[min(1, scores.ndim - 1)] == 0:
        raise InvalidArgument(f"{who} of shape {scores.shape}: it needs an axis of classes")
    return min(1, scores.ndim - 1)


@_public
@_rounded_once
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: Optional[int] = -100,
    reduction: str = "mean",
) -> Any:
    """-weight[target] input[target]: `input` has logarithms of probabilities of classes.

    input: (C,) or (N, C, ...); target: (N, ...), the numbers of classes, as integers or floats.
    The loss of `ignore_index` is 0, and it does not count for the mean, which is divided by the sum of
    weights. A class that there is none of gives infinity.
    """
    input, target = _arrays(input, target)
    axis = _class_axis("nll_loss", input)
    return _of_classes("nll_loss", input, target, weight, ignore_index, reduction, axis)


@_public
@_rounded_once
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    *,
    ignore_index: Optional[int] = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """nll_loss() of log_softmax(input) over the classes.

    input: (C,) or (N, C, ...); target: (N, ...), the numbers of classes, or probabilities in the
    shape of `input`; weight: (C,). label_smoothing: so much of each probability is shared by all
    classes.
    """
    input, target = _arrays(input, target)
    axis = _class_axis("cross_entropy", input)
    if not 0 <= label_smoothing <= 1:
        raise InvalidArgument(f"cross_entropy with label_smoothing {label_smoothing}: give 0 to 1")
    scores = log_softmax(input, axis=axis)
    if target.shape != input.shape:
        return _of_classes(
            "cross_entropy", scores, target, weight, ignore_index, reduction, axis, label_smoothing
        )
    classes = input.shape[axis]
    if label_smoothing:
        target = target * (1.0 - label_smoothing) + label_smoothing / classes
    loss = scores * target
    if weight is not None:
        made = _arrays(weight, input)[0]
        if made.shape != (classes,):
            raise InvalidArgument(f"cross_entropy with weights {made.shape}: give ({classes},)")
        loss = loss * made.reshape((classes, *[1] * (input.ndim - 1 - axis)))
    return _reduced(-loss.sum(axis), reduction)
