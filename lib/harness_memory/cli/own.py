"""`harness upgrade`, `statusline` and `completion`: the product itself, its line and its words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Iterator

from ..base import invocation, tables
from ..memory import briefing
from ..project import identity
from ..setup import installation
from . import GROUPS, Row, options, verbs
from .call import Call, working_directory
from .output import Refusal, count, line, short

_SHELLS = tables.read(__file__.replace("own.py", "completion.txt"))


def upgrade(call: Call) -> int:
    tree = invocation.tree()
    if os.path.join("plugins", "cache") in tree:
        raise Refusal("this is a plugin. Run: claude plugin update harness-memory")
    if os.path.exists(os.path.join(tree, ".git")):
        if subprocess.run(["git", "-C", tree, "pull", "--ff-only"], check=False).returncode:
            raise Refusal("git pull failed in %s. Correct what it says there and try again." % tree)
    else:
        print("%s is not a git clone: put the new files there first. Installing it again." % short(tree))
    installs = installation.records(call.root)
    for install in installs:
        # In a process of its own, which runs the new code, and where a project's settings are.
        place = os.path.dirname(os.path.dirname(install["settings"]))
        words = [os.path.join(tree, "install.py"), "--scope", install.get("scope", "user")]
        python = str(install.get("interpreter") or sys.executable)
        if subprocess.run([python, *words], cwd=place, stdin=subprocess.DEVNULL, check=False).returncode:
            raise Refusal("install.py failed in %s. Run it there again." % short(place))
    print("Installed again in %s." % count(len(installs), "place") if installs else "Not installed: run install.py.")
    return 0


def statusline(call: Call) -> int:
    try:
        value = json.loads(sys.stdin.read()) if not sys.stdin.isatty() else {}
        place = value.get("workspace", {}).get("project_dir") or value.get("cwd")
    except (ValueError, AttributeError):
        place = ""
    directory = place if isinstance(place, str) and os.path.isdir(place) else working_directory()
    print(line("Memory: " + (briefing.glance(identity.locate(call.root, directory, directory).dir) or "empty")))
    return 0


def completion(call: Call) -> int:
    script, case = ("\n".join(line for (line,) in _SHELLS[call.shell + part]) for part in ("", " case"))
    cases = []
    for family in GROUPS:
        path, known = "harness " + family if family else "harness", verbs(family)
        cases.append(case % (path, "", " ".join(known if family else filter(None, [*GROUPS, *known]))))
        cases += [case % (path + " " + name, "*", " ".join(_words(known[name]))) for name in known]
    print(script % "\n".join(cases))
    return 0


def _words(head: Row) -> Iterator[str]:
    """The actions, options and choices of a verb."""
    yield from [row.name for row in head.actions]
    pairs = [pair for row in (head, *head.actions) for pair in options(row.details)]
    shown = [names if names[0][0] == "-" else map(str, keywords.get("choices", ())) for names, keywords in pairs]
    yield from dict.fromkeys(word for words in shown for word in words if word[0] != "-" or word[1] == "-")
    yield from ("--project", "--json")
