"""The reader of shell text: words as bash makes them, commands as they would run, and the limits of both."""

from __future__ import annotations

import itertools
import random
import re
import shlex
import shutil
import subprocess
from typing import Any, Iterator

import pytest

from harness_memory.guard import calls, shell
from harness_memory.guard.question import Environment

HOME = "/home/dev"
CWD = "/home/dev/app"
ENV = Environment({b"HOME": HOME.encode(), b"USER": b"dev", b"GREETING": b"hi there"})


def traced(text: str) -> calls.Trace:
    return calls.trace(text, CWD, HOME, CWD, ENV)


def lines(text: str) -> list[str]:
    """Every call, wrappers and what they run alike, in order."""
    return [call.line() for call in traced(text).calls if call.program]


def call_of(program: str, text: str) -> Any:
    return next(call for call in traced(text).calls if call.program == program)


def home(word: str) -> str:
    return shell.plain(word).replace("~", HOME) if shell.TILDE in word else shell.plain(word)


# Words -----------------------------------------------------------------------------------------

# What `p` is given, in bash without file name expansion.
WORDS = {
    r"p r\m": ["rm"],
    r'''p "rm" -"rf"''': ["rm", "-rf"],
    "p $'\\x72m' $'\\162m' $'r\\u006d' $'\\U00000072m'": ["rm", "rm", "rm", "rm"],
    "p $'a\\tb' $'a\\'b' $'\\e'": ["a\tb", "a'b", "\x1b"],
    'p $"rm"': ["rm"],
    "p 'r'm r'm' \"r\"'m'": ["rm", "rm", "rm"],
    "p ''": [""],
    "p '' \"\" a": ["", "", "a"],
    "p a\\\nb": ["ab"],
    'p "a\\\nb"': ["ab"],
    "p 'a\\\nb'": ["a\\\nb"],
    "p \\\n a": ["a"],
    'p "\\$HOME \\` \\\\ \\" \\n"': ['$HOME ` \\ " \\n'],
    "p '$HOME' '`x`' '\\'": ["$HOME", "`x`", "\\"],
    "p a#b '#' # c": ["a#b", "#"],
    "p \\; \\& \\| \\< \\> \\( \\) '&&'": [";", "&", "|", "<", ">", "(", ")", "&&"],
    "p a=b -x=1": ["a=b", "-x=1"],
    "p ~ ~/x x~ '~' \\~ \"~\"": [HOME, HOME + "/x", "x~", "~", "~", "~"],
    "x=~/a; p $x": [HOME + "/a"],
    'p "$HOME" ${HOME}/x $HOME': [HOME, HOME + "/x", HOME],
    "p {a,b}c x{1,2}{3,4} {a} {} '{a,b}'": ["ac", "bc", "x13", "x14", "x23", "x24", "{a}", "{}", "{a,b}"],
    "p * '*' ? '[a]' [a]": ["*", "*", "?", "[a]", "[a]"],
    "x=1; p $x ${x} \"$x\" '$x' a${x}b": ["1", "1", "1", "$x", "a1b"],
    "x='a b'; p $x \"$x\"": ["a", "b", "a b"],
    "x='a b'; p c$x": ["ca", "b"],
    "x=; p $x": [],
    'x=; p "$x"': [""],
    "x=a y=$x; p $y": ["a"],
    "x=a; x+=b; p $x": ["ab"],
    "p ${x:-y} ${x-y} ${x:=z} $x": ["y", "y", "z", "z"],
    "x=1; p ${x:-y} ${x:+y} ${z:+y}": ["1", "y"],
    'p "${x:-a b}"': ["a b"],
    "x=a.tar.gz; p ${x%.gz} ${x%%.gz}": ["a.tar", "a.tar"],
    "x=/a/b; p ${x%/*} ${x##*/} ${x/a/c} ${x//\\//-}": ["/a", "b", "/c/b", "-a-b"],
    'x=(a "b c"); p "${x[@]}"': ["a", "b c"],
    "x=(a b); p ${x[@]}": ["a", "b"],
    "x=(a); x+=(b c); p ${x[@]}": ["a", "b", "c"],
    'p $(echo a b) "$(echo a b)" `echo c`': ["a", "b", "a b", "c"],
    "p $(echo $(echo a)) `echo \\`echo b\\``": ["a", "b"],
    'p "$(echo "a b")"': ["a b"],
    "p $(printf '%s-%s' a b) $(printf 'r\\155')": ["a-b", "rm"],
    "p $(echo -e 'r\\x6d') $(echo -n a)": ["rm", "a"],
    "p $(basename /a/b) $(dirname /a/b)": ["b", "/a"],
    "p $(echo cm0= | base64 -d)": ["rm"],
    "p $(echo mr | rev)": ["rm"],
    'set -- a b; p $1 $2 "$@"': ["a", "b", "a", "b"],
    "f() { p $1 \"$2\"; }; f a 'b c'": ["a", "b c"],
    "for x in a b; do y=$x; done; p $y": ["b"],
    "p <(echo) a": ["/dev/fd/0", "a"],
}


