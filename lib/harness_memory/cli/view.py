"""`view`: the memory as one HTML file, for a browser.

`view.html` beside this module is the whole page but for the data: it goes in as JSON, which the page's script renders
as text. A content security policy allows that script and that style by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import time
import webbrowser
from pathlib import Path
from typing import Any

from .. import __version__
from ..audit import trail
from ..base import clock, files, settings
from ..inject.injection import load_receipt
from ..memory import records, tasks, threads, views
from ..notes import binding, lint
from ..notes import shelf as notebook
from ..project import identity
from . import arguments
from .output import Refusal, short

_AUDIT_EVENTS = 500
_TEXTS = ("outcome", "branch", "what_was_done", "skill_used", "model", "title", "thread")
_LISTS = (
    *("asked", "decisions", "learnings", "rules", "what_remains", "files_changed", "tags", "commits", "plan"),
    "commands_failed_then_fixed",
)


def view(argv: list[str]) -> int:
    about = "The memory as one HTML page: no server, no network. It holds what the memory holds: share it with care."
    examples = "view --open\nview --all-projects --out ~/memory.html"
    parser = arguments.parser("view", about, examples, has_json=False, has_all=True)
    out = "where to write it (default: %s in the memory)" % settings.VIEW_FILE
    parser.add_argument("--out", metavar="FILE", help=out)
    parser.add_argument("--open", action="store_true", help="show it in the browser")
    args = parser.parse_args(argv)
    path = os.path.join(arguments.private_root(), settings.VIEW_FILE)
    path = os.path.abspath(os.path.expanduser(args.out)) if args.out else path
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
        raise Refusal("cannot write %s: not a file in a folder that exists. Choose another --out." % short(path))
    if files.exists(path) and b"<title>Harness Memory</title>" not in files.read_part(path, 1000):
        raise Refusal("%s is no page of ours: nothing was written. Choose another --out." % short(path))
    data: dict[str, Any] = {"version": __version__, "at": clock.iso(time.time())}
    data["projects"] = [_project(path) for path in arguments.project_dirs(args)]
    data["notes"] = _notes(notebook.user_shelf(arguments.root()), "")
    files.write(path, page(data))
    print("%s: %d sessions" % (short(path), sum(len(project["sessions"]) for project in data["projects"])))
    if args.open and not webbrowser.open(Path(path).as_uri()):
        raise Refusal("found no browser. Open the file yourself.")
    return 0


def page(data: dict[str, Any]) -> str:
    html = (Path(__file__).parent / settings.VIEW_FILE).read_text("utf-8")
    hashes = {
        tag: base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        for tag, body in re.findall(r"<(style|script)>(.*?)</\1>", html, re.DOTALL)
    }
    policy = "default-src 'none'; style-src 'sha256-%(style)s'; script-src 'sha256-%(script)s'; " % hashes
    # In JSON these signs stand only in strings. Escaped, nothing in the data can end its element.
    text = json.dumps(data, separators=(",", ":"), default=str)
    for sign in "<>&":
        text = text.replace(sign, "\\u%04x" % ord(sign))
    return html.replace("{{policy}}", policy + "base-uri 'none'; form-action 'none'").replace("{{data}}", text)


def _project(directory: str) -> dict[str, Any]:
    every = records.load_all(directory)
    work = views.open_work([*tasks.load(directory).values()], threads.load(directory))
    keys = ("id", "title", "next_steps", "blockers", "branch", "opened_at", "last_activity", "sessions")
    events = [*trail.events(directory)][-_AUDIT_EVENTS:]
    names = ("ts", "event", "tool", "command", "path", "reason", "rule", "session")
    return {
        "id": os.path.basename(directory),
        "name": arguments.project_name(directory),
        "path": identity.last_seen(directory)[0],
        "sessions": [_session(record) for record in every],
        "open": [{key: getattr(each, key, None) for key in keys} for each in work],
        "notes": _notes(notebook.Shelf("project", directory), identity.last_seen(directory)[0]),
        "audit": [{name: event[name] for name in names if event.get(name)} for event in reversed(events)],
    }


def _session(record: records.Record) -> dict[str, Any]:
    """What a session's page shows; empty fields are left out, because there may be thousands."""
    value = record.episode or {}
    receipt = load_receipt(record.directory) if record.directory else None
    items = [item for item in receipt.items if not item.get("held")] if receipt else []
    shown = {key: value.get(key) for key in (*_TEXTS, *_LISTS)}
    shown.update(id=record.id, started=record.started, state=record.end, headline=record.headline)
    shown.update(branch=record.branch, ended=record.meta.get("ended") or value.get("ended"))
    shown["minutes"] = value.get("duration_minutes")
    shown["recalled"] = [[item["kind"], item["item"], item["used"]] for item in items]
    shown["tokens"] = sum(int(entry.get("tokens") or 0) for entry in receipt.log) if receipt else 0
    return {key: each for key, each in shown.items() if each}


def _notes(shelf: notebook.Shelf, root: str) -> list[dict[str, Any]]:
    now, rows = time.time(), []
    for note in notebook.read_all([shelf]):
        stale = [finding.what for finding in lint.check_note(note, root) if finding.kind == "stale"] if root else []
        state = note.fate or ("; ".join(stale)) or ("unused" if lint.is_unused(shelf, note, now) else "")
        row: dict[str, Any] = {key: getattr(note, key) for key in ("name", "type", "scope", "day", "slug", "files")}
        row.update(about=note.description, state=state, facts=[fact.text for fact in note.facts])
        row.update({key: note.fields.get(key) for key in ("triggers", "after", "require", "supersedes")})
        row["enforce"] = binding.firmness(note)
        rows.append({key: each for key, each in row.items() if each})
    return rows
