"""`why`: what a session was told of the past. Nothing here writes."""

from __future__ import annotations

import os

from ..base import files, settings
from ..inject import receipt
from . import arguments, records, resolve
from .output import emit_json, line, passage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .records import Record


def why(argv: list[str]) -> int:
    about = "What a session was told of the past: when, why, from which files, how much, and the text itself."
    parser = arguments.parser("why", about, "why\nwhy last\nwhy a1b2c3d4\nwhy a1b --json")
    words = 'an id or its beginning, or "last" (default: the present session, else the last one)'
    parser.add_argument("session", metavar="ID", nargs="?", help=words)
    args = parser.parse_args(argv)
    known = records.load_all(arguments.locate(args).dir)
    record = resolve.session(known, args.session or _present(known))
    log = receipt.load(record.session.dir)["log"] if record.session else []
    page = _page(record)
    if args.json:
        emit_json(log)
    elif page:
        print(passage(page))
    elif log:
        print("Session %s was told something %d times, but its %s is gone. See: --json"
              % (line(record.id), len(log), settings.RECEIPT_FILE))  # fmt: skip
    else:
        print("Session %s was told nothing: nothing was injected." % line(record.id))
    return 0


def _present(known: list[Record]) -> str:
    present = os.environ.get(settings.ENV_SESSION_ID, "")
    return present if present and any(record.claude_id == present for record in known) else "last"


def _page(record: Record) -> str:
    if not record.session:
        return ""
    return (files.read_text(os.path.join(record.session.dir, settings.RECEIPT_FILE)) or "").rstrip()
