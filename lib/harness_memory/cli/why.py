"""`why`: what was injected into a session. Nothing here writes."""

from __future__ import annotations

import os

from ..base import files, settings
from ..inject import receipt
from . import arguments, records, resolve
from .output import answer, line, passage


def why(argv: list[str]) -> int:
    about = "What a session was given from the past: when, why, from which files, how much, and the text itself."
    parser = arguments.parser("why", about, "why\nwhy last\nwhy a1b2c3d4\nwhy a1b --json")
    words = 'an id or its beginning, or "last" (default: the present session, else the last one)'
    parser.add_argument("session", metavar="ID", nargs="?", help=words)
    args = parser.parse_args(argv)
    known = records.load_all(arguments.locate(args).dir)
    present = os.environ.get(settings.ENV_SESSION_ID, "")
    default = present if present in [record.claude_id for record in known] else "last"
    record = resolve.session(known, args.session or default)
    log = receipt.load(record.session.dir).log if record.session else []
    page = files.read_text(os.path.join(record.session.dir, settings.RECEIPT_FILE)) if record.session else ""
    text = "Session %s was given nothing." % line(record.id)
    if log:
        missing = "%s is missing. See: --json" % settings.RECEIPT_FILE
        text = "Session %s was given something %d times, but its %s" % (line(record.id), len(log), missing)
    return answer(args.json, log, [passage(page.rstrip()) if page else text])
