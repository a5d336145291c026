"""The verdict on a command: which rules stand against each call it would make, and about what.

text → calls (`expand`) → findings (rule, detail, about) of each: effects of its row, deletes, git, secrets, sends, self
"""

from __future__ import annotations

from . import deletes, expand, gitrules, paths, programs
from .expand import CONTAINER, SCRIPT, SHELLS
from .outputs import FETCHERS, PACKERS, decodes, fetches, shows_environment
from .quick import HINTS
from .shell import TILDE, UNKNOWN, Unreadable, plain
from .words import globbed, joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .expand import Call, Trace
    from .paths import Scope
    from .question import Environment

    Finding = tuple[str, str, str]
    Found = Iterator[tuple[str, str]]

MAX_COMMAND_CHARS = 256 * 1024  # twice what Linux hands to a shell
MAX_TEXTS = 20  # of one body, for a shell
MAX_OPERANDS = 200
BODY_STEPS = 25  # what the code in a command counts for
SENDERS = FETCHERS | {"netcat", "telnet", "socat", "aws", "gsutil", "rclone"}
_INTERPRETERS = SHELLS | frozenset(
    "python python3 node ruby perl php deno bun pwsh powershell iex eval source .".split()
)
_DELETERS = frozenset(
    "rm unlink shred srm rimraf del-cli rd rmdir del erase deltree remove-item ri find fd rsync tar zip 7z mv".split()
)
_FORMATS = frozenset("mkfs mke2fs mkswap newfs wipefs blkdiscard badblocks format".split())
_DATABASES = frozenset(
    """
    psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client clickhouse sqlcmd cockroach snowsql mycli pgcli usql
    sqlplus hive beeline presto trino impala-shell cqlsh osql isql tsql litecli mssql-cli spanner-cli mongo mongosh bq
    wrangler wp turso
    """.split()
)
_WIDE_MODES = frozenset("777 0777 a+rwx ugo+rwx a=rwx 666 0666 +rwx o+w a+w o+rwx 1777 000 0".split())
_DEVICES = frozenset(
    "/dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/random /dev/urandom -".split()
)
_DATA_PORTS = tuple(
    ":%s/" % port for port in (9200, 9201, 7700, 8108, 5984, 8086, 6333, 8500, 8200, 2379, 15672, 8001, 9090)
)
_UNSURE = ("delete.unknown", "delete.outside", "delete.inside", "guard.unreadable", "service.delete", "path.env-write")
_MISSES = ("git.discard-file", "git.branch-delete", "docker.prune", "system.services")


def findings(text: str, scope: Scope, env: Environment, policy: Any) -> list[Finding]:
    """All findings against a command, in its order."""
    text = text.replace("\0", "").replace("\ufeff", "")  # shells drop the one, and editors do not show the other
    if len(text) > MAX_COMMAND_CHARS:
        return [("guard.unreadable", "a command of %d characters" % len(text), "")]
    try:
        found = expand.trace(text, scope.cwd, scope.home, scope.project, env)
    except Unreadable:
        return coarse(text, scope)
    return of_trace(found, scope, env, policy)


def of_trace(found: Trace, scope: Scope, env: Environment, policy: Any) -> list[Finding]:
    result: list[Finding] = []
    for call, against in by_call(found, scope, env, policy):
        result.extend((rule, call.line(), about) for rule, about in against)
    for text in found.unread:
        result.extend(coarse(text, scope))
    return result


def by_call(found: Trace, scope: Scope, env: Environment, policy: Any) -> Iterator[tuple[Call, list[tuple[str, str]]]]:
    """Each call of a trace, with the rules against it and what they are about."""
    judge = _Judge(found, scope, env, policy)
    for call in found.calls:
        try:
            against = list(dict.fromkeys(judge.of_call(call)))
        except Unreadable:
            yield call, [("guard.failed", "more paths than can be judged")]
            return
        if SCRIPT in call.via:
            against = [each for each in against if each[0] not in _UNSURE and each[0] not in _MISSES]
            against = [(rule + "?", about) for rule, about in against]  # a script may never come to that line
        yield call, against


