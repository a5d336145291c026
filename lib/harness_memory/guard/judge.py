"""The verdict on a tool call: what rule stands against it, how firmly, and what it is about.

    command text → calls (`calls`) → findings (rule id, detail) of each → the firmest

What no rule speaks of is never loaded: families of rules are imported when a call names one of their programs.
"""

from __future__ import annotations

from . import calls, paths
from .quick import HINTS
from .shell import TILDE, UNKNOWN, Unreadable, plain
from .words import joined
from .wrappers import CONTAINER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .calls import Call, Trace
    from .gate import Environment
    from .paths import Scope

    Finding = tuple[str, str, str]

MAX_COMMAND_CHARS = 512 * 1024
MAX_OPERANDS = 200

# Which family judges a program. Those of COMMANDS in `rules` are all the others.
_DELETES = frozenset(
    """
    rm unlink shred srm rimraf del-cli rd rmdir del erase remove-item ri find fd rsync
    """.split()
)
_QUIET = frozenset(
    """
    ls cat echo cd pwd grep rg head tail wc sort uniq mkdir touch which type true false test [ [[ printf sed awk cut
    tr tee cp mv diff git npm node python python3 pip pytest cargo go make jq export source . sleep date env export
    set read date basename dirname uname whoami id hostname df du free ps top ln file stat xargs ruff mypy eslint
    tsc npx yarn pnpm prettier black uv poetry
    """.split()
)
_GIT_QUIET = frozenset(
    """
    status log diff show add commit fetch pull merge rev-parse ls-files remote tag blame describe init clone
    """.split()
)
_OUTWARD = frozenset(
    """
    publish unpublish deprecate dist-tag owner access team token yank pip
    """.split()
)
_CATASTROPHIC = tuple(
    """
    rm dd mkfs shred wipefs fdisk rmdir del format chmod chown find eval mkfs.ext4
    """.split()
)


def findings(text: str, scope: Scope, env: Environment, policy: Any) -> list[Finding]:
    """All findings against a command, in its order: (rule, the call it is about, the path or part of it)."""
    if len(text) > MAX_COMMAND_CHARS:
        return coarse(text)
    try:
        found = calls.trace(text, scope.cwd, scope.home, scope.project, env)
    except Unreadable:
        return coarse(text)
    return of_trace(found, scope, env, policy)


def of_trace(found: Trace, scope: Scope, env: Environment, policy: Any) -> list[Finding]:
    result: list[Finding] = []
    for call, against in by_call(found, scope, env, policy):
        if against:
            line = call.line()
            result.extend((rule, line, about) for rule, about in against)
    for text in found.unread:
        result.extend(coarse(text))
    return result


def by_call(found: Trace, scope: Scope, env: Environment, policy: Any) -> Iterator[tuple[Call, list[tuple[str, str]]]]:
    """Each call of a trace, with the rules against it and what they are about."""
    hinted = _is_hinted(found)
    for call in found.calls:
        yield call, list(dict.fromkeys(_of_call(call, found, scope, env, policy, hinted)))


def _is_hinted(found: Trace) -> bool:
    """Whether any word could name a secret: most scripts have none, and are done with paths here."""
    texts = [" ".join([*call.args, call.cwd]) for call in found.calls]
    texts += [call.stdin[:4000] for call in found.calls if isinstance(call.stdin, str)]
    text = " ".join(texts).lower()
    return any(hint in text for hint in HINTS) or any(mark in text for mark in "\ue001\ue002\ue003")


def _of_call(
    call: Call, found: Trace, scope: Scope, env: Environment, policy: Any, hinted: bool
) -> Iterator[tuple[str, str]]:
    name = call.program
    if name not in _QUIET:
        yield from _special(call, found, scope, policy)
        yield from _tabled(call, found)
    elif name == "git":
        yield from _git(call, scope, policy)
    elif name in (
        "mv",
        "python",
        "python3",
        "node",
        "source",
        ".",
        "awk",
        "npm",
        "yarn",
        "pnpm",
        "cargo",
        "uv",
        "poetry",
    ):
        yield from _special(call, found, scope, policy)
        if name not in ("mv", "source", ".", "awk") and not _OUTWARD.isdisjoint(call.args):
            yield from _tabled(call, found)
    if name not in ("echo", "printf") and (call.args or call.stdin):
        yield from _bodies(call, found, scope, env, policy)
    if (
        hinted
        or call.redirections
        or name in ("cp", "mv", "tee", "sed", "ln", "dd", "install", "truncate", "rsync", "rm", "chmod", "chown")
    ):
        yield from _paths(call, found, scope)
    elif call.args and name not in ("echo", "printf", "cd", "git"):
        yield from _links(call, scope)
    if policy.custom:
        yield from policy.custom_findings(call, scope)


