"""`search`: words in what is remembered."""

from __future__ import annotations

from .. import scan
from . import arguments, desk
from .output import count, emit_json, line, table
from .refusal import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..scan import Hit

_LIMIT = 20


def search(argv: list[str]) -> int:
    about = "Every session and note that holds all these words, in whatever case. Exit code 1 when there is none."
    examples = 'search rounding\nsearch "cart total" tax --notes\nsearch deploy --archived --json'
    parser = arguments.parser("search", about, examples)
    parser.add_argument("words", nargs="+", metavar="WORD", help="a word, or words in quotes that belong together")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--notes", action="store_true", help="only in notes")
    group.add_argument("--sessions", action="store_true", help="only in sessions")
    group.add_argument("--archived", action="store_true", help="only in sessions that were archived")
    parser.add_argument("--limit", type=int, default=_LIMIT, metavar="N", help="at most N (default: %d)" % _LIMIT)
    args = parser.parse_args(argv)
    if not any(word.strip() for word in args.words) or args.limit < 1:
        raise Refusal("what is to be searched for?")
    at = desk.Desk(args)
    shelves = [] if args.sessions else at.shelves
    if args.archived:
        found = list(scan.find_archived(at.root, at.project.dir, args.words))
    else:
        found = [hit for hit in scan.find(at.project.dir, shelves, args.words) if not args.notes or hit.kind == "note"]
    shown = found[: args.limit]
    if args.json:
        emit_json([_described(hit) for hit in shown])
    elif shown:
        rows = [["WHERE", "DAY", "TEXT"], *([line(hit.id), hit.day or "-", line(hit.text)] for hit in shown)]
        print("\n".join(table(rows, is_cut=True)))
        how = "Bring one back: harness memory restore ID" if args.archived else "Read one: harness memory show ID"
        print("\n%s. %s" % (count(len(found), "match").replace("matchs", "matches"), how))
    else:
        print("Nothing that is remembered here holds that.")
    return 0 if found else 1


def _described(hit: Hit) -> dict[str, object]:
    return {"kind": hit.kind, "id": hit.id, "file": hit.path, "line": hit.line, "day": hit.day, "text": hit.text}
