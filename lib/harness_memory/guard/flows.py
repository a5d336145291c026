"""Code that comes from elsewhere and is run; data that leaves, and orders to services."""

from __future__ import annotations

from . import calls, paths, programs
from .calls import SHELLS, Call
from .shell import plain
from .words import WORDS, holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .judge import Case, Found


def runs_foreign(case: Case, call: Call) -> Found:
    """What the network sent, or a decoder made, is run; as the argument of a script it is data."""
    words, origins = [call.word], []
    if call.program in WORDS["interpreters"] and not call.given.has("-n"):  # which only reads it
        code, script = call.given.of("csSP"), call.given.operands[:1]
        words += code or script
        is_given = bool(code) or ("-s" not in call.given.flags and not {"-", "/dev/stdin"}.issuperset(script))
        origins = [] if is_given else call.sources()
    origins = origins + [each for word in words for each in case.found.writers(call.cwd, word)]
    if any(calls.fetches(each) for each in origins):
        yield "remote.pipe-to-shell", call.line()
    elif any(calls.decodes(each) for each in origins):
        yield "code.hidden", call.line()


def sends(case: Case, call: Call) -> Found:
    text = "/ ".join(call.args) + "/"
    is_local = any((arg.partition("://")[2] or arg).startswith(WORDS["local-hosts"]) for arg in call.args)
    yield from _orders(call, text, is_local=is_local)
    if not is_local:
        yield from _leaks(case, call, text)


def _orders(call: Call, text: str, *, is_local: bool) -> Found:
    """Orders to a service: as a method, as a line for its socket, in a query; and the one that gives out secrets."""
    if holds(text, "metadata-hosts"):
        yield "exfil.metadata", call.line()
    is_delete = "DELETE" in map(str.upper, call.given.of("M") + call.given.operands[:1])
    lines = call.stdin.split("\n") if call.program in WORDS["talkers"] and isinstance(call.stdin, str) else []
    orders = [line.partition(" ")[0] for line in lines] + ([text] if "mutation" in text else [])
    is_order = any(programs.is_destroying(each, WORDS["severe"] + WORDS["socket-verbs"]) for each in orders)
    if is_order or (is_delete and not is_local):
        yield "cloud.delete", call.line()
    elif (is_delete and holds(text, "data-ports")) or holds(text, "destroying-urls"):
        yield "db.destroy", call.line()


def _leaks(case: Case, call: Call, text: str) -> Found:
    """Secrets, the environment or whole trees in what is sent, or in what stands behind it."""
    given, is_talker = call.given, call.program in WORDS["talkers"]
    sent = given.of("br")
    values = [value for option, _, value in given.values if option not in WORDS["header-options"]] + given.operands
    sources = call.sources() if sent or is_talker else []
    sources = sources + [each for v in values for each in case.found.writers(call.cwd, v.rpartition("@")[2])]
    files = [(word, each) for each in sources if each.row for kind, word in each.accesses() if kind == "r"]
    named = [word for word in given.operands if "@" in word and "://" not in word]
    files += [(v.replace("<", "@").rpartition("@")[2].partition(";")[0], call) for v in sent + named]
    rules = {case.rule(word, each): plain(word) for word, each in files}
    secrets = [each for each in sources if calls.shows_secret(each)]
    if {paths.SECRET, paths.ENV} & set(rules):
        yield "exfil.secret", rules.get(paths.SECRET) or rules[paths.ENV]
    elif paths.SENSITIVE in rules:
        yield "exfil.secret?", rules[paths.SENSITIVE]
    elif any(each.program != "printenv" or each.args[0].endswith(WORDS["never-sent"]) for each in secrets):
        yield "exfil.secret" if any(each in call.sources() for each in secrets) else "exfil.secret?", call.line()
    if any(calls.shows_environment(each) for each in sources):
        yield "exfil.environment", call.line()
    is_shell = given.has("-e,-c,--exec,--sh-exec") or "exec:" in text.lower()
    if is_talker and (is_shell or any(each.program in SHELLS for each in sources)):
        yield "remote.shell", call.line()
    is_fed = is_talker and (files or any(operator == "<" for operator, _ in call.redirections))
    is_fed = is_fed or any(paths.is_system(paths.absolute(word, call.cwd, case.scope)) for word, _ in files if word)
    packers = WORDS["packers"] + WORDS["git-histories"]
    is_packed = any(each.program in packers or each.verb()[0] in packers for each in sources)
    is_upload = given.has("-T,--upload-file") or (given.has("-F,--form") and "=@" in text)
    if is_fed or is_packed or (is_upload and call.program == "curl") or holds(text, "sink-hosts"):
        yield "exfil.tree", call.line()


def copies(case: Case, call: Call) -> Found:
    """Files laid into another machine's system; the whole project, the home or a main folder of it copied there."""
    if call.program == "ssh" and any(each.program in WORDS["packers"] for each in call.sources()):
        yield "exfil.tree", call.line()
    words, has_host = call.given.operands, call.program in ("scp", "rsync")
    remote = [at for at, word in enumerate(words) if "://" in word or (has_host and ":" in word[2:])]
    place = words[-1].partition(":")[2] if has_host and remote else ""
    if place == "/" or (place[:1] == "/" and case.rule(place, call, paths.WRITE).startswith("path.system")):
        yield "path.system", words[-1]
    for word in words[: max(remote, default=0)]:
        if ":" not in word and case.worth(word, call) in ("delete.project", "delete.home", "delete.system"):
            yield "exfil.tree", call.line()
