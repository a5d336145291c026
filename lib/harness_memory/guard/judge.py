"""The verdict on a command: which rules stand against each call it would make, and about what.

    text → calls (`expand`) → findings (rule, detail, about) of each: effects of its row, deletes, git, secrets, sends

A rule that ends in `?` is about a line of a script, which may never run: it is asked about at most.
"""

from __future__ import annotations

from ..base.typing import Any, Iterator, TypeAlias
from . import access, calls, code, deletes, expand, flows, gitrules, paths, programs
from .calls import CONTAINER, SCRIPT, Call, Trace
from .shell import TILDE, UNKNOWN, Unreadable, name_of, plain
from .words import WORDS, holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .paths import Scope

Found: TypeAlias = "Iterator[tuple[str, str]]"

MAX_COMMAND_CHARS = 256 * 1024  # twice what Linux hands to a shell
MAX_PIECES, MAX_PIECE_CHARS = 50, 500  # of text that cannot be read as a whole
_PIECES = {**dict.fromkeys(map(ord, "\\'\"")), **dict.fromkeys(map(ord, ";&|(){}`<>"), "\n")}  # without quotes


def findings(text: str, scope: Scope, policy: Any) -> list[tuple[str, str, str]]:
    text = text.replace("\0", "").replace("\ufeff", "")  # shells drop the one, and editors do not show the other
    if _is_bomb("".join(text[:2000].split())):
        return [("system.fork-bomb", text[:80], "")]
    if len(text) > MAX_COMMAND_CHARS:
        return [("guard.unreadable", "a command of %d characters" % len(text), "")]
    found = expand.trace(text, scope)
    result = [
        (rule, call.line(about), about) for call, against in by_call(found, scope, policy) for rule, about in against
    ]
    return result + (coarse("\n".join(dict.fromkeys(found.unread)), scope) if found.unread else [])


def _is_bomb(tight: str) -> bool:
    """`f(){ f|f& };f`: a function that starts itself twice, in the background."""
    name = tight.partition("(){")[0].rpartition(";")[2].rpartition("&")[2].replace("function", "")
    body, _, rest = tight.partition("(){")[2].partition("}")
    forms = [form.replace("f", name) for form in ("f|f&", "f|f", "f&f&", "f&f", "f;f")]
    return name != "" and rest.lstrip(";&|").startswith(name) and body.rstrip(";") in forms


def by_call(found: Trace, scope: Scope, policy: Any) -> Iterator[tuple[Call, list[tuple[str, str]]]]:
    """Each call of a trace, with the rules against it and what they are about."""
    case = Case(found, scope, policy)
    for call in found.calls:
        try:
            against = list(dict.fromkeys(_of_call(case, call)))
        except Unreadable:
            yield call, [("guard.failed", "more paths than can be judged")]
            return
        yield call, _of_script(against) if SCRIPT in call.via else against


def _of_script(against: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(rule.rstrip("?") + "?", about) for rule, about in against if rule.rstrip("?") not in WORDS["minor-rules"]]


class Case:
    """A script under judgement."""

    is_template = False  # a file of secrets is made from one

    def __init__(self, found: Trace, scope: Scope, policy: Any) -> None:
        self.found, self.scope, self.policy = found, scope, policy
        self.readers = {id(each): call for call in found.calls for each in call.sources()}

    def rule(self, word: str, call: Call, access: str = paths.READ) -> str:
        return paths.rule_for(word, access, call.cwd, self.scope)

    def worth(self, word: str, call: Call) -> str:
        return deletes.worth(paths.absolute(word, call.cwd, self.scope), self.scope, call)


def _of_call(case: Case, call: Call) -> Found:
    rule = _effect(case, call)
    if rule == "sql" or (call.row is not None and "q*" in call.row.operands):
        yield from (("db.destroy", text[:120]) for text in code.database_texts(call) if code.destroys(text))
    elif rule and not (rule in ("db.destroy", "docker.prune") and any(code.is_scratch(word) for word in call.args)):
        yield rule, call.line()
    is_told_only = call.given.has("--help,-WhatIf,-whatif")
    kinds = list(call.accesses()) if not is_told_only else []
    if (call.program in WORDS["losers"] and not is_told_only) or any(kind == "d" for kind, _ in kinds):
        yield from deletes.check(call, case.scope, case.found)
    elif call.program in _SPECIAL:
        yield from _SPECIAL[call.program](case, call)
    yield from flows.runs_foreign(case, call)
    if call.program in WORDS["senders"]:
        yield from flows.sends(case, call)
    elif call.program in WORDS["copiers"]:
        yield from flows.copies(case, call)
    if call.code[0]:
        signs = list(code.signs(call.code[0]))
        yield from _of_script(signs) if call.code[1] else signs
    yield from access.accessed(case, call, kinds)