class _Judge:
    """What all calls of a trace are judged by."""

    __slots__ = ("env", "found", "hinted", "is_near", "policy", "scope", "shown", "sourced")

    def __init__(self, found: Trace, scope: Scope, env: Environment, policy: Any) -> None:
        self.found, self.scope, self.env, self.policy = found, scope, env, policy
        texts = [" ".join([*call.args, call.cwd, *(word for _, word in call.redirections)]) for call in found.calls]
        texts += dict.fromkeys([call.stdin[:4000] for call in found.calls if isinstance(call.stdin, str)])
        text = " ".join(texts).lower()
        is_open = any(mark in text for mark in "\ue001\ue002\ue003")
        is_open = is_open or any(arg in (TILDE, TILDE + "/", "/") for call in found.calls for arg in call.args)
        self.hinted = is_open or bool(scope.zero or scope.confirm or scope.no_delete) or any(h in text for h in HINTS)
        self.is_near = is_open or any(name in text for name in paths.own_names(scope))
        self.sourced = False  # a file of secrets is in the environment
        self.shown = {id(each): call for call in found.calls for each in call.sources()}  # who reads whose output

    def of_call(self, call: Call) -> Found:
        name = call.program
        if not name and not call.redirections:
            return
        yield from self.effects(call)
        if name in _DELETERS:
            yield from deletes.check(call, self.scope, self.found)
        elif name == "git":
            yield from self.git(call)
        elif name in _SPECIAL:
            yield from _SPECIAL[name](self, call)
        if name in _FORMATS:
            yield from _formats(call)
        if name in _INTERPRETERS or joined(call.cwd, call.word) in self.found.fetched:
            yield from self.run_from_elsewhere(call)
        if name in SENDERS:
            yield from self.sends(call)
        if call.row is None and name.startswith(UNKNOWN):
            yield from self.unknown_program(call)
        yield from self.bodies(call)
        yield from self.accessed(call)
        if self.policy.custom:
            yield from self.policy.custom_findings(call, self.scope)

    # Effects -------------------------------------------------------------------------------------

    def effects(self, call: Call) -> Found:
        row = call.row
        if row is None:
            if call.where != CONTAINER and programs.unknown_effect(call.word, call.args):
                yield "service.delete", call.line()
            return
        rule = programs.effect_of(call.program, row, call.given) if row.effects else ""
        if not rule or (call.where == CONTAINER and rule.startswith(("system.", "disk."))):
            return
        if rule == "sql":
            return
        if rule == "db.destroy" and call.program == "dropdb":
            from .code import is_scratch

            if any(is_scratch(word) for word in call.given.operands):
                return
        if (
            rule == "docker.prune"
            and UNKNOWN in "".join(call.given.operands)
            and "--filter" in str(self.found.calls[0].args)
        ):
            return
        yield rule, call.line()

    def git(self, call: Call) -> Found:
        verb, _, directory = gitrules.split(call.args)
        branch = call.branch
        if verb == "push" and not branch:
            branch = self.policy.branch(joined(call.cwd, directory) if directory else call.cwd)
        rule = gitrules.rule_for(call, self.policy.protected, branch)
        if rule:
            yield rule, call.line()
        if self.hinted:
            for word in gitrules.shown(call):
                if paths.rule_for(word, paths.READ, call.cwd, self.scope) in (paths.SECRET, paths.ENV):
                    yield paths.rule_for(word, paths.READ, call.cwd, self.scope), plain(word)

    def permissions(self, call: Call) -> Found:
        given = call.given
        is_deep = given.has("-R,--recursive,/T")
        has_mode = not any(flag.startswith("--reference") for flag in given.flags)
        mode = given.operands[0] if has_mode and given.operands else ""
        is_wide = call.program == "chmod" and mode in _WIDE_MODES
        for word in list(dict.fromkeys(given.operands[1 if has_mode else 0 :]))[:1000]:
            path = paths.absolute(word.rstrip("*\ue001") or ".", call.cwd, self.scope)
            if call.where == CONTAINER or paths.is_temporary(path, self.scope):
                continue
            is_root = path.count("/") == 1 or paths.home_relative(path, self.scope) == "~"
            is_system = (is_root or paths.is_system(path)) and not paths.is_within(path, self.scope.places[1])
            if is_system and (is_deep or is_wide):
                yield "system.permissions", call.line()
            elif is_deep and is_wide and mode not in ("000", "0"):
                yield "system.world-writable", call.line()

    def github(self, call: Call) -> Found:
        if call.given.operands[:1] == ["api"]:
            method = next((value.upper() for _, kind, value in call.given.values if kind == "M"), "")
            if "force=true" in call.args:
                yield "git.force-push", call.line()
            elif method == "DELETE" or (method in ("PUT", "PATCH") and "/protection" in "".join(call.args)):
                yield "repo.delete", call.line()

    def kills(self, call: Call) -> Found:
        args = [arg for arg in call.args if arg not in ("-s", "-n", "--")]
        is_all = call.program == "kill" and len(args) > 1 and args[-1] == "-1"
        signal = args[0].upper().replace("SIG", "") if len(args) > 1 else "-9"
        is_first = (
            call.program == "kill" and args[-1:] == ["1"] and signal.lstrip("-") in ("9", "15", "KILL", "TERM", "1")
        )
        is_any = call.program == "pkill" and any(arg in (".", ".*", "") for arg in args if arg[:1] != "-")
        if call.program == "killall5" or is_all or is_first or is_any:
            yield "system.kill-all", call.line()

    def unknown_program(self, call: Call) -> Found:
        """A program that only the shell will know, with the flags of `rm` and a target that must not go."""
        flags = "".join([arg[1:] for arg in call.args if arg[:1] == "-" and arg[1:2] != "-"])
        is_rm = "r" in flags.lower() and "f" in flags and not set(flags) - set("rRfvi")
        if is_rm and any(deletes.is_grave(word, call, self.scope) for word in call.args if word[:1] != "-"):
            yield "delete.unknown", call.line()

    def mounts(self, call: Call) -> Found:
        from .follow import mount

        for _, kind, value in call.given.values:
            outside = mount(value)[1] if kind == "B" else ""
            path = paths.absolute(outside, call.cwd, self.scope) if outside else ""
            if path == "/" or (path and paths.home_relative(path, self.scope) == "~"):
                yield "docker.mount", call.line()
            elif path and paths.rule_for(outside, paths.READ, call.cwd, self.scope) == paths.SECRET:
                yield paths.SENSITIVE, plain(outside)

    # Code from elsewhere, and data that leaves ------------------------------------------------------

    def run_from_elsewhere(self, call: Call) -> Found:
        """What the network sent, or a decoder made, is run."""
        words = [call.word, *(arg for arg in call.args[:3] if arg[:1] != "-")]
        if any(joined(call.cwd, word) in self.found.fetched for word in words):
            yield "remote.pipe-to-shell", call.line()
        made: list[Call] = []
        for arg in call.args:
            number = arg.partition("/dev/fd/")[2].split()[:1]
            if number and number[0].isdecimal() and len(number[0]) < 10 and int(number[0]) < len(self.found.pipes):
                made += self.found.pipes[int(number[0])]
        piped = call.sources() if _reads_program(call) else []
        if any(fetches(each) for each in (*made, *piped)):
            yield "remote.pipe-to-shell", call.line()
        elif (
            any(decodes(each) and not isinstance(each.stdin, str) for each in made)
            or any(map(decodes, piped))
            or (
                call.program in SHELLS
                and _reads_program(call)
                and isinstance(call.stdin, str)
                and call.stdin.strip() == UNKNOWN
            )
        ):
            yield "code.hidden", call.line()

    def sends(self, call: Call) -> Found:
        given, name = call.given, call.program
        if any("169.254.169.254" in arg or "metadata.google.internal" in arg for arg in call.args):
            yield "exfil.metadata", call.line()
        addresses = [value for value in call.args if "://" in value or "." in value or "localhost" in value]
        is_local = any(_is_local(each.partition("://")[2] or each) for each in addresses)
        method = next(
            (value.upper() for _, kind, value in given.values if kind == "M"),
            given.operands[0].upper() if given.operands else "",
        )
        if method == "DELETE" and not is_local:
            yield "cloud.delete", call.line()
        elif (method == "DELETE" and any(port in arg + "/" for arg in call.args for port in _DATA_PORTS)) or any(
            word in arg for arg in call.args for word in ("_delete_by_query", "/doDelete", "/purge_cache")
        ):
            yield "db.destroy", call.line()
        if is_local:
            return
        sent = [value for _, kind, value in given.values if kind in ("b", "r")]
        sources = [each for value in [*sent, *given.operands] for each in self._made_by(value)]
        if sent or name in ("nc", "ncat", "netcat", "telnet", "socat"):
            sources += call.sources()
        if any(shows_environment(each) for each in sources):
            yield "exfil.environment", call.line()
        elif any(each.program in PACKERS or (each.program == "git" and "archive" in each.args) for each in sources):
            yield "exfil.tree", call.line()
        for each in sources:
            for kind, word in programs.accesses(each.row, each.given) if each.row else ():
                rule = paths.rule_for(word, paths.READ, each.cwd, self.scope) if kind == "r" else ""
                if rule in (paths.SECRET, paths.ENV):
                    yield "exfil.secret", plain(word)
        for value in sent:
            word = (
                value.replace("<", "@").rpartition("@")[2].partition(";")[0] if "@" in value or "<" in value else value
            )
            if paths.rule_for(word, paths.READ, call.cwd, self.scope) in (paths.SECRET, paths.ENV):
                yield "exfil.secret", plain(word)

    def _made_by(self, word: str) -> list[Call]:
        number = word.partition("/dev/fd/")[2].split()[:1]
        is_known = bool(number) and number[0].isdecimal() and len(number[0]) < 6
        return self.found.pipes[int(number[0])] if is_known and int(number[0]) < len(self.found.pipes) else []

    def network_shell(self, call: Call) -> Found:
        values = [
            option
            for option, kind, _ in call.given.values
            if kind == "-" and option in ("-e", "-c", "--exec", "--sh-exec")
        ]
        is_socat = (
            any(arg.upper().startswith(("EXEC:", "SYSTEM:")) for arg in call.args)
            and "TCP" in "".join(call.args).upper()
        )
        if (values and call.program != "socat") or is_socat or any(each.program in SHELLS for each in call.sources()):
            yield "remote.shell", call.line()

    # Code in a command ------------------------------------------------------------------------------

    def bodies(self, call: Call) -> Found:
        row = call.row
        if call.program in _DATABASES:
            from .code import database_texts, destroys

            for text in database_texts(call):
                if destroys(text):
                    yield "db.destroy", text[:120]
            return
        if row is None or not (set(row.operands) & {"c", "f", "f?"} or "c" in row.values.values()):
            return
        from . import code

        body = code.body_of(call)
        is_file = not body and self.script_on_disk(call)
        body = body or (is_file or "")
        if not body:
            return
        self.found.budget.step(BODY_STEPS)
        made = code.calls_of(body, call.program)

        def judge_tree(word: str, caller: Call) -> str:
            return deletes.target_rule(word, caller, self.scope, self.found)

        against = list(code.check(body, call, self.scope, made, judge_tree))
        for text in list(dict.fromkeys(code.shell_texts(body, call.program, made)))[:MAX_TEXTS]:
            try:
                inner = expand.trace(text, call.cwd, self.scope.home, self.scope.project, self.env, within=self.found)
            except Unreadable:
                against += [(rule, about) for rule, about, _ in coarse(text, self.scope)]
                continue
            against += [(rule, about) for rule, about, _ in of_trace(inner, self.scope, self.env, self.policy)]
        if is_file:
            against = [
                (rule + "?", about)
                for rule, about in against
                if rule.rstrip("?") not in (*_UNSURE, *_MISSES) and rule[:5] != "path."
            ]
        yield from against

    def script_on_disk(self, call: Call) -> str:
        """The text of `python x.py`, if it is small and there."""
        operands = call.given.operands
        ends = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php")
        if call.where or not operands or not operands[0].endswith(ends) or self.found.budget.files <= 0:
            return ""
        from .follow import read_small

        path = joined(call.cwd, operands[0]).replace(TILDE, self.scope.home, 1)
        return read_small(path, self.found.budget) if path.startswith("/") and UNKNOWN not in path else ""

    # Paths ------------------------------------------------------------------------------------------

    def accessed(self, call: Call) -> Found:
        """What the call reads and writes."""
        for operator, word in call.redirections:
            if word.startswith(("/dev/tcp/", "/dev/udp/")) and not _is_local(word[9:]):
                yield "remote.shell", call.line()
            elif word not in _DEVICES:
                yield from self.one("r" if operator == "<" else "w", word, call)
        row = call.row
        if "--help" in call.args or "-whatif" in [arg.lower() for arg in call.args[-3:]]:
            return
        kinds = list(programs.accesses(row, call.given)) if row else [("?", word) for word in call.args[:MAX_OPERANDS]]
        if not (self.hinted or self.is_near or any(kind in _CHANGES for kind, _ in kinds)):
            yield from self.links(call, kinds)
            return
        is_template = any(word.rpartition("/")[2].lower().endswith(_TEMPLATES) for kind, word in kinds if kind in "ro")
        is_grepped = "--hidden" in call.given.flags or (call.program == "grep" and call.given.has("-r,-R,--recursive"))
        for number, (kind, word) in enumerate(kinds):
            if number > MAX_OPERANDS and not any(hint in word.lower() for hint in HINTS):
                continue
            if kind == "w" and is_template and paths.is_env(word.rpartition("/")[2].lower()):
                continue  # cp .env.example .env
            if (
                kind == "r"
                and is_grepped
                and paths.home_relative(paths.absolute(word, call.cwd, self.scope), self.scope) in ("~", "/")
            ):
                yield paths.SENSITIVE, plain(word)
            yield from self.one(kind, word, call)
        if call.program in ("cp", "mv", "rsync", "tar", "unzip", "install", "ln", "curl", "wget"):
            yield from self.unpacked(call, kinds)

    def one(self, kind: str, word: str, call: Call) -> Found:
        if not word or word in _DEVICES or word.startswith("/dev/fd/"):
            return
        if kind == "b":
            word, kind = (word.partition("@")[2].partition(";")[0], "r") if "@" in word[:200] else ("", "")
        elif kind == "i":
            word, kind = (globbed(word), "r") if word[:1] != "!" else ("", "")
        elif kind == "k":
            is_hidden = not {"-pubout", "-noout", "-out", "-checkend", "-pubin"}.isdisjoint(call.args) and call.args[
                :1
            ] != ["enc"]
            kind = "u" if is_hidden else "r"
        elif kind == "A":
            kind = "w" if call.given.has("-c,--create,-r,-u") else "u"
        elif kind == "h":
            kind = "r" if word[:5].lower() == "file:" else ""
        elif kind == "u" and call.program in ("source", "."):
            self.sourced = self.sourced or paths.rule_for(word, paths.READ, call.cwd, self.scope) == paths.ENV
        access = {
            "r": paths.READ,
            "a": paths.READ,
            "f": paths.READ,
            "w": paths.WRITE,
            "t": paths.WRITE,
            "d": paths.DELETE,
        }.get(kind)
        if kind in (
            "m",
            "n",
            "o",
            "u",
            "D",
            "g",
            "G",
            "-",
            "x",
            "s",
            "S",
            "c",
            "M",
            "P",
            "B",
            "+",
            "l",
            "",
            "X",
            "O",
            "v",
        ):
            if kind in ("m", "n", "o"):
                rule = paths.rule_for(word, paths.WRITE if kind != "o" else paths.DELETE, call.cwd, self.scope)
                if (
                    rule.startswith("self.")
                    or (kind == "m" and rule.startswith("path.system"))
                    or (kind == "o" and rule == paths.SECRET)
                ):
                    yield rule, plain(word)
            return
        if access is None:
            yield from self.guess(word, call)
            return
        rule = paths.rule_for(word, access, call.cwd, self.scope)
        if not rule or self.is_excused(rule, access, word, call):
            return
        if call.where == CONTAINER and rule.startswith(("path.system", "path.startup")):
            return
        yield rule, plain(word)

    def is_excused(self, rule: str, access: str, word: str, call: Call) -> bool:
        if access == paths.READ and rule in (paths.ENV, paths.SENSITIVE):
            if (
                call.program == "ln"
                or call.is_kept
                or call.program in _KEY_TOOLS
                or shows_names(call)
                or call.program in ("code", "cursor", "open")
            ):
                return not any(each.program in SENDERS for each in self.found.calls) or not call.is_kept
            reader = self.shown.get(id(call))
            return reader is not None and (shows_names(reader) or reader.program in ("wc", "xargs"))
        return (
            access == paths.DELETE
            and rule in (paths.SENSITIVE, paths.ENV, "path.env-write")
            and call.program != "shred"
        )

    def guess(self, word: str, call: Call) -> Found:
        """A word of a program, or an option, that may be a path: read, and written where that is ours."""
        if set("'\"()<>|;`{}$\n ") & set(word) or "://" in word:
            return
        for piece in [word, *word.replace("@", "=").split("=")[1:]]:
            if ("/" not in piece and piece[:1] not in (".", TILDE)) or len(piece) < 3:
                continue
            is_free = call.row is not None and call.program not in _DATABASES
            if not is_free and paths.rule_for(piece, paths.READ, call.cwd, self.scope) == paths.SECRET:
                yield paths.SECRET, plain(piece)
            if (
                self.is_near
                and not call.where
                and (call.row is None or (call.program == "git" and "clone" in call.args))
            ):
                own = next(
                    (
                        paths.own_rule(path, paths.WRITE, self.scope)
                        for path in paths.variants(piece, call.cwd, self.scope)
                    ),
                    "",
                )
                if own:
                    yield "self.touch", plain(piece)

    def unpacked(self, call: Call, kinds: list[tuple[str, str]]) -> Found:
        """Files that come to lie in the home or the client's folder: settings replaced by a copy or an archive."""
        if call.where or call.given.has("-n,--dry-run"):
            return
        sources = [word for kind, word in kinds if kind in ("r", "o", "a")]
        if call.program in ("curl", "wget"):
            from .follow import fetched_files

            sources, kinds = fetched_files(call), [each for each in kinds if each[0] == "t"] or [("t", ".")]
        targets = [word for kind, word in kinds if kind in ("w", "t") or (kind == "D" and call.program == "tar")]
        is_archive = call.program == "unzip" or (
            call.program == "tar" and (call.given.has("-x,--extract") or "x" in call.args[0][:4])
        )
        for target in targets or (["."] if is_archive else []):
            path = paths.absolute(target, call.cwd, self.scope)
            at_home = path in self.scope.homes
            if is_archive and (at_home or path in self.scope.config):
                yield "self.settings", plain(target)
            elif is_archive and paths.own_rule(path, paths.WRITE, self.scope):
                yield paths.own_rule(path, paths.WRITE, self.scope), plain(target)
            for source in sources if not is_archive else ():
                name = source.rstrip("/").rpartition("/")[2].lower()
                is_all = source.endswith(("/", "/.", "/\ue001"))
                if (at_home and (name == ".claude" or is_all)) or (
                    path in self.scope.config and (is_all or name == ".claude")
                ):
                    yield "self.settings", plain(target)
                for own in [paths.own_rule(path + "/" + name, paths.WRITE, self.scope)] if name and not is_all else []:
                    if own:
                        yield own, plain(target)

    def links(self, call: Call, kinds: list[tuple[str, str]]) -> Found:
        """Words that say nothing may still be links to something."""
        if UNKNOWN in call.cwd or call.row is None or call.where:
            return
        base = self.scope.home + call.cwd[1:] if call.cwd[:1] == TILDE else call.cwd
        for kind, word in kinds[:20]:
            is_plain = kind == "r" and len(word) < 300 and UNKNOWN not in word and "\n" not in word
            if is_plain and paths.has_link(word if word[:1] == "/" else base + "/" + word):
                yield from self.one(kind, word, call)

    # Ourselves --------------------------------------------------------------------------------------

    def environment(self, call: Call) -> Found:
        if self.sourced and shows_environment(call) and not isinstance(self.shown.get(id(call)), expand.Call):
            yield "secret.show", call.line()
        for arg in call.args:
            name, _, value = arg.partition("=")
            if name == "HARNESS_MEMORY" and value:
                yield "self.uninstall", call.line()

    def ourselves(self, call: Call) -> Found:
        name, args = call.program, call.args
        if name in ("python", "python3", "php") and args:
            modules = [value for _, kind, value in call.given.values if kind == "P"]
            scripts = modules + [arg for arg in args if arg[:1] != "-"]
            name = scripts[0].replace("\\", "/").rpartition("/")[2] if scripts else ""
            args = args[args.index(scripts[0]) + 1 :] if scripts else []
            row = programs.row_of(name) if modules or name in ("manage.py", "artisan", "console") else None
            rule = programs.effect_of(name, row, programs.parsed(row, args)) if row else ""
            if rule:
                yield rule, call.line()
        if name == "claude":
            if any(
                arg in _UNGUARDED or arg.endswith("=bypassPermissions") or "disableAllHooks" in arg for arg in args
            ) or (
                args[:1] == ["plugin"]
                and args[1:2] in (["disable"], ["uninstall"], ["remove"])
                and "harness" in "".join(args)
            ):
                yield "self.uninstall", call.line()
        elif name in ("harness", "harness.py", "install.py"):
            from .ours import rule_for

            rule = rule_for(name, args)
            if rule:
                yield rule, call.line()


