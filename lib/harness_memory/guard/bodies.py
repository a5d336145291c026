"""Code inside a command: bodies of `python -c` and its kin, and SQL. Words are read, nothing is run.

A body is reduced to the calls it makes with the literals they are given; a literal that goes to a shell is judged as
shell text, one that goes to a deleting function as a path.
"""

from __future__ import annotations

from . import paths
from .quick import HINTS
from .shell import TILDE, UNKNOWN
from .wrappers import SHELLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .calls import Call
    from .paths import Scope

MAX_CHARS = 200_000
_OPTIONS = {
    "python": ("-c",),
    "node": ("-e", "--eval", "-p", "--print", "-pe"),
    "nodejs": ("-e", "--eval", "-p"),
    "deno": ("eval",),
    "bun": ("-e", "--eval"),
    "perl": ("-e", "-E", "-ne", "-pe", "-lne", "-ane", "-le", "-we"),
    "ruby": ("-e", "-ne"),
    "php": ("-r",),
    "lua": ("-e",),
    "rscript": ("-e",),
    "osascript": ("-e",),
    "awk": (),
    "gawk": (),
    "mawk": (),
    "ipython": ("-c",),
    "vim": ("-c", "--cmd"),
    "vi": ("-c",),
    "nvim": ("-c",),
    "ex": ("-c",),
    "emacs": ("--eval",),
}
LANGUAGES = frozenset(_OPTIONS)
_SHELL_CALLS = frozenset(
    """
    system popen popen2 popen3 getoutput getstatusoutput check_call check_output exec execsync spawn spawnsync
    execfile execfilesync shell_exec passthru proc_open execvp execv execl execlp execve posix_spawn sh qx backtick
    shell script execute
    """.split()
)
_MODULE_SHELL_CALLS = (
    "subprocess.run",
    "subprocess.call",
    "subprocess.popen",
    "asyncio.create_subprocess",
    "deno.command",
    "bun.spawn",
)
_TREE_CALLS = frozenset(
    """
    rmtree rm_rf rm_r remove_tree rmsync rm rmdirsync rimraf remove_dir_all removesync emptydirsync delete_tree
    removedirs remove_entry remove_entry_secure remove_dir remove
    """.split()
)
_HOMES = tuple(
    """
    expanduser path.home() homedir() env.home env['home'] env["home"] environ['home'] environ["home"] dir.home
    env{home} getenv('home') getenv("home") environ.get('home') environ.get("home") %userprofile%
    """.split()
)
_TEMPORARY = ("tempfile", "mkdtemp", "mktemp", "tmpdir", "tmp_path", "temp_dir", "tempdir")
_SENDS = tuple(
    """
    requests.post requests.put urlopen http.client fetch( axios net::http lwp:: http.post httpx.post
    """.split()
)
_DISKS = (
    "/dev/sd",
    "/dev/nvme",
    "/dev/hd",
    "/dev/vd",
    "/dev/xvd",
    "/dev/mmcblk",
    "/dev/disk",
    "/dev/rdisk",
    "\\\\.\\physicaldrive",
)
_SQL = frozenset(
    """
    psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client clickhouse sqlcmd cockroach snowsql bq mycli pgcli
    usql sqlplus hive beeline presto trino impala-shell cqlsh turso wrangler wp d1 osql isql tsql litecli iredis
    mssql-cli spanner-cli
    """.split()
)
_DOCUMENTS = frozenset(("mongo", "mongosh"))
DATABASES = _SQL | _DOCUMENTS


def language(program: str) -> str:
    """python3.11 is python; "" for what is no interpreter of ours."""
    name = program.rstrip("0123456789.")
    return name if name in _OPTIONS else "python" if name in ("pypy", "python3-", "py") else ""


def body_of(call: Call) -> str:
    """The code that a call of an interpreter runs: from an option, its standard input, or a file just written."""
    name = language(call.program)
    args = call.args
    if name in ("awk", "gawk", "mawk"):
        return next((arg for arg in args if arg[:1] != "-"), "")
    texts = []
    for at, arg in enumerate(args):
        if (arg in _OPTIONS[name] and at + 1 < len(args)) or (
            name in ("perl", "ruby")
            and arg[:1] == "-"
            and arg[1:2] != "-"
            and arg[-1:] in ("e", "E")
            and at + 1 < len(args)
        ):
            texts.append(args[at + 1])
        elif name == "python" and arg.startswith("-c") and len(arg) > 2:
            texts.append(arg[2:])
        elif (
            name == "python"
            and len(arg) < 6
            and arg[:1] == "-"
            and arg[1:2] != "-"
            and arg.endswith("c")
            and at + 1 < len(args)
        ):
            texts.append(args[at + 1])
    if texts:
        return "\n".join(texts)[:MAX_CHARS]
    scripts = [arg for arg in args if arg[:1] != "-"]
    if scripts and scripts[0] in call.texts:
        return call.texts[scripts[0]][:MAX_CHARS]
    return call.stdin[:MAX_CHARS] if isinstance(call.stdin, str) and (not scripts or "-" in args) else ""


