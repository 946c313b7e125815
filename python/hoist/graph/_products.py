"""Products of vectors and matrices beside matmul, and attention."""

import math
from typing import Any, List, Optional, Sequence, Tuple, Union

from hoist.errors import InvalidArgument
from hoist.graph._arguments import _arrays, _axes, _axis, _counted, _in_floats
from hoist.graph._functions import _public, exp, expand_dims, matrix_transpose, softmax, where
from hoist.graph._traced import Traced, axes_of

__all__: List[str] = []


@_public
def vecdot(x1: Any, x2: Any, *, axis: int = -1) -> Any:
    """The sums of products along an axis, which must be as long in both; the others broadcast. They have
    the type of the products, as those of matmul()."""
    x1, x2 = _arrays(x1, x2)
    least = min(x1.ndim, x2.ndim)
    at = _axis("vecdot", axis, least) - least  # from the end, where shapes of both meet
    if x1.shape[at] != x2.shape[at]:
        raise InvalidArgument(f"vecdot of {x1.shape} and {x2.shape}: axis {axis} must be equal")
    products = x1 * x2
    return products.sum(at).astype(products.dtype)


@_public
def outer(x1: Any, x2: Any) -> Any:
    """All products of an element of one vector and one of the other: x1[i] x2[j]."""
    x1, x2 = _arrays(x1, x2)
    if x1.ndim != 1 or x2.ndim != 1:
        raise InvalidArgument(f"outer of {x1.shape} and {x2.shape}: give vectors")
    return expand_dims(x1, axis=1) * x2


@_public
def matvec(x1: Any, x2: Any) -> Any:
    """Matrices times vectors: (..., m, n) and (..., n) give (..., m)."""
    x1, x2 = _arrays(x1, x2)
    if x1.ndim < 2 or x2.ndim < 1:
        raise InvalidArgument(f"matvec of {x1.shape} and {x2.shape}: give a matrix and a vector")
    product = x1 @ expand_dims(x2, axis=-1)
    return product.reshape(product.shape[:-1])


@_public
def vecmat(x1: Any, x2: Any) -> Any:
    """Vectors times matrices: (..., m) and (..., m, n) give (..., n)."""
    x1, x2 = _arrays(x1, x2)
    if x1.ndim < 1 or x2.ndim < 2:
        raise InvalidArgument(f"vecmat of {x1.shape} and {x2.shape}: give a vector and a matrix")
    product = expand_dims(x1, axis=-2) @ x2
    return product.reshape((*product.shape[:-2], product.shape[-1]))


@_public
def tensordot(x1: Any, x2: Any, *, axes: Union[int, Tuple[Sequence[int], Sequence[int]]] = 2) -> Any:
    """The sums of products over axes of both: the last `axes` of x1 with the first of x2, or these
    axes of each. The result has the others, those of x1 first."""
    x1, x2 = _arrays(x1, x2)
    if isinstance(axes, (tuple, list)):
        own, others = (axes_of(one) for one in axes)
    else:
        own, others = list(range(x1.ndim - axes, x1.ndim)), list(range(axes))
    own, others = _axes("tensordot", own, x1.ndim), _axes("tensordot", others, x2.ndim)
    depth = [x1.shape[one] for one in own]
    if depth != [x2.shape[one] for one in others]:
        raise InvalidArgument(f"tensordot of {x1.shape} and {x2.shape} over {axes}: not as long in both")
    rows = [one for one in range(x1.ndim) if one not in own]
    columns = [one for one in range(x2.ndim) if one not in others]
    row_shape = tuple(x1.shape[one] for one in rows)
    column_shape = tuple(x2.shape[one] for one in columns)
    a = x1.permute_dims(rows + own).reshape((math.prod(row_shape), math.prod(depth)))
    b = x2.permute_dims(others + columns).reshape((math.prod(depth), math.prod(column_shape)))
    return (a @ b).reshape(row_shape + column_shape)


@_public
def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """x times the transposed `weight` (outputs, inputs), plus `bias`."""
    x, weight = _arrays(x, weight)
    product = x @ (matrix_transpose(weight) if weight.ndim > 1 else weight)
    return product if bias is None else product + bias


def _causal_mask(x: Traced, rows: int, columns: int) -> Traced:
    """Whether a row may look at a column: at none behind itself."""
    return _counted(x, columns) <= _counted(x, rows).reshape((rows, 1))


@_public
@_in_floats
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: Optional[float] = None,
) -> Any:
    """softmax(query key^T scale + mask) value

    query: (..., L, E), key: (..., S, E), value: (..., S, V) give (..., L, V).
    attn_mask: broadcasts to (..., L, S); booleans, true where a row takes part, or numbers to add.
        A row that no element takes part in gives 0.
    is_causal: row i takes the first i + 1; without attn_mask.
    scale: 1 / sqrt(E) unless told.
    """
    query, key, value = _arrays(query, key, value)
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise InvalidArgument(
            f"attention of {query.shape}, {key.shape} and {value.shape}: all need two axes or more"
        )
    if is_causal and attn_mask is not None:
        raise InvalidArgument("attention with attn_mask and is_causal: give one of them")
    width = query.shape[-1]
    if scale is None:
        scale = 1.0 / math.sqrt(width) if width else 1.0
    scores = (query @ matrix_transpose(key)) * scale
    if is_causal:
        mask = _causal_mask(scores, scores.shape[-2], scores.shape[-1])
        return softmax(where(mask, scores, -math.inf)) @ value
    if attn_mask is None:
        return softmax(scores) @ value
    (mask, _) = _arrays(attn_mask, query)
    shape = scores.shape
    scores = where(mask, scores, -math.inf) if mask.dtype == "bool" else scores + mask
    if scores.shape != shape:
        raise InvalidArgument(f"attention with a mask of {mask.shape}: it does not fit {shape}")
    largest = scores.max(-1, True)
    powers = exp(scores - where(largest == -math.inf, 0.0, largest))
    total = powers.sum(-1, True)
    return powers / where(total == 0, 1.0, total) @ value
