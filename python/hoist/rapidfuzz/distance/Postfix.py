"""Equal elements at the end."""

from hoist.rapidfuzz import _scorers

__all__ = ["distance", "normalized_distance", "normalized_similarity", "similarity"]

distance: _scorers.Count = _scorers.function("Postfix.distance", __name__)
similarity: _scorers.Count = _scorers.function("Postfix.similarity", __name__)
normalized_distance: _scorers.Metric = _scorers.function("Postfix.normalized_distance", __name__)
normalized_similarity: _scorers.Metric = _scorers.function("Postfix.normalized_similarity", __name__)
