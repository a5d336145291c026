"""`adopt`: a person says that a folder belongs to the memory of its remote, which its history does not show."""

from __future__ import annotations

import os
import time

from ..base import clock
from ..project import identity
from . import arguments
from .output import Refusal, answer, line, short


def adopt(argv: list[str]) -> int:
    args = arguments.parser("adopt", examples="adopt").parse_args(argv)
    if arguments.is_in_session():  # a repository may have told Claude to
        raise Refusal("this is for a person: run it in a terminal of your own. Nothing was changed.")
    project = arguments.locate(args)
    if not project.identity.startswith("remote#"):
        raise Refusal("%s already has the memory of its repository. Nothing was changed." % short(project.root))
    memory = identity.adopt(arguments.private_root(), project, clock.iso(time.time()))
    text = "%s shares the memory of %s from its next session on." % (short(project.root), line(project.remote))
    left = "What was recorded here before stays in %s." % short(project.dir)
    return answer(args.json, {"memory": memory}, [text, *[left] * os.path.isdir(project.dir)])
