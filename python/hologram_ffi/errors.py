"""What calls of hologram_ffi raise. Every class is an InternalError, as all errors were before."""

__all__ = [
    "Exhausted",
    "InternalError",
    "InvalidHandle",
    "InvalidJson",
    "InvalidOperation",
]


class InternalError(Exception):
    """A call failed; nothing was changed."""


class InvalidHandle(InternalError, LookupError):
    """The handle names nothing: it was cleaned up, or never given out."""


class InvalidOperation(InternalError, ValueError):
    """The arguments do not fit one another: a buffer is too small, a dimension out of range."""


class InvalidJson(InternalError, ValueError):
    """The text is no JSON array of numbers."""


class Exhausted(InternalError, MemoryError):
    """All 96 classes of the executor are taken, or memory is."""
