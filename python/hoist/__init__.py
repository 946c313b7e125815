"""Hoist: model weights that load progressively and end bit-exact.

    from hoist import tensors
    weights = tensors.load_file("model.holo")

`hoist.errors` has what may be raised. Everything may be called from any thread; the interpreter's
lock is released while files are read, decoded and encoded.
"""

from hoist import errors, tensors

__version__ = "0.1.0"
__all__ = ["errors", "tensors"]
