"""Arrays of NumPy."""

from hoist.safetensors._arrays import loaders, save, save_file

__all__ = ["load", "load_file", "save", "save_file"]

load, load_file = loaders("numpy")
