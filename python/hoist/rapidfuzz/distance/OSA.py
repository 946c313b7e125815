"""Edits and transpositions of neighbours; no part is edited twice."""

from hoist.rapidfuzz import _scorers

__all__ = ["distance", "normalized_distance", "normalized_similarity", "similarity"]

distance: _scorers.Count = _scorers.function("OSA.distance", __name__)
similarity: _scorers.Count = _scorers.function("OSA.similarity", __name__)
normalized_distance: _scorers.Metric = _scorers.function("OSA.normalized_distance", __name__)
normalized_similarity: _scorers.Metric = _scorers.function("OSA.normalized_similarity", __name__)
