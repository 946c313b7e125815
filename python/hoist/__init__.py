"""Hoist: model weights that load progressively and end bit-exact; exact similarity search; kernels.

    from hoist import match, tensors
    weights = tensors.load_file("model.holo")
    scores = match.cdist(queries, choices, workers=-1)

`hoist.px` has kernels in a small language, `hoist.graph` compiled tensor programs and circuits,
`hoist.records` logs and tables of text as columns. Each part is loaded when it is first used.

`hoist.errors` has what may be raised. Everything may be called from any thread; the interpreter's
lock is released while files are read, decoded and encoded.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, List

# The first, as it refuses other interpreters than the main one.
from hoist._native import __version__  # isort: skip
from hoist import errors

if TYPE_CHECKING:
    from hoist import graph, match, px, records, tensors

__all__ = ["errors", "graph", "match", "px", "records", "tensors"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"hoist.{name}")
    raise AttributeError(f"module 'hoist' has no attribute {name!r}")


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
