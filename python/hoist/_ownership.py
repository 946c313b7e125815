"""Objects that cannot be copied: what they own is not in memory alone."""

from typing import NoReturn


class OwnsResources:
    """A base of what owns files, threads or an index: copying and pickling it is an error at once,
    instead of a copy that cannot work."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"cannot copy or pickle {type(self).__qualname__}: it owns open files, threads or an "
            "index; pass on its path, and open that where it is needed"
        )
