"""Metrics: each a module with distance, similarity, and both normalized."""

from hoist.rapidfuzz.distance import (
    OSA,
    DamerauLevenshtein,
    Hamming,
    Indel,
    Jaro,
    JaroWinkler,
    LCSseq,
    Levenshtein,
    Postfix,
    Prefix,
)
from hoist.rapidfuzz.distance._edits import (
    Editop,
    Editops,
    MatchingBlock,
    Opcode,
    Opcodes,
    ScoreAlignment,
)

__all__ = [
    "OSA",
    "DamerauLevenshtein",
    "Editop",
    "Editops",
    "Hamming",
    "Indel",
    "Jaro",
    "JaroWinkler",
    "LCSseq",
    "Levenshtein",
    "MatchingBlock",
    "Opcode",
    "Opcodes",
    "Postfix",
    "Prefix",
    "ScoreAlignment",
]
