"""Which arguments of a call are paths, and what it does to them."""

from __future__ import annotations

from . import gitrules
from .paths import DELETE, READ, WRITE, is_env
from .shell import TILDE, UNKNOWN
from .words import globbed
from .wrappers import SHELLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .calls import Call

LIST = "list"  # names are shown, contents are not
MODE = "mode"  # permissions and owners
USE = "use"  # a tool takes the file for itself: nothing of it is shown
GUESS = "guess"  # perhaps no path at all
NAMES = "names"  # the names of variables are shown, their values are not
WHOLE = "whole"  # all files below are searched
INTO = "into"  # a place in what may be a directory
ALIAS = "alias"  # reached under another name from now on


# Their arguments are text.
DATA = frozenset(
    """
    echo printf : true false export declare local readonly typeset unset set alias unalias cd pushd popd let expr
    seq sleep date trap return exit kill jobs wait which whereis command hash man help tput clear say notify-send
    basename dirname [[ (( [ test case case-word shift getopts read mapfile readarray umask ulimit time pip pip3
    pipx npm yarn pnpm brew apt apt-get gem cargo-add logger wall
    """.split()
)
_LISTS = frozenset(
    """
    ls tree exa eza lsd dir stat file realpath readlink du md5sum sha1sum sha256sum sha512sum shasum cksum wc find
    fd
    """.split()
)
_USES = frozenset(
    """
    ssh ssh-add ssh-keygen ssh-copy-id ssh-agent ssh-keyscan gpg gpg2 mkcert certbot step keytool mkdir touch docker
    docker-compose podman nerdctl minikube kind terraform tofu ansible ansible-playbook ansible-vault sops age helm
    kubectl make gradle mvn psql pg_dump mysql mongosh redis-cli direnv dotenv dotenvx source . cosign signtool
    codesign security-tool nginx caddy uvicorn gunicorn flask rails foreman overmind honcho env-cmd dotenv-cli
    """.split()
)
_PATTERN_FIRST = frozenset(
    """
    grep egrep fgrep rg ag ack zgrep pcregrep ugrep sed gsed awk gawk mawk jq yq gojq perl ruby xmllint tr ripgrep
    sd ast-grep sg
    """.split()
)
_GREP_VALUES = frozenset(
    """
    -e -f -A -B -C -m -d -g -t -T --glob --type --include --exclude --exclude-dir --color --regexp --file
    --max-count --context -r --replace --sort --colors -E --engine --iglob --max-depth --path-to-ignore
    """.split()
)
_COPIES = frozenset(
    """
    cp install rsync scp ditto gcp copy xcopy robocopy copy-item
    """.split()
)
_QUIET_GREP = frozenset("-q -c -l -L --quiet --silent --count --files-with-matches".split())
_SENDERS = frozenset(
    """
    curl wget nc ncat netcat telnet socat ftp sftp http https xh
    """.split()
)
_FETCH_USES = frozenset(
    """
    --key --cert --cacert --capath -E --pass --cert-type --private-key -i -A --user-agent -e --referer -u --user -X
    --request -w --write-out --resolve --connect-to -x --proxy -m --max-time --retry
    """.split()
)
_FETCH_WRITES = frozenset(
    """
    -o --output -O --output-document -D --dump-header -c --cookie-jar --output-file
    """.split()
)


_EXCLUDERS = frozenset("tar gtar bsdtar rsync zip 7z du tree borg restic rclone aws gsutil duplicity".split())
_EXCLUDES = ("--exclude", "--exclude-dir", "--exclude-pattern", "--filter", "-I")
_ENV_FILES = ("--env-file", "--env-file-if-exists", "--dotenv", "--envfile")


