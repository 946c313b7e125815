"""What the modules of the frameworks have, by the framework's name."""

from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional

from hoist import _safetensors_layout as layout
from hoist import tensors
from hoist._tensor_files import PathLike, file_path
from hoist.safetensors._errors import as_safetensors
from hoist.safetensors._open import safe_open

Metadata = Optional[Mapping[str, str]]


def save(tensors: Mapping[str, Any], metadata: Metadata = None) -> bytes:
    """The bytes of a .safetensors file of these arrays."""
    with as_safetensors():
        return layout.to_bytes(layout.prepared_of(tensors), metadata)


def save_file(tensors: Mapping[str, Any], filename: PathLike, metadata: Metadata = None) -> None:
    """A .safetensors file of these arrays. What is there is replaced once the new file is whole."""
    with as_safetensors(is_writing=True):
        layout.to_file(layout.prepared_of(tensors), file_path(filename), metadata)


class Loaders(NamedTuple):
    load: Callable[[Any], Dict[str, Any]]
    load_file: Callable[..., Dict[str, Any]]


def loaders(framework: str) -> Loaders:
    def load(data: Any) -> Dict[str, Any]:
        """All arrays of the bytes of a file by name."""
        with as_safetensors():
            return tensors.load(data, framework=framework)

    def load_file(filename: PathLike, *, backend: str = "mmap") -> Dict[str, Any]:
        """All arrays of a file by name. The backend is "mmap" or "pread"."""
        with safe_open(filename, framework, backend=backend) as file:
            return file.get_tensors()

    return Loaders(load, load_file)
