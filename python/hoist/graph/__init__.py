"""`hoist.graph.circuit`, circuits over the 96 classes of bytes, is loaded when it is first used."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name == "circuit":
        return import_module("hoist.graph.circuit")
    raise AttributeError(f"module 'hoist.graph' has no attribute {name!r}")