def shell_texts(body: str, name: str) -> list[str]:
    """The shell commands that a body starts."""
    found = (
        [line.lstrip(":")[1:] for line in body.split("\n") if line.lstrip(":")[:1] == "!"]
        if name in ("vim", "vi", "nvim", "ex")
        else []
    )
    if name in ("awk", "gawk", "mawk"):  # `print "..." | "sh"`
        targets = [piece.lstrip()[1:].partition('"')[0] for piece in body.split("|")[1:] if piece.lstrip()[:1] == '"']
        found += targets
        if not SHELLS.isdisjoint(targets):
            found += [literal for _, literals, _ in _calls(body, name) for literal in literals]
    has_module = "subprocess" in body
    for callee, literals, text in _calls(body, name):
        last = callee.rpartition(".")[2].rpartition("::")[2]
        if has_module and last in ("run", "call", "popen"):
            callee = "subprocess." + last
        if last in _SHELL_CALLS or callee.startswith(_MODULE_SHELL_CALLS) or callee.endswith(_MODULE_SHELL_CALLS):
            words = [literal for literal in literals if literal]
            if len(words) > 1 and not any(" " in word for word in words[:1]):
                quoted = ["'" + word.replace("'", "'\\''") + "'" for word in words]
                found.append(" ".join(quoted) + (" ~" if any(home in text.replace(" ", "") for home in _HOMES) else ""))
            else:
                found.extend(words[:1])
    return found


def check(body: str, call: Call, scope: Scope, judge_tree: object) -> Iterator[tuple[str, str]]:
    """Findings against a body; `judge_tree(word, call)` gives the rule for a recursive deletion."""
    name = language(call.program)
    lower = body.lower()
    if "fork" in lower and ("while" in lower or "loop" in lower or "for(;;)" in lower) and _forks(lower):
        yield "system.fork-bomb", "fork in a loop"
    if (
        ("os.environ" in lower or "process.env)" in lower or "env.to_" in lower)
        and any(word in lower for word in _SENDS)
        and (
            "stringify(process.env" in lower
            or "dict(os.environ" in lower
            or "os.environ)" in lower
            or "os.environ.items" in lower
        )
    ):
        yield "exfil.environment", "the environment is sent"
    if ".objects.all().delete()" in lower or ".delete_all" in lower or ".destroy_all" in lower:
        yield "db.destroy", "all rows are deleted"
    if (
        name in ("awk", "gawk", "mawk")
        and "print" in lower
        and any('| "%s"' % each in lower.replace('|"', '| "') for each in SHELLS)
    ):
        yield "code.hidden", "what is printed is run"
    if "socket" in lower and ("/bin/sh" in lower or "/bin/bash" in lower or "pty.spawn" in lower or "cmd.exe" in lower):
        yield "remote.shell", "a socket and a shell"
    if ("exec(" in lower or "eval(" in lower) and (
        "urlopen(" in lower or "requests.get(" in lower or "fetch(" in lower
    ):
        yield "remote.pipe-to-shell", "exec of what was fetched"
    if "downloadstring" in lower and "iex" in lower:
        yield "remote.pipe-to-shell", "iex of what was fetched"
    for word in ("rm_rf ", "rm_r ", "rmtree "):
        if word in lower and any(home in lower.partition(word)[2][:40] for home in _HOMES):
            yield "delete.home", word.strip()
    for callee, literals, text in _calls(body, name):
        last = callee.rpartition(".")[2].rpartition("::")[2]
        if last in _TREE_CALLS or (last in ("rmdir", "unlink") and "recursive" in text):
            yield from _deletion(last, literals, text, lower, body, call, judge_tree)
        for literal in literals:
            yield from _literal(literal, text, last, call, scope)


def _forks(lower: str) -> bool:
    return (
        "fork()" in lower.replace(" ", "")
        or "fork while" in lower
        or "{fork}" in lower.replace(" ", "")
        or "fork;" in lower
    )