def in_bash(texts: list[str]) -> list[list[str]]:
    """What bash itself hands to `p`: each script in a subshell of its own, one process for all."""
    head = 'p() { printf \'%s\\0\' "$#" "$@"; }\nset -f\n'
    script = head + "".join("(\n%s\n) 2>/dev/null\n" % text for text in texts)
    env = {"HOME": HOME, "PATH": "/usr/bin:/bin"}
    done = subprocess.run([str(shutil.which("bash")), "-c", script], env=env, stdout=subprocess.PIPE, check=True)
    pieces = done.stdout.decode().split("\0")
    found = []
    while len(pieces) > 1:
        count = int(pieces.pop(0))
        found.append([pieces.pop(0) for _ in range(count)])
    return found


@pytest.mark.parametrize("text", WORDS)
def test_words(text: str) -> None:
    assert [home(word) for word in call_of("p", text).args] == WORDS[text]


def test_bash_makes_the_same_words() -> None:
    """The table is not our opinion."""
    if not shutil.which("bash") or not shutil.which("rev"):
        pytest.skip("there is no bash here, or no rev")
    texts = [text for text in WORDS if "<(" not in text]  # the number of the descriptor is bash's own
    assert dict(zip(texts, in_bash(texts))) == {text: WORDS[text] for text in texts}


# What only the shell can know: `…`, and the pattern characters that are alive.
UNKNOWN = {
    "p $nobody": ["…"],
    'p "a$nobody/b"': ["a…/b"],
    "p $(date)": ["…"],
    "p $RANDOM $$ $? $!": ["…", "…", "…", "…"],
    "p $((1 + 2))": ["…"],
    "p ${#x} ${!x}": ["…", "…"],
    "read x; p $x": ["…"],
    "p {1..3}": ["…"],
    "for x; do p $x; done": ["…"],
    "p $GREETING": ["hi", "there"],
}
PATTERNS = {
    "p *": [shell.STAR],
    "p '*' \\* \"*\"": ["*", "*", "*"],
    "p a?b [ab]": ["a" + shell.QUESTION + "b", shell.BRACKET + "ab]"],
    "p 'a?b' '[ab]'": ["a?b", "[ab]"],
    "x='*'; p $x": [shell.STAR],
    "x='*'; p \"$x\"": ["*"],
    "p @(a|b)": [shell.STAR],
    "p ~ '~'": [shell.TILDE, "~"],
    "p ~root/x": [shell.TILDE + "root/x"],
    "p \ue000\ue001\ue004": ["\ufffd\ufffd\ufffd"],
    "p $'\\ue000'": ["\ufffd"],
}


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_cannot_be_known(text: str) -> None:
    assert [shell.plain(word) for word in call_of("p", text).args] == UNKNOWN[text]


