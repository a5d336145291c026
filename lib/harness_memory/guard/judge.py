"""The verdict on a command: which rules stand against each call it would make, and about what.

    text → calls (`expand`) → findings (rule, detail, about) of each: effects of its row, deletes, git, secrets, sends

A rule that ends in `?` is about a line of a script, which may never run: it is asked about at most.
"""

from __future__ import annotations

from ..base.typing import Any, Iterator
from . import calls, expand, paths, programs
from .calls import CONTAINER, SCRIPT, SHELLS, Call, Trace
from .shell import TILDE, UNKNOWN, Unreadable, name_of, plain
from .words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .paths import Scope

    Finding = tuple[str, str, str]
    Found = Iterator[tuple[str, str]]

MAX_COMMAND_CHARS = 256 * 1024  # twice what Linux hands to a shell
MAX_PIECES, MAX_PIECE_CHARS = 50, 500  # of text that cannot be read as a whole
_UNQUOTED = dict.fromkeys(map(ord, "\\'\""))
_TAKES_CODE = frozenset("-c -e -m -ne -pe -p -r -n".split())
_ACCESS = {
    **dict.fromkeys("raf", paths.READ),
    **dict.fromkeys("wtmn", paths.WRITE),
    **dict.fromkeys("do", paths.DELETE),
}


def findings(text: str, scope: Scope, policy: Any) -> list[Finding]:
    text = text.replace("\0", "").replace("\ufeff", "")  # shells drop the one, and editors do not show the other
    if _is_bomb("".join(text[:2000].split())):
        return [("system.fork-bomb", text[:80], "")]
    if len(text) > MAX_COMMAND_CHARS:
        return [("guard.unreadable", "a command of %d characters" % len(text), "")]
    found = expand.trace(text, scope)
    result = [(rule, call.line(), about) for call, against in by_call(found, scope, policy) for rule, about in against]
    return result + (coarse("\n".join(dict.fromkeys(found.unread)), scope) if found.unread else [])


def _is_bomb(tight: str) -> bool:
    """`f(){ f|f& };f`: a function that starts itself twice, in the background."""
    name = tight.partition("(){")[0].rpartition(";")[2].rpartition("&")[2].replace("function", "")
    body, _, rest = tight.partition("(){")[2].partition("}")
    forms = [form.replace("f", name) for form in ("f|f&", "f|f", "f&f&", "f&f", "f;f")]
    return name != "" and rest.lstrip(";&|").startswith(name) and body.rstrip(";") in forms


def _holds(text: str, name: str) -> bool:
    return any(word in text for word in WORDS[name])


def by_call(found: Trace, scope: Scope, policy: Any) -> Iterator[tuple[Call, list[tuple[str, str]]]]:
    """Each call of a trace, with the rules against it and what they are about."""
    judge = _Judge(found, scope, policy)
    for call in found.calls:
        try:
            against = list(dict.fromkeys(judge.of_call(call)))
        except Unreadable:
            yield call, [("guard.failed", "more paths than can be judged")]
            return
        yield call, _of_script(against) if SCRIPT in call.via else against


def _of_script(against: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(rule.rstrip("?") + "?", about) for rule, about in against if rule.rstrip("?") not in WORDS["minor-rules"]]


