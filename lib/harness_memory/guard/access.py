"""What a call does to the paths that it names, and what it shows of files of secrets."""

from __future__ import annotations

from . import paths
from .calls import CONTAINER, Call
from .programs import ACCESS
from .shell import TILDE, UNKNOWN, plain
from .words import WORDS, holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .judge import Case, Found

_MARKS = dict.fromkeys(map(ord, "'()\\"))  # around the parts of a program's own text


def accessed(case: Case, call: Call, kinds: list[tuple[str, str]]) -> Found:
    is_search = call.program in WORDS["searchers"]
    if is_search and not any(kind == "r" for kind, _ in kinds):
        kinds = [*kinds, ("r", ".")]
    is_carried = call.program in WORDS["carriers"] and _is_private_copy(case, kinds, call)
    case.is_template = case.is_template or (is_carried and ".env" in call.line())
    is_template = any(word.lower().endswith(WORDS["templates"]) for kind, word in kinds if kind in ("r", "o"))
    is_template = is_template or (call.program == "tee" and call.given.has("-a,--append"))  # nothing is lost either
    for kind, word in call.redirected() + kinds:
        is_known = is_template or case.is_template or (">>", word) in call.redirections
        if word.startswith(("/dev/tcp/", "/dev/udp/")) and not word[9:].startswith(WORDS["local-hosts"]):
            yield "remote.shell", call.line()
            continue
        is_wide = word.rstrip("/") in (TILDE, "", "/etc")
        is_wide = is_wide or (word.rstrip("/") == TILDE + "/.claude" and holds(call.line(), "secret-words"))
        if kind in ("r", "l") and is_search and is_wide:
            yield paths.SENSITIVE, plain(word)
        yield from _one(case, kind, word, call, is_known=is_carried or (kind == "w" and is_known))
        is_emptied = kind == "w" and call.program in ("", "dd", "truncate")
        if is_emptied and case.worth(word, call) == "delete.outside":
            yield "delete.outside", plain(word)
    if call.program in WORDS["unpackers"] and not call.where and not call.given.has("-n,--dry-run"):
        yield from _unpacked(case, call, kinds)


def _is_private_copy(case: Case, kinds: list[tuple[str, str]], call: Call) -> bool:
    """Whether a file of secrets, or its template, gets another place or name of that kind: nothing is shown."""
    words = [word for kind, word in kinds if kind in "oraw"]
    *sources, target = [word.rpartition("/")[2].lower() for word in words] or [""]
    if not sources or ":" in words[-1]:
        return False
    if sources[0].strip(".") and words[-1].startswith((words[0], TILDE + "/.")):
        return words[0] != words[-1] and not target.endswith(WORDS["templates"])
    is_known = all(paths.is_env(name) or name.endswith(WORDS["templates"]) for name in sources)
    is_folder = "." not in target.strip(".")
    place = paths.absolute(words[-1], call.cwd, case.scope)
    is_open = paths.is_temporary(place, case.scope) or not set(WORDS["served"]).isdisjoint(place.split("/"))
    return is_known and (paths.is_env(target) or (is_folder and not is_open))


def _one(case: Case, kind: str, word: str, call: Call, *, is_known: bool) -> Found:
    if word in WORDS["devices"] or word.startswith("/dev/fd/"):
        return
    kind = "r" if word[:5].lower() == "file:" else kind
    if kind in ("?", "q", "e"):
        yield from _guess(case, word, call, is_sent=kind == "e")
    elif kind in ACCESS:
        rule = case.rule(word, call, ACCESS[kind])
        if kind in ("m", "n", "o"):
            is_against = rule.startswith("self.") or (kind in ("m", "o") and rule[:11] == "path.system")
            is_against = is_against or rule == paths.SECRET
        else:
            is_inside = call.where == CONTAINER and rule.startswith(("path.system", "path.startup", "path.env-write"))
            is_inside = is_inside or (call.where != "" and rule.startswith("self."))
            rule = paths.SENSITIVE if call.where == CONTAINER and rule == paths.SECRET else rule
            is_against = bool(rule) and not is_inside and not _is_excused(case, rule, kind, call)
        is_copied = is_known and rule in (paths.ENV, "path.env-write", paths.SENSITIVE)  # cp .env.example .env
        if is_against and not is_copied:
            yield rule, plain(word)


