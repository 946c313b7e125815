"""How alike texts are, in percent."""

from typing import Any, Optional

from hoist._native import is_missing, partial_alignment
from hoist.rapidfuzz import _scorers
from hoist.rapidfuzz._scorers import Processor
from hoist.rapidfuzz.distance._edits import ScoreAlignment

__all__ = [
    "QRatio",
    "WRatio",
    "partial_ratio",
    "partial_ratio_alignment",
    "partial_token_ratio",
    "partial_token_set_ratio",
    "partial_token_sort_ratio",
    "ratio",
    "token_ratio",
    "token_set_ratio",
    "token_sort_ratio",
]

ratio: _scorers.Ratio = _scorers.function("ratio", __name__)
partial_ratio: _scorers.Ratio = _scorers.function("partial_ratio", __name__)
token_sort_ratio: _scorers.Ratio = _scorers.function("token_sort_ratio", __name__)
token_set_ratio: _scorers.Ratio = _scorers.function("token_set_ratio", __name__)
token_ratio: _scorers.Ratio = _scorers.function("token_ratio", __name__)
partial_token_sort_ratio: _scorers.Ratio = _scorers.function("partial_token_sort_ratio", __name__)
partial_token_set_ratio: _scorers.Ratio = _scorers.function("partial_token_set_ratio", __name__)
partial_token_ratio: _scorers.Ratio = _scorers.function("partial_token_ratio", __name__)
WRatio: _scorers.Ratio = _scorers.function("WRatio", __name__)
QRatio: _scorers.Ratio = _scorers.function("QRatio", __name__)


def partial_ratio_alignment(
    s1: Any, s2: Any, *, processor: Processor = None, score_cutoff: Optional[float] = None
) -> Optional[ScoreAlignment]:
    """partial_ratio, and the parts that have it; None below the cut-off or without a sequence."""
    if is_missing(s1) or is_missing(s2):
        return None
    if processor is not None:
        s1, s2 = processor(s1), processor(s2)
    cutoff = 0.0 if score_cutoff is None else float(score_cutoff)
    found = ScoreAlignment(*partial_alignment(s1, s2, cutoff))
    return found if found.score >= cutoff else None
