"""What the modules of the frameworks call, which differ in the framework and in names."""

from typing import Any, Dict, Mapping, Optional

from hoist import _safetensors_layout as layout
from hoist import tensors
from hoist._tensor_files import PathLike, file_path
from hoist.safetensors._errors import as_safetensors
from hoist.safetensors._open import safe_open

Arrays = Dict[str, Any]
Metadata = Optional[Mapping[str, str]]


def save(arrays: Mapping[str, Any], metadata: Metadata) -> bytes:
    with as_safetensors():
        return layout.to_bytes(layout.prepared_of(arrays), metadata)


def save_file(arrays: Mapping[str, Any], filename: PathLike, metadata: Metadata) -> None:
    with as_safetensors(is_writing=True):
        layout.to_file(layout.prepared_of(arrays), file_path(filename), metadata)


def load(data: Any, framework: str) -> Arrays:
    with as_safetensors():
        return tensors.load(data, framework=framework)


def load_file(filename: PathLike, framework: str, device: Any, backend: str) -> Arrays:
    with safe_open(filename, framework, device, backend=backend) as file:
        return file.get_tensors()
