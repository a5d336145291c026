"""Which item a person means: by an id, or by the beginning of one."""

from __future__ import annotations

from .output import line
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    Item = TypeVar("Item")

_LISTED = 20


def matches(word: str, items: Iterable[Item], ids: Callable[[Item], Iterable[str]]) -> list[Item]:
    """The items that `word` names exactly, else those with an id that begins with it, in any case."""
    items = [*items]
    exact = [item for item in items if word in ids(item)]
    return exact or [i for i in items if word and any(id.lower().startswith(word.lower()) for id in ids(i))]


def one(
    word: str,
    items: Iterable[Item],
    ids: Callable[[Item], Iterable[str]],
    what: str,
    shown: Callable[[Item], str],
    see: str,
) -> Item:
    """The one item that `word` means; a Refusal names the candidates, or the command that lists all."""
    found = matches(word, items, ids)
    if len(found) == 1:
        return found[0]
    if found:
        rows = "\n".join("  " + line(shown(item)) for item in found[:_LISTED])
        raise Refusal('"%s" matches %d %ss. Give more of the id:\n%s' % (line(word), len(found), what, rows))
    raise Refusal('no %s "%s" here. See: harness memory %s' % (what, line(word), see))