@pytest.mark.parametrize("text", PATTERNS)
def test_live_characters_are_told_from_quoted_ones(text: str) -> None:
    """Markers come from the reader alone: in the text itself they are scrubbed."""
    assert call_of("p", text).args == PATTERNS[text]


# Commands --------------------------------------------------------------------------------------

CALLS = {
    "a; b && c || d | e & f\ng": ["a", "b", "c", "d", "e", "f", "g"],
    "(a; b)": ["a", "b"],
    "{ a; b; }": ["a", "b"],
    "((a) && (b))": ["a", "b"],
    "((a + 1)); b": ["(( a + 1", "b"],
    "(( $(rm x) ))": ["rm x", "((  … "],
    "echo $(( $(rm x) + 1 ))": ["rm x", "echo …"],
    "f() { a; }; b": ["b"],
    "f() { a $1; }; f x": ["f x", "a x"],
    "function f { a; }; f": ["f", "a"],
    "f() (a); f": ["f", "a"],
    "f() { f() { a; }; f; }; f": ["f", "f", "a"],
    "if a; then b; elif c; then d; else e; fi": ["a", "b", "c", "d", "e"],
    "if a\nthen\n  b\nfi": ["a", "b"],
    "for x in 1 2; do a $x; done": ["a 1", "a 2"],
    "for x in 1 2\ndo a $x\ndone": ["a 1", "a 2"],
    "for x in 1 2 3 4 5 6 7; do a $x; done": ["a 1", "a 2", "a 3", "a 4", "a 5 6 7"],
    "for ((i=0;i<3;i++)); do a; done": ["(( i=0;i<3;i++", "a"],
    "while a; do b; done": ["a", "b"],
    "until a; do b; done": ["a", "b"],
    "while read x; do a $x; done <<< b": ["read x", "a b"],
    "case $1 in a) b;; c|d) e;; *) f;; esac": ["case …", "b", "e", "f"],
    "case x in\n  (a) b ;;\nesac": ["case x", "b"],
    "select x in a b; do c $x; done": ["c a", "c b"],
    "! a": ["a"],
    "time a": ["a"],
    "coproc a": ["a"],
    "[[ -f a && $(b) ]] && c": ["b", "[[ -f a …", "c"],
    "a # b; c": ["a"],
    "# a\nb": ["b"],
    "a \\\n  -b": ["a -b"],
    "a\r\nb\r\n": ["a", "b"],
    "X=1 a": ["a"],
    "X=$(b) a": ["b", "a"],
    "x=a; $x b": ["a b"],
    "x='a b'; $x": ["a b"],
    'x=a; "$x" b': ["a b"],
    "$nobody a b": ["… a b", "a b"],
    "a $(b $(c))": ["c", "b …", "a …"],
    "a `b \\`c\\``": ["c", "b …", "a …"],
    'a "$(b "$(c)")"': ["c", "b …", "a …"],
    "diff <(a) <(b)": ["a", "b", "diff /dev/fd/0 /dev/fd/1"],
    "a > >(b)": ["a", "b"],
    "eval 'a; b'": ["eval a; b", "a", "b"],
    "eval a \"'b c'\"": ["eval a 'b c'", "a b c"],
    "trap 'a' EXIT": ["trap a EXIT", "a"],
    "alias l='a b'; l c": ["alias l=a b", "l c", "a b c"],
    "export X=a; $X b": ["export X=a", "a b"],
    "read x <<< a; $x": ["read x", "a"],
    "": [],
    "\n\n": [],
}


@pytest.mark.parametrize("text", CALLS)
def test_calls(text: str) -> None:
    assert lines(text) == CALLS[text]


