"""Names for annotations, which no hook evaluates: loading `typing` and `collections.abc` would take it too long."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable as Callable
    from collections.abc import Collection as Collection
    from collections.abc import Iterable as Iterable
    from collections.abc import Iterator as Iterator
    from collections.abc import Mapping as Mapping
    from collections.abc import Sequence as Sequence
    from typing import Any as Any
    from typing import NoReturn as NoReturn
    from typing import TypeAlias as TypeAlias

    Fields: TypeAlias = "dict[str, Any]"  # of a record, as JSON holds it
else:
    Any = Callable = Collection = Fields = Iterable = Iterator = Mapping = NoReturn = Sequence = TypeAlias = None
