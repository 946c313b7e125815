"""Edits and transpositions of neighbours; no part is edited twice."""

from hoist.rapidfuzz import _scorers

__all__ = ["distance", "normalized_distance", "normalized_similarity", "similarity"]

distance: _scorers.Count = _scorers.metric("OSA.distance", __name__)
similarity: _scorers.Count = _scorers.metric("OSA.similarity", __name__)
normalized_distance: _scorers.Metric = _scorers.metric("OSA.normalized_distance", __name__)
normalized_similarity: _scorers.Metric = _scorers.metric("OSA.normalized_similarity", __name__)