def accesses(call: Call) -> Iterator[tuple[str, str]]:
    """(access, word) for every argument and redirection that is, or may be, a path."""
    for operator, word in call.redirections:
        yield (READ if operator == "<" else WRITE), word
    name, args = call.program, call.args
    if name in ("cpio", "sftp", "ftp", "pax") and isinstance(call.stdin, str):
        yield from ((READ, word) for word in call.stdin.split()[:50])
    if name == "date":
        yield from ((READ, value) for value in option_values(args, ("-f", "--file", "-r", "--reference")))
    if name in DATA or not args:
        return
    if name in _EXCLUDERS:
        args = _without_excluded(name, args)
    handler = _HANDLERS.get(name)
    if handler is not None:
        yield from handler(args)
    elif name in _PATTERN_FIRST:
        yield from _searched(name, args)
        yield from _sed_files(name, args)
    elif name in SHELLS:
        yield from ((READ, word) for word in _script(args))
    elif name in _CMDLET_WRITES:
        yield from ((WRITE, word) for word in _cmdlet_path(args))
    elif name in _COPIES:
        yield from _copied(args)
    elif name in ("rm", "unlink", "shred", "srm", "del", "erase", "remove-item", "ri"):
        yield from ((DELETE, arg) for arg in args if arg[:1] != "-")
    elif name in ("chmod", "chown", "chgrp", "chattr", "setfacl", "icacls"):
        yield from ((MODE, arg) for arg in args[1:] if arg[:1] != "-")
    elif name in _SENDERS:
        yield from _sent(args, name)
    elif name == "git":
        yield from ((READ, word) for word in gitrules.reads(call))
        yield from (("add", word) for word in gitrules.adds(call))
    else:
        yield from _plain(name, args)


def option_values(args: list[str], flags: tuple[str, ...]) -> list[str]:
    """What options are given: `-o x`, `-ox`, `--output x`, `--output=x`."""
    found = [value for flag, value in zip(args, args[1:]) if flag in flags]
    for arg in args:
        for flag in flags if arg[:1] == "-" else ():
            if flag[1:2] == "-" and arg.startswith(flag + "="):
                found.append(arg[len(flag) + 1 :])
            elif len(flag) == 2 and arg[:2] == flag and len(arg) > 2:
                found.append(arg[2:])
    return found


def _without_excluded(name: str, args: list[str]) -> list[str]:
    kept: list[str] = []
    skipping = ""
    for arg in args:
        if skipping and (skipping == "one" or arg[:1] not in ("-", "@")):
            skipping = "" if skipping == "one" else skipping
            continue
        skipping = "all" if name == "zip" and arg in ("-x", "--exclude") else "one" if arg in _EXCLUDES else ""
        if not skipping and not arg.startswith(("--exclude=", "--exclude-dir=", "--filter=", "-xr!", "-x!")):
            kept.append(arg)
    return kept


def _script(args: list[str]) -> list[str]:
    """The file that a shell runs: it prints any other file line by line, as errors."""
    for at, arg in enumerate(args):
        if arg[:1] not in ("-", "+"):
            return [arg] if args[at - 1 : at] not in (["-o"], ["-O"]) else []
        if arg[1:2] != "-" and "c" in arg:
            break
    return []


_CMDLET_WRITES = frozenset("set-content sc add-content ac out-file clear-content clc new-item ni tee-object".split())


def _cmdlet_path(args: list[str]) -> list[str]:
    for flag, value in zip(args, args[1:]):
        if flag.lower() in ("-path", "-filepath", "-literalpath"):
            return [value]
    return [arg for arg in args if arg[:1] != "-"][:1]


def _sed_files(name: str, args: list[str]) -> Iterator[tuple[str, str]]:
    """`w FILE` and `r FILE` of a sed script."""
    if name not in ("sed", "gsed"):
        return
    for script in option_values(args, ("-e", "--expression")) or [arg for arg in args if arg[:1] != "-"][:1]:
        for line in script.replace(";", "\n").split("\n"):
            command, _, word = line.strip().rpartition(" ")
            if word and command[-1:] in ("w", "r", "W", "R") and len(command) < 40:
                yield (WRITE if command[-1:] in "wW" else READ), word