PLACES = {
    "cd /x && a": "/x",
    "cd x && a": CWD + "/x",
    "cd /x; cd ../y; a": "/y",
    "cd; a": HOME,
    "cd ~/z; a": HOME + "/z",
    "cd -- /x; a": "/x",
    "pushd /x; a": "/x",
    "(cd /x); a": CWD,
    "{ cd /x; }; a": "/x",
    "(cd /x; a)": "/x",
    "cd /x | b; a": CWD,
    "f() { cd /x; }; f; a": "/x",
    "eval 'cd /x'; a": "/x",
    "bash -c 'cd /x'; a": CWD,
    "bash -c 'cd /x; a'": "/x",
    "if cd /x; then a; fi": "/x",
    "cd -; a": "…",
    "cd $nobody; a": "…",
    "cd /x/$(date); a": "/x/…",
    "command cd /x; a": "/x",
    "ssh host a": HOME,
    "docker run image sh -c a": CWD,
}


@pytest.mark.parametrize("text", PLACES)
def test_where_a_call_is_made(text: str) -> None:
    assert home(call_of("a", text).cwd) == PLACES[text]


# (redirections, standard input) of `a`
FED = {
    "a > f": ([(">", "f")], None),
    "a >> f 2>&1": ([(">>", "f")], None),
    "a 2> f < g": ([(">", "f"), ("<", "g")], None),
    "> f a": ([(">", "f")], None),
    "a &> f": ([("&>", "f")], None),
    "a &>> f": ([("&>>", "f")], None),
    "a >| f": ([(">|", "f")], None),
    "a <> f": ([("<>", "f")], None),
    "a >&2 2>&-": ([], None),
    "a 2>$x/f": ([(">", "…/f")], None),
    "a > 'f g'": ([(">", "f g")], None),
    "a <<< 'x y'": ([], "x y"),
    "a <<EOF\nx\nEOF": ([], "x\n"),
    "a <<EOF >f\nx\nEOF": ([(">", "f")], "x\n"),
    "a <<'EOF'\n$(rm) `rm` $x\nEOF": ([], "$(rm) `rm` $x\n"),
    'a <<"EOF"\n$x\nEOF': ([], "$x\n"),
    "a <<\\EOF\n$x\nEOF": ([], "$x\n"),
    "x=1; a <<EOF\n$x ${x} \\$x 'q'\nEOF": ([], "1 1 $x 'q'\n"),
    "a <<-EOF\n\tx\n\tEOF\nb": ([], "\tx\n"),
    "a <<X <<Y\n1\nX\n2\nY": ([], "2\n"),
    "b <<X; a <<Y\n1\nX\n2\nY": ([], "2\n"),
    "a <<EOF\nEOF": ([], ""),
    "a <<EOF\nx EOF\n EOF\nEOF\n": ([], "x EOF\n EOF\n"),
    "a <<EOF\nnever ended": ([], "never ended"),
    "p $(a <<EOF\nx\nEOF\n)": ([], "x\n"),
    "p $(a <<EOF\nx\nEOF) b": ([], "x\n"),
    "echo x | a": ([], "x\n"),
    "printf 'x\\ny' | a": ([], "x\ny"),
    "echo x | cat | a": ([], "x\n"),
    "echo eA== | base64 -d | a": ([], "x"),
    "echo 78 | xxd -r -p | a": ([], "x"),
    "{ a; } <<< x": ([], "x"),
    "while a; do :; done <<< x": ([], "x"),
    "echo x > f; a < f": ([("<", "f")], "x\n"),
}


@pytest.mark.parametrize("text", FED)
def test_redirections_and_input(text: str) -> None:
    call = call_of("a", text)
    assert ([(operator, shell.plain(word)) for operator, word in call.redirections], call.stdin) == FED[text]


def test_unknown_input_is_known_by_its_makers() -> None:
    assert [call.program for call in call_of("a", "curl x | tee f | a").stdin] == ["curl", "tee"]


@pytest.mark.parametrize("text", ["cat <<EOF\n$(rm x)\nEOF", "cat <<EOF\n`rm x`\nEOF", "cat <<< $(rm x)"])
def test_a_body_that_is_not_quoted_runs_what_it_holds(text: str) -> None:
    assert "rm x" in lines(text)