_CHANGES = frozenset("w d m t o a A n".split())
_UNGUARDED = ("--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--bare", "bypassPermissions")
_TEMPLATES = (
    ".example",
    ".sample",
    ".template",
    ".dist",
    ".tmpl",
    ".default",
    ".defaults",
    "-example",
    "_example",
    ".env.test",
)
_KEY_TOOLS = frozenset("ssh-keygen ssh-add keytool mkcert certbot gpg cosign".split())
_SPECIAL: dict[str, Any] = {
    **dict.fromkeys(("chmod", "chown", "chgrp", "setfacl", "chattr"), _Judge.permissions),
    **dict.fromkeys(("kill", "killall", "pkill", "killall5"), _Judge.kills),
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose"), _Judge.mounts),
    **dict.fromkeys(("nc", "ncat", "netcat", "socat"), _Judge.network_shell),
    **dict.fromkeys(("env", "printenv", "export", "declare", "set", "typeset"), _Judge.environment),
    "gh": _Judge.github,
    **dict.fromkeys(("python", "python3", "php", "claude", "harness", "harness.py", "install.py"), _Judge.ourselves),
    "fork-bomb": lambda _, call: [("system.fork-bomb", " ".join(call.args))],
}


def shows_names(call: Call) -> bool:
    """Whether only names of variables, or a count, come out: `cut -d= -f1 .env`."""
    text = " ".join(call.args)
    if call.program == "cut":
        return "-d=" in text.replace("-d =", "-d=").replace("'", "") and "-f1" in text.replace("-f 1", "-f1")
    if call.program in ("sed", "gsed"):
        return any("=.*/" in arg for arg in call.args) and "-n" not in call.args
    if call.program in ("awk", "gawk"):
        return "-F=" in text.replace("-F =", "-F=") and "$1" in text and "$2" not in text and "$0" not in text
    is_short = any(arg in ("-o", "-oE", "-Eo", "-oP", "-Po") for arg in call.args)
    return (
        call.program in ("grep", "egrep", "rg") and is_short and "=.*" not in text and "=." not in text and "^" in text
    )


