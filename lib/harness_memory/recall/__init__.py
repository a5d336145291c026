"""Recall: which memories a prompt calls for. Pure: documents in, ranking out."""

from __future__ import annotations

from .decision import explain, pick, worth_injecting
from .index import Document, Index, build, digest, path_term
from .ranking import Query, rank, score
from .words import terms

__all__ = [
    "Document",
    "Index",
    "Query",
    "build",
    "digest",
    "explain",
    "path_term",
    "pick",
    "rank",
    "score",
    "terms",
    "worth_injecting",
]