# Wrappers: each runs `rm x`.
WRAPPED = """
sudo rm x
sudo -u root -E rm x
sudo -- rm x
sudo A=1 rm x
doas -u root rm x
env rm x
env -i A=1 B=2 rm x
env -u A rm x
env -S 'rm x'
nice rm x
nice -n 5 rm x
nohup rm x
time rm x
/usr/bin/time -f %e rm x
timeout 5 rm x
timeout -s KILL 5s rm x
timeout --signal=KILL 5 rm x
stdbuf -oL rm x
setsid rm x
ionice -c 3 rm x
command rm x
builtin rm x
exec rm x
exec -a name rm x
busybox rm x
chroot /mnt rm x
strace -o f rm x
pkexec rm x
flock /tmp/l rm x
flock /tmp/l -c 'rm x'
echo x | xargs rm
echo x | xargs -n 1 -P 4 rm
echo x | xargs -I{} rm {}
echo x | xargs -I % sh -c 'rm %'
xargs rm <<< x
parallel rm ::: x
parallel 'rm {}' ::: x
find x -exec rm {} ;
find x -exec rm {} +
find x -execdir rm {} \\;
bash -c 'rm x'
bash -lc 'rm x'
bash -x -c 'rm x'
bash -o pipefail -c 'rm x'
bash --norc -c 'rm x'
sh -c 'rm "$1"' _ x
zsh -c 'rm x'
dash -c 'rm x'
/bin/bash -c 'rm x'
bash <<< 'rm x'
bash -s <<< 'rm x'
bash /dev/stdin <<< 'rm x'
echo 'rm x' | sh
echo 'rm x' | sudo sh
echo cm0geA== | base64 -d | bash
printf 'r\\155 x' | sh
bash <(echo 'rm x')
source <(echo 'rm x')
. /dev/stdin <<< 'rm x'
echo 'rm x' > s; bash s
echo 'rm x' > s.sh; chmod +x s.sh; ./s.sh
eval rm x
eval 'rm x'
eval "$(echo rm x)"
su root -c 'rm x'
script -c 'rm x' /dev/null
watch rm x
watch -n 1 'rm x'
ssh host rm x
ssh -i k -p 22 user@host 'rm x'
ssh host <<< 'rm x'
docker exec c rm x
docker exec -it -u root c sh -c 'rm x'
docker run --rm -v /a:/b image rm x
docker compose exec web rm x
kubectl exec pod -- rm x
kubectl -n ns exec -it pod -c c -- sh -c 'rm x'
npx rm x
uv run rm x
poetry run rm x
pnpm exec rm x
git -c alias.x='!rm x' x
git rebase -x 'rm x' main
git submodule foreach 'rm x'
git bisect run rm x
tar cf a --checkpoint-action=exec='rm x' b
tmux send-keys 'rm x' Enter
at now <<< 'rm x'
cmd /c rm x
nix-shell --run 'rm x'
""".strip().replace("\\\\", "\\").split("\n")  # fmt: skip


@pytest.mark.parametrize("text", WRAPPED)
def test_wrappers_are_followed(text: str) -> None:
    assert "rm x" in [line.rstrip("/*") for line in lines(text)]


# Text that names `rm` and runs something else.
DATA = [
    "echo rm x",
    "echo 'rm x' > notes.md",
    "printf 'rm x'",
    "grep -r 'rm x' src",
    "git commit -m 'rm x'",
    "git commit -F - <<< 'rm x'",
    "git commit -m \"$(cat <<'EOF'\nrm x\nEOF\n)\"",
    "cat > clean.sh <<'EOF'\nrm x\nEOF",
    "tee clean.sh <<EOF\nrm x\nEOF",
    "cat <<'EOF' | tee f\nrm x\nEOF",
    "# rm x",
    "a # rm x",
    "a '; rm x'",
    'a "&& rm x"',
    "ls \\; rm x",
    "a --body 'rm x'",
    "jq '.rm x' f",
    "sed 's/a/; rm x/' f",
    "gh pr create --body 'run rm x'",
    "command -v rm",
    "which rm",
    "type rm",
    "man rm",
    "alias r='rm x'",
    "f() { rm x; }",
    "patch -p1 <<'EOF'\n-rm x\n+rm y\nEOF",
    "x='rm x'",
    "x='rm x'; echo $x",
    "case rm in rm) a;; esac",
    "[[ rm == rm ]]",
    "ls rm x",
]