def _special(call: Call, found: Trace, scope: Scope, policy: Any) -> Iterator[tuple[str, str]]:
    name = call.program
    if name in _DELETES:
        from . import deletes

        yield from deletes.check(call, scope, found.made)
    elif name == "mv":
        from . import deletes

        operands = [arg for arg in call.args if arg[:1] != "-"]
        for word in operands[:-1]:
            rule = (
                deletes.target_rule(word, call, scope, found.made)
                if operands[-1] == "/dev/null"
                else deletes.moved_rule(word, call, scope)
            )
            if rule:
                yield rule, plain(word)
    elif name == "git":
        yield from _git(call, scope, policy)
    else:
        from . import programs

        if name in programs.PROGRAMS or name.startswith(("mkfs", "python")) or call.word in found.fetched:
            yield from programs.check(call, scope, found)
        if name in programs.SENDERS:
            yield from programs.downloads(call)
    if name.startswith(UNKNOWN):
        flags = "".join([arg for arg in call.args if arg[:1] == "-" and arg[1:2] != "-"])
        if "r" in flags and "f" in flags:
            yield "delete.unknown", call.line()


def _git(call: Call, scope: Scope, policy: Any) -> Iterator[tuple[str, str]]:
    if call.args and call.args[0] in _GIT_QUIET:
        return
    from . import gitrules

    verb, args, directory = gitrules.split(call.args)
    if verb in gitrules.VERBS:
        branch = policy.branch(joined(call.cwd, directory) if directory else call.cwd) if verb == "push" else ""
        yield from gitrules.check(call, scope, policy.protected, branch)
        if verb == "rm" and "--cached" not in args:
            return


def _tabled(call: Call, found: Trace) -> Iterator[tuple[str, str]]:
    if call.args and call.args[0] in ("--version", "--help", "version", "help"):
        return
    from . import rules

    rule = rules.matched(call.program, call.args)
    if not rule and call.program in rules.UNKNOWN_TARGETS and any(UNKNOWN in arg for arg in call.args):
        if any(
            each.program == call.program and "ps" in each.args and any("name=" in arg for arg in each.args)
            for each in found.calls
        ):
            return
        rule = rules.matched(rules.UNKNOWN_TARGETS[call.program], call.args)
    if rule and not (call.where == CONTAINER and rule.startswith("system.")):
        yield rule, call.line()


def _bodies(call: Call, found: Trace, scope: Scope, env: Environment, policy: Any) -> Iterator[tuple[str, str]]:
    name = call.program.rstrip("0123456789.")
    if name not in _SPEAKERS and call.program not in _SPEAKERS:
        return
    from . import bodies

    if call.program in bodies.DATABASES:
        for text in bodies.database_texts(call):
            if bodies.is_destructive(call, text):
                yield "db.destroy", text[:120]
        return
    body = bodies.body_of(call) if bodies.language(call.program) else ""
    if not body:
        return
    from . import deletes

    def judge_tree(word: str, caller: Call) -> str:
        return deletes.target_rule(word, caller, scope, found.made)

    yield from bodies.check(body, call, scope, judge_tree)
    for text in bodies.shell_texts(body, bodies.language(call.program))[:20]:
        try:
            inner = calls.trace(text, call.cwd, scope.home, scope.project, env, within=found)
        except Unreadable:
            yield from ((rule, about) for rule, about, _ in coarse(text))
            continue
        yield from ((rule, about) for rule, about, _ in of_trace(inner, scope, env, policy))


_SPEAKERS = frozenset(
    """
    python ipython pypy py node nodejs deno bun perl ruby php lua rscript osascript awk gawk mawk vim vi nvim ex
    emacs psql mysql mariadb sqlite sqlite3 duckdb clickhouse-client clickhouse sqlcmd cockroach snowsql bq mycli
    pgcli usql sqlplus hive beeline presto trino impala-shell cqlsh turso wrangler wp d1 mongo mongosh osql isql
    tsql litecli mssql-cli spanner-cli
    """.split()
)


# Paths ---------------------------------------------------------------------------------------------


def _paths(call: Call, found: Trace, scope: Scope) -> Iterator[tuple[str, str]]:
    from . import operands, programs

    if (call.program in _FOLLOWED and not call.redirections) or "--help" in call.args:
        return
    is_sent = call.is_kept and any(each.program in programs.SENDERS for each in found.calls)
    for number, (access, word) in enumerate(operands.accesses(call)):
        if number > MAX_OPERANDS:
            return
        if word in _DEVICES or word.startswith("/dev/fd/"):
            continue
        if access == paths.WRITE:
            path = paths.absolute(word, call.cwd, scope)
            if path.startswith("/dev/") and programs.is_disk(path):
                yield "disk.overwrite", plain(word)
                continue
            if programs.is_core(path) and call.where != CONTAINER:
                yield "path.system-core", plain(word)
                continue
        rule = path_rule(access, word, call, scope, is_kept=call.is_kept and not is_sent)
        if rule:
            yield rule, plain(word)


_DEVICES = frozenset(
    """
    /dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/random /dev/urandom -
    """.split()
)
# The inner call is judged instead.
_FOLLOWED = frozenset(
    """
    sudo doas env nice nohup time timeout command builtin exec busybox bash sh zsh dash xargs parallel watch eval
    ssh
    """.split()
)


