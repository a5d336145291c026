"""Code inside a command: bodies of `python -c` and its kin, scripts they run, and SQL. Words are read, nothing is run.

A body is reduced to the calls it makes with the literals they are given; a literal that goes to a shell is judged as
shell text, one that goes to a function of files as a path. Text that is only text is nothing.
"""

from __future__ import annotations

from . import deletes, paths
from .expand import SHELLS
from .shell import TILDE, UNKNOWN
from .words import joined

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .expand import Call, Trace
    from .paths import Scope

    Made = tuple[str, list[str], str]

MAX_CHARS = 20_000  # of a body; what follows is not read
MAX_LITERALS = 50  # of one call
_SHELL_CALLS = frozenset(
    """
    system popen popen2 popen3 getoutput getstatusoutput check_call check_output execsync spawnsync spawn exec
    execfile execfilesync shell_exec passthru proc_open execvp execv execl execlp execve posix_spawn qx backtick
    create_subprocess_shell create_subprocess_exec
    """.split()
)
_MODULE_CALLS = (
    "subprocess.run",
    "subprocess.call",
    "sp.run",
    "sp.call",
    "deno.command",
    "bun.spawn",
    "bun.spawnsync",
    "os.exec",
)
_TREE_CALLS = frozenset(
    "rmtree rm_rf rm_r remove_tree rmsync rimraf remove_dir_all removesync emptydirsync delete_tree remove_dir".split()
)
_ONE_CALLS = (
    "os.remove",
    "os.unlink",
    "fs.unlinksync",
    "fs.unlink",
    "unlinksync",
    "file.delete",
    "os.rename",
    "os.replace",
)
_OPENS = frozenset(
    """
    open read_text read_bytes readfilesync readfile createreadstream file_get_contents fopen readlines slurp copyfile
    copy copy2 copytree copysync copyfilesync cpsync move path read
    """.split()
)
_WRITES = frozenset(
    "write_text write_bytes writefilesync writefile appendfilesync appendfile file_put_contents".split()
)
_COPIES = frozenset(
    "copy copy2 copyfile copytree move rename replace renamesync copyfilesync cpsync symlink symlinksync".split()
)
_MODULES = ("shutil.", "os.", "fs.", "fileutils.", "require", "file.")
_HOMES = tuple(
    """
    expanduser path.home() homedir() env.home env['home'] env["home"] environ['home'] environ["home"] dir.home
    env{home} getenv('home') getenv("home") environ.get('home') environ.get("home")
    """.split()
)
_TEMPORARY = ("tempfile", "mkdtemp", "mktemp", "tmpdir", "tmp_path", "temp_dir", "tempdir")
_SENDS = (
    "requests.post",
    "requests.put",
    "urlopen",
    "http.client",
    "fetch(",
    "axios",
    "net::http",
    "http.post",
    "httpx.post",
)
_FETCHED = ("urlopen(", "requests.get(", "fetch(", "urlretrieve(", "downloadstring")
_DECODES = (
    "b64decode",
    "decode_base64",
    "base64_decode",
    "'base64')",
    '"base64")',
    "fromhex(",
    "rot13",
    "zlib.decompress",
)
_BRACKETS = {"(": ")", "{": "}", "[": "]", "/": "/", "|": "|"}


def body_of(call: Call) -> str:
    """The code that a call runs: from an option, an operand, standard input, or a file just written."""
    row, given = call.row, call.given
    if row is None:
        return ""
    texts = [value for _, kind, value in given.values if kind == "c"]
    if (
        not texts
        and row.operands[:1] == ["c"]
        and given.operands
        and not any(kind == "f" for _, kind, _ in given.values)
    ):
        texts = given.operands[:1]
    if texts:
        return "\n".join(texts)[:MAX_CHARS]
    if not {"f", "f?"}.isdisjoint(row.operands):
        scripts = [word for word in given.operands if word != "-"]
        if scripts:
            return call.texts.get(joined(call.cwd, scripts[0]), "")[:MAX_CHARS]
        return call.stdin[:MAX_CHARS] if isinstance(call.stdin, str) else ""
    return ""


