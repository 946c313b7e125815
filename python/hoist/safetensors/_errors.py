"""Errors of hoist.tensors as safetensors' users catch them: each is its class of hoist.errors and a
SafetensorError, which is safetensors' own where that is installed."""

from typing import Any, Dict, Optional, Type

from hoist import errors

_Base: Any
try:
    from safetensors import SafetensorError as _Base
except ImportError:
    _Base = Exception


class SafetensorError(errors.Error, _Base):  # type: ignore[misc]
    """Base of all errors of this module but a missing file and a wrong type."""


class InvalidArgument(errors.InvalidArgument, SafetensorError):
    pass


class NotFound(errors.NotFound, SafetensorError):
    pass


class Corrupt(errors.Corrupt, SafetensorError):
    pass


class Unsupported(errors.Unsupported, SafetensorError):
    pass


class Unavailable(errors.Unavailable, SafetensorError):
    pass


class IoError(errors.IoError, SafetensorError):
    pass


class InvalidIndex(SafetensorError, IndexError):
    """An index reaches beyond its tensor, or is nothing that is taken as one."""


class SharedTensors(SafetensorError, RuntimeError):
    """Tensors overlap in memory."""


class FileNotFound(errors.FileNotFound):
    """No SafetensorError, there neither."""

    def __str__(self) -> str:
        return f"{self.strerror}: {self.filename}" if self.filename else super().__str__()


class NotWritten(FileNotFound, SafetensorError):
    """There is no folder for the file."""


_CLASSES: Dict[Type[errors.Error], Type[errors.Error]] = {
    errors.InvalidArgument: InvalidArgument,
    errors.NotFound: NotFound,
    errors.Corrupt: Corrupt,
    errors.Unsupported: Unsupported,
    errors.Unavailable: Unavailable,
    errors.IoError: IoError,
    errors.FileNotFound: FileNotFound,
}


class as_safetensors:  # named as it is read: with as_safetensors(): …
    """Errors of hoist.tensors inside are raised as this module's."""

    def __init__(self, is_writing: bool = False):
        self._is_writing = is_writing

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> None:
        if not isinstance(error, errors.Error):
            return
        ours = SafetensorError if type(error) is errors.Error else _CLASSES.get(type(error))
        if ours is None:
            return
        if self._is_writing and ours is FileNotFound:
            ours = NotWritten
        if isinstance(error, OSError) and error.filename is not None:
            raise ours(error.errno, error.strerror, error.filename) from None
        raise ours(*error.args) from None
