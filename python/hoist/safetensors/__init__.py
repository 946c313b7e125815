"""safetensors' names, arguments and results, by hoist.tensors.

    import hoist.safetensors as safetensors
    from hoist.safetensors import safe_open
    from hoist.safetensors.torch import load_file, save_file    # or .numpy, .flax, .tensorflow, .mlx

Files of the other formats of hoist.tensors are read, too. docs/reference/safetensors.md says what
differs.
"""

from hoist.safetensors._bytes import TensorSpec, deserialize, serialize, serialize_file
from hoist.safetensors._errors import SafetensorError
from hoist.safetensors._open import _safe_open_handle, safe_open

# The version whose names and results it has.
__version__ = "0.8.0"
__all__ = [
    "SafetensorError",
    "TensorSpec",
    "__version__",
    "_safe_open_handle",
    "deserialize",
    "safe_open",
    "serialize",
    "serialize_file",
]