class _Judge:
    def __init__(self, found: Trace, scope: Scope, policy: Any) -> None:
        self.found, self.scope, self.policy = found, scope, policy
        self.is_sourced = self.is_template = False  # a file of secrets is in the environment, is made from a template
        self.readers = {id(each): call for call in found.calls for each in call.sources()}

    def of_call(self, call: Call) -> Found:
        name = call.program
        rule = self.effect(call)
        if rule in ("sql", "db.destroy") or (call.row is not None and "q*" in call.row.operands):
            from . import code

            if rule == "db.destroy" and not any(code.is_scratch(word) for word in call.given.operands):
                yield rule, call.line()
            elif rule != "db.destroy":
                yield from (("db.destroy", text[:120]) for text in code.database_texts(call) if code.destroys(text))
        elif rule:
            yield rule, call.line()
        kinds = list(call.accesses())
        if name in WORDS["losers"] or any(kind == "d" for kind, _ in kinds):
            from . import deletes

            yield from deletes.check(call, self.scope, self.found)
        elif name in _SPECIAL:
            yield from _SPECIAL[name](self, call)
        yield from self.runs_foreign(call)
        if name in WORDS["senders"]:
            yield from self.sends(call)
        elif name in WORDS["copiers"]:
            yield from self.copies(call)
        if call.code[0]:
            from . import code

            signs = list(code.signs(call.code[0]))
            yield from _of_script(signs) if call.code[1] else signs
        yield from self.accessed(call, kinds)

    def rule(self, word: str, call: Call, access: str = paths.READ) -> str:
        return paths.rule_for(word, access, call.cwd, self.scope)

    # Effects -------------------------------------------------------------------------------------

    def effect(self, call: Call) -> str:
        row, name = call.row, call.program
        if row is None:
            is_told = call.where != CONTAINER and programs.unknown_effect(call.word, call.args)
            return "service.delete" if is_told else ""
        rule = programs.effect_of(name, row, call.given) if row.effects else ""
        reader = self.readers.get(id(call))
        is_used = call.is_kept or (reader is not None and not _shows(reader))  # goes on to where it is needed
        is_inside = call.where == CONTAINER and rule.startswith(("system.", "disk."))
        return "" if is_inside or (is_used and rule == "secret.show") else rule

    def git(self, call: Call) -> Found:
        if call.verb()[0] in WORDS["plain-git"]:
            for word in call.given.operands[1:] if call.verb()[0] == "add" else ():
                if self.rule(word, call) in (paths.SECRET, paths.ENV):
                    yield "git.secret", plain(word)
            return
        from . import gitrules

        branch = call.branch
        if call.verb()[0] == "push" and not branch and (call.cwd[:1] == "/" or call.cwd[1:2] == ":"):
            from ..project import git

            repo = git.find(call.cwd)[1]
            branch = git.branch(repo) if repo else ""
        rule = gitrules.rule_for(call, self.policy.protected if self.policy else gitrules.PROTECTED, branch)
        if rule:
            yield rule, call.line()
        for word in gitrules.shown(call):
            if self.rule(word, call) in (paths.SECRET, paths.ENV):
                yield self.rule(word, call), plain(word)

    def permissions(self, call: Call) -> Found:
        from . import deletes

        is_deep, words = call.given.has("-R,--recursive,/T"), call.given.operands
        owner, user = "".join(words[:1]).partition(":")[0], self.scope.env.get("USER")
        is_own = call.program == "chown" and (owner == user or UNKNOWN in owner)
        mode = "".join(words[:1]) if call.program == "chmod" else ""
        is_wide = not set(mode.split(",")).isdisjoint(WORDS["wide-modes"])
        is_setuid = "s" in mode.rpartition("+")[2] or (len(mode) == 4 and mode[0] in "246")
        for word in dict.fromkeys(words[1:]) if call.where != CONTAINER else ():
            path = paths.absolute(word.rstrip("*\ue001") or ".", call.cwd, self.scope)
            is_ours = paths.is_within(path, self.scope.places[1])
            is_ours = is_ours or (is_own and paths.home_relative(path, self.scope) == "~")
            is_root = deletes.is_place(path, self.scope) or paths.is_system(path)
            if is_root and not is_ours and (is_deep or is_wide):
                is_core = path.count("/") < 2 and path not in ("/opt", "/srv", "/mnt", "/media")
                is_core = is_core or paths.is_system(path + "/") or paths.home_relative(path, self.scope) == "~"
                yield "system.permissions" if is_core else "path.system", call.line()
            elif paths.is_temporary(path, self.scope) and path not in self.scope.temps:
                continue
            elif is_setuid or (is_wide and (is_deep or not is_ours) and mode.strip("0")):
                yield "system.world-writable", call.line()

    def mounts(self, call: Call) -> Found:
        for value in call.given.of("B"):
            parts = dict([part.partition("=")[::2] for part in value.split(",")])
            outside = parts.get("source") or parts.get("src") or value.partition(":")[0]
            is_path = outside[:1] in ("/", ".", TILDE, UNKNOWN)
            path = paths.absolute(outside, call.cwd, self.scope) if is_path else ""
            if path == "/" or path.endswith("docker.sock") or (path and paths.home_relative(path, self.scope) == "~"):
                yield "docker.mount", call.line()
            elif path and self.rule(outside, call) == paths.SECRET:
                yield paths.SENSITIVE, plain(outside)

    # Code from elsewhere, and data that leaves ------------------------------------------------------

    def runs_foreign(self, call: Call) -> Found:
        """What the network sent, or a decoder made, is run."""
        words = [call.word, *(arg for arg in call.args[:3] if arg[:1] != "-" and call.program in WORDS["interpreters"])]
        origins = [each for word in words for each in self.found.writers(call.cwd, word)]
        if call.program in WORDS["interpreters"]:
            origins += [each for arg in call.args for each in self.found.writers("", arg)]
            operands = [arg for arg in call.args if arg[:1] not in ("-", "+") or arg == "-"]
            is_given = bool(operands) and operands[0] not in ("-", "/dev/stdin") and "-s" not in call.args
            is_given = is_given or not _TAKES_CODE.isdisjoint(call.given.flags)  # then standard input is data
            origins += [] if is_given else call.sources()
        if any(calls.fetches(each) for each in origins):
            yield "remote.pipe-to-shell", call.line()
        elif any(calls.decodes(each) for each in origins):
            yield "code.hidden", call.line()

    def sends(self, call: Call) -> Found:
        given, text = call.given, "/ ".join(call.args) + "/"
        if _holds(text, "metadata-hosts"):
            yield "exfil.metadata", call.line()
        is_local = any((arg.partition("://")[2] or arg).startswith(WORDS["local-hosts"]) for arg in call.args)
        is_delete = (given.value("M") or "".join(given.operands[:1])).upper() == "DELETE"
        if is_delete and not is_local:
            yield "cloud.delete", call.line()
        elif (is_delete and _holds(text, "data-ports")) or _holds(text, "destroying-urls"):
            yield "db.destroy", call.line()
        if is_local:
            return
        is_talker, sent = call.program in WORDS["talkers"], given.of("br")
        named = [word for word in given.operands if "@" in word and "://" not in word]
        values = [value for option, _, value in given.values if option not in WORDS["header-options"]] + given.operands
        sources = call.sources() if sent or is_talker else []
        sources = sources + [each for v in values for each in self.found.writers(call.cwd, v.rpartition("@")[2])]
        files = [(word, each) for each in sources if each.row for kind, word in each.accesses() if kind == "r"]
        files += [(v.replace("<", "@").rpartition("@")[2].partition(";")[0], call) for v in sent + named]
        rules = {self.rule(word, each): plain(word) for word, each in files}
        secrets = [each for each in sources if calls.shows_secret(each)]
        if {paths.SECRET, paths.ENV} & set(rules):
            yield "exfil.secret", rules.get(paths.SECRET) or rules[paths.ENV]
        elif paths.SENSITIVE in rules:
            yield "exfil.secret?", rules[paths.SENSITIVE]
        elif any(each.program != "printenv" or each.args[0].endswith(WORDS["never-sent"]) for each in secrets):
            yield "exfil.secret" if any(each in call.sources() for each in secrets) else "exfil.secret?", call.line()
        is_shell = given.has("-e,-c,--exec,--sh-exec") or "exec:" in text.lower()
        if is_talker and (is_shell or any(each.program in SHELLS for each in sources)):
            yield "remote.shell", call.line()
        if any(calls.shows_environment(each) for each in sources):
            yield "exfil.environment", call.line()
        is_fed = is_talker and (files or any(operator == "<" for operator, _ in call.redirections))
        is_fed = is_fed or any(paths.is_system(paths.absolute(word, call.cwd, self.scope)) for word, _ in files if word)
        packers = WORDS["packers"] + WORDS["git-histories"]
        is_packed = any(each.program in packers or each.verb()[0] in packers for each in sources)
        is_form = given.has("-F,--form") and "=@" in text
        is_upload = call.program == "curl" and (is_form or given.has("-T,--upload-file"))
        if is_fed or is_packed or is_upload or _holds(text, "sink-hosts"):
            yield "exfil.tree", call.line()

    def copies(self, call: Call) -> Found:
        """The whole project, the home or a main folder of it, copied to another machine."""
        if call.program == "ssh" and any(each.program in WORDS["packers"] for each in call.sources()):
            yield "exfil.tree", call.line()
        words, has_host = call.given.operands, call.program in ("scp", "rsync")
        remote = [at for at, word in enumerate(words) if "://" in word or (has_host and ":" in word[2:])]
        for word in words[: max(remote, default=0)]:
            if ":" not in word and self.worth(word, call) in ("delete.project", "delete.home", "delete.system"):
                yield "exfil.tree", call.line()

    def worth(self, word: str, call: Call) -> str:
        from . import deletes

        return deletes.worth(paths.absolute(word, call.cwd, self.scope), self.scope, call)

    # Paths ------------------------------------------------------------------------------------------

    def accessed(self, call: Call, kinds: list[tuple[str, str]]) -> Found:
        kinds = kinds if not call.given.has("--help,-WhatIf,-whatif") else []
        is_search = call.program in WORDS["searchers"]
        if is_search and not any(kind == "r" for kind, _ in kinds):
            kinds = [*kinds, ("r", ".")]
        is_deep = is_search and call.given.has("--hidden,-r,-R,--recursive")
        is_carried = call.program in WORDS["carriers"] and self.is_env_copy(kinds, call)
        self.is_template = self.is_template or is_carried
        is_template = any(word.lower().endswith(WORDS["templates"]) for kind, word in kinds if kind in ("r", "o"))
        for kind, word in call.redirected() + kinds:
            is_known = is_carried or (kind == "w" and (is_template or self.is_template))
            if is_known and paths.is_env(word.rpartition("/")[2].lower()):
                continue  # cp .env.example .env
            if word.startswith(("/dev/tcp/", "/dev/udp/")) and not word[9:].startswith(WORDS["local-hosts"]):
                yield "remote.shell", call.line()
                continue
            if kind in ("r", "l") and is_deep and word.rstrip("/") in (TILDE, "", "/etc"):
                yield paths.SENSITIVE, plain(word)
            yield from self.one(kind, word, call)
            is_emptied = kind == "w" and call.program in ("", "dd", "truncate")
            if is_emptied and self.worth(word, call) == "delete.outside":
                yield "delete.outside", plain(word)
        if call.program in WORDS["unpackers"] and not call.where and not call.given.has("-n,--dry-run"):
            yield from self.unpacked(call, kinds)

    def is_env_copy(self, kinds: list[tuple[str, str]], call: Call) -> bool:
        """Whether a file of variables, or its template, gets another place or name of that kind: nothing is shown."""
        words = [word for kind, word in kinds if kind in "oraw"]
        *sources, target = [word.rpartition("/")[2].lower() for word in words] or [""]
        is_known = all(paths.is_env(name) or name.endswith(WORDS["templates"]) for name in sources)
        if not sources or not is_known or ":" in words[-1]:
            return False
        is_folder = "." not in target.strip(".")
        place = paths.absolute(words[-1], call.cwd, self.scope)
        is_open = paths.is_temporary(place, self.scope) or not set(WORDS["served"]).isdisjoint(place.split("/"))
        return paths.is_env(target) or (is_folder and not is_open)

    def one(self, kind: str, word: str, call: Call) -> Found:
        if not word or word in WORDS["devices"] or word.startswith("/dev/fd/"):
            return
        if kind == "h" and word[:5].lower() == "file:":
            kind = "r"
        if kind == "u" and call.program in ("source", "."):
            self.is_sourced = self.is_sourced or self.rule(word, call) == paths.ENV
        if kind in ("?", "q", "e"):
            yield from self.guess(word, call, is_sent=kind == "e")
        elif kind in _ACCESS:
            rule = self.rule(word, call, _ACCESS[kind])
            if kind in ("m", "n", "o"):
                is_against = rule.startswith("self.") or (kind == "m" and rule[:11] == "path.system")
                is_against = is_against or (kind == "o" and rule == paths.SECRET)
            else:
                is_inside = call.where == CONTAINER and rule.startswith(("path.system", "path.startup"))
                is_inside = is_inside or (call.where != "" and rule.startswith("self."))
                rule = paths.SENSITIVE if call.where == CONTAINER and rule == paths.SECRET else rule
                is_against = bool(rule) and not is_inside and not self.is_excused(rule, kind, call)
            if is_against:
                yield rule, plain(word)

    def is_excused(self, rule: str, kind: str, call: Call) -> bool:
        """What is kept in a variable, linked or counted is not shown; deleting a file of secrets shows nothing."""
        if kind == "d":
            return rule in (paths.SENSITIVE, paths.ENV, "path.env-write")
        if rule not in (paths.ENV, paths.SENSITIVE):
            return call.program in WORDS["searchers"] and call.args[:1] == ["^\\["]  # the names of sections
        if call.is_kept:
            return not any(_carries_unknown(each) for each in self.found.calls)
        is_quiet = call.program == "openssl" and call.given.has("-out,-pubout,-noout") and "enc" not in call.args[:1]
        reader = self.readers.get(id(call))
        return is_quiet or kind == "a" or _shows_names(call) or (reader is not None and _shows_names(reader))

    def guess(self, word: str, call: Call, *, is_sent: bool) -> Found:
        """A word that may be a path: read, and written where that is ours."""
        if set("'\"()<>|;`{}$\n ") & set(word) or "://" in word:
            return
        is_known = call.row is not None and "q*" not in call.row.operands
        is_written = not call.where and (call.row is None or (call.program == "git" and "clone" in call.args))
        for piece in [word, *word.replace("@", "=").split("=")[1:]]:
            if ("/" not in piece and piece[:1] not in (".", TILDE)) or len(piece) < 3:
                continue
            rule = self.rule(piece, call) if not is_known or (is_sent and ":" not in piece[2:]) else ""
            if rule == paths.SECRET or (is_sent and rule == paths.ENV):
                yield rule if is_sent else rule + "?", plain(piece)
            if is_written and self.rule(piece, call, paths.WRITE).startswith("self."):
                yield "self.touch", plain(piece)

    def unpacked(self, call: Call, kinds: list[tuple[str, str]]) -> Found:
        """Files that come to lie in the home or the client's folder: settings replaced by a copy or an archive."""
        is_archive = call.program == "unzip" or (call.program == "tar" and "x" in "".join(call.args[:1]))
        targets = [word for kind, word in kinds if kind in ("w", "t")]
        sources = [word for kind, word in kinds if kind in ("r", "o", "a")] if not is_archive else ["./"]
        for target in targets or (["."] if is_archive else []):
            path = paths.absolute(target, call.cwd, self.scope)
            if is_archive and (path == "/" or paths.is_system(path + "/")):
                yield "path.system", plain(target)
            for source in sources:
                name = source.rstrip("/").rpartition("/")[2].lower()
                is_all = source.endswith(("/", "/.", "/\ue001")) or name == ".claude"
                if is_all and path in (*self.scope.homes, *self.scope.config):
                    yield "self.settings", plain(target)
                rule = paths.own_rule(path if is_all else path + "/" + name, paths.WRITE, self.scope)
                if rule:
                    yield rule, plain(target)

    # Ourselves --------------------------------------------------------------------------------------

    def environment(self, call: Call) -> Found:
        """What shows secrets of the environment, or names another store in it."""
        values = [each for arg in call.args for each in self.found.writers("", arg)]
        is_printed = call.program in ("echo", "printf") and any(calls.shows_secret(each) for each in values)
        is_seen = not (call.is_kept or call.redirections or call.is_piped)
        is_listed = calls.shows_environment(call)
        is_told = self.is_sourced or (call.line() in ("env", "printenv") and not call.where)
        reader = self.readers.get(id(call), call)
        is_searched = reader.program in WORDS["searchers"] and not reader.is_piped  # `env | grep -i token`
        is_shown = is_listed and is_searched and _holds(" ".join(reader.args).lower(), "secret-words")
        if is_shown or (is_seen and (is_printed or (is_listed and is_told))):
            yield "secret.show", call.line()
        if call.program not in ("echo", "printf") and any(arg.startswith(WORDS["preloads"]) for arg in call.args):
            yield "code.preload", call.line()
        ours = [each for each in self.found.calls if each.program in ("harness", "harness.py")]
        is_moved = any(word.startswith(WORDS["place-variables"]) for word in call.args)  # to another project's
        if is_moved and any(each.args[:1] == ["memory"] for each in ours):
            yield "self.other-memory", call.line()


