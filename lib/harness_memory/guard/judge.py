"""The verdict on a tool call: what rule stands against it, how firmly, and what it is about.

    command text → calls (`calls`) → findings (rule id, detail) of each → the firmest

What no rule speaks of is never loaded: families of rules are imported when a call names one of their programs.
"""

from __future__ import annotations

from . import calls, paths
from .quick import HINTS
from .shell import TILDE, UNKNOWN, Unreadable, plain
from .words import joined
from .wrappers import CONTAINER, GUESSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .calls import Call, Trace
    from .paths import Scope
    from .question import Environment

    Finding = tuple[str, str, str]

MAX_COMMAND_CHARS = 256 * 1024  # twice what Linux hands to a shell
MAX_TEXTS = 20  # of one body, for a shell; the others are judged coarsely
MAX_OPERANDS = 200
BODY_STEPS = 25  # what the code in a command counts for

# Which family judges a program. Those of COMMANDS in `rules` are all the others.
_DELETES = frozenset(
    """
    rm unlink shred srm rimraf del-cli rd rmdir del erase remove-item ri find fd rsync truncate tar zip 7z
    """.split()
)
QUIET = frozenset(
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


def findings(text: str, scope: Scope, env: Environment, policy: Any) -> list[Finding]:
    """All findings against a command, in its order: (rule, the call it is about, the path or part of it)."""
    if "\0" in text or "\ufeff" in text:  # shells drop the one, and editors do not show the other
        text = text.replace("\0", "").replace("\ufeff", "")
    if len(text) > MAX_COMMAND_CHARS:
        return [("guard.unreadable", "a command of %d characters" % len(text), "")]
    try:
        found = calls.trace(text, scope.cwd, scope.home, scope.project, env)
    except Unreadable:
        return _coarse(text, scope)
    return of_trace(found, scope, env, policy)


def of_trace(found: Trace, scope: Scope, env: Environment, policy: Any) -> list[Finding]:
    result: list[Finding] = []
    for call, against in by_call(found, scope, env, policy):
        if against:
            line = call.line()
            result.extend((rule, line, about) for rule, about in against)
    for text in found.unread:
        result.extend(_coarse(text, scope))
    return result


def by_call(found: Trace, scope: Scope, env: Environment, policy: Any) -> Iterator[tuple[Call, list[tuple[str, str]]]]:
    """Each call of a trace, with the rules against it and what they are about."""
    text = _text_of(found)
    hinted = _is_hinted(text) or bool(scope.zero or scope.confirm or scope.no_delete)
    is_near = _has_pattern(text) or any(name in text for name in paths.own_names(scope))
    for call in found.calls:
        if found.links:
            scope.links = {} if call.program == "ln" else found.links
        try:
            against = list(dict.fromkeys(_of_call(call, found, scope, env, policy, hinted, is_near)))
        except Unreadable:
            yield call, [("guard.failed", "more paths than can be judged")]
            return
        yield call, _firm(against) if against and GUESSED in call.via else against


def _firm(against: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """What holds even of a call that is only guessed."""
    from .rules import DENY, RULES

    return [(rule, about) for rule, about in against if RULES.get(rule, (DENY,))[0] == DENY]


def _text_of(found: Trace) -> str:
    texts = [" ".join([*call.args, call.cwd]) for call in found.calls]
    texts += dict.fromkeys([call.stdin[:4000] for call in found.calls if isinstance(call.stdin, str)])
    return " ".join(texts).lower()


def _is_hinted(text: str) -> bool:
    """Whether any word could name a secret: most scripts have none, and are done with paths here."""
    return _has_pattern(text) or any(hint in text for hint in HINTS)


def _has_pattern(text: str) -> bool:
    return any(mark in text for mark in "\ue001\ue002\ue003")


def _of_call(
    call: Call, found: Trace, scope: Scope, env: Environment, policy: Any, hinted: bool, is_near: bool
) -> Iterator[tuple[str, str]]:
    name = call.program
    if "-" in name and any(arg.lower() == "-whatif" for arg in call.args):
        return  # a cmdlet that only shows what it would do
    if name not in QUIET:
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
        "export",
        "env",
    ):
        yield from _special(call, found, scope, policy)
        if name not in ("mv", "source", ".", "awk") and not _OUTWARD.isdisjoint(call.args):
            yield from _tabled(call, found)
    if name not in ("echo", "printf") and (call.args or call.stdin):
        yield from _bodies(call, found, scope, env, policy)
    if (
        hinted
        or call.redirections
        or (name == "grep" and not {TILDE, TILDE + "/", "/"}.isdisjoint(call.args))
        or name in ("cp", "mv", "tee", "sed", "ln", "dd", "install", "truncate", "rsync", "rm", "chmod", "chown")
    ):
        yield from _paths(call, found, scope)
    elif call.args and name not in ("echo", "printf", "cd", "git"):
        yield from _links(call, scope)
    if is_near:
        from . import ours

        yield from ours.check(call, scope)
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
    if rule == "db.destroy" and call.program == "dropdb":
        from .bodies import is_scratch

        rule = rule if not any(is_scratch(arg) for arg in call.args if arg[:1] != "-") else ""
    if rule and not (call.where == CONTAINER and rule.startswith("system.")):
        yield rule, call.line()


def _bodies(call: Call, found: Trace, scope: Scope, env: Environment, policy: Any) -> Iterator[tuple[str, str]]:
    name = call.program.rstrip("0123456789.")
    if name in ("sed", "gsed"):
        if not any(_may_run(arg) for arg in call.args):
            return
    elif name not in _SPEAKERS and call.program not in _SPEAKERS:
        return
    from . import bodies

    if call.program in bodies.DATABASES:
        for text in bodies.database_texts(call):
            if bodies.is_destructive(call, text):
                yield "db.destroy", text[:120]
        return
    if name in ("sed", "gsed"):
        texts = [text for arg in call.args for text in bodies.sed_texts(arg)]
        yield from _started(texts, call, found, scope, env, policy)
        return
    body = bodies.body_of(call) if bodies.language(call.program) else ""
    if not body:
        return
    found.budget.step(BODY_STEPS)
    from . import deletes

    def judge_tree(word: str, caller: Call) -> str:
        return deletes.target_rule(word, caller, scope, found.made)

    made = bodies.calls_of(body, bodies.language(call.program))
    yield from bodies.check(body, call, scope, judge_tree, made)
    yield from _started(bodies.shell_texts(body, bodies.language(call.program), made), call, found, scope, env, policy)


def _started(
    texts: list[str], call: Call, found: Trace, scope: Scope, env: Environment, policy: Any
) -> Iterator[tuple[str, str]]:
    """The findings against shell text that a body hands to a shell."""
    distinct = list(dict.fromkeys(texts))
    for text in distinct[MAX_TEXTS : 10 * MAX_TEXTS]:
        yield from ((rule, about) for rule, about, _ in _coarse(text, scope))
    for text in distinct[:MAX_TEXTS]:
        try:
            inner = calls.trace(text, call.cwd, scope.home, scope.project, env, within=found)
        except Unreadable:
            yield from ((rule, about) for rule, about, _ in _coarse(text, scope))
            continue
        yield from ((rule, about) for rule, about, _ in of_trace(inner, scope, env, policy))


def _may_run(script: str) -> bool:
    """Whether a sed script may hold the command or flag `e`."""
    flags = script[-3:].rpartition("/")[2]
    return "e" in flags or script[-2:] in ("|e", "#e") or "e " in script[:12] or ";e " in script


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
    if (call.program in _FOLLOWED and not call.redirections) or "--help" in call.args:
        return
    from . import operands

    is_sent = call.is_kept and any(_sends(each) for each in found.calls)
    hints: list[str] | None = None
    for number, (access, word) in enumerate(operands.accesses(call)):
        if number > MAX_OPERANDS:
            hints = _hints(call.args) if hints is None else hints
            if not any(hint in word.lower() for hint in hints):
                continue
        if word in _DEVICES or word.startswith("/dev/fd/"):
            continue
        if access == paths.WRITE:
            from . import programs

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


def _hints(words: list[str]) -> list[str]:
    """The hints at a secret that stand anywhere in them."""
    text = " ".join(words).lower()
    return [hint for hint in HINTS if hint in text]


def _sends(call: Call) -> bool:
    """Whether what a variable holds may leave by this call: `curl`, or `echo $x`, with x from who knows where."""
    from .programs import SENDERS

    is_told = call.program in ("echo", "printf", "print") and not call.is_kept and UNKNOWN in call.args
    return is_told or call.program in SENDERS


_DEVICES = frozenset(
    """
    /dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/random /dev/urandom -
    """.split()
)
# The inner call is judged instead.
_FOLLOWED = frozenset(
    """
    sudo doas env nice nohup time timeout command builtin exec busybox xargs parallel watch eval ssh npx bunx uvx
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
        return rule if rule != paths.SENSITIVE and is_sure(word, rule) else ""
    if access == "names":
        rule = paths.rule_for(word, paths.READ, call.cwd, scope)
        return "" if rule == paths.ENV else rule
    if access == "whole":
        path = paths.absolute(word, call.cwd, scope)
        return paths.SENSITIVE if path == "/" or paths.home_relative(path, scope) == "~" else ""
    if access in ("into", "alias"):
        rule = paths.rule_for(word, paths.WRITE, call.cwd, scope)
        if word.endswith("/") or access == "alias":
            rule = rule or ("self.project-settings" if _is_config(word, call, scope) else "")
        return rule if rule.startswith("self.") or (rule == paths.STARTUP and access == "into") else ""
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


def _is_config(word: str, call: Call, scope: Scope) -> bool:
    return paths.is_config(paths.absolute(word, call.cwd, scope), scope)


def is_sure(word: str, rule: str) -> bool:
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


def _coarse(text: str, scope: Scope) -> list[Finding]:
    from .unread import coarse

    return coarse(text, scope)
