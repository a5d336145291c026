"""Names for annotations, which no hook evaluates: loading `typing` and `collections.abc` would take it too long."""

__all__ = ["Any", "Callable", "Collection", "Fields", "Iterable"]
__all__ += ["Iterator", "Mapping", "NoReturn", "Sequence", "TypeAlias"]
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any, NoReturn, TypeAlias

    Fields: TypeAlias = "dict[str, Any]"  # of a record, as JSON holds it
else:
    Any = Callable = Collection = Fields = Iterable = Iterator = Mapping = NoReturn = Sequence = TypeAlias = None
