"""`harness statusline`: the client's status line; it sends JSON on standard input and shows the line that we print."""

from __future__ import annotations

import json
import os
import sys

from ..memory import glance
from ..project import identity
from . import arguments, output


def statusline(argv: list[str]) -> int:
    about = "One line for the status line. In settings.json:\n\n"
    about += '  "statusLine": {"type": "command", "command": "harness statusline"}'
    arguments.parser("statusline", about, family="", has_json=False).parse_args(argv)
    try:
        value = json.loads(sys.stdin.read()) if not sys.stdin.isatty() else {}
        place = value.get("workspace", {}).get("project_dir") or value.get("cwd")
    except (ValueError, AttributeError):
        place = ""
    directory = place if isinstance(place, str) and os.path.isdir(place) else arguments.working_directory()
    line = glance.glance(identity.locate(arguments.root(), directory, directory).dir)
    print(output.line("Memory: %s" % (line or "empty")))
    return 0
