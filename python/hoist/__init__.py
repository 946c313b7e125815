"""Hoist: model weights that load progressively and end bit-exact; exact similarity search.

    from hoist import match, tensors
    weights = tensors.load_file("model.holo")
    scores = match.cdist(queries, choices, workers=-1)

`hoist.errors` has what may be raised. Everything may be called from any thread; the interpreter's
lock is released while files are read, decoded and encoded.
"""

from hoist import errors, match, tensors
from hoist._native import __version__

__all__ = ["errors", "match", "tensors"]