def _is_excused(case: Case, rule: str, kind: str, call: Call) -> bool:
    """What is kept in a variable, linked or counted is not shown."""
    if rule not in (paths.ENV, paths.SENSITIVE):
        return call.args[:1] == ["^\\["]  # grep for the names of sections
    if call.is_kept:
        return not any(_carries_unknown(each) for each in case.found.calls)
    is_quiet = call.program == "openssl" and call.given.has("-out,-pubout,-noout") and "enc" not in call.args[:1]
    reader = case.readers.get(id(call))
    is_part = reader is not None or bool(call.via) or call.program in (*WORDS["searchers"], "jq")
    is_config = is_part and any(word.endswith("/.claude.json") for word in call.args)  # mostly settings
    return is_config or is_quiet or kind == "a" or _shows_names(call) or (reader is not None and _shows_names(reader))


def _guess(case: Case, word: str, call: Call, *, is_sent: bool) -> Found:
    """A word that may be a path: read, and written where that is ours."""
    is_base = call.row is not None and "q*" in call.row.operands
    if set("'\"()<>|;`{}$\n") & set(word) or (" " in word and not is_base):
        return
    is_unknown = call.row is None or is_base
    is_written = not call.where and (call.row is None or "clone" in call.args[:9])
    for piece in [word, *word.replace("@", "=").split("=")[1:]]:
        rule = case.rule(piece, call) if is_unknown or (is_sent and ":" not in piece[2:]) else ""
        if rule == paths.SECRET or (is_sent and rule == paths.ENV) or (is_base and rule == paths.SENSITIVE):
            yield rule if is_sent else rule + "?", plain(piece)
        against = case.rule(piece, call, paths.WRITE) if is_written else ""
        if against.startswith("self.") or (call.row is not None and against == paths.STARTUP):
            yield "self.touch", plain(piece)


def _unpacked(case: Case, call: Call, kinds: list[tuple[str, str]]) -> Found:
    """Files that come to lie in the home or the client's folder: settings replaced by a copy or an archive."""
    is_archive = call.program == "unzip" or (call.program == "tar" and "x" in "".join(call.args[:1]))
    targets = [word for kind, word in kinds if kind in ("w", "t")]
    sources = [word for kind, word in kinds if kind in ("r", "o", "a")] if not is_archive else ["./"]
    for target in targets or ["."]:
        path = paths.absolute(target, call.cwd, case.scope)
        if is_archive and (path == "/" or paths.is_system(path + "/")):
            yield "path.system", plain(target)
        for source in sources:
            name = source.rstrip("/").rpartition("/")[2].lower()
            is_all = source.endswith(("/", "/.", "/\ue001")) or name == ".claude"
            if is_all and path in (*case.scope.homes, *case.scope.config):
                yield "self.settings", plain(target)
            rule = paths.own_rule(path if is_all else path + "/" + name, paths.WRITE, case.scope)
            if rule:
                yield rule, plain(target)


def _carries_unknown(call: Call) -> bool:
    """Whether something unknown goes into what a call sends, other than a header or the host."""
    if call.program not in WORDS["senders"]:
        is_told = call.program in ("echo", "printf") and UNKNOWN in call.args and shows(call) and not call.is_piped
        return is_told or (call.row is not None and call.row.operands == ["e*"])
    sent = [value for option, _, value in call.given.values if option not in WORDS["header-options"]]
    return any(UNKNOWN in word for word in sent + [word.lstrip(UNKNOWN) for word in call.given.operands])


def shows(call: Call) -> bool:
    """Whether a call prints what it reads, for all to see: `jq -r .data`, not `jq keys`."""
    is_seen = not call.is_kept and all(word in WORDS["devices"] for _, word in call.redirections)
    return is_seen and call.program in WORDS["filters"] and "keys" not in " ".join(call.args)


def _shows_names(call: Call) -> bool:
    """Whether only names of variables, or a count, come out: `cut -d= -f1 .env`."""
    text = " ".join(call.args).translate(_MARKS)
    if call.program in ("grep", "egrep", "rg"):
        wanted = " ".join(call.given.of("G") or call.given.operands[:1]).lower().replace("\\", "").split("|")
        is_open = all(holds(each, "open-settings") and not holds(each, "secret-words") for each in wanted)
        return is_open or (call.given.has("-o") and "=." not in text)
    if call.program in ("awk", "gawk") and ("$2" in text or "$0" in text):
        return False
    signs = WORDS.get("names-" + call.program, ())
    return any(all(part in text for part in sign.split("&")) for sign in signs) or call.program == "xargs"
