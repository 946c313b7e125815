"""Functions of one element, or of one of each of two arrays, and activations of networks.

NaN gives NaN, unless a function says otherwise.
"""

import math
from typing import Any, List, Optional

from hoist.errors import InvalidArgument
from hoist.graph._arguments import _arrays, _axis, _in_floats, _rounded_once
from hoist.graph._functions import (
    _binary,
    _public,
    _unary,
    clip,
    exp,
    logical_not,
    maximum,
    minimum,
    relu,
    sigmoid,
    tanh,
    where,
)
from hoist.graph._functions import abs as absolute
from hoist.graph._types import is_float, is_integer, promoted

__all__: List[str] = []

_LARGEST = {"float64": 1.7976931348623157e308, "float16": 65504.0, "bfloat16": 3.3895313892515355e38}

exp2 = _unary("exp2", "2^x", __name__)
expm1 = _unary("expm1", "e^x - 1, precise near 0.", __name__)
log1p = _unary("log1p", "ln(1 + x), precise near 0.", __name__)
log2 = _unary("log2", "The logarithm to base 2; exact for powers of 2.", __name__)
log10 = _unary("log10", "The logarithm to base 10.", __name__)
sin = _unary("sin", "The sine of radians; NaN for infinities.", __name__)
cos = _unary("cos", "The cosine of radians; NaN for infinities.", __name__)
tan = _unary("tan", "The tangent of radians; NaN for infinities.", __name__)
asin = _unary("asin", "The angle with that sine; NaN outside of [-1, 1].", __name__)
acos = _unary("acos", "The angle with that cosine; NaN outside of [-1, 1].", __name__)
atan = _unary("atan", "The angle with that tangent.", __name__)
sinh = _unary("sinh", "The hyperbolic sine.", __name__)
cosh = _unary("cosh", "The hyperbolic cosine.", __name__)
asinh = _unary("asinh", "The inverse of sinh.", __name__)
acosh = _unary("acosh", "The inverse of cosh; NaN below 1.", __name__)
atanh = _unary("atanh", "The inverse of tanh; NaN outside of [-1, 1].", __name__)
floor = _unary("floor", "The next whole number down.", __name__)
ceil = _unary("ceil", "The next whole number up.", __name__)
trunc = _unary("trunc", "The next whole number towards 0.", __name__)
round = _unary("round", "The nearest whole number; halves go to the even one.", __name__)
sign = _unary("sign", "-1, 0 or 1.", __name__)
atan2 = _binary("atan2", "The angle of the point (x2, x1).", __name__)
hypot = _binary("hypot", "sqrt(x1^2 + x2^2); infinity where one is infinite.", __name__)
copysign = _binary("copysign", "x1 with the sign of x2; that of a NaN is either.", __name__)


@_public
def positive(x: Any) -> Any:
    """x"""
    return +x


@_public
def reciprocal(x: Any) -> Any:
    """1 / x"""
    return 1.0 / x


@_public
def isnan(x: Any) -> Any:
    """Whether elements are NaN: booleans."""
    return x != x


@_public
def isinf(x: Any) -> Any:
    """Whether elements are infinite: booleans."""
    return absolute(x) == math.inf if is_float(x.dtype) else x != x


@_public
def isfinite(x: Any) -> Any:
    """Whether elements are neither infinite nor NaN: booleans."""
    return absolute(x) < math.inf if is_float(x.dtype) else x == x


@_public
def signbit(x: Any) -> Any:
    """Whether the sign is set, of -0 too: booleans. A NaN counts as positive."""
    return copysign(1.0, x) < 0


@_public
@_in_floats
def logaddexp(x1: Any, x2: Any) -> Any:
    """ln(e^x1 + e^x2), without overflow."""
    x1, x2 = _arrays(x1, x2)
    # The difference of equal infinities is NaN.
    sum = maximum(x1, x2) + log1p(exp(-absolute(x1 - x2)))
    return where(x1 == x2, x1 + math.log(2.0), sum)


@_public
def logical_xor(x1: Any, x2: Any) -> Any:
    """Whether one of two booleans is true."""
    x1, x2 = _arrays(x1, x2)
    return where(x1, logical_not(x2), x2)