def shell_texts(body: str, name: str, made: list[Made]) -> list[str]:
    """The shell commands that a body starts."""
    found = []
    has_module = "subprocess" in body
    for callee, literals, text in made:
        last = callee.rpartition(".")[2].rpartition("::")[2]
        is_run = has_module and last in ("run", "call", "popen")
        if is_run or last in _SHELL_CALLS or callee.startswith(_MODULE_CALLS):
            words = [word for word in _set_before(text, body) or literals if word.strip()]
            if len(words) > 1 and " " not in words[0] and "," in text:
                at_home = " ~" if any(home in text.replace(" ", "") for home in _HOMES) else ""
                found.append(" ".join(["'" + word.replace("'", "'\\''") + "'" for word in words]) + at_home)
            else:
                found += words[:1]
    if name in ("awk", "gawk", "mawk") and "|" in body:
        pieces = [piece.lstrip()[1:].partition('"')[0] for piece in body.split("|")[1:] if piece.lstrip()[:1] == '"']
        found += pieces + (
            [each for _, literals, _ in made for each in literals] if not SHELLS.isdisjoint(pieces) else []
        )
    return found


def _set_before(text: str, body: str) -> list[str]:
    """What the variable at the head of these arguments was set to: a text, or a list of them."""
    name = text.partition(",")[0].strip()
    if not name.isidentifier():
        return []
    lower = body.lower()
    for form in (name + "=", name + " = "):
        at = lower.find(form)
        start = at + len(form)
        if at >= 0 and body[start : start + 1] in ("'", '"'):
            return [_continued(body, *_string(body, start, body[start]))[0]]
        if at >= 0 and body[start : start + 1] == "[":
            return calls_of("f(" + body[start + 1 : max(body.find("]", start), start)] + ")")[0][1]
        line = body[start:].partition("\n")[0].partition(";")[0][:80] if at >= 0 else ""
        quotes = [line.find(quote) for quote in "'\"" if quote in line]
        if quotes and "(" in line[: min(quotes)]:  # p = os.path.expanduser('~/x')
            return [_continued(body, *_string(body, start + min(quotes), line[min(quotes)]))[0]]
    return []


def check(body: str, call: Call, scope: Scope, made: list[Made], found: Trace) -> Iterator[tuple[str, str]]:
    """Findings against a body."""
    lower = body.lower()
    tight = lower.replace(" ", "")
    if "fork" in lower and ("while" in lower or "for(;;)" in tight) and ("fork()" in tight or "forkwhile" in tight):
        yield "system.fork-bomb", "fork in a loop"
    is_whole = any(
        each in tight for each in ("stringify(process.env", "dict(os.environ", "os.environ)", "environ.items")
    )
    if is_whole and any(word in lower for word in _SENDS):
        yield "exfil.environment", "the environment is sent"
    if ".objects.all().delete()" in tight or ".delete_all" in lower or ".destroy_all" in lower:
        yield "db.destroy", "all rows are deleted"
    if "socket" in lower and any(each in lower for each in ("/bin/sh", "/bin/bash", "pty.spawn", "cmd.exe")):
        yield "remote.shell", "a socket and a shell"
    runs_text = "exec(" in lower or "eval(" in lower or "iex" in lower.split()
    if runs_text and any(each in lower for each in _FETCHED):
        yield "remote.pipe-to-shell", "what was fetched is run"
    elif (runs_text or "system(" in lower) and any(each in lower for each in _DECODES):
        yield "code.hidden", "what is decoded is run"
    is_ours = any(word in lower for word in _TEMPORARY)
    at = tight.find("path.home()/")
    if at >= 0:  # Path.home() / '.ssh' / 'id_rsa'
        path = "".join([char for char in tight[at + 12 :].partition(")")[0] if char not in "'\""])
        is_read = not any(word in lower for word in ("write_", "'w'", '"w"', "'a'", '"a"'))
        yield from _accessed(TILDE + "/" + path, paths.READ if is_read else paths.WRITE, call, scope)
    for callee, literals, text in made:
        last = callee.rpartition(".")[2].rpartition("::")[2]
        words = _set_before(text, body) + literals
        is_home = any(home in text.replace(" ", "") for home in _HOMES)
        target = _placed(words[0] if words else "", is_home)
        if last in _TREE_CALLS or (last in ("rm", "rmdirsync", "remove", "rmdir") and "recursive" in text):
            if target or not is_ours:
                rule = deletes.target_rule(target or UNKNOWN, call, scope, found)
                if rule:
                    yield rule, "%s(%s)" % (last, target.replace(TILDE, "~") or "…")
        elif callee in _ONE_CALLS or (last == "unlink" and words and "." in callee):
            yield from _accessed(target, paths.DELETE, call, scope)
        elif last in _WRITES or callee == "file.write" or (last in ("open", "fopen") and _is_written(text)):
            yield from _accessed(target, paths.WRITE, call, scope)
        elif last in _OPENS and words:
            yield from _accessed(target, paths.READ, call, scope)
        if last in _COPIES and len(words) > 1 and callee.startswith(_MODULES):
            yield from _accessed(_placed(words[-1], is_home), paths.WRITE, call, scope)
        for literal in literals if "sqlite" not in lower or ":memory:" not in lower else ():
            if " " in literal and destroys(literal) and "/tmp/" not in lower:
                yield "db.destroy", literal[:80]


