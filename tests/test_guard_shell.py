"""The guard's reader of shell text: words as bash makes them, commands as they would run, and the limits of both."""

from __future__ import annotations

import itertools
import random
import re
import shlex
import shutil
import subprocess
from typing import Any, Iterator

import guard_tables as tables
import pytest

from harness_memory.guard import expand, shell

HOME, CWD = tables.HOME, tables.CWD
ENV = tables.environment(GREETING="hi there")
BASH = pytest.mark.skipif(not shutil.which("bash") or not shutil.which("rev"), reason="needs bash and rev")


def traced(text: str) -> expand.Trace:
    return expand.trace(text, tables.question("Bash", {}, ENV))


def lines(text: str) -> list[str]:
    """Every call in order, wrappers and what they run."""
    return [call.line() for call in traced(text).calls if call.program]


def call_of(program: str, text: str) -> Any:
    return next(call for call in traced(text).calls if call.program == program)


def home(word: str) -> str:
    return shell.plain(word).replace("~", HOME) if shell.TILDE in word else shell.plain(word)


def fed(text: str) -> Any:
    call = call_of("a", text)
    return [[[operator, shell.plain(word)] for operator, word in call.redirections], call.stdin]


TABLES = {
    "shell_words": lambda text: [home(word) for word in call_of("p", text).args],
    "shell_unknown": lambda text: [shell.plain(word) for word in call_of("p", text).args],
    "shell_patterns": lambda text: call_of("p", text).args,  # live characters differ from quoted ones
    "shell_calls": lines,
    "shell_places": lambda text: home(call_of("a", text).cwd),
    "shell_fed": fed,
}


@pytest.mark.parametrize("name", TABLES)
def test_shell_text_is_read_as_the_table_says(name: str) -> None:
    wrong = [(text, expected, TABLES[name](text)) for text, expected in tables.rows(name)]
    assert [row for row in wrong if row[1] != row[2]] == []


@BASH
def test_bash_makes_the_same_words_as_the_table() -> None:
    table = {text: words for text, words in tables.rows("shell_words") if "<(" not in text}
    head = 'p() { printf \'%s\\0\' "$#" "$@"; }\nset -f\n'
    script = head + "".join("(\n%s\n) 2>/dev/null\n" % text for text in table)
    env = {"HOME": HOME, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["bash", "-c", script], env=env, stdout=subprocess.PIPE, check=True)
    pieces, words = done.stdout.decode().split("\0"), []
    while len(pieces) > 1:
        count = int(pieces.pop(0))
        words.append([pieces.pop(0) for _ in range(count)])
    assert dict(zip(table, words)) == table


def test_wrappers_are_followed_to_the_command_they_run() -> None:
    texts = tables.rows("shell_wrapped")
    assert [text for text in texts if "rm x" not in [line.rstrip("/*") for line in lines(text)]] == []
    for text in ("cat <<EOF\n$(rm x)\nEOF", "cat <<EOF\n`rm x`\nEOF", "cat <<< $(rm x)"):
        assert "rm x" in lines(text)


def test_text_that_only_names_a_command_runs_nothing() -> None:
    texts = tables.rows("shell_data")
    assert [text for text in texts if "rm" in [call.program for call in traced(text).calls]] == []


def test_input_from_unknown_programs_names_them() -> None:
    assert [call.program for call in call_of("a", "curl x | tee f | a").stdin] == ["curl", "tee"]


@pytest.mark.parametrize(("text", "is_bomb"), tables.rows("shell_bombs"))
def test_fork_bombs_are_told_from_recursion(text: str, is_bomb: bool) -> None:
    rule = tables.judged(tables.question("Bash", {"command": text}))[1]
    assert (rule == "system.fork-bomb") is is_bomb


# `%s` is a script, `%d` a number: the commands are zq1, zq2 and so on, which do not exist. zq0 is never run.
SHAPES = tables.rows("shell_shapes")


def script(chance: random.Random, depth: int, numbers: Iterator[int]) -> str:
    pieces = re.split("(%[sd])", chance.choice(SHAPES if depth else SHAPES[:12]))
    made = {"%s": lambda: script(chance, depth - 1, numbers), "%d": lambda: str(next(numbers))}
    return "".join(made[piece]() if piece in made else piece for piece in pieces)


@BASH
def test_every_command_that_bash_runs_is_seen() -> None:
    chance = random.Random(5)
    texts = [script(chance, 3, itertools.count(1)) for _ in range(150)]
    head = "command_not_found_handle() { echo $1 >&9; }; export -f command_not_found_handle; exec 9>&1\n"
    each = "".join("echo zq >&9; (eval %s) >/dev/null 2>&1 </dev/null\n" % shlex.quote(text) for text in texts)
    done = subprocess.run(["bash", "-c", head + each], env={"PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE)
    ran = [{name for name in part.split() if name[:2] == "zq"} for part in done.stdout.decode().split("zq\n")[1:]]
    assert len(ran) == len(texts)
    assert sum(len(names) for names in ran) > 150
    for text, names in zip(texts, ran):
        seen = {call.program for call in traced(text).calls}
        assert names <= seen, text
        assert "zq0" not in seen, text


def test_text_that_is_not_shell_is_unreadable() -> None:
    assert [text for text in tables.rows("shell_unreadable") if not traced(text).unread] == []
    for text in ("eval 'rm x; ('", 'bash -c "rm x; \'"', "ssh h 'rm x; ('"):
        assert [part for part in traced(text).unread if "rm x" in part]


LIMITED = [
    "( " * 200 + "a" + ")" * 200,
    "$(" * 200 + "a" + ")" * 200,
    '"$(' * 100 + "a" + ')"' * 100,
    "${x:-" * 200 + "a" + "}" * 200,
    "eval " * 50 + "a",
    "sudo " * 50 + "a",
    "a " * 50_000,
    "a;" * 50_000,
    "x= " * 50_000,
    "$x" * 100_000,
    "! " * 50_000 + "a",
    "set -- a a; " + 'set -- "$@" "$@"; ' * 40 + 'p "$@"',
    "f() { g; g; }; g() { h; h; }; h() { i; i; }; " + "f; " * 300,
    "cat <<EOF\n$(" * 100,
]
GROWING = [
    "x=(a a); " + 'x=("${x[@]}" "${x[@]}"); ' * 40 + 'p "${x[@]}"',
    "x=ab; " + "x=$x$x; " * 40 + "p $x",
    "p " + "{a,b,c,d}" * 5_000,
    "x='a b'; p " + "$x" * 2_000,
    "x=(1 2 3 4 5 6 7 8 9); p " + '"${x[@]}"' * 50,
]


@pytest.mark.parametrize("text", LIMITED, ids=lambda text: text[:24])
def test_text_beyond_a_limit_is_refused_or_cut(text: str) -> None:
    assert traced(text).unread


@pytest.mark.parametrize("text", GROWING, ids=lambda text: text[:24])
def test_words_that_grow_without_bound_become_unknown(text: str) -> None:
    assert sum(len(word) for call in traced(text).calls for word in call.args) < 2_000_000


def test_a_long_script_is_read_whole() -> None:
    steps = "\n".join("echo step %d && make target-%d > log-%d.txt 2>&1" % (n, n, n) for n in range(100))
    trace = traced(steps + "\nrm x")
    assert (trace.unread, trace.calls[-1].line()) == ([], "rm x")
    body = "".join("line %d of a file with $(nothing) to run\n" % number for number in range(2_000))
    assert lines("cat > f <<'EOF'\n%sEOF\nrm x" % body)[-1] == "rm x"
