"""Equal elements at the beginning."""

from hoist.rapidfuzz import _scorers

__all__ = ["distance", "normalized_distance", "normalized_similarity", "similarity"]

distance: _scorers.Count = _scorers.function("Prefix.distance", __name__)
similarity: _scorers.Count = _scorers.function("Prefix.similarity", __name__)
normalized_distance: _scorers.Metric = _scorers.function("Prefix.normalized_distance", __name__)
normalized_similarity: _scorers.Metric = _scorers.function("Prefix.normalized_similarity", __name__)