@_public
@_rounded_once
def isclose(
    x1: Any, x2: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether |x1 - x2| <= atol + rtol |x2|, or both are the same infinity: booleans."""
    x1, x2 = _arrays(x1, x2)
    both = promoted(x1.dtype, x2.dtype)
    if is_integer(both):
        # The difference of 64 bits may need the unsigned type.
        wide = "uint64" if both == "uint64" else "int64"
        x1, x2 = x1.astype(wide), x2.astype(wide)
        distance = where(x1 > x2, x1 - x2, x2 - x1).astype("uint64").astype("float64")
        return distance <= absolute(x2.astype("float64")) * rtol + atol
    if is_float(both):
        x1, x2 = x1.astype(both), x2.astype(both)
    near = absolute(x1 - x2) <= absolute(x2) * rtol + atol
    # An infinite bound is no bound.
    result = where(isfinite(x2), near, x1 == x2)
    return where(isnan(x1), isnan(x2), result) if equal_nan else result


@_public
def nan_to_num(
    x: Any, nan: float = 0.0, posinf: Optional[float] = None, neginf: Optional[float] = None
) -> Any:
    """Numbers instead of NaN and infinities, for these the largest unless told. Integers stay."""
    if not is_float(x.dtype):
        return +x
    largest = _LARGEST.get(x.dtype, 3.4028234663852886e38)
    above = largest if posinf is None else posinf
    below = -largest if neginf is None else neginf
    limited = where(x == math.inf, above, where(x == -math.inf, below, x))
    return where(isnan(x), nan, limited)


# Activations, named as torch.nn.functional names them.


@_public
@_in_floats
def silu(x: Any) -> Any:
    """x sigmoid(x)"""
    return x * sigmoid(x)


@_public
@_in_floats
def leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    """x, or `negative_slope` x where it is not above 0."""
    return where(x > 0, x, x * negative_slope)


@_public
@_in_floats
def prelu(x: Any, weight: Any) -> Any:
    """x, or weight x where it is not above 0. `weight` has one element, or one for each of axis 1."""
    x, weight = _arrays(x, weight)
    if weight.size != 1:
        if weight.ndim != 1 or x.ndim < 2 or x.shape[1] != weight.size:
            raise InvalidArgument(
                f"prelu of {x.shape} with weights {weight.shape}: give one, or one for each of axis 1"
            )
        weight = weight.reshape((weight.size, *[1] * (x.ndim - 2)))
    return where(x > 0, x, weight.reshape(() if weight.size == 1 else weight.shape) * x)


@_public
@_in_floats
def elu(x: Any, alpha: float = 1.0) -> Any:
    """x, or alpha (e^x - 1) where it is not above 0."""
    return where(x > 0, x, expm1(x) * alpha)


@_public
@_in_floats
def celu(x: Any, alpha: float = 1.0) -> Any:
    """x, or alpha (e^(x / alpha) - 1) where it is not above 0."""
    return where(x > 0, x, expm1(x / alpha) * alpha)


@_public
@_in_floats
def selu(x: Any) -> Any:
    """elu() with alpha 1.6733, times 1.0507, which keeps mean 0 and variance 1."""
    scale = 1.0507009873554804934193349852946
    return where(x > 0, x * scale, expm1(x) * (1.6732632423543772848170429916717 * scale))


@_public
@_in_floats
def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """ln(1 + e^(beta x)) / beta; x where beta x is above `threshold`."""
    scaled = x * beta
    return where(scaled > threshold, x, log1p(exp(scaled)) / beta)


@_public
@_in_floats
def logsigmoid(x: Any) -> Any:
    """ln(sigmoid(x)), without overflow."""
    return minimum(x, 0.0) - log1p(exp(-absolute(x)))


@_public
@_in_floats
def softsign(x: Any) -> Any:
    """x / (1 + |x|)"""
    return x / (absolute(x) + 1.0)


@_public
@_in_floats
def mish(x: Any) -> Any:
    """x tanh(ln(1 + e^x))"""
    return x * tanh(softplus(x))


@_public
@_rounded_once
def hardtanh(x: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    """Not below `min_val`, not above `max_val`."""
    if min_val > max_val:
        raise InvalidArgument(f"hardtanh from {min_val} to {max_val}: give the least first")
    return clip(x, min_val, max_val)


@_public
@_in_floats
def relu6(x: Any) -> Any:
    """Not below 0, not above 6."""
    return minimum(relu(x), 6.0)


@_public
@_in_floats
def hardsigmoid(x: Any) -> Any:
    """relu6(x + 3) / 6"""
    return relu6(x + 3.0) / 6.0


@_public
@_in_floats
def hardswish(x: Any) -> Any:
    """x relu6(x + 3) / 6"""
    return x * relu6(x + 3.0) / 6.0


@_public
@_in_floats
def hardshrink(x: Any, lambd: float = 0.5) -> Any:
    """0 where |x| is at most `lambd`, else x."""
    return where(absolute(x) <= lambd, 0.0, x)


@_public
@_in_floats
def softshrink(x: Any, lambd: float = 0.5) -> Any:
    """Nearer to 0 by `lambd`; 0 where |x| is at most that."""
    if lambd < 0:
        raise InvalidArgument(f"softshrink by {lambd}: give no negative number")
    return x - clip(x, -lambd, lambd)


@_public
@_in_floats
def tanhshrink(x: Any) -> Any:
    """x - tanh(x)"""
    return x - tanh(x)


@_public
@_rounded_once
def threshold(x: Any, threshold: float, value: float) -> Any:
    """`value` where x is at most `threshold`."""
    return where(x <= threshold, value, x)


@_public
@_in_floats
def glu(x: Any, *, axis: int = -1) -> Any:
    """The first half along an axis times sigmoid of the second."""
    at = _axis("glu", axis, x.ndim)
    width = x.shape[at]
    if width % 2 != 0:
        raise InvalidArgument(f"glu over axis {axis} of shape {x.shape}: its length must be even")
    before = (slice(None),) * at
    return x[(*before, slice(width // 2))] * sigmoid(x[(*before, slice(width // 2, width))])
