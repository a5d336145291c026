"""Code inside a command: bodies of `python -c` and its kin, and SQL. Words are read, nothing is run.

A body is reduced to the calls it makes with the literals they are given; a literal that goes to a shell is judged as
shell text, one that goes to a deleting function as a path.
"""

from __future__ import annotations

from . import paths
from .quick import HINTS
from .shell import TILDE, UNKNOWN
from .words import joined
from .wrappers import SHELLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .calls import Call
    from .paths import Scope

    Made = tuple[str, list[str], str]

MAX_CHARS = 200_000
MAX_READ_CHARS = 20_000  # of a body; of a longer one the telling places
MAX_LITERALS = 50  # of one call
MAX_OUTER_CALLS = 8  # that a literal is counted for
_AROUND_CHARS = 200
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
    "ex": ("-c", "-sc"),
    "emacs": ("--eval",),
}
LANGUAGES = frozenset(_OPTIONS)
_AWKS = ("awk", "gawk", "mawk")
_EDITORS = ("vim", "vi", "nvim", "ex")
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
_TELLING = """
    system popen subprocess spawn exec rmtree rm_r rmsync rimraf unlink remove rename fork socket environ /dev/ shell
    delete drop truncate
    """.split()
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
    """python3.11 is python; "" for a program that is not a known interpreter."""
    name = program.rstrip("0123456789.")
    return name if name in _OPTIONS else "python" if name in ("pypy", "python3-", "py") else ""


def body_of(call: Call) -> str:
    """The code that a call of an interpreter runs: from an option, its standard input, or a file just written."""
    name = language(call.program)
    args = call.args
    if name in _AWKS:
        return excerpt(_awk_body(call))
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
        elif arg.startswith(("--eval=", "--print=")):
            texts.append(arg.partition("=")[2])
        elif name in _EDITORS and arg[:1] == "+":
            texts.append(arg[1:])
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
        return excerpt("\n".join(texts))
    scripts = [arg for arg in args if arg[:1] != "-"]
    written = call.texts.get(joined(call.cwd, scripts[0])) if scripts else None
    if written is not None:
        return excerpt(written)
    return excerpt(call.stdin) if isinstance(call.stdin, str) and (not scripts or "-" in args) else ""


def _awk_body(call: Call) -> str:
    args = call.args
    for flag, value in zip(args, args[1:]):
        if flag in ("-f", "--file"):
            is_fed = value in ("-", "/dev/stdin") and isinstance(call.stdin, str)
            return call.stdin if is_fed else call.texts.get(value, "")
    return next((arg for flag, arg in zip(["", *args], args) if arg[:1] != "-" and flag not in ("-v", "-F", "-i")), "")


def excerpt(body: str) -> str:
    """A body; of one that is very long, the lines where a telling word stands."""
    if len(body) <= MAX_READ_CHARS:
        return body
    lower = body[:MAX_CHARS].lower()
    places: list[int] = []
    for word in (*_TELLING, *HINTS):
        at = lower.find(word)
        while at >= 0 and len(places) < 1000:
            places.append(at)
            at = lower.find(word, at + _AROUND_CHARS)
    found: list[str] = []
    end = left = 0
    for place in sorted(places):
        start = max(end, place - _AROUND_CHARS, lower.rfind("\n", 0, place) + 1)
        if place < end or left > MAX_READ_CHARS:
            continue
        end = lower.find("\n", place + _AROUND_CHARS)
        end = min(len(lower) if end < 0 else end, place + 2 * _AROUND_CHARS)
        found.append(body[start:end])
        left += end - start
    return "\n".join(found)


def shell_texts(body: str, name: str, made: list[Made]) -> list[str]:
    """The shell commands that a body starts."""
    found = []
    if name in (*_EDITORS, "ipython"):
        found = [line.lstrip(":")[1:] for line in body.split("\n") if line.lstrip(":")[:1] == "!"]
    elif name in _AWKS:
        found = _awk_texts(body, made)
    has_module = "subprocess" in body
    values: dict[str, list[str]] = {}
    for callee, literals, text in made:
        last = callee.rpartition(".")[2].rpartition("::")[2]
        if has_module and last in ("run", "call", "popen"):
            callee = "subprocess." + last
        if last in _SHELL_CALLS or callee.startswith(_MODULE_SHELL_CALLS) or callee.endswith(_MODULE_SHELL_CALLS):
            name_given = text.partition(",")[0].strip() if text is not _LOOSE else ""
            if name_given not in values:
                values[name_given] = _set_before(name_given, body)
            found += _command(values[name_given] or literals, text)
        elif last == "open" and name in ("perl", "ruby"):
            found += [literal.strip("|") for literal in literals if "|" in (literal[:1], literal[-1:])]
    return found


