"""Programs of tensor operations: Python functions of arrays, traced, fused and run at once.

    from hoist import graph

    @graph.compile
    def mlp(x, w1, b1, w2, b2):
        return graph.relu(x @ w1 + b1) @ w2 + b2

    y = mlp(x, w1, b1, w2, b2)              # NumPy arrays, or what has the buffer protocol or DLPack
    mlp(x, w1, b1, w2, b2, out=y)
    print(mlp.report())

The first call with new shapes traces the function: it is called with stand-ins for the arrays,
whose operators and `hoist.graph` functions (named as the Python array API names them) are recorded.
Later calls with those shapes run the program alone. Other functions of this module take arrays,
too, and then compute at once.

`Array` holds the elements that `array()`, `zeros()` and others make, and shares memory with NumPy, PyTorch
and DLPack. Functions that are given one give such arrays, others NumPy's.

Elements are bool, integers, float16, bfloat16, float32 and float64. Arrays lie on the CPU, or on one CUDA
GPU, where the program runs then; those with gaps are copied.
Errors are those of `hoist.errors`, and TraceError.

`hoist.graph.circuit`, circuits over the 96 classes of bytes, is loaded when it is first used.
"""

from importlib import import_module
from typing import Any

from hoist.graph import _array
from hoist.graph._along import *  # noqa: F403
from hoist.graph._along import __all__ as _along
from hoist.graph._class_losses import *  # noqa: F403
from hoist.graph._class_losses import __all__ as _class_losses
from hoist.graph._compile import Compiled, compile, trace
from hoist.graph._creation import *  # noqa: F403
from hoist.graph._creation import __all__ as _creation
from hoist.graph._dtypes import *  # noqa: F403
from hoist.graph._dtypes import __all__ as _dtypes
from hoist.graph._dtypes import boolean as bool
from hoist.graph._elementwise import *  # noqa: F403
from hoist.graph._elementwise import __all__ as _elementwise
from hoist.graph._functions import *  # noqa: F403
from hoist.graph._functions import __all__ as _functions
from hoist.graph._losses import *  # noqa: F403
from hoist.graph._losses import __all__ as _losses
from hoist.graph._normalisation import *  # noqa: F403
from hoist.graph._normalisation import __all__ as _normalisation
from hoist.graph._padding import *  # noqa: F403
from hoist.graph._padding import __all__ as _padding
from hoist.graph._products import *  # noqa: F403
from hoist.graph._products import __all__ as _products
from hoist.graph._program import Program, Spec
from hoist.graph._reductions import *  # noqa: F403
from hoist.graph._reductions import __all__ as _reductions
from hoist.graph._report import Gpu, Kernel, Report
from hoist.graph._shapes import *  # noqa: F403
from hoist.graph._shapes import __all__ as _shapes
from hoist.graph._text import load, parse
from hoist.graph._traced import TraceError, Traced

__all__ = [
    "Compiled",
    "Gpu",
    "Kernel",
    "Program",
    "Report",
    "Spec",
    "TraceError",
    "Traced",
    "compile",
    "load",
    "parse",
    "trace",
]
__all__ += _along + _creation + _dtypes + _functions + _elementwise + _reductions + _products
__all__ += _normalisation + _losses + _class_losses + _shapes + _padding

_array.install(globals())


def __getattr__(name: str) -> Any:
    if name == "circuit":
        return import_module("hoist.graph.circuit")
    raise AttributeError(f"module 'hoist.graph' has no attribute {name!r}")
