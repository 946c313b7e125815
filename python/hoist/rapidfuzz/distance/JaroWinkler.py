"""Jaro, where an equal beginning counts more."""

from hoist.rapidfuzz import _scorers

__all__ = ["distance", "normalized_distance", "normalized_similarity", "similarity"]

distance: _scorers.WinklerMetric = _scorers.function("JaroWinkler.distance", __name__)
similarity: _scorers.WinklerMetric = _scorers.function("JaroWinkler.similarity", __name__)
normalized_distance: _scorers.WinklerMetric = _scorers.function("JaroWinkler.normalized_distance", __name__)
normalized_similarity: _scorers.WinklerMetric = _scorers.function("JaroWinkler.normalized_similarity", __name__)
