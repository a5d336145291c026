"""What people write rules about: the commands that a tool call would run, and the paths it touches.

A command fits when it begins with the words of the pattern; a pattern with `*` or `?` has to fit all of it. Commands
are those that would run, through `cd`, `sudo`, `bash -c` and aliases (`npm i` is `npm install`). A path fits as seen
from the project, or from `/` or `~`; `*` stays in a folder, `**` spans folders.
"""

from __future__ import annotations

from ..base.typing import Any, Callable
from . import expand, tools
from .programs import ACCESS
from .shell import fits, joined, plain
from .words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .calls import Call
    from .question import Question

MAX_UNSURE = 4  # words before the verb that may be values of options


class Facts:
    """Every call, every command as its words, every path with the access to it."""

    def __init__(self, home: str, project: str) -> None:
        self.home = home
        self.project = project
        self.calls: list[Call] = []
        self.commands: list[list[str]] = []
        self.paths: list[tuple[str, str]] = []


def forms_of(call: Call) -> list[list[str]]:
    """A call as people write it, with the full name of its verb: also without a version, or options before the verb."""
    given, starts = call.given, [0]
    names = dict.fromkeys((call.program, call.program.rstrip("0123456789.") or call.program))  # pip3.11 is pip
    for number, place in enumerate(given.places[:MAX_UNSURE]):
        starts.append(place)
        if number not in given.unsure:
            break
    forms = [[*map(plain, (name, *call.args[start:]))] for name in names for start in dict.fromkeys(starts)]
    for words in forms:
        for verbs in WORDS.get("verbs-" + words[0], ()):
            if words[1:2] and words[1] in verbs.split(","):
                words[1] = verbs.partition(",")[0]
    return forms


def facts(question: Question) -> Facts:
    """What a call would do, as far as it can be read; text that is not a shell script has none."""
    found = Facts(question.home, question.project)
    places = [(access, word, question.cwd) for access, word in tools.accesses(question.tool, question.given)]
    texts = [question.given.get("command")] if question.tool in tools.SHELL_TOOLS else []
    if question.tool.startswith("mcp__"):
        texts += tools.texts_to_run(question.given)
    for text in texts:
        trace = expand.trace(str(text), question)
        found.calls += trace.calls
        for call in trace.calls:
            found.commands += forms_of(call)
            kinds = [*call.accesses(), *call.redirected()]
            places += [(ACCESS.get(kind, "read"), word, call.cwd) for kind, word in kinds if kind not in {*"gGcsS-"}]
    named = [place for place in places if place[1]]
    found.paths = [(access, plain(joined(cwd, word)).replace("~", found.home, 1)) for access, word, cwd in named]
    return found


def met(question: Question, near: Callable[..., list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The rules of notes (see `notes.binding.near`) whose triggers a call meets, each with what `met` it."""
    found = facts(question)
    text = str([found.commands, found.paths]).lower()
    session = str(question.payload.get("session_id") or "")
    noted = near(question.root, question.project, question.cwd, session, text)
    hits = [(rule, [matches(found, pattern) for pattern in rule["when"]]) for rule in noted]
    return [{**rule, "met": next(filter(None, each))} for rule, each in hits if any(each)]


def matches(found: Facts, pattern: str, access: str = "any") -> str:
    """The command or path that fits; "" where none does. `access` may be several words."""
    kind, _, wanted = map(str.strip, pattern.partition(":"))
    if kind == "command":
        words = wanted.split()
        glob = " ".join(words) if "*" in wanted or "?" in wanted else ""
        head = glob.partition("*")[0].partition("?")[0]
        for each in found.commands if words else ():
            text = " ".join(each) if glob else ""
            if text.startswith(head) and fits(text, glob, "") if glob else each[: len(words)] == words:
                return " ".join(each)
        return ""
    wanted = found.home + wanted[1:] if wanted[:2] == "~/" else wanted
    for used, path in found.paths:
        if (access == "any" or used in access.split()) and wanted and fits_path(path, wanted, found.project):
            return path
    return ""


def fits_path(path: str, pattern: str, project: str) -> bool:
    if pattern[:1] != "/":
        if not path.startswith(project.rstrip("/") + "/"):
            return False
        path = path[len(project.rstrip("/")) + 1 :]
        if "/" not in pattern.rstrip("/"):  # a name, wherever it stands
            return any(fits(part, pattern.rstrip("/"), "/") for part in path.split("/"))
    pattern = pattern + "**" if pattern.endswith("/") else pattern
    return fits(path, pattern, "/") or (pattern.endswith("/**") and path == pattern[:-3])
