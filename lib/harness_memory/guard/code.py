"""Code inside a command: bodies of `python -c` and its kin, scripts they run, and SQL. Words are read, nothing is run.

Calls of known functions are looked for, with the literals they are given: what goes to a shell is judged as shell text,
what goes to a function of files as a path. Text that is only text is nothing.
"""

from __future__ import annotations

from . import deletes, paths
from .shell import TILDE, UNKNOWN, joined
from .words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .expand import Call, Trace
    from .paths import Scope

    Made = tuple[str, list[str], str]

MAX_CHARS = 20_000  # of a body; what follows is not read
MAX_CALLS = 400
BODY_COST = 125  # of the code in a command
_MODES = ("'w", '"w', "'a", '"a', "'x'", '"x"', "+'", '+"')
# What the words of a body show: rule, detail, and words of which each group has one.
_SIGNS = """
system.fork-bomb a fork in a loop | fork() | while for(;;)
exfil.environment the environment is sent | stringify(process.env dict(os.environ os.environ) environ.items |
  requests.post requests.put urlopen http.client fetch( axios net::http httpx.post
db.destroy all rows are deleted | .objects.all().delete() .delete_all .destroy_all
remote.shell a socket and a shell | socket | /bin/sh /bin/bash pty.spawn cmd.exe
remote.pipe-to-shell what was fetched is run | exec( eval( | urlopen( requests.get( fetch( urlretrieve( downloadstring
code.hidden what is decoded is run | exec( eval( system( | b64decode decode_base64 base64_decode 'base64') "base64")
  fromhex( zlib.decompress
"""


def body_of(call: Call, found: Trace) -> str:
    """The code that a call runs: from an option, an operand, standard input, or a file just written."""
    given, kinds = call.given, call.row.operands if call.row else []
    texts = [value for _, kind, value in given.values if kind == "c"]
    if not texts and kinds[:1] == ["c"] and not given.value("f"):
        texts = given.operands[:1]
    if not texts and not {"f", "f?"}.isdisjoint(kinds):
        scripts = [word for word in given.operands if word != "-"]
        written = found.files.get(joined(call.cwd, scripts[0]), "") if scripts else call.stdin
        texts = [written] if isinstance(written, str) else []
    return "\n".join(texts)[:MAX_CHARS]


def calls_of(body: str, name: str) -> list[Made]:
    """(function in lower case with its object, literals among its arguments, their text in lower case)."""
    found: list[Made] = []
    at = 0
    lower = body.lower()
    while at < len(body) and len(found) < MAX_CALLS:
        char = body[at]
        if char == "#" and name in ("python", "ruby", "perl") and body[at - 1 : at] in ("", " ", "\n", "\t", ";"):
            end = body.find("\n", at)
            at = len(body) if end < 0 else end
            continue
        if char in "'\"`":
            literal, end = _string(body, at)
            if char == "`" and name in ("ruby", "perl", "php"):
                found.append(("system", [literal], ""))
            elif lower[max(0, at - 9) : at].rstrip().endswith(("system", " exec")):
                found.append(("system", [literal], ""))  # perl -e 'system "rm x"'
            at = end
            continue
        if char == "(":
            start = at
            while start and (body[start - 1].isalnum() or body[start - 1] in "_.:$"):
                start -= 1
            end, depth = at + 1, 1
            while depth and end < min(len(body), at + 2000):
                depth += (body[end] == "(") - (body[end] == ")")
                end += 1
            inner = body[at + 1 : end - (not depth)]
            callee = "system" if lower[start:at] in ("qw", "qx", "q") else lower[start:at]
            literals = inner.split() if lower[start:at] == "qw" else _literals(inner)
            owner, _, last = callee.rpartition(".")
            if last.endswith(("_text", "_bytes")):  # the path is what they belong to: Path('x').write_text(...)
                literals = found[-1][1] if not owner and found and found[-1][0] == "path" else _set_before(owner, body)
            found.append((callee, literals, inner.lower()[:400]))
        at += 1
    return found


def _literals(text: str) -> list[str]:
    """The strings in a text; those joined by `+` or `/` are one, an f-string holds UNKNOWN."""
    found: list[str] = []
    at = end = 0
    while at < len(text) and len(found) < 50:
        if text[at] not in "'\"`":
            at += 1
            continue
        literal, after = _string(text, at)
        if text[max(0, at - 1) : at] == "f" and "{" in literal:
            pieces = literal.split("{")
            literal = pieces[0] + "".join([UNKNOWN + piece.partition("}")[2] for piece in pieces[1:]])
        between = text[end:at].strip()
        if found and between in ("+", "/"):
            found[-1] += ("/" if between == "/" else "") + literal
        else:
            found.append(literal)
        rest = text[after : after + 3].strip()
        if rest[:1] == "+" and text[after:].partition("+")[2].lstrip()[:1] not in ("'", '"') and " " in literal:
            found[-1] += UNKNOWN
        at = end = after
    return found


def _string(body: str, at: int) -> tuple[str, int]:
    quote = body[at] * 3 if body.startswith(body[at] * 3, at) and body[at] != "`" else body[at]
    end = start = at + len(quote)
    while end < len(body) and not body.startswith(quote, end):
        end += 2 if body[end] == "\\" else 1
    return body[start:end], end + len(quote)


def _set_before(text: str, body: str) -> list[str]:
    """What the variable at the head of these arguments was set to: the literals of that line."""
    name = text.partition(",")[0].strip()
    lower = body.lower()
    for form in (name + "=", name + " = ") if name.isidentifier() else ():
        at = lower.find(form)
        if at >= 0 and (at == 0 or not (lower[at - 1].isalnum() or lower[at - 1] in "_.")):
            return _literals(body[at:].partition("\n")[0].partition(";")[0][:300])
    return []