def _plain(name: str, args: list[str]) -> Iterator[tuple[str, str]]:
    if name in ("docker", "podman", "kubectl", "oc", "nerdctl"):
        yield from _container(args)
        return
    if name == "openssl":
        # Only what goes to standard output is seen.
        is_unpacked = "enc" in args[:1] or ("pkcs12" in args[:1] and "-export" not in args)
        if is_unpacked or {"-pubout", "-noout", "-out"}.isdisjoint(args):
            yield from ((READ, value) for flag, value in zip(args, args[1:]) if flag in ("-in", "-inkey"))
        return
    if name == "type":
        yield from ((READ, arg) for arg in args if "\\" in arg or "/" in arg)
        return
    if name == "vercel" and args[:2] == ["env", "pull"]:
        yield from ((WRITE, arg) for arg in [arg for arg in args[2:] if arg[:1] != "-"] or [".env.local"])
        return
    if name == "cut" and _names_only(name, args):
        yield from ((NAMES, arg) for arg in args if arg[:1] != "-")
        return
    access = LIST if name in _LISTS else USE if name in _USES else READ if name in READERS else GUESS
    for before, arg in zip(["", *args], args):
        if access == GUESS and (not _NO_PATH.isdisjoint(arg) or _is_env_file(before, arg)):
            continue
        for word in pieces(arg):
            yield access, word


def _is_env_file(before: str, arg: str) -> bool:
    return before in _ENV_FILES or arg.partition("=")[0] in _ENV_FILES


def _names_only(name: str, args: list[str]) -> bool:
    """`cut -d= -f1 .env` and its kin."""
    text = " ".join(args)
    if name == "cut":
        return ("-d=" in args or "-d =" in text) and ("-f1" in args or "-f 1" in text)
    if name in ("sed", "gsed"):
        return any(arg.startswith("s/=.*/") for arg in args) and "-n" not in args
    return (
        name == "grep"
        and args[0] in ("-o", "-oE", "-Eo")
        and args[1:2] in (["^[A-Z_]*"], ["^[A-Z_]+"], ["^[^=]*"], ["^[^=]+"], ["^[A-Z0-9_]+"], ["^[A-Z_0-9]*"])
    )


_NO_PATH = frozenset("'\"()<>|;`{}$\n")  # code or prose

READERS = frozenset(
    """
    cat tac less more head tail bat batcat nl od xxd hexdump strings base64 base32 sort uniq diff cmp comm paste
    join fold fmt column rev vi vim nvim nano emacs code subl open xdg-open tar zip 7z gzip bzip2 xz zstd split
    csplit mail uuencode pbcopy xclip xsel wl-copy iconv dos2unix hd view most pr expand glow type get-content gc
    cksum mdcat pygmentize ccat dd ln mv ccrypt aws gsutil rclone s3cmd gist pastebin transfer croc magic-wormhole
    wormhole cut cpio pax
    """.split()
)


def _container(args: list[str]) -> Iterator[tuple[str, str]]:
    if "cp" in args[:3]:
        yield from ((READ, word) for arg in args for word in pieces(arg))
    for flag, value in zip(args, args[1:]):
        if flag in ("-v", "--volume", "--mount", "--secret"):
            yield from (("mount", word) for part in value.split(",") for word in pieces(part))
    for arg in args:
        if arg.startswith("--from-file="):
            yield from ((READ, word) for word in pieces(arg))


def pieces(arg: str) -> list[str]:
    """The paths that an argument may hold: itself, what follows `=`, `@` or `:`."""
    if arg[:1] == "-":
        if "=" in arg:
            arg = arg.partition("=")[2]
        elif arg[1:2] != "-" and len(arg) > 3 and ("/" in arg or TILDE in arg):
            arg = arg[2:]
        else:
            return []
    if not arg or "\n" in arg or len(arg) > 4000:
        return []
    if " " in arg and arg[:1] not in ("/", TILDE, ".", "~") and "\\" not in arg:
        return []
    found = [arg]
    for mark in ("=", "@", ":"):
        if mark in arg and "://" not in arg:
            found += [piece for piece in arg.split(mark) if piece]
    return found