def _command(literals: list[str], text: str) -> list[str]:
    words = [literal for literal in literals if literal.strip()]
    if len(words) < 2 or " " in words[0]:
        return words[:1]
    quoted = ["'" + word.replace("'", "'\\''") + "'" for word in words]
    return [" ".join(quoted) + (" ~" if any(home in text.replace(" ", "") for home in _HOMES) else "")]


def _awk_texts(body: str, made: list[Made]) -> list[str]:
    """`print "..." | "sh"` and `"..." | getline`."""
    pieces = body.split("|")
    found = [piece.lstrip()[1:].partition('"')[0] for piece in pieces[1:] if piece.lstrip()[:1] == '"']
    if not SHELLS.isdisjoint(found):
        found += [literal for _, literals, _ in made for literal in literals]
    for before, after in zip(pieces, pieces[1:]):
        if after.lstrip().startswith("getline") and before.rstrip().endswith('"'):
            found.append(before.rstrip()[:-1].rpartition('"')[2])
    return found


def _set_before(name: str, body: str) -> list[str]:
    """What a variable was set to: a text, or a list of them."""
    if not name.isidentifier():
        return []
    lower = body.lower()
    for form in (name + "=", name + " = "):
        at = lower.find(form)
        start = at + len(form)
        if at >= 0 and body[start : start + 1] in ("'", '"'):
            return [_continued(body, *_string(body, start, body[start]), "python")[0]]
        if at >= 0 and body[start : start + 1] == "[":
            end = body.find("]", start)
            return calls_of("f(" + body[start + 1 : max(end, start)] + ")", "python")[0][1]
    return []


def sed_texts(script: str) -> list[str]:
    """What a sed script runs: `1e rm x`, `s/a/rm x/e`."""
    found = []
    for line in script.replace(";", "\n").split("\n"):
        line = line.strip()
        if line[:1] == "/":
            line = line[1:].partition("/")[2]
        line = line.lstrip("0123456789,$!{ ")
        if line.startswith("e "):
            found.append(line[2:])
        elif line[:1] == "s" and len(line) > 4:
            parts = line[2:].replace("\\" + line[1], "\0").split(line[1])
            if len(parts) > 2 and "e" in parts[2]:
                found.append(parts[1].replace("\0", line[1]))
    return found


def check(body: str, call: Call, scope: Scope, judge_tree: object, made: list[Made]) -> Iterator[tuple[str, str]]:
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
    if any(word in lower for word in _DECODES) and _runs_decoded(lower, made):
        yield "code.hidden", "what is decoded is run"
    if "harness_memory" in lower and "allowance" in lower:
        yield "self.allow", "harness_memory.guard.allowance"
    if "harness_memory" in lower and "forget" in lower and ("--yes" in lower or "forget_" in lower):
        yield "self.forget", "harness_memory.forget"
    yield from _own_writes(lower, made, call, scope)
    yield from _walks(lower, made, call, judge_tree)
    for word in ("rm_rf ", "rm_r ", "rmtree "):
        if word in lower and any(home in lower.partition(word)[2][:40] for home in _HOMES):
            yield "delete.home", word.strip()
    is_made_up = any(word in lower for word in _TEMPORARY) and "path.home()" not in lower and "expanduser" not in lower
    for callee, literals, text in made:
        last = callee.rpartition(".")[2].rpartition("::")[2]
        if last in _TREE_CALLS or (last in ("rmdir", "unlink") and "recursive" in text):
            yield from _deletion(last, literals, text, lower, body, call, judge_tree)
        for literal in literals:
            if not literal or (is_made_up and literal[:1] not in ("/", "~")):
                continue  # below a folder of its own
            for rule, about in _literal(literal, text, last, call, scope):
                if not (rule == "db.destroy" and "sqlite" in lower and _is_scratch_file(lower)):
                    yield rule, about


def _is_scratch_file(lower: str) -> bool:
    return any(mark in lower for mark in (":memory:", "'/tmp/", '"/tmp/', "tempfile", "tmp_path"))