def _deletion(
    last: str, literals: list[str], text: str, lower: str, body: str, call: Call, judge_tree: object
) -> Iterator[tuple[str, str]]:
    if last == "remove" and "recursive" not in text:
        return
    if last in ("rm", "rmdirsync", "rmdir", "rmsync") and "recursive" not in text and "rf" not in text:
        return
    target = literals[0] if literals else ""
    if any(home in text.replace(" ", "") for home in _HOMES):
        target = TILDE + "/" + target.lstrip("~/") if target.strip("~/") else TILDE
    elif target[:1] == "~":
        target = TILDE + target[1:]
    if not target:
        target = _assigned(text, body)
    if not target:
        if any(word in lower for word in _TEMPORARY):
            return
        target = UNKNOWN
    rule = judge_tree(target, call)  # type: ignore[operator]
    if rule:
        yield rule, "%s(%s)" % (last, target.replace(TILDE, "~").replace(UNKNOWN, "…"))


def _literal(literal: str, text: str, last: str, call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
    if not literal or len(literal) > 300 or "\n" in literal:
        return
    lower = literal.lower()
    if lower.startswith(_DISKS) and any(
        mode in text for mode in ("'w", '"w', "'r+", '"r+', "'a", '"a', "o_wronly", "o_rdwr", "write")
    ):
        yield "disk.overwrite", literal
    if " " not in literal and (
        "/" in literal or "\\" in literal or literal[:1] in (".", "~") or lower.startswith("id_")
    ):
        if any(hint in lower for hint in HINTS) and last not in ("print", "exists", "isfile", "join_only"):
            word = TILDE + literal[1:] if literal[:1] == "~" else literal
            rule = paths.rule_for(word, paths.READ, call.cwd, scope) or (
                paths.rule_for(TILDE + literal, paths.READ, call.cwd, scope) if literal[:2] == "/." else ""
            )
            if rule in (paths.SECRET, paths.ENV):
                yield rule, literal
        if last in ("remove", "unlink", "unlinksync", "rename", "renamesync", "replace", "truncate"):
            rule = paths.rule_for(literal, paths.DELETE, call.cwd, scope)
            if rule:
                yield rule, literal
        if any(mode in text for mode in ("'w", '"w', "'a'", '"a"', "write")) and literal[:1] in ("/", "~"):
            word = TILDE + literal[1:] if literal[:1] == "~" else literal
            rule = paths.rule_for(word, paths.WRITE, call.cwd, scope)
            if rule:
                yield rule, literal
    if " " in literal and destroys(literal):
        yield "db.destroy", literal[:80]


def _assigned(text: str, body: str) -> str:
    """The literal that the variable in `text` was set to, in the plainest case."""
    name = "".join([char if char.isalnum() or char in "_$" else " " for char in text]).split()
    for word in name[:1]:
        for quote in ("'", '"'):
            for form in (word + "=" + quote, word + " = " + quote):
                at = body.find(form)
                if at >= 0:
                    start = at + len(form)
                    end = body.find(quote, start)
                    return body[start:end] if end > start else ""
    return ""


_LOOSE = " ".join(("no", "brackets"))  # compared by identity


def _calls(body: str, name: str) -> list[tuple[str, list[str], str]]:
    """(function in lower case, literals among its arguments, their text in lower case), without a grammar."""
    found: list[tuple[str, list[str], str]] = []
    stack: list[tuple[str, list[str], int]] = []
    word = ""
    last = ""
    at = loose = 0
    size = len(body)
    while at < size:
        char = body[at]
        if char in "'\"`":
            start = at - len(word)
            literal, at = _string(body, at, char)
            if name == "python" and word in ("f", "fr", "rf", "F"):
                literal = _formatted(literal)
            if char == "`" and name in ("ruby", "perl", "php"):
                found.append(("backtick", [literal], literal.lower()))
            for callee, literals, _ in stack:
                if callee:
                    literals.append(literal)
            if not stack or not stack[-1][0]:
                if found and found[-1][2] is _LOOSE and not body[loose:start].strip(" ,"):
                    found[-1][1].append(literal)  # system "rm", "-rf", "/"
                else:
                    found.append(((word or last).lower(), [literal], _LOOSE))
                loose = at
            word = ""
            continue
        if char.isalnum() or char in "_.:$":
            word += char
        else:
            if char == "(" and len(stack) < 60:
                stack.append((word.lower(), [], at + 1))
            elif char == ")" and stack:
                callee, literals, start = stack.pop()
                found.append((callee, literals, body[start:at].lower()[:400]))
            elif char == "#" and name in ("python", "ruby", "perl") and (at == 0 or body[at - 1] in " \n\t;"):
                end = body.find("\n", at)
                at = size if end < 0 else end
                continue
            if word:
                last = word
            if char in ";\n{}=":
                last = ""
            word = ""
        at += 1
    for callee, literals, start in stack:
        found.append((callee, literals, body[start : start + 400].lower()))
    return found


def _formatted(literal: str) -> str:
    """An f-string: what stands in braces is known at run time only."""
    pieces = literal.split("{")
    return pieces[0] + "".join([UNKNOWN + piece.partition("}")[2] for piece in pieces[1:]])


def _string(body: str, at: int, quote: str) -> tuple[str, int]:
    if body.startswith(quote * 3, at) and quote != "`":
        end = body.find(quote * 3, at + 3)
        return (body[at + 3 : end], end + 3) if end >= 0 else (body[at + 3 :], len(body))
    end = at + 1
    while end < len(body) and body[end] != quote:
        end += 2 if body[end] == "\\" else 1
    return body[at + 1 : end], end + 1


# Databases ------------------------------------------------------------------------------------------


def database_texts(call: Call) -> list[str]:
    """The statements that a call hands to a database."""
    if call.program in ("sqlite3", "sqlite") and any(arg == ":memory:" or arg.startswith("/tmp/") for arg in call.args):
        return []
    texts = [
        arg.partition("=")[2] if arg[:2] == "--" and "=" in arg else arg
        for arg in call.args
        if " " in arg or "(" in arg
    ]
    for flag in ("-c", "-e"):
        texts += [arg[2:] for arg in call.args if arg.startswith(flag) and len(arg) > 3]
    return [*texts, call.stdin] if isinstance(call.stdin, str) else texts


def is_destructive(call: Call, text: str) -> bool:
    if call.program in _DOCUMENTS:
        tight = text.replace(" ", "").lower()
        return any(
            word in tight for word in ("dropdatabase(", ".drop(", "deletemany({})", ".remove({})", "dropindexes(")
        )
    return destroys(text)


def destroys(text: str) -> bool:
    """SQL that drops, truncates, or deletes or updates without saying which rows."""
    for statement in _statements(text[:MAX_CHARS]):
        words = statement.upper().replace("(", " ( ").split()
        while words and words[0] in ("BEGIN", "EXPLAIN", "WITH") and len(words) > 1 and words[0] != "EXPLAIN":
            words = words[1:]
        if not words:
            continue
        if words[0] == "DROP" and len(words) > 2 and words[1] in _DROPPED:
            return True
        if words[0] == "TRUNCATE" and len(words) > 1:
            return True
        if words[:2] == ["DELETE", "FROM"] and len(words) > 2 and not _has_condition(words):
            return True
        if words[0] == "UPDATE" and "SET" in words[2:5] and not _has_condition(words):
            return True
        if words[:2] == ["ALTER", "TABLE"] and "DROP" in words and "CONSTRAINT" not in words and "DEFAULT" not in words:
            return True
    return False


_DROPPED = frozenset(
    """
    TABLE DATABASE SCHEMA USER ROLE COLLECTION KEYSPACE TABLESPACE COLUMN MATERIALIZED OWNED DATASET WAREHOUSE
    """.split()
)


def _has_condition(words: list[str]) -> bool:
    if "WHERE" not in words:
        return False
    rest = words[words.index("WHERE") + 1 :]
    return bool(rest) and rest[:1] not in (["TRUE"], ["1=1"], ["1"]) and rest[:3] != ["1", "=", "1"]


def _statements(text: str) -> list[str]:
    """Statements without comments and the contents of strings."""
    pieces = []
    at = 0
    start = 0
    size = len(text)
    while at < size:
        char = text[at]
        if char == "'":
            end = text.find("'", at + 1)
            pieces.append(text[start:at] + "''")
            at = start = size if end < 0 else end + 1
        elif char == "-" and text.startswith("--", at) and (at + 2 >= size or text[at + 2] in " \n\t-"):
            end = text.find("\n", at)
            pieces.append(text[start:at])
            at = start = size if end < 0 else end
        elif char == "/" and text.startswith("/*", at):
            end = text.find("*/", at)
            pieces.append(text[start:at] + " ")
            at = start = size if end < 0 else end + 2
        else:
            at += 1
    pieces.append(text[start:])
    return [statement.strip() for statement in "".join(pieces).split(";")]


__all__ = [
    "DATABASES",
    "LANGUAGES",
    "SHELLS",
    "body_of",
    "check",
    "database_texts",
    "destroys",
    "is_destructive",
    "language",
    "shell_texts",
]
