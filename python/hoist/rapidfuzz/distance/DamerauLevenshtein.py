"""Edits and transpositions, also with edits between what is transposed."""

from hoist.rapidfuzz import _scorers

__all__ = ["distance", "normalized_distance", "normalized_similarity", "similarity"]

distance: _scorers.Count = _scorers.function("DamerauLevenshtein.distance", __name__)
similarity: _scorers.Count = _scorers.function("DamerauLevenshtein.similarity", __name__)
normalized_distance: _scorers.Metric = _scorers.function("DamerauLevenshtein.normalized_distance", __name__)
normalized_similarity: _scorers.Metric = _scorers.function("DamerauLevenshtein.normalized_similarity", __name__)
