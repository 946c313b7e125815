"""Losses, named as torch.nn.functional names them.

`reduction` is "mean", "sum", or "none" for the loss of each element. NaN in an input gives NaN. The
mean of no elements is NaN.
"""

from typing import Any, List

from hoist.errors import InvalidArgument
from hoist.graph._arguments import _arrays, _axis, _in_floats
from hoist.graph._elementwise import log1p
from hoist.graph._functions import _public, exp, log, maximum, relu, where
from hoist.graph._functions import abs as absolute
from hoist.graph._reductions import vector_norm
from hoist.graph._traced import Traced

__all__: List[str] = []


def _reduced(loss: Traced, reduction: str) -> Any:
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise InvalidArgument(f'a loss with reduction {reduction!r}: give "mean", "sum" or "none"')


def _alike(who: str, *arrays: Any) -> List[Traced]:
    """All traced; their shapes must be equal: broadcasting would hide a mistake."""
    made = _arrays(*arrays)
    for one in made[1:]:
        if one.shape != made[0].shape:
            raise InvalidArgument(f"{who} of {made[0].shape} and {one.shape}: they must be equal")
    return made


def _exp_of_minus(x: Traced) -> Any:
    """e^-|x|"""
    return exp(-absolute(x))


@_public
@_in_floats
def mse_loss(input: Any, target: Any, *, reduction: str = "mean") -> Any:
    """(input - target)^2, of equal shapes."""
    input, target = _alike("mse_loss", input, target)
    difference = input - target
    return _reduced(difference * difference, reduction)


@_public
@_in_floats
def l1_loss(input: Any, target: Any, *, reduction: str = "mean") -> Any:
    """|input - target|, of equal shapes."""
    input, target = _alike("l1_loss", input, target)
    return _reduced(absolute(input - target), reduction)


@_public
@_in_floats
def huber_loss(input: Any, target: Any, *, reduction: str = "mean", delta: float = 1.0) -> Any:
    """d^2 / 2 where d = |input - target| is at most `delta`, else delta (d - delta / 2)."""
    if delta <= 0:
        raise InvalidArgument(f"huber_loss with delta {delta}: give a number above 0")
    input, target = _alike("huber_loss", input, target)
    d = absolute(input - target)
    return _reduced(where(d <= delta, d * d * 0.5, (d - 0.5 * delta) * delta), reduction)


@_public
@_in_floats
def smooth_l1_loss(input: Any, target: Any, *, reduction: str = "mean", beta: float = 1.0) -> Any:
    """d^2 / (2 beta) where d = |input - target| is less than `beta`, else d - beta / 2."""
    if beta < 0:
        raise InvalidArgument(f"smooth_l1_loss with beta {beta}: give no negative number")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    input, target = _alike("smooth_l1_loss", input, target)
    d = absolute(input - target)
    return _reduced(where(d < beta, d * d * (0.5 / beta), d - 0.5 * beta), reduction)


@_public
@_in_floats
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, *, reduction: str = "mean"
) -> Any:
    """-weight (target ln(input) + (1 - target) ln(1 - input)) of probabilities; logarithms are not
    below -100. NaN where an input is outside of [0, 1]."""
    input, target = _alike("binary_cross_entropy", input, target)
    yes, no = log(input), log1p(-input)
    loss = -(
        target * maximum(yes, -100.0)
        + (1.0 - target) * maximum(no, -100.0)
    )
    return _reduced(loss if weight is None else loss * weight, reduction)


@_public
@_in_floats
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, *, reduction: str = "mean", pos_weight: Any = None
) -> Any:
    """binary_cross_entropy() of sigmoid(input), without overflow. `pos_weight` is one for the true
    share of each class, the last axis."""
    input, target = _alike("binary_cross_entropy_with_logits", input, target)
    # ln(1 + e^-x)
    softplus = log1p(_exp_of_minus(input)) + relu(-input)
    share = softplus if pos_weight is None else softplus * (target * (pos_weight - 1.0) + 1.0)
    loss = (1.0 - target) * input + share
    return _reduced(loss if weight is None else loss * weight, reduction)