@pytest.mark.parametrize("text", DATA)
def test_data_stays_data(text: str) -> None:
    assert "rm" not in [call.program for call in traced(text).calls]


@pytest.mark.parametrize("text", ["f() { f | f & }; f", ":(){ :|:& };:", "b() { b; b; }; b", "x() { x & x; }; x"])
def test_fork_bombs(text: str) -> None:
    assert "fork-bomb" in [call.program for call in traced(text).calls]


@pytest.mark.parametrize("text", ["f() { f; }; f", "f() { g; }; g() { a; }; f", "f() { a | b; }; f; f"])
def test_functions_that_are_no_bombs(text: str) -> None:
    assert "fork-bomb" not in [call.program for call in traced(text).calls]


# Beside bash ----------------------------------------------------------------------------------

# `%s` is a script, `%d` a number: the commands are zq1, zq2 and so on, which nobody has. zq0 is only said.
SHAPES = [
    "zq%d", "z\\q%d a b", "'zq%d'", '"zq"%d', "$'\\x7aq'%d", "x=zq; ${x}%d", "x=zq x+=%d; $x", "A=1 B=2 zq%d",
    "eval zq%d", "zq%d >/dev/null 2>&1", "</dev/null zq%d", "zq%d # zq0\n", "%s; %s", "%s\n%s", "{ %s\n} & wait; %s",
    "true && { %s\n}", "( %s\n)", "if %s\nthen %s\nelse %s\nfi", "for v in 1 2; do %s\ndone",
    "while %s\nfalse; do :; done", "until true; do :; done; %s", "case a in b) :;; a) %s\n;; esac",
    "f() { %s\n}; f", "f() { :; }; %s", 'echo "$(%s\n)"', "cat <(%s\n)", "true | %s",
    'cat <<\'A\'\n$(zq0) \'x "y\nA\n%s', 'cat <<B\ntext $(zq%d) "q \'r\nB\n%s', "cat <<C | cat\n`zq%d`\nC\n%s",
    "! %s", 'echo \'zq0; zq0\' "&& zq0" \\; zq0; %s', "[[ a == a ]] && zq%d; %s", "((1 + 1)); %s",
    ": ${y:-$(zq%d)}; %s", 'x=(a "$(%s\n)"); zq%d', "bash -c 'zq%d' x; %s", "bash <<< 'zq%d'; %s",
    "echo zq%d | sh; %s", "trap zq%d EXIT; %s",
]  # fmt: skip


def script(chance: random.Random, depth: int, numbers: Iterator[int]) -> str:
    shape = chance.choice(SHAPES if depth else SHAPES[:12])
    pieces = re.split("(%[sd])", shape)
    made = {"%s": lambda: script(chance, depth - 1, numbers), "%d": lambda: str(next(numbers))}
    return "".join(made[piece]() if piece in made else piece for piece in pieces)


