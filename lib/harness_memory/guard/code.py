"""Code inside a command: bodies of `python -c` and its kin, scripts they run, and SQL. Words are read, nothing is run.

Calls of known functions are looked for, with the literals they are given. What they do is said as the command that
does the same: `shutil.rmtree('x')` is `rm -rf x`. Text that is only text is nothing.
"""

from __future__ import annotations

from ..base.typing import Iterator
from . import programs
from .calls import Call
from .shell import NAME, TILDE, UNKNOWN, words_in
from .words import WORDS, holds

MAX_CHARS = 20_000  # of a body; what follows is not read
MAX_CALLS = 400
MAX_ARGUMENT_CHARS = 2000
BODY_COST = 125  # of the code in a command
_BETWEEN = dict.fromkeys(map(ord, "{},;()"), " ")
_CALLEE = NAME | frozenset(".:$")


def signs(body: str) -> Iterator[tuple[str, str]]:
    """The rules that the words of a body speak for, and what they show."""
    tight = body.lower().replace(" ", "")
    for name in [name for name in WORDS if name[:5] == "sign-"]:
        groups = " ".join(WORDS[name][2:]).split("|")
        if all(any(word in tight for word in group.split()) for group in groups):
            yield name[5:], WORDS[name][0]


def commands(body: str, name: str, *, is_script: bool) -> Iterator[list[str]]:
    """What a body runs, deletes, reads and writes, as words of commands; one word alone is shell text.

    Of a script on disk, the files that it opens are its own affair.
    """
    tight = body.lower().replace(" ", "")
    is_scratch_base = "sqlite" in tight and (":memory:" in tight or "/tmp/" in tight)
    has_temporary = holds(tight, "temporary-names")
    if name == "awk" and "|" in body:
        yield from ([literal] for literal in _literals(body))
    renamed = _renamed(body)
    for callee, literals, text in _calls(body, name):
        callee = renamed.get(callee, callee)
        last = callee.rpartition(".")[2].rpartition("::")[2]
        words = [word for word in _assigned(text, body) + literals if word.strip() not in ("", "os", "HOME")]
        if last == "open" and words[1:] and not words[0].strip("rwabxt+<>"):  # open(mode="w", file=…)
            words.reverse()
        target = words[0] if words else ""
        if holds(text.replace(" ", ""), "home-expressions") or target[:1] == "~":
            target = TILDE + "/" + target.lstrip("~/")
            words[-1:] = [target]
        is_path = len(target) < 300 and ("/" in target or "." in target) and set("\n {").isdisjoint(target)
        is_opened = is_path and not is_script
        if not {last, callee}.isdisjoint(WORDS["shell-functions"]):
            is_meant = last not in ("run", "call") or "subprocess" in body or "sp." in callee
            yield words if len(words) > 1 and " " not in words[0] else words[:1] if is_meant else []
        elif last in WORDS["tree-functions"] and (last not in ("rm", "rmdirsync", "rmsync") or "recursive" in text):
            yield ["rm", "-rf", target or UNKNOWN] if target or not has_temporary else []
        elif last in ("remove", "unlink", "unlinksync") and is_opened:
            yield ["rm", target]
        elif not is_script and target.startswith("http") and "delete" in (last, *[word.lower() for word in words]):
            yield ["curl", "-X", "DELETE", target]
        elif is_opened and (last in WORDS["open-functions"] or callee == "file.write"):
            is_read = last not in WORDS["write-functions"] and not holds(text, "write-modes")
            yield ["cat" if is_read else "tee", target]
        if not is_scratch_base:
            yield from (["sql", literal] for literal in literals if " " in literal and destroys(literal))


def _renamed(body: str) -> dict[str, str]:
    """Other names of the functions: `from os import remove as r`, `{rmSync: r}`."""
    words = body.lower().translate(_BETWEEN).replace(":", " as ").split()
    known = WORDS["open-functions"] + WORDS["tree-functions"] + WORDS["shell-functions"]
    return {new: old for old, mark, new in zip(words, words[1:], words[2:]) if mark == "as" and old in known}


def _calls(body: str, name: str) -> Iterator[tuple[str, list[str], str]]:
    """(function in lower case with its object, literals among its arguments, their text in lower case)."""
    at = count = 0
    remarks = ("//", "/*") if name in WORDS["slashed"] else ("#",)
    while at < len(body) and count < MAX_CALLS:
        if body.startswith(remarks, at) and body[at - 1 : at] in ("", " ", "\t", "\n", ";"):
            end = body.find("*/" if body.startswith("/*", at) else "\n", at)
            at = end if end > at else len(body)
            continue
        if body[at] in "'\"`":
            literal, end = _string(body, at)
            before = body[max(0, at - 14) : at].rstrip()  # perl -e 'system "rm x"'
            is_run = body[at] == "`" and (name in ("ruby", "perl", "php", "julia") or before[-1:] == "$")
            if is_run or before.endswith(("system", " exec", "shell script", "shell-command")):
                yield "system", [literal], ""
            at = end
            continue
        if body[at] == "(":
            count += 1
            start = at
            while start and body[start - 1] in _CALLEE:
                start -= 1
            end, depth = at + 1, 1
            while depth and end < min(len(body), at + MAX_ARGUMENT_CHARS):
                depth += (body[end] == "(") - (body[end] == ")")
                end += 1
            callee, text = body[start:at].lower(), body[at + 1 : end - (not depth)]
            literals = text.split() if callee == "qw" else _literals(text)
            is_run = callee in ("q", "qw") and body[:start].rstrip().endswith(("system", "exec"))  # perl's quotes
            callee = "system" if is_run or callee == "qx" else callee
            if callee.endswith(("_text", "_bytes")):  # of a path: Path('x').write_text(...)
                text = body[max(body.rfind("\n", 0, at), body.rfind(";", 0, at)) + 1 : at]
                literals = _literals(text) or _assigned(callee.rpartition(".")[0], body)
            yield callee, literals, text.lower()[:400]
        at += 1


