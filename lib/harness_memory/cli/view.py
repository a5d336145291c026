"""`view`: the memory as one HTML file, for a browser.

`view.html` beside this module is the whole page but for the data: it goes in as JSON, which the page's script renders
as text. Its content security policy allows that script and that style by their hashes, and nothing else.
"""

from __future__ import annotations

import json
import os
import time
import webbrowser
from pathlib import Path

from .. import __version__
from ..audit import trail
from ..base import clock, files, settings
from ..inject.injection import load_receipt
from ..memory import records
from ..notes import shelf as notebook
from ..project import identity
from .call import Call, project_name
from .notes import described
from .output import Fields, Refusal, count, short
from .work import open_items, untold

_AUDIT_EVENTS = 500
_UNSHOWN = ("schema", "project", "session_id", "passages", "transcript", "source", "errors")


def view(call: Call) -> int:
    call.prepare(with_project=False)
    path = os.path.abspath(os.path.expanduser(call.out or os.path.join(call.root, settings.VIEW_FILE)))
    if files.exists(path) and b"<title>Harness Memory</title>" not in files.read_part(path, 1000):
        raise Refusal("cannot write %s: it is not a page of ours. Choose another --out." % short(path))
    data: Fields = {"version": __version__, "at": clock.iso(call.now)}
    data["projects"] = [_project(directory) for directory in call.dirs]
    data["notes"] = _notes(notebook.user_shelf(call.root), "")
    files.write(path, page(data))
    number = sum(len(project["sessions"]) for project in data["projects"])
    print("Written: %s (%s)" % (short(path), count(number, "session")))
    if call.open:
        webbrowser.open(Path(path).as_uri())
    return 0


def page(data: Fields) -> str:
    html = (Path(__file__).parent / settings.VIEW_FILE).read_text("utf-8")
    # In JSON these signs stand only in strings. Escaped, nothing in the data can end its element.
    text = json.dumps(data, separators=(",", ":"), default=str)
    for sign in "<>&":
        text = text.replace(sign, "\\u%04x" % ord(sign))
    return html.replace("{{data}}", text)


def _project(directory: str) -> Fields:
    path, events = identity.known(directory, "paths")[-1], [*trail.events(directory)][-_AUDIT_EVENTS:]
    names = ("ts", "event", "tool", "command", "path", "reason", "rule", "session")
    return {
        "id": os.path.basename(directory),
        "name": project_name(directory),
        "path": path,
        "sessions": [_session(record) for record in records.load_all(directory) if record.headline],
        "open": open_items(directory),
        "notes": _notes(notebook.Shelf("project", directory), path),
        "audit": [{name: event[name] for name in names if event.get(name)} for event in reversed(events)],
    }


def _session(record: records.Record) -> Fields:
    """What a session's page shows; empty fields are left out, because there may be thousands."""
    receipt = load_receipt(record.directory or record.project_dir)
    shown = {key: value for key, value in (record.episode or {}).items() if key not in _UNSHOWN}
    shown.update(record.brief(), state=record.state)
    shown["what_remains"] = untold(shown.get("what_remains", []), record.headline)
    shown["recalled"] = [[each["kind"], each["item"], each["used"]] for each in receipt.items if not each.get("held")]
    shown["tokens"] = sum(int(entry.get("tokens") or 0) for entry in receipt.log)
    return {key: each for key, each in shown.items() if each}


def _notes(shelf: notebook.Shelf, root: str) -> list[Fields]:
    now, rows = time.time(), []
    for note in notebook.read_all([shelf]):
        row = {**described(note), "slug": note.slug, "state": note.fate or note.doubt(root, now)}
        rows.append({key: each for key, each in row.items() if each})
    return rows