@_public
@_in_floats
def kl_div(
    input: Any, target: Any, *, reduction: str = "mean", log_target: bool = False
) -> Any:
    """target (ln(target) - input), 0 where the target is; `input` has logarithms, with `log_target`
    so has `target`. reduction may be "batchmean": the sum divided by the length of axis 0."""
    input, target = _alike("kl_div", input, target)
    if log_target:
        loss = exp(target) * (target - input)
    else:
        loss = where(target == 0, 0.0, target * log(target)) - target * input
    if reduction == "batchmean":
        if loss.ndim == 0:
            raise InvalidArgument("kl_div of numbers by batchmean: it needs an axis")
        return loss.sum() / float(loss.shape[0])
    return _reduced(loss, reduction)


@_public
@_in_floats
def cosine_similarity(x1: Any, x2: Any, *, axis: int = 1, eps: float = 1e-8) -> Any:
    """The sum of products along an axis, divided by both lengths, each not below eps."""
    x1, x2 = _arrays(x1, x2)
    both = max(x1.ndim, x2.ndim)
    at = _axis("cosine_similarity", axis, both) - both
    lengths = [vector_norm(one, axis=at, keepdims=True) for one in (x1, x2)]
    a, b = (maximum(one, eps) for one in lengths)
    result = (x1 * x2).sum(at, True) / (a * b)
    return result.reshape(tuple(n for i, n in enumerate(result.shape, -both) if i != at))


@_public
@_in_floats
def cosine_embedding_loss(
    x1: Any, x2: Any, target: Any, *, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """1 - cosine_similarity() along the last axis where the target is 1, else what that is above
    `margin`. x1, x2: (N, D) or (D,); target: (N,) or ()."""
    x1, x2 = _alike("cosine_embedding_loss", x1, x2)
    target = _arrays(target, x1)[0]
    if target.shape != x1.shape[:-1] or x1.ndim == 0:
        raise InvalidArgument(f"cosine_embedding_loss of {x1.shape} with targets {target.shape}")
    cosine = cosine_similarity(x1, x2, axis=-1)
    return _reduced(where(target == 1, 1.0 - cosine, relu(cosine - margin)), reduction)


@_public
@_in_floats
def hinge_embedding_loss(
    input: Any, target: Any, *, margin: float = 1.0, reduction: str = "mean"
) -> Any:
    """input where the target is 1; what it lacks to `margin` where it is -1."""
    input, target = _alike("hinge_embedding_loss", input, target)
    same = where(target == -1, 0.0, input)
    return _reduced(same + where(target == 1, 0.0, relu(margin - input)), reduction)


@_public
@_in_floats
def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, *, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    """max(0, -target (input1 - input2) + margin): target 1 where the first should be greater."""
    input1, input2, target = _alike("margin_ranking_loss", input1, input2, target)
    return _reduced(relu(target * (input2 - input1) + margin), reduction)


@_public
@_in_floats
def soft_margin_loss(input: Any, target: Any, *, reduction: str = "mean") -> Any:
    """ln(1 + e^(-target input)), target 1 or -1, without overflow."""
    input, target = _alike("soft_margin_loss", input, target)
    agreement = target * input
    return _reduced(log1p(_exp_of_minus(agreement)) + relu(-agreement), reduction)


@_public
@_in_floats
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """max(0, |anchor - positive| - |anchor - negative| + margin): p-norms along the last axis, eps
    added to each difference."""
    anchor, positive, negative = _alike("triplet_margin_loss", anchor, positive, negative)
    near = vector_norm(anchor - positive + eps, axis=-1, ord=p)
    far = vector_norm(anchor - negative + eps, axis=-1, ord=p)
    return _reduced(relu(near - far + margin), reduction)


@_public
@_in_floats
def poisson_nll_loss(
    input: Any, target: Any, *, log_input: bool = True, eps: float = 1e-8, reduction: str = "mean"
) -> Any:
    """e^input - target input; without `log_input` input - target ln(input + eps). Stirling's terms
    are not added."""
    input, target = _alike("poisson_nll_loss", input, target)
    if log_input:
        return _reduced(exp(input) - target * input, reduction)
    return _reduced(input - target * log(input + eps), reduction)


@_public
@_in_floats
def gaussian_nll_loss(
    input: Any, target: Any, var: Any, *, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    """(ln(var) + (input - target)^2 / var) / 2; variances are not below eps."""
    input, target, var = _alike("gaussian_nll_loss", input, target, var)
    width = maximum(var, eps)
    difference = input - target
    return _reduced((log(width) + difference * difference / width) * 0.5, reduction)