def path_rule(access: str, word: str, call: Call, scope: Scope, *, is_kept: bool = False) -> str:
    """The rule against one access of a call, after what the kind of access excuses."""
    if access in ("use", "guess", "list", "mount"):
        rule = paths.rule_for(word, paths.READ, call.cwd, scope)
        if access == "list":
            return ""
        if access == "use":
            return rule if rule == paths.SECRET and call.program in ("source", ".") else ""
        if access == "mount":
            return paths.SENSITIVE if rule == paths.SECRET else ""
        return rule if rule != paths.SENSITIVE and _is_sure(word, rule) else ""
    if access == "mode":
        rule = paths.rule_for(word, paths.WRITE, call.cwd, scope)
        return rule if rule.startswith(("self.", "path.system")) else ""
    if access == "add":
        return paths.SENSITIVE if paths.rule_for(word, paths.READ, call.cwd, scope) in (paths.SECRET, paths.ENV) else ""
    if access == "copy":
        rule = paths.rule_for(word, paths.WRITE, call.cwd, scope)
        return "" if rule == paths.ENV else rule
    rule = paths.rule_for(word, access, call.cwd, scope)
    if rule == paths.ENV:
        if access == paths.READ:
            return "" if is_kept else rule
        return "path.env-write"
    if rule == paths.SECRET and access == paths.DELETE and word.endswith((".pem", ".key", ".p12")) and "/" not in word:
        return ""
    if call.where == CONTAINER and rule == paths.SYSTEM:
        return ""
    return rule


def _is_sure(word: str, rule: str) -> bool:
    """Whether a word of a program we know nothing of is a path at all: `.data.key` is as likely a field."""
    lower = plain(word).lower()
    if rule == paths.SECRET and lower.rpartition("/")[2].startswith(
        ("id_", ".netrc", ".git-cred", ".pypirc", ".pgpass", "credentials.json")
    ):
        return True
    if rule == paths.ENV:
        return lower.rpartition("/")[2].startswith(".env")
    return "/" in word or "\\" in word or word[:1] == TILDE


def _links(call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
    """Words that say nothing may still be links to something."""
    if UNKNOWN in call.cwd:
        return
    base = scope.home + call.cwd[1:] if call.cwd[:1] == TILDE else call.cwd
    for word in call.args[:20]:
        if word[:1] == "-" or len(word) > 300 or " " in word or "\n" in word or "=" in word or UNKNOWN in word:
            continue
        if not paths.has_link(word if word[:1] == "/" else base + "/" + word):
            continue
        rule = path_rule(paths.READ, word, call, scope)
        if rule:
            yield rule, plain(word)


# What cannot be read -------------------------------------------------------------------------------


def coarse(text: str) -> list[Finding]:
    """For text that no shell would take: a catastrophic word in command position asks."""
    lower = text.lower()
    if "downloadstring" in lower and ("iex" in lower or "invoke-expression" in lower):
        return [("remote.pipe-to-shell", "IEX of what was fetched", "")]
    cleaned = plain(text[:MAX_COMMAND_CHARS])
    for char in ";&|(){}`":
        cleaned = cleaned.replace(char, "\n")
    for char in "\\'\"":
        cleaned = cleaned.replace(char, "")
    for piece in dict.fromkeys(cleaned.split("\n")):
        words = piece.split()
        if "git" in words and _is_git_loss(words[words.index("git") + 1 :]):
            return [("guard.unreadable", " ".join(words), "")]
        before = 0
        while before < len(words) and (words[before] in _BEFORE or "=" in words[before]):
            before += 1
        words = words[before:]
        if words and words[0].rpartition("/")[2] in _CATASTROPHIC and _is_grave(words):
            return [("guard.unreadable", " ".join(words), "")]
    return []


_BEFORE = frozenset("sudo then do else ! exec command env nohup time".split())


def _is_git_loss(words: list[str]) -> bool:
    verb = words[0] if words else ""
    flags = set(words[1:3])
    return bool(
        (verb == "reset" and "--hard" in words)
        or (verb == "clean" and any(flag[:2] == "-f" or "f" in flag for flag in flags if flag[:1] == "-"))
        or (verb == "push" and flags & {"-f", "--force", "--mirror"})
        or (verb == "stash" and flags & {"drop", "clear"})
        or (verb == "branch" and "-D" in flags)
    )


def _is_grave(words: list[str]) -> bool:
    name = words[0].rpartition("/")[2]
    flags = "".join([word for word in words[1:] if word[:1] == "-"])
    if name == "rm":
        return "r" in flags.lower()
    if name in ("chmod", "chown"):
        return "R" in flags
    if name == "find":
        return "-delete" in words or "-exec" in words
    if name == "dd":
        return any(word.startswith("of=") for word in words)
    return name != "eval" or "$" in " ".join(words)