def _literals(text: str) -> list[str]:
    """The strings in a text; those joined by `+` or `/` are one, what is not literal in them is UNKNOWN."""
    found: list[str] = []
    at = end = 0
    while at < len(text) and len(found) < 50:
        if text[at] not in "'\"`":
            at += 1
            continue
        literal, after = _string(text, at)
        between = text[end:at].strip()
        if found and between in ("+", "/"):
            found[-1] += between.strip("+") + literal
        else:
            found.append(literal)
        if text[after : after + 3].strip()[:1] == "+":
            found[-1] += UNKNOWN if text[after:].lstrip(" +")[:1] not in ("'", '"') else ""
        at = end = after
    return found


def _string(body: str, at: int) -> tuple[str, int]:
    quote = body[at] * 3 if body.startswith(body[at] * 3, at) else body[at]
    end = start = at + len(quote)
    while end < len(body) and not body.startswith(quote, end):
        end += 2 if body[end] == "\\" else 1
    return body[start:end], end + len(quote)


def _assigned(text: str, body: str) -> list[str]:
    """What the variable at the head of these arguments was set to: the literals of that line."""
    name = text.partition(",")[0].strip()
    for line in body.replace(";", "\n").split("\n") if name.isidentifier() else ():
        head, equals, _ = line.partition("=")
        if equals and head.lower().split()[-1:] == [name]:  # const p = …
            return _literals(line[:300])
    return []


# Databases ------------------------------------------------------------------------------------------


def database_texts(call: Call) -> list[str]:
    """Statements; of those for a database that may be thrown away only the ones that are about another."""
    words, values = call.given.operands, call.given.values
    names = [value for option, _, value in values if option in ("-d", "-D", "--dbname", "--database")] + words
    is_thrown = any(name[:5] in (":memo", "/tmp/") or is_scratch(name) for name in names if " " not in name)
    texts = [value for _, kind, value in values if kind == "q" or (" " in value and kind != "Q")]
    texts += [" ".join([*texts[:1], *words]), *words, *call.statements]
    texts += [call.stdin] if isinstance(call.stdin, str) else []
    return [text for text in texts if not is_thrown or " database " in text.lower()]


def destroys(text: str) -> bool:
    """A statement that drops, truncates, or deletes or updates without saying which rows."""
    lower = text[:MAX_CHARS].lower()
    if lower.endswith(".sql") and " " not in lower:  # a file that cannot be read
        return programs.is_destroying(lower.rpartition("/")[2])
    if "db." in lower and holds(_bare(lower, "'", '"').replace(" ", ""), "losing-calls"):
        return True
    statements = [each.split() for each in _bare(lower, "'", "$$").upper().replace("(", " ( ").split(";")]
    made = [{*words} for words in statements if words[:1] == ["CREATE"]]
    return any(_is_loss(words, made) for words in statements)


def _bare(text: str, *quotes: str) -> str:
    for quote in quotes:
        text = (quote + quote).join(text.split(quote)[::2])
    for opener, closer in (("/*", "*/"), ("--", "\n"), ("//", "\n")):
        head, *rest = text.split(opener)
        text = head + "".join(["\n" + piece.partition(closer)[2] for piece in rest])
    return text


def _is_loss(words: list[str], made: list[set[str]]) -> bool:
    rest = words[words.index("WHERE") + 1 :] if "WHERE" in words else []
    verb, kind = (*words, "", "")[:2]
    if verb == "DROP" and kind in WORDS["dropped"] and len(words) > 2:
        name = words[4] if words[2:4] == ["IF", "EXISTS"] and len(words) > 4 else words[2]
        is_remade = kind in WORDS["made-again"] and any({kind, name} <= each for each in made)
        return not (is_remade or (kind in ("DATABASE", "SCHEMA") and is_scratch(name)))
    is_of_graph = verb == "MATCH" and "DELETE" in words
    if is_of_graph or (verb, kind) == ("DELETE", "FROM") or (verb == "UPDATE" and "SET" in words[2:5]):
        return len(words) > 2 and (not rest or rest[0] in ("TRUE", "1=1", "1"))
    is_column = (verb, kind) == ("ALTER", "TABLE") and "DROP" in words
    if verb == "ALTER" and "EXPIRATION_" in "".join(words):
        return "=NULL" not in "".join(words)
    return (verb in ("TRUNCATE", "PURGE") and kind != "") or (is_column and {"CONSTRAINT", "DEFAULT"}.isdisjoint(words))


def is_scratch(name: str) -> bool:
    """A database that is there to be thrown away, by its name."""
    return not {"test", "tests", "testing", "testdb", "tmp", "temp", "scratch"}.isdisjoint(words_in(name))