def _is_local(text: str) -> bool:
    return text.lstrip("/").startswith(("localhost", "127.0.0.1", "[::1]", "0.0.0.0", "host.docker.internal"))


def _reads_program(call: Call) -> bool:
    """Whether an interpreter takes its program, not just its data, from standard input."""
    if call.program not in SHELLS:
        if not {"-c", "-e", "-m", "-ne", "-pe", "-p", "-r"}.isdisjoint(call.args):
            return False
        return not call.given.operands or call.given.operands[0] in ("-", "/dev/stdin")
    if any(arg[:1] == "-" and arg[1:2] != "-" and ("c" in arg or arg == "-n") for arg in call.args):
        return "xargs" in call.via and any(UNKNOWN in arg for arg in call.args)
    operands = [arg for arg in call.args if arg[:1] not in ("-", "+")]
    return not operands or operands[0] == "/dev/stdin" or "-s" in call.args


def _formats(call: Call) -> Found:
    """File systems made on a disk; images and temporary files are free."""
    name, args = call.program, call.args
    if {"--help", "-n", "--no-act"} & set(args):
        return
    operands = [word for word in call.given.operands if "/" in word or ":" in word or "." in word]
    is_file = (bool(operands) and operands[0].endswith((".img", ".raw", ".iso", ".qcow2"))) or "/tmp/" in "".join(
        operands[:1]
    )
    needed = {"badblocks": "-w", "wipefs": "-a", "format": ":"}.get(name, "")
    if operands and not is_file and needed in "".join(args).replace("--all", "-a"):
        yield "disk.overwrite", call.line()


