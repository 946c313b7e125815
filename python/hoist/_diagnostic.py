"""What is wrong, or doubtful, in a text: px and circuits say it alike."""

from typing import NamedTuple


class Diagnostic(NamedTuple):
    """What is wrong, or doubtful, and what the author can do. Line and column count from 1."""

    file: str
    line: int
    column: int
    message: str
    mend: str