_DECODES = tuple("b64decode decode_base64 base64_decode 'base64') \"base64\") fromhex( rot13 zlib.decompress".split())
_WRITES = tuple(
    """
    write append 'w' "w" 'wb' "wb" 'w+' "w+" 'a' "a" 'ab' "ab" 'a+' "a+" 'r+' "r+" shutil. copyfile copysync
    copyfilesync rename symlink os.link linksync unlink os.remove os.replace rmtree rmsync truncate json.dump( _put_
    mkdir makedirs touch( fileutils chmod yaml.dump( '> "> o_wronly o_rdwr chdir(
    """.split()
)


def _runs_decoded(lower: str, made: list[Made]) -> bool:
    if "exec(" in lower or "eval(" in lower or "eval " in lower:
        return True
    return any(
        callee.rpartition(".")[2] in _SHELL_CALLS and any(word in text for word in _DECODES) for callee, _, text in made
    )


def _own_writes(lower: str, made: list[Made], call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
    """A path of ours, or a start-up file, in a body that writes: whichever way the two come together."""
    text = lower + call.cwd.lower() + " ".join(call.args[-3:]).lower()
    if not any(name in text for name in (*paths.own_names(scope), "rc", "profile", "zsh", "autostart", "launchagents")):
        return
    quiet = lower.replace("stdout.write", "").replace("stderr.write", "")
    if not any(word in quiet for word in _WRITES):
        return
    given = [literal.lstrip(">+< ") for _, literals, _ in made for literal in literals]
    given += [arg for arg in call.args[1:] if len(arg) < 300 and arg[:1] in ("/", "~", ".", TILDE)]
    at_home = any(home in lower for home in _HOMES)
    for literal in list(dict.fromkeys(given))[:80]:
        for word in _at_home(literal) if 2 < len(literal) < 300 and "\n" not in literal and " " not in literal else ():
            rule = paths.rule_for(word, paths.WRITE, call.cwd, scope)
            if rule.startswith("self.") or rule == paths.STARTUP:
                yield rule, literal
    if ".claude" in given and not {"settings.json", "settings.local.json"}.isdisjoint(given):
        yield (paths.SETTINGS if at_home else "self.project-settings"), "settings.json"


def _at_home(literal: str) -> tuple[str, ...]:
    if literal[:1] == "~":
        return (TILDE + literal[1:],)
    if literal[:2] == "/.":
        return (literal, TILDE + literal)
    if literal[:1] == "." and literal[1:2] not in ("/", "."):
        return (literal, TILDE + "/" + literal)
    return (literal,) if "/" in literal else ()


def _walks(lower: str, made: list[Made], call: Call, judge_tree: object) -> Iterator[tuple[str, str]]:
    """Deletion of all that a walk through a folder finds."""
    if not any(word in lower for word in ("os.remove(", "unlink(", "rmdir(")):
        return
    start = ""
    for callee, literals, _ in made:
        last = callee.rpartition(".")[2]
        if last == "path" and literals:
            start = literals[0]
        target = literals[0] if last == "walk" and literals else start if last == "rglob" and literals == ["*"] else ""
        rule = judge_tree(TILDE + target[1:] if target[:1] == "~" else target, call) if target else ""  # type: ignore[operator]
        if rule in ("delete.home", "delete.system") or (rule == "delete.project" and "if " not in lower):
            yield "delete.outside", "%s(%s)" % (last, target)


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


def calls_of(body: str, name: str) -> list[Made]:
    """(function in lower case, literals among its arguments, their text in lower case), without a grammar."""
    found: list[Made] = []
    stack: list[tuple[str, list[str], int]] = []
    word = ""
    last = ""
    recent = ""
    at = loose = 0
    size = len(body)
    while at < size:
        char = body[at]
        if char in "'\"`" or (char in _BRACKETS and word in _QUOTERS and name in ("perl", "ruby")):
            start = at - len(word)
            if char in "'\"`":
                literal, at = _string(body, at, char)
                if name == "python" and word in ("f", "fr", "rf", "F"):
                    literal = _formatted(literal)
                literal, at = _continued(body, literal, at, name)
            else:
                end = body.find(_BRACKETS[char], at + 1)
                literal, at = body[at + 1 : end if end > 0 else size], (end + 1 if end > 0 else size)
            recent = literal
            if (char == "`" and name in ("ruby", "perl", "php")) or (char in _BRACKETS and word in ("qx", "x")):
                found.append(("backtick", [literal], literal.lower()))
            texts = literal.split() if char in _BRACKETS and word in ("qw", "w") else [literal]
            for callee, literals, _ in stack[-MAX_OUTER_CALLS:]:
                if callee and len(literals) < MAX_LITERALS:
                    literals.extend(texts)
            if not stack or not stack[-1][0]:
                if found and found[-1][2] is _LOOSE and not body[loose:start].strip(" ,"):
                    found[-1][1].extend(texts)  # system "rm", "-rf", "/"
                else:
                    callee = last if char in _BRACKETS else word or last
                    found.append((callee.lower(), texts, _LOOSE))
                loose = at
            word = ""
            continue
        if char.isalnum() or char in "_.:$":
            word += char
        else:
            if char == "(" and len(stack) < 60:
                if not word and body[at - 1 : at] in ("]", ")") and body[at - 2 : at - 1] in ("'", '"'):
                    word = recent  # x['system'](...), getattr(x, 'system')(...)
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
    other = _aliases(body.lower())
    return [(other.get(callee, callee), literals, text) for callee, literals, text in found] if other else found


_BRACKETS = {"(": ")", "{": "}", "[": "]", "/": "/", "|": "|"}
_QUOTERS = ("q", "qq", "qw", "qx", "x", "w")
_HOME_VALUES = tuple(
    """
    os.environ['home'] os.environ["home"] os.getenv('home') os.getenv("home") os.path.expanduser('~')
    os.path.expanduser("~") str(path.home()) process.env.home os.homedir() require('os').homedir() env['home']
    $env{home}
    """.split()
)


def _continued(body: str, literal: str, at: int, name: str) -> tuple[str, int]:
    """`'a' + 'b'`, `'%s' % x`, `'{}'.format(x)`: one text, with what cannot be known marked."""
    for _ in range(20):
        rest = body[at : at + 80].lstrip(" \t")
        mark = rest[:1]
        if mark == "+" or (mark == "." and name in ("perl", "php")):
            rest = rest[1:].lstrip(" \t")
        elif mark == "%" and "%" in literal and name == "python":
            rest = rest[1:].lstrip(" \t(")
        elif not (rest.startswith(".format(") and "{" in literal):
            return literal, at
        else:
            mark, rest = "{", rest[8:]
        start = body.find(rest, at) if rest else len(body)
        value, end = UNKNOWN, at
        if rest[:1] in ("'", '"'):
            value, end = _string(body, start, rest[0])
        elif rest.lower().startswith(_HOME_VALUES):
            value = "~"
        if mark == "{":
            literal = _formatted(literal).replace(UNKNOWN, value)
        elif mark == "%":
            literal = literal.replace("%s", value).replace("%r", value)
        elif value != UNKNOWN or " " in literal:
            literal += value
        if end == at:
            return literal, at
        at = end
    return literal, at


def _aliases(lower: str) -> dict[str, str]:
    """Other names of functions: `import system as s`, `{execSync: e}`."""
    found = {}
    if " as " in lower:
        words = lower.replace(",", " ").replace(";", " ").replace(")", " ").split()
        found = {other: name for name, mark, other in zip(words, words[1:], words[2:]) if mark == "as"}
    for name in ("execsync", "spawnsync", "exec", "rmsync"):
        _, colon, rest = lower.partition(name + ":")
        other = rest.lstrip()[:30].replace("}", " ").replace(",", " ").split() if colon else []
        if other and other[0].isidentifier():
            found[other[0]] = name
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
    lower = text[:MAX_CHARS].lower()
    if not any(word in lower for word in ("drop", "truncate", "delete", "update", "alter")):
        return False
    for statement in _statements(text[:MAX_CHARS]):
        words = statement.upper().replace("(", " ( ").split()
        while words and words[0] in ("BEGIN", "EXPLAIN", "WITH") and len(words) > 1 and words[0] != "EXPLAIN":
            words = words[1:]
        if not words:
            continue
        if words[0] == "DROP" and len(words) > 2 and words[1] in _DROPPED:
            if words[1] in ("DATABASE", "SCHEMA") and is_scratch(
                words[4] if words[2:4] == ["IF", "EXISTS"] else words[2]
            ):
                continue
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


def is_scratch(name: str) -> bool:
    """A database that is there to be thrown away, by its name."""
    pieces = name.strip('`"[]').lower().replace("-", "_").replace(".", "_").split("_")
    return not {"test", "tests", "testing", "testdb", "tmp", "temp", "scratch"}.isdisjoint(pieces)


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
    "calls_of",
    "check",
    "database_texts",
    "destroys",
    "is_destructive",
    "is_scratch",
    "language",
    "sed_texts",
    "shell_texts",
]