def _effect(case: Case, call: Call) -> str:
    row = call.row or (None if call.where == CONTAINER or {*"/."} & {*call.word} else programs.ANY)
    rule = programs.effect_of(call.program, row, call.given) if row and row.effects else ""
    if row is programs.ANY and call.word.startswith(WORDS["cmdlets"]) and call.program not in WORDS["kept-cmdlets"]:
        rule = "service.delete" if not call.given.has("-WhatIf,-whatif") else ""
    reader = case.readers.get(id(call))
    is_used = call.is_kept or (reader is not None and not access.shows(reader))  # goes on to where it is needed
    is_excused = call.where == CONTAINER and rule.startswith(("system.", "disk."))
    is_excused = is_excused or (is_used and rule == "secret.show")
    return "" if is_excused or gitrules.is_harmless(case, rule, call) else rule


def _permissions(case: Case, call: Call) -> Found:
    is_deep, words = call.given.has("-R,--recursive,/T"), call.given.operands
    owner, user = "".join(words[:1]).partition(":")[0], case.scope.env.get("USER")
    is_own = call.program == "chown" and (owner == user or UNKNOWN in owner)
    mode = "".join(words[:1]) if call.program == "chmod" else ""
    is_wide = not set(mode.split(",")).isdisjoint(WORDS["wide-modes"])
    is_setuid = "s" in mode.rpartition("+")[2] or (len(mode) == 4 and mode[0] in "246")
    for word in dict.fromkeys(words[call.program != "setfacl" :]) if call.where != CONTAINER else ():
        path = paths.absolute(word.rstrip("*\ue001") or ".", call.cwd, case.scope)
        is_home = paths.home_relative(path, case.scope) == "~"
        is_ours = paths.is_within(path, case.scope.places[1]) or (is_own and is_home)
        is_root = deletes.is_place(path, case.scope) or paths.is_system(path)
        if is_root and not is_ours and (is_deep or is_wide):
            is_core = path.count("/") < 2 + paths.is_system(path + "/") and path not in WORDS["lesser-roots"]
            yield "system.permissions" if is_core or is_home else "path.system", call.line()
        elif paths.is_temporary(path, case.scope) and path not in case.scope.temps:
            continue
        elif is_setuid or (is_wide and mode.strip("0")):
            yield "system.world-writable", call.line()


def _mounts(case: Case, call: Call) -> Found:
    for value in call.given.of("B"):
        parts = dict([part.partition("=")[::2] for part in value.split(",")])  # type=bind,source=…
        outside = parts.get("source") or parts.get("src") or value.partition(":")[0]
        is_path = outside[:1] in ("/", ".", TILDE, UNKNOWN)
        path = paths.absolute(outside, call.cwd, case.scope) if is_path else ""
        if path == "/" or path.endswith("docker.sock") or (path and paths.home_relative(path, case.scope) == "~"):
            yield "docker.mount", call.line()
        elif path and case.rule(outside, call) == paths.SECRET:
            yield paths.SENSITIVE, plain(outside)


def _environment(case: Case, call: Call) -> Found:
    """What shows secrets of the environment, or names another store in it."""
    values = [each for arg in call.args for each in case.found.writers("", arg)]
    is_printed = call.program in ("echo", "printf") and any(calls.shows_secret(each) for each in values)
    is_seen = not (call.is_kept or call.redirections or call.is_piped)
    is_listed = calls.shows_environment(call)
    reader = case.readers.get(id(call), call)
    is_searched = reader.program in WORDS["searchers"] and not reader.is_piped  # `env | grep -i token`
    is_shown = is_listed and is_searched and holds(" ".join(reader.args).lower(), "secret-words")
    if is_shown or (is_seen and (is_printed or (is_listed and not call.where))):
        yield "secret.show", call.line()
    if call.program not in ("echo", "printf") and any(arg.startswith(WORDS["preloads"]) for arg in call.args):
        yield "code.preload", call.line()
    if any(arg.startswith("HARNESS_MEMORY=") and arg[15:] for arg in call.args):
        yield "self.uninstall", call.line()
    ours = [each for each in case.found.calls if each.program in ("harness", "harness.py")]
    names = {word.partition("=")[0].replace("-u", "") for word in call.args}  # of which one makes it another's
    if not names.isdisjoint(WORDS["place-variables"]) and any(each.args[:1] == ["memory"] for each in ours):
        yield "self.other-memory", call.line()


_SPECIAL: dict[str, Any] = {
    "git": gitrules.check,
    **dict.fromkeys(("chmod", "chown", "chgrp", "setfacl", "chattr"), _permissions),
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose"), _mounts),
    **dict.fromkeys("env printenv export declare set unset echo printf".split(), _environment),
}


def coarse(text: str, scope: Scope) -> list[tuple[str, str, str]]:
    """For text that no shell would take, or too long a one: each piece is read alone, for what is grave in it."""
    pieces = dict.fromkeys(plain(text).translate(_PIECES).split("\n"))
    known = [piece for piece in pieces if programs.row_of(programs.known_as(name_of("".join(piece.split()[:1]))))]
    for piece in known[:MAX_PIECES]:
        for _, against in by_call(expand.trace(piece[:MAX_PIECE_CHARS], scope), scope, None):
            if not {rule.rstrip("?") for rule, _ in against}.issubset(WORDS["minor-rules"]):
                return [("guard.unreadable", piece[:400], "")]
    return []
