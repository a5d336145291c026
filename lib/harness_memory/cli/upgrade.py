"""`harness upgrade`: the newest version of this folder, installed again wherever it was installed."""

from __future__ import annotations

import os
import subprocess
import sys

from ..base import invocation
from ..setup import installation
from . import arguments
from .output import Refusal, count, passage, short


def upgrade(argv: list[str]) -> int:
    about = (
        "Fetch the newest version (git pull) where this folder is a clone, then run install.py again for every install."
    )
    arguments.parser("upgrade", about, family="", has_json=False).parse_args(argv)
    tree = invocation.tree()
    if os.path.join("plugins", "cache") in tree:
        raise Refusal("this is a plugin. Run: claude plugin update harness-memory")
    if os.path.exists(os.path.join(tree, ".git")):
        done = subprocess.run(["git", "-C", tree, "pull", "--ff-only"], capture_output=True, check=False)
        said = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        if done.returncode:
            raise Refusal("git pull failed: %s: %s. Correct that in the folder and try again." % (tree, said))
        print(passage(said.splitlines()[-1] if said else "Up to date"))
    else:
        print("%s is not a git clone: put the new files there first. Installing it again." % short(tree))
    installs = installation.records(arguments.root())
    for install in installs:
        # In a process of its own, which runs the new code, and where a project's settings are.
        place = os.path.dirname(os.path.dirname(install["settings"]))
        words = [os.path.join(tree, "install.py"), "--scope", install.get("scope", "user")]
        python = str(install.get("interpreter") or sys.executable)
        done = subprocess.run([python, *words], cwd=place, stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            raise Refusal("install.py failed in %s. Run it there again." % short(place))
    print("Installed again in %s." % count(len(installs), "place") if installs else "Nothing is installed from here.")
    return 0
