"""RapidFuzz's names, arguments and results, by Hoist's scorers.

    import hoist.rapidfuzz as rapidfuzz
    from hoist.rapidfuzz import distance, fuzz, process, utils

docs/reference/rapidfuzz.md says what differs.
"""

from hoist.rapidfuzz import distance, fuzz, process, utils

# The version whose names and results it has.
__version__ = "3.14.6"
__all__ = ["distance", "fuzz", "process", "utils"]
