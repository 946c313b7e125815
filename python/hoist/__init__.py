"""Hoist: model weights that load progressively and end bit-exact; exact similarity search; kernels.

    from hoist import match, tensors
    weights = tensors.load_file("model.holo")
    scores = match.cdist(queries, choices, workers=-1)

`hoist.px`, kernels in a small language, and `hoist.graph`, compiled tensor programs and circuits, are
loaded when they are first used.

`hoist.errors` has what may be raised. Everything may be called from any thread; the interpreter's
lock is released while files are read, decoded and encoded.
"""

from importlib import import_module
from typing import Any

# The first, as it refuses other interpreters than the main one.
from hoist._native import __version__  # isort: skip
from hoist import errors, match, tensors

__all__ = ["errors", "match", "tensors"]


def __getattr__(name: str) -> Any:
    if name in ("graph", "px"):
        return import_module(f"hoist.{name}")
    raise AttributeError(f"module 'hoist' has no attribute {name!r}")