_SPECIAL: dict[str, Any] = {
    "git": _Judge.git,
    **dict.fromkeys(("chmod", "chown", "chgrp", "setfacl", "chattr"), _Judge.permissions),
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose"), _Judge.mounts),
    **dict.fromkeys(("env", "printenv", "export", "declare", "set", "echo", "printf"), _Judge.environment),
}


def _carries_unknown(call: Call) -> bool:
    """Whether something unknown goes into what a call sends, other than a header or the host."""
    if call.program not in WORDS["senders"]:
        return call.row is not None and call.row.operands == ["e*"]
    sent = [value for option, _, value in call.given.values if option not in WORDS["header-options"]]
    return any(UNKNOWN in word for word in sent + [word.lstrip(UNKNOWN) for word in call.given.operands])


def _shows(call: Call) -> bool:
    """Whether a call prints what it reads, for all to see: `jq -r .data`, not `jq keys`."""
    is_seen = not call.is_kept and all(word in WORDS["devices"] for _, word in call.redirections)
    return is_seen and call.program in WORDS["filters"] and "keys" not in " ".join(call.args)


def _shows_names(call: Call) -> bool:
    """Whether only names of variables, or a count, come out: `cut -d= -f1 .env`."""
    text = " ".join(call.args).replace("'", "").replace("-d =", "-d=").replace("-F =", "-F=").replace("-f 1", "-f1")
    if call.program == "cut":
        return "-d=" in text and "-f1" in text
    if call.program in ("awk", "gawk"):
        return "-F=" in text and "$1" in text and "$2" not in text and "$0" not in text
    if call.program in ("sed", "gsed"):  # s/=.*/=***/
        plain_text = text.translate(dict.fromkeys(map(ord, "()\\")))
        return "=.*" in plain_text or "***" in plain_text or "redacted" in plain_text.lower()
    if call.program in ("jq", "gojq", "yq"):
        return "keys" in text
    is_part = call.given.has("-o") and "=." not in text
    return call.program in ("wc", "xargs") or (call.program in ("grep", "egrep", "rg") and is_part)


def coarse(text: str, scope: Scope) -> list[Finding]:
    """For text that no shell would take, or too long a one: each piece is read alone, for what is grave in it."""
    for char in ";&|(){}`<>":
        text = text.replace(char, "\n")
    pieces = dict.fromkeys(plain(text).translate(_UNQUOTED).split("\n"))
    known = [piece for piece in pieces if programs.row_of(programs.known_as(name_of("".join(piece.split()[:1]))))]
    for piece in known[:MAX_PIECES]:
        for _, against in by_call(expand.trace(piece[:MAX_PIECE_CHARS], scope), scope, None):
            if not {rule.rstrip("?") for rule, _ in against}.issubset(WORDS["minor-rules"]):
                return [("guard.unreadable", piece[:400], "")]
    return []
