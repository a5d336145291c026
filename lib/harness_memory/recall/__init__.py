"""Recall: which memories a prompt calls for. Pure: documents in, ranking out."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
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
_HOMES = {"Query": "ranking", "rank": "ranking", "score": "ranking", "terms": "words"}
_HOMES.update(dict.fromkeys(("explain", "pick", "worth_injecting"), "decision"))


def __getattr__(name: str) -> object:
    """Each part when it is asked for: whoever indexes a document need not load what ranks."""
    if name not in __all__:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    module = __import__("%s.%s" % (__name__, _HOMES.get(name, "index")), fromlist=[name])
    return getattr(module, name)