def _placed(word: str, is_home: bool) -> str:
    if word[:1] == "~":
        return TILDE + word[1:]
    return TILDE + "/" + word.lstrip("/") if is_home and word[:6] != "/home/" else word


def _is_written(text: str) -> bool:
    return any(each in text for each in ("'w", '"w', "'a", '"a', "'x'", '"x"', "+'", '+"'))


def _accessed(word: str, access: str, call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
    if not word or len(word) > 300 or "\n" in word or " " in word or "{" in word:
        return
    if "/" not in word and "." not in word and not word.startswith("id_"):
        return
    rule = paths.rule_for(word, access, call.cwd, scope)
    if rule and not (access != paths.READ and rule in ("path.env-write", "path.no-delete")):
        yield rule, word.replace(TILDE, "~")


def calls_of(body: str, name: str = "python") -> list[Made]:
    """(function in lower case, literals among its arguments, their text in lower case), without a grammar."""
    found: list[Made] = []
    stack: list[tuple[str, list[str], int]] = []
    word = last = ""
    at, size = 0, len(body)
    while at < size:
        char = body[at]
        is_quoter = char in _BRACKETS and word in ("q", "qq", "qw", "qx", "x", "w") and name in ("perl", "ruby")
        if char in "'\"`" or is_quoter:
            if is_quoter:
                end = body.find(_BRACKETS[char], at + 1)
                literal, at = body[at + 1 : end if end > 0 else size], (end + 1 if end > 0 else size)
            else:
                literal, at = _string(body, at, char)
                literal = _formatted(literal) if name == "python" and word in ("f", "fr", "rf", "F") else literal
                literal, at = _continued(body, literal, at)
            if (char == "`" and name in ("ruby", "perl", "php")) or (is_quoter and word in ("qx", "x")):
                found.append(("backtick", [literal], literal.lower()))
            texts = literal.split() if is_quoter and word in ("qw", "w") else [literal]
            for callee, literals, _ in stack[-8:]:
                if callee and len(literals) < MAX_LITERALS:
                    literals.extend(texts)
            if not stack or not stack[-1][0]:  # system "rm", "-rf", "/"
                if found and found[-1][2] == "," and body[at - len(literal) - 6 : at].count(",") and not word:
                    found[-1][1].extend(texts)
                else:
                    callee = last if is_quoter else word or last
                    found.append((callee.lower(), texts, ","))
            word = ""
            continue
        if char.isalnum() or char in "_.:$":
            word += char
        else:
            if char == "(" and len(stack) < 60:
                receiver = found[-1][1][:1] if found and word[:1] == "." and found[-1][0] == "path" else []
                stack.append((word.lower(), receiver, at + 1))
            elif char == ")" and stack:
                callee, literals, start = stack.pop()
                found.append((callee, literals, body[start:at].lower()[:400]))
            elif char == "#" and name in ("python", "ruby", "perl") and (at == 0 or body[at - 1] in " \n\t;"):
                end = body.find("\n", at)
                at = size if end < 0 else end
                continue
            last = "" if char in ";\n{}=" else word or last
            word = ""
        at += 1
    found.extend((callee, literals, body[start : start + 400].lower()) for callee, literals, start in stack)
    return found


def _continued(body: str, literal: str, at: int) -> tuple[str, int]:
    """`'a' + 'b'`, `home / 'a' / 'b'`: one text, with what cannot be known marked."""
    for _ in range(20):
        rest = body[at : at + 80].lstrip(" \t")
        mark = rest[:1]
        if mark not in ("+", "/") or not rest[1:].lstrip(" \t"):
            break
        value = rest[1:].lstrip(" \t")
        if value[0] not in "'\"":
            return (literal + UNKNOWN if " " in literal else literal), at
        text, at = _string(body, body.find(value, at), value[0])
        literal += ("/" if mark == "/" else "") + text
    return literal, at


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
_DROPPED = frozenset(
    "TABLE DATABASE SCHEMA USER ROLE COLLECTION KEYSPACE TABLESPACE COLUMN MATERIALIZED OWNED DATASET WAREHOUSE".split()
)
_DOCUMENTS = ("dropdatabase(", ".drop(", "deletemany({})", ".remove({})", "dropindexes(", "flushall", "dropallusers")


def database_texts(call: Call) -> list[str]:
    """The statements that a call hands to a database."""
    if any(arg == ":memory:" or arg.startswith("/tmp/") for arg in call.args):
        return []
    texts = [value for _, kind, value in call.given.values if kind == "q" or " " in value]
    texts += [word for word in call.given.operands if " " in word or "(" in word]
    return [*texts, call.stdin] if isinstance(call.stdin, str) else texts


def destroys(text: str) -> bool:
    """A statement that drops, truncates, or deletes or updates without saying which rows."""
    lower = text[:MAX_CHARS].lower()
    if not any(word in lower for word in ("drop", "truncate", "delete", "update", "alter", "remove(", "flushall")):
        return False
    tight = lower.replace(" ", "")
    if "db." in lower and any(word in tight for word in _DOCUMENTS):
        return True
    return any(
        _destroys_rows(statement.upper().replace("(", " ( ").split()) for statement in _statements(text[:MAX_CHARS])
    )


def _destroys_rows(words: list[str]) -> bool:
    words = words[1:] if words[:1] in (["BEGIN"], ["WITH"]) and len(words) > 1 else words
    if words[:1] == ["DROP"] and len(words) > 2 and words[1] in _DROPPED:
        name = words[4] if words[2:4] == ["IF", "EXISTS"] and len(words) > 4 else words[2]
        return not (words[1] in ("DATABASE", "SCHEMA") and is_scratch(name))
    if words[:1] == ["TRUNCATE"]:
        return len(words) > 1
    if words[:2] == ["DELETE", "FROM"] or (words[:1] == ["UPDATE"] and "SET" in words[2:5]):
        rest = words[words.index("WHERE") + 1 :] if "WHERE" in words else []
        return len(words) > 2 and (not rest or rest[:1] in (["TRUE"], ["1=1"], ["1"]) or rest[:3] == ["1", "=", "1"])
    is_drop = words[:2] == ["ALTER", "TABLE"] and "DROP" in words
    return is_drop and "CONSTRAINT" not in words and "DEFAULT" not in words


def is_scratch(name: str) -> bool:
    """A database that is there to be thrown away, by its name."""
    pieces = name.strip('`"[]').lower().replace("-", "_").replace(".", "_").split("_")
    return not {"test", "tests", "testing", "testdb", "tmp", "temp", "scratch"}.isdisjoint(pieces)


def _statements(text: str) -> list[str]:
    """Statements without comments and the contents of strings."""
    pieces = []
    at = start = 0
    size = len(text)
    while at < size:
        char = text[at]
        end = -2
        if char == "'":
            end = text.find("'", at + 1) + 1 or size
        elif char == "-" and text.startswith("--", at) and text[at + 2 : at + 3] in ("", " ", "\n", "\t", "-"):
            end = text.find("\n", at)
        elif char == "/" and text.startswith("/*", at):
            end = text.find("*/", at) + 2 if text.find("*/", at) > 0 else -1
        if end != -2:
            pieces.append(text[start:at] + " ")
            at = start = size if end < 0 else end
        else:
            at += 1
    pieces.append(text[start:])
    return [statement.strip() for statement in "".join(pieces).split(";")]