def shell_texts(body: str, name: str, made: list[Made]) -> list[str]:
    """The shell commands that a body starts."""
    found = []
    for callee, literals, text in made:
        last = callee.rpartition(".")[2].rpartition("::")[2]
        if last not in WORDS["shell-functions"] or (
            last in ("run", "call") and "subprocess" not in body and "sp." not in callee
        ):
            continue
        words = [word for word in literals or _set_before(text, body) if word.strip()]
        if len(words) > 1 and " " not in words[0]:
            at_home = " ~" if is_home(text) else ""
            found.append(" ".join(["'" + word.replace("'", "'\\''") + "'" for word in words]) + at_home)
        else:
            found += words[:1]
    if name in ("awk", "gawk", "mawk") and "|" in body:
        found += _literals(body)
    return found


def is_home(text: str) -> bool:
    return any(home in text.replace(" ", "") for home in WORDS["home-expressions"])


def check(body: str, call: Call, scope: Scope, made: list[Made], found: Trace) -> Iterator[tuple[str, str]]:
    """Findings against a body."""
    tight = body.lower().replace(" ", "")
    for line in _SIGNS.replace("\n  ", " ").strip().split("\n"):
        sign, *groups = line.split("|")
        if all(any(word in tight for word in group.split()) for group in groups):
            yield sign.split()[0], sign.strip().partition(" ")[2]
    is_scratch_base = "sqlite" in tight and (":memory:" in tight or "/tmp/" in tight)
    for callee, literals, text in made:
        last = callee.rpartition(".")[2].rpartition("::")[2]
        words = _set_before(text, body) + literals
        target = words[0] if words else ""
        target = TILDE + "/" + target.lstrip("~/") if is_home(text) or target[:1] == "~" else target
        if last in WORDS["tree-functions"] and (last not in ("rm", "rmdirsync", "rmsync") or "recursive" in text):
            is_known = target or not any(word in tight for word in WORDS["temporary-names"])
            rule = deletes.target_rule(target.rstrip("/") or target or UNKNOWN, call, scope, found) if is_known else ""
            if rule:
                yield rule, "%s(%s)" % (last, target.replace(TILDE, "~") or "…")
        elif last in ("remove", "unlink", "unlinksync") and callee != last:
            yield from _accessed(target, paths.DELETE, call, scope)
        elif (
            last in WORDS["write-functions"]
            or callee == "file.write"
            or (last in ("open", "fopen") and any(m in text for m in _MODES))
        ):
            yield from _accessed(target, paths.WRITE, call, scope)
        elif last in WORDS["open-functions"]:
            yield from _accessed(target, paths.READ, call, scope)
        if any(" " in literal and destroys(literal) for literal in literals) and not is_scratch_base:
            yield "db.destroy", "%s(…)" % last
    _, is_path, rest = tight.partition("path.home()/")
    if is_path:  # Path.home() / '.ssh' / 'id_rsa'
        access = paths.WRITE if "write_" in tight or any(mode in tight for mode in _MODES) else paths.READ
        yield from _accessed(TILDE + "/" + rest.partition(")")[0].translate({39: None, 34: None}), access, call, scope)


def _accessed(word: str, access: str, call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
    is_name = "/" in word or "." in word or word.startswith("id_")
    if not is_name or len(word) > 300 or not set("\n {").isdisjoint(word):
        return
    rule = paths.rule_for(word, access, call.cwd, scope)
    if rule and not (access != paths.READ and rule in ("path.env-write", "path.no-delete")):
        yield rule, word.replace(TILDE, "~")


# Databases ------------------------------------------------------------------------------------------
_DOCUMENTS = ("dropdatabase(", ".drop(", "deletemany({})", ".remove({})", "dropindexes(")
_VERBS = ("drop", "truncate", "delete", "update", "alter", "remove(")


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
    if not any(word in lower for word in _VERBS):
        return False
    if "db." in lower and any(word in lower.replace(" ", "") for word in _DOCUMENTS):
        return True
    quoted = "".join(text[:MAX_CHARS].split("'")[::2])  # without the contents of strings
    lines = [line.partition("--")[0] for line in quoted.split("\n")]
    return any(_is_loss(each.upper().replace("(", " ( ").split()) for each in "\n".join(lines).split(";"))


def _is_loss(words: list[str]) -> bool:
    words = words[1:] if words[:1] in (["BEGIN"], ["WITH"]) else words
    rest = words[words.index("WHERE") + 1 :] if "WHERE" in words else []
    verb, kind = (*words, "", "")[:2]
    if verb == "DROP" and kind in WORDS["dropped"] and len(words) > 2:
        name = words[4] if words[2:4] == ["IF", "EXISTS"] and len(words) > 4 else words[2]
        return not (kind in ("DATABASE", "SCHEMA") and is_scratch(name))
    if (verb, kind) == ("DELETE", "FROM") or (verb == "UPDATE" and "SET" in words[2:5]):
        return len(words) > 2 and (not rest or rest[0] in ("TRUE", "1=1", "1"))
    is_column = (verb, kind) == ("ALTER", "TABLE") and "DROP" in words
    return (verb == "TRUNCATE" and kind != "") or (is_column and {"CONSTRAINT", "DEFAULT"}.isdisjoint(words))


def is_scratch(name: str) -> bool:
    """A database that is there to be thrown away, by its name."""
    pieces = name.strip('`"[]').lower().replace("-", "_").replace(".", "_").split("_")
    return not {"test", "tests", "testing", "testdb", "tmp", "temp", "scratch"}.isdisjoint(pieces)
