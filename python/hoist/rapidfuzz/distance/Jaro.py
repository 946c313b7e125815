"""Equal elements near each other: 0 to 1."""

from hoist.rapidfuzz import _scorers

__all__ = ["distance", "normalized_distance", "normalized_similarity", "similarity"]

distance: _scorers.Metric = _scorers.function("Jaro.distance", __name__)
similarity: _scorers.Metric = _scorers.function("Jaro.similarity", __name__)
normalized_distance: _scorers.Metric = _scorers.function("Jaro.normalized_distance", __name__)
normalized_similarity: _scorers.Metric = _scorers.function("Jaro.normalized_similarity", __name__)