def test_bash_runs_nothing_that_is_not_seen() -> None:
    if not shutil.which("bash"):
        pytest.skip("there is no bash here")
    chance = random.Random(5)
    texts = [script(chance, 3, itertools.count(1)) for _ in range(150)]
    told = "command_not_found_handle() { echo $1 >&9; }; export -f command_not_found_handle; exec 9>&1\n"
    each = "".join("echo zq >&9; (eval %s) >/dev/null 2>&1 </dev/null\n" % shlex.quote(text) for text in texts)
    command = [str(shutil.which("bash")), "-c", told + each]
    done = subprocess.run(command, env={"PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE, check=False)
    parts = done.stdout.decode().split("zq\n")[1:]
    ran = [{name for name in part.split() if name[:2] == "zq"} for part in parts]
    assert len(ran) == len(texts)
    assert sum(len(names) for names in ran) > 150
    for text, names in zip(texts, ran):
        seen = {call.program for call in traced(text).calls}
        assert names <= seen, text
        assert "zq0" not in seen, text


# What cannot be read, and what is too much -----------------------------------------------------

UNREADABLE = """
'
a 'b
a "b
a `b
a $(b
a ${b
a $'b
(a
a)
{ a
a; }
if a
if a; then b
for
for x in a; do b
while a; do b
case a in b
[[ a
a >
a <
f( a
a ( b
a;;b
done
fi
""".strip().split("\n")


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_is_no_shell_text(text: str) -> None:
    with pytest.raises(shell.Unreadable):
        traced(text)


@pytest.mark.parametrize("text", ["eval 'rm x; ('", 'bash -c "rm x; \'"', "ssh h 'if rm x'"])
def test_an_inner_text_that_cannot_be_read_is_kept(text: str) -> None:
    assert [each for each in traced(text).unread if "rm x" in each]


def is_bounded(text: str) -> bool:
    """Whether a text is refused, or cut off and told."""
    try:
        return bool(traced(text).unread)
    except shell.Unreadable:
        return True


@pytest.mark.parametrize(
    "text",
    [
        "( " * 200 + "a" + ")" * 200,
        "$(" * 200 + "a" + ")" * 200,
        "{ " * 200 + "a" + "; }" * 200,
        '"$(' * 100 + "a" + ')"' * 100,
        "${x:-" * 200 + "a" + "}" * 200,
        "if " * 200,
        "eval " * 50 + "a",
        "sudo " * 50 + "a",
        "a " * 50_000,
        "a;" * 50_000,
        "x=1;" * 50_000,
        "x= " * 50_000,
        "$x" * 100_000,
        "! " * 50_000 + "a",
        "for a in 1 2 3 4 5; do " * 12 + "x" + "; done" * 12,
        "for a in 1 2 3 4 5; do " * 30 + "f() { x; }" + "; done" * 30,
        "set -- a a; " + 'set -- "$@" "$@"; ' * 40 + 'p "$@"',
        "x=(a a); " + 'x=("${x[@]}" "${x[@]}"); ' * 40 + 'p "${x[@]}"',
        "f() { g; g; }; g() { h; h; }; h() { i; i; }; " + "f; " * 300,
        "cat <<EOF\n$(" * 100,
    ],
    ids=lambda text: text[:24],
)
def test_limits(text: str) -> None:
    assert is_bounded(text)


@pytest.mark.parametrize(
    "text",
    [
        "x=ab; " + "x=$x$x; " * 40 + "p $x",
        "p " + "{a,b}" * 100,
        "p " + "{a,b,c,d}" * 5_000,
        "x='a b'; p " + "$x" * 2_000,
        "x=(1 2 3 4 5 6 7 8 9); p " + '"${x[@]}"' * 50,
    ],
    ids=lambda text: text[:24],
)
def test_what_grows_is_cut(text: str) -> None:
    """Text made from little text: where it would be too much, it is unknown."""
    made = sum(len(word) for call in traced(text).calls for word in call.args)
    assert made < 2_000_000


def test_a_long_script_of_everyday_size_is_read_whole() -> None:
    script = "\n".join("echo step %d && make target-%d > log-%d.txt 2>&1" % (n, n, n) for n in range(100))
    found = traced(script + "\nrm x")
    assert not found.unread
    assert found.calls[-1].line() == "rm x"


def test_a_large_here_document_costs_no_words() -> None:
    body = "".join("line %d of a file with $(nothing) to run\n" % number for number in range(2_000))
    assert lines("cat > f <<'EOF'\n%sEOF\nrm x" % body)[-1] == "rm x"