# Text that no shell would take ------------------------------------------------------------------------
_GRAVE = ("rm", "dd", "mkfs", "shred", "wipefs", "fdisk", "chmod", "chown", "find", "git", "curl", "wget")


def coarse(text: str, scope: Scope) -> list[Finding]:
    """For text that no shell would take, or too long a one: each line is read alone, for what is grave in it."""
    cleaned = plain(text)
    for char in ";&|(){}`":
        cleaned = cleaned.replace(char, "\n")
    for char in "\\'\"":
        cleaned = cleaned.replace(char, "")
    pieces = list(dict.fromkeys(cleaned.split("\n")))
    if len(pieces) > 20_000:
        return [("guard.unreadable", "a script of %d commands" % len(pieces), "")]
    for piece in pieces:
        words = piece.split()
        while words and (
            words[0] in ("sudo", "then", "do", "else", "exec", "command", "env", "time") or "=" in words[0]
        ):
            words = words[1:]
        if (len(words) > 1 and _is_loss(words)) or _reaches(words, scope):
            return [("guard.unreadable", " ".join(words[:40]), "")]
    return []


def _is_loss(words: list[str]) -> bool:
    call = expand.Call(words[0], words[1:60], "/")
    flags = "".join([word for word in words[1:] if word[:1] == "-"])
    if call.program in ("rm", "chmod", "chown") or "$" in words[0]:
        return "r" in flags.lower() and ("f" in flags or "R" in flags or call.program == "rm")
    if call.program == "dd":
        return any(word.startswith("of=") for word in words)
    if call.program == "find":
        return "-delete" in words or "-exec" in words
    if call.program == "git":
        return (
            bool(programs.effect_of("git", call.row, call.given) or {"-f", "--force", "--mirror"} & set(words))
            if call.row
            else False
        )
    rule = programs.effect_of(call.program, call.row, call.given) if call.row and call.row.effects else ""
    return bool(rule) or call.program in ("mkfs", "shred", "wipefs", "fdisk")


def _reaches(words: list[str], scope: Scope) -> bool:
    """Whether a word is the path of a secret, or of ourselves."""
    for word in words:
        lower = word.lower()
        if len(word) > 300 or not any(hint in lower for hint in HINTS):
            continue
        for path in lower.replace("<", ">").replace("=", ">").replace("$home", "~").split(">"):
            path = TILDE + path[1:] if path[:1] == "~" else path
            if "/" in path and len(scope.judged) < paths.MAX_JUDGED - 2:
                rule = paths.rule_for(path, paths.READ, scope.cwd, scope)
                own = paths.rule_for(path, paths.WRITE, scope.cwd, scope).startswith("self.")
                if rule == paths.SECRET or own:
                    return True
    return False
