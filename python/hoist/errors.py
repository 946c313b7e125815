"""What goes wrong, by kind. Each class is also the built-in exception that one would expect."""


class Error(Exception):
    """Base of all; by itself: a fault inside Hoist."""


class InvalidArgument(Error, ValueError):
    """An argument is wrong."""


class NotFound(Error, LookupError):
    """There is no such thing."""


class FileNotFound(FileNotFoundError, NotFound):
    """There is no such file; `errno` and `filename` as in FileNotFoundError."""


class Corrupt(Error, ValueError):
    """Bytes are not what they should be."""


class Unsupported(Error, NotImplementedError):
    """The bytes or the wish may be right, but this version does not do it."""


class Unavailable(Error, RuntimeError):
    """A device, or something else that is needed, is not there."""


class Exhausted(Error, MemoryError):
    """No memory, or a limit was reached."""


class IoError(Error, OSError):
    """Reading or writing failed; `errno` says how."""


class Cancelled(Error):
    """It was stopped as asked."""