def _searched(name: str, args: list[str]) -> Iterator[tuple[str, str]]:
    is_grep = name in ("grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "ugrep")
    if is_grep and not _QUIET_GREP.isdisjoint(args):
        return
    in_place = name in ("sed", "gsed", "perl", "ruby", "yq", "sd") and any(
        arg[:2] == "-i"
        or arg.startswith("--in-place")
        or (arg[:1] == "-" and arg[1:2] != "-" and "i" in arg and len(arg) < 6)
        for arg in args
    )
    shown = NAMES if _names_only(name, args) else READ
    is_whole = is_grep and _is_whole(name, args)
    given = any(arg in ("-e", "-f", "--regexp", "--file", "--expression") or arg[:2] == "-e" for arg in args)
    at = 0
    is_first = not given
    while at < len(args):
        arg = args[at]
        if arg in ("-f", "--file", "--from-file", "--exclude-from", "--rawfile", "--slurpfile") and at + 1 < len(args):
            yield READ, args[at + 1]
            at += 1
        elif arg in _GREP_VALUES and is_grep and arg not in ("-r", "-E"):
            if arg in ("-g", "--glob", "--include") and at + 1 < len(args) and args[at + 1][:1] != "!":
                yield READ, globbed(args[at + 1])
            at += 1
        elif arg in ("-e", "--expression", "-n", "--arg", "--argjson") and arg != "-n":
            at += 1
        elif arg[:1] != "-":
            if not is_first:
                yield (WRITE if in_place else shown), arg
                if is_whole:
                    yield WHOLE, arg
            is_first = False
        elif arg.startswith("--include="):
            yield READ, globbed(arg[10:])
        at += 1


def _is_whole(name: str, args: list[str]) -> bool:
    """A search that includes hidden files."""
    if any(arg.startswith(("--include", "-g", "--glob", "-t", "--type")) for arg in args):
        return False
    letters = "".join([arg for arg in args if arg[:1] == "-" and arg[1:2] != "-"])
    if name in ("rg", "ag", "ack"):
        return "--hidden" in args or "uu" in letters or "-." in args
    return "r" in letters or "R" in letters or "--recursive" in args


def _copied(args: list[str]) -> Iterator[tuple[str, str]]:
    operands = [arg for arg in args if arg[:1] != "-"]
    target = option_values(args, ("--target-directory",))
    target += [value for flag, value in zip(args, args[1:]) if flag == "-t"]
    keys = [
        value
        for flag, value in zip(args, args[1:])
        if flag in ("-i", "-F", "-e", "--rsh", "--password-file", "-m", "-o", "-g")
    ]
    sources = [operand for operand in operands if operand not in target and operand not in keys]
    for source in sources if target else sources[:-1]:
        for word in pieces(source):
            yield READ, word
    for word in target or sources[-1:] if len(sources) > 1 or target else []:
        if ":" not in word or word[1:2] == ":":
            yield ("copy", word) if any(is_template(source) for source in sources[:-1]) else (WRITE, word)
            yield from _inside(word, sources if target else sources[:-1])


def _inside(target: str, sources: list[str]) -> Iterator[tuple[str, str]]:
    """If the target is a directory, these are the files in it that are written."""
    for source in sources[:20]:
        name = source.rstrip("/").rpartition("/")[2]
        yield INTO, target.rstrip("/") + "/" + ("" if source.endswith("/") else name)


def is_template(word: str) -> bool:
    name = word.rpartition("/")[2].lower()
    return any(part in name for part in ("example", "sample", "template", ".dist", "default"))


def _moved(args: list[str]) -> Iterator[tuple[str, str]]:
    operands = [arg for arg in args if arg[:1] != "-"]
    yield from ((DELETE, word) for word in operands[:-1])
    yield from (
        ("copy", word) if any(is_template(each) for each in operands[:-1]) else (WRITE, word) for word in operands[-1:]
    )
    yield from _inside(operands[-1] if len(operands) > 1 else "", operands[:-1])


def _linked(args: list[str]) -> Iterator[tuple[str, str]]:
    operands = [arg for arg in args if arg[:1] != "-"]
    if operands and all(is_env(word.rpartition("/")[2]) for word in operands):
        return  # one stands in for the other
    for word in operands[:-1] or operands:
        yield READ, word
        yield ALIAS, word
    yield from _inside(operands[-1] if len(operands) > 1 else "", operands[:-1])
    yield from ((WRITE, word) for word in operands[-1:] if len(operands) > 1)


def _written(args: list[str]) -> Iterator[tuple[str, str]]:
    return ((WRITE, arg) for arg in args if arg[:1] != "-")


def _dd(args: list[str]) -> Iterator[tuple[str, str]]:
    for arg in args:
        key, _, value = arg.partition("=")
        if key in ("if", "of"):
            yield (READ if key == "if" else WRITE), value


def _truncated(args: list[str]) -> Iterator[tuple[str, str]]:
    values = [value for flag, value in zip(args, args[1:]) if flag in ("-s", "--size", "-r")]
    return ((WRITE, arg) for arg in args if arg[:1] != "-" and arg not in values)


def _sent(args: list[str], name: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(args):
        arg = args[at]
        follows = args[at + 1] if at + 1 < len(args) else ""
        if name == "wget" and arg in ("-i", "-O", "-P"):
            yield (READ if arg == "-i" else WRITE), follows
            at += 1
        elif arg in _FETCH_USES:
            at += 1
        elif arg in _FETCH_WRITES:
            if follows and follows != "-" and arg != "-O":
                yield WRITE, follows
                at += 1
        elif arg in (
            "-d",
            "--data",
            "--data-binary",
            "--data-raw",
            "--data-urlencode",
            "-F",
            "--form",
            "--json",
            "-H",
            "--header",
        ):
            if "@" in follows or "<" in follows:
                yield READ, follows.replace("<", "@").rpartition("@")[2].partition(";")[0]
            at += 1
        elif arg[:5].lower() == "file:":
            yield READ, arg[:5].lower() + arg[5:]
        elif arg[:3] in ("-d@", "-T@") or (arg[:2] == "-F" and "@" in arg):
            yield READ, arg.partition("@")[2].partition(";")[0]
        elif arg[:2] in ("-o", "-T") and len(arg) > 2 and name == "curl":
            yield (WRITE if arg[:2] == "-o" else READ), arg[2:]
        elif arg.startswith(("--output=", "--output-document=", "--dump-header=", "--cookie-jar=")):
            yield WRITE, arg.partition("=")[2]
        elif arg[:1] == "-" and arg[1:2] != "-" and "K" in arg and len(arg) > 2:
            yield READ, arg.partition("K")[2]
        elif "://" not in arg:
            for word in (
                pieces(arg) if arg[:1] == "-" or arg[:1] == "@" or "/" in arg or ":" in arg or arg[:1] == "." else [arg]
            ):
                yield READ, word.lstrip("@")
        at += 1


def _joined_ends(args: list[str]) -> Iterator[tuple[str, str]]:
    """socat: `OPEN:path,options`."""
    return ((READ, arg.partition(":")[2].partition(",")[0]) for arg in args if ":" in arg)


def _sourced(args: list[str]) -> Iterator[tuple[str, str]]:
    return ((USE, arg) for arg in args[:1])


_HANDLERS = {
    "mv": _moved,
    "rename-item": _moved,
    "move-item": _moved,
    "mi": _moved,
    "ln": _linked,
    "tee": _written,
    "sponge": _written,
    "truncate": _truncated,
    "dd": _dd,
    "socat": _joined_ends,
    "source": _sourced,
    ".": _sourced,
}

__all__ = ["DATA", "GUESS", "LIST", "MODE", "UNKNOWN", "USE", "accesses", "pieces"]
