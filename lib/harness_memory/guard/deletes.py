"""Deletions: what a target is worth decides, not how it is spelled."""

from __future__ import annotations

from . import paths
from .outputs import find_parts, narrows
from .shell import GLOBS, STAR, UNKNOWN, plain
from .wrappers import CONTAINER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .calls import Call
    from .paths import Scope

MAX_TARGETS = 100  # of one command; beyond that the targets are unknown

_ROOTS = frozenset(
    """
    / /bin /boot /dev /etc /home /lib /lib32 /lib64 /media /mnt /opt /proc /root /run /sbin /srv /sys /usr /var
    /users /library /system /applications /volumes /private /cores /network /c /c/windows /c/users /d /usr/bin
    /usr/lib /usr/sbin /usr/share /usr/local /var/lib /var/log /var/www /usr/local/bin /usr/local/lib /usr/include
    /etc/ssl /nix /nix/store /snap
    """.split()
)
_ROOTS_SPACED = ("/c/program files", "/c/program files (x86)", "/c/programdata")
_DISPOSABLE = frozenset(
    """
    node_modules dist build out target __pycache__ .venv venv env .tox .nox .pytest_cache .mypy_cache .ruff_cache
    .cache .parcel-cache .next .nuxt .output .turbo .svelte-kit .gradle coverage .coverage htmlcov .nyc_output tmp
    temp .tmp .temp logs log bin obj .terraform .serverless .eggs .hypothesis cmake-build-debug cmake-build-release
    deriveddata pods vendor bower_components .angular .vite .docusaurus _build .ipynb_checkpoints .dart_tool
    storybook-static .expo .webpack lib-cov test-results playwright-report .sass-cache .vercel .netlify .wrangler
    .yarn_cache .npm .eslintcache elm-stuff __snapshots__ release debug .idea .vs .swc .rollup.cache .stryker-tmp
    generated gen _site public/build
    """.split()
)
_DISPOSABLE_ENDINGS = tuple(
    """
    .egg-info .dist-info .tmp .temp .bak .log .pyc _cache -cache .cache .old .orig ~
    """.split()
)
_HOME_CACHES = tuple(
    """
    ~/.cache ~/.npm ~/library/caches ~/.cargo/registry ~/.gradle/caches ~/.m2/repository ~/.local/share/trash
    ~/.yarn ~/.pnpm-store ~/.expo ~/appdata/local/temp ~/library/developer/xcode/deriveddata ~/.nuget/packages
    ~/go/pkg ~/.bundle/cache ~/.pub-cache ~/.claude/plans ~/.claude/todos ~/.local/share/pnpm/store
    """.split()
)
_MAIN_FOLDERS = frozenset(
    """
    desktop documents downloads pictures music movies videos public library .config .local .ssh .gnupg .claude
    projects src code work repos dev workspace appdata onedrive dropbox applications .mozilla .kube .aws
    """.split()
)
_WORK_FOLDERS = ("/workspace/", "/workspaces/", "/testbed/", "/app/", "/repo/", "/code/", "/project/")  # of containers
_GRAVE = ("delete.project", "delete.home", "delete.system")
_FREE_SYSTEM = ("/var/lib/apt/lists", "/var/cache", "/opt/homebrew/var/cache")


def check(call: Call, scope: Scope, made: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The findings against a call that deletes."""
    name = call.program
    if "--help" in call.args:
        return
    if name in ("find", "fd", "fdfind"):
        if "-delete" in call.args or _executes_deletion(call.args):
            starts, names, narrowed = find_parts(call)
            yield from _found(starts, names, narrowed, call, scope, made)
        return
    if name in ("rsync", "tar", "zip", "7z"):
        yield from _archived(call, scope)
        if name == "rsync":
            yield from _synchronised(call, scope, made)
        return
    if name == "truncate":
        yield from _files([arg for arg in call.args if arg[:1] != "-"], call, scope)
        return
    operands, recursive = _operands(call)
    yield from _targets(operands, call, scope, made) if recursive else _files(operands, call, scope)


_MOVES = frozenset("--remove-files --remove-source-files --move -sdel -m -rm -mr".split())


def _archived(call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
    """Archives and copies that take their originals away."""
    flags = _MOVES if call.program == "zip" else [flag for flag in _MOVES if len(flag) > 4]
    if any(arg in flags for arg in call.args):
        for word in [arg for arg in call.args if arg[:1] != "-"]:
            rule = moved_rule(word, call, scope)
            if rule:
                yield rule, plain(word)


def _synchronised(call: Call, scope: Scope, made: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    letters = "".join([arg for arg in call.args if arg[:1] == "-" and arg[1:2] != "-"])
    if "n" in letters or "--dry-run" in call.args or "--list-only" in call.args:
        return
    if any(arg.startswith("--delete") or arg == "--del" for arg in call.args):
        for target in [arg for arg in call.args if arg[:1] != "-"][-1:]:
            if ":" in target and target[1:2] != ":":
                yield "delete.outside", plain(target)
            else:
                yield from _targets([target], call, scope, made)


def _executes_deletion(args: list[str]) -> bool:
    return any(
        flag in ("-exec", "-execdir", "-x", "-X") and name.rpartition("/")[2] in ("rm", "shred", "unlink")
        for flag, name in zip(args, args[1:])
    )


def _operands(call: Call) -> tuple[list[str], bool]:
    args = call.args
    if call.program in ("rd", "rmdir", "del", "erase", "deltree") and any(arg.lower() in ("/s", "/q") for arg in args):
        return [arg for arg in args if arg[:1] != "/" or len(arg) > 2], True
    if call.program in ("remove-item", "ri"):
        flags = [arg.lower() for arg in args if arg[:1] == "-"]
        return [arg for arg in args if arg[:1] != "-"], any(flag.startswith("-r") for flag in flags)
    operands = []
    recursive = call.program in ("rimraf", "del-cli")
    is_literal = False
    for arg in args:
        if is_literal or arg[:1] != "-" or arg == "-":
            operands.append(arg)
        elif arg == "--":
            is_literal = True
        elif arg in ("--recursive", "--no-preserve-root") or (arg[1:2] != "-" and ("r" in arg or "R" in arg)):
            recursive = True
    return operands, recursive


def _found(
    starts: list[str], names: list[str], narrowed: bool, call: Call, scope: Scope, made: set[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    for start in starts:
        if names or narrowed:
            # Some files below the start: the place must be wrong, not the extent.
            path = paths.absolute(start, call.cwd, scope)
            rule = _worth(path, scope, call)
            if rule in ("delete.system", "delete.home") and not paths.is_temporary(path, scope):
                yield "delete.outside", plain(start)
        else:
            yield from _targets([start.rstrip("/") + "/" + STAR], call, scope, made)


def _targets(words: list[str], call: Call, scope: Scope, made: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    distinct = list(dict.fromkeys(words))
    if len(distinct) > MAX_TARGETS:
        yield "delete.unknown", "%d targets" % len(distinct)
    for word in distinct[:MAX_TARGETS]:
        rule = target_rule(word, call, scope, made)
        if rule:
            yield rule, plain(word)


def _files(words: list[str], call: Call, scope: Scope) -> Iterator[tuple[str, str]]:
    for number, word in enumerate(dict.fromkeys(words)):
        if number > MAX_TARGETS and STAR not in word and ".git" not in word and word[:1] != "/":
            continue
        path = paths.absolute(word, call.cwd, scope)
        if word[-1:] == STAR and word.rpartition("/")[2] == STAR and _worth(path[:-2] or "/", scope, call) in _GRAVE:
            yield "delete.unknown", plain(word)
        elif path.startswith("/dev/") and call.program == "shred":
            yield "disk.overwrite", plain(word)
        elif paths.is_git_internal(path) and "/.git/" in path and not path.endswith("/.git"):
            yield "delete.git", plain(word)


def target_rule(word: str, call: Call, scope: Scope, made: set[tuple[str, str]]) -> str:
    """What speaks against the recursive deletion of a target; "" for nothing at all."""
    if not word or len(word) > paths.MAX_PATH_CHARS:
        return ""
    if (call.cwd, word.rstrip("/")) in made or (call.cwd, word) in made:
        return ""
    key = (word, call.where, call.cwd)
    if key not in scope.judged:
        scope.judged[key] = _tree_rule(word, call, scope)
    return scope.judged[key]


def _tree_rule(word: str, call: Call, scope: Scope) -> str:
    # `dir/*`, `dir/*/`, `dir/*.*` and `dir/.*` stand for all of dir.
    base, is_all = word.rstrip("/") if STAR in word else word, False
    while _is_any(base.rpartition("/")[2]):
        head, slash, _ = base.rpartition("/")
        base, is_all = (head or ("/" if slash else ".")), True
    if base in (".*",) or base.endswith("/.*"):
        base, is_all = base[:-2] or ".", True
    path = paths.absolute(base, call.cwd, scope)
    if UNKNOWN in path:
        return _unknown(path, scope, call)
    if is_all and path in scope.temps:
        return ""
    rule = _worth(path, scope, call)
    folder, _, name = path.rpartition("/")
    if folder in _projects(scope) and not GLOBS.isdisjoint(name) and paths.matches(name, ".git"):
        return "delete.git"
    real = next((each for each in paths.variants(base, call.cwd, scope) if each != path and not GLOBS & set(each)), "")
    return rule or (_worth(real, scope, call) if real else "") or _mild(path, scope)


def _is_any(name: str) -> bool:
    return name == "*" or (not GLOBS.isdisjoint(name) and not narrows(plain(name)))


def _unknown(path: str, scope: Scope, call: Call) -> str:
    head, _, rest = path.partition(UNKNOWN)
    name = path.rstrip("/").rpartition("/")[2]
    if is_disposable(name.replace(UNKNOWN, "")) and UNKNOWN not in name:
        return ""
    folder = head.rpartition("/")[0] if head else ""
    if head and ".." not in rest and folder not in ("", "/"):
        if paths.is_temporary(head.rstrip("/") if head.endswith("/") else head, scope) or any(
            "/" + piece + "/" in head
            for piece in ("tmp", "temp", "build", "dist", "node_modules", ".cache", "target", "__pycache__")
        ):
            return ""
        stem = head.rpartition("/")[2]
        if stem and not _worth(folder, scope, call).startswith("delete.s") and paths.is_inside(folder, scope.project):
            return "delete.inside"  # `build-$VERSION`: some sibling of a known name
        if call.where == CONTAINER:
            return ""
    return "" if call.where == CONTAINER and head else "delete.unknown"


def _worth(path: str, scope: Scope, call: Call) -> str:
    """The rule for the places that must not go, and those outside that should not."""
    local = paths.home_relative(path, scope)
    project = scope.places[1]
    is_disposable_name = is_disposable(path.rpartition("/")[2])
    if call.where == CONTAINER:
        is_data = path.startswith(("/var/lib/", "/data", "/var/www/", "/srv/")) and not path.startswith(_FREE_SYSTEM)
        return "delete.outside" if path in _ROOTS or is_data else ""
    if local in ("~", "~/"):
        return "delete.home"
    if path in _ROOTS or path in _ROOTS_SPACED or path in ("", "//"):
        return "delete.system"
    if any(paths.is_inside(place, path) for place in _projects(scope)):
        return "delete.project"
    if any(home.startswith(path.rstrip("/") + "/") for home in scope.homes):
        return "delete.home"
    if path in scope.temps:
        return "delete.outside"
    if paths.is_git_internal(path):
        return "delete.git"
    if local[:2] == "~/" and local[2:] in _MAIN_FOLDERS:
        return "delete.home"
    # A session in `/` does not make the system part of the project.
    if (project not in _ROOTS and paths.is_inside(path, scope.project)) or paths.is_temporary(path, scope):
        return ""
    if path.startswith(_FREE_SYSTEM):
        return ""
    if paths.is_system(path):
        return "delete.system"
    if local.startswith(_HOME_CACHES):
        return ""
    if path.startswith("/dev/") and not path.startswith("/dev/shm/"):
        return "disk.overwrite"
    if path.startswith(_WORK_FOLDERS):
        return ""
    return "" if is_disposable_name and path.count("/") > 2 else "delete.outside"


def _projects(scope: Scope) -> tuple[str, ...]:
    """The project; and the present folder, unless it is a folder of that like any other."""
    here, project = scope.places
    is_all_projects = project in _ROOTS or any(paths.is_inside(home, project) for home in scope.homes)
    if is_all_projects or not paths.is_inside(here, project) or paths.is_repository(scope.cwd):
        return project, here
    return (project,)


def _mild(path: str, scope: Scope) -> str:
    name = path.rpartition("/")[2]
    if paths.is_temporary(path, scope) or is_disposable(name) or not paths.is_inside(path, scope.project):
        return ""
    return "delete.inside"


def is_disposable(name: str) -> bool:
    """Build output, caches and environments, which a command brings back."""
    return (
        name in _DISPOSABLE
        or name.endswith(_DISPOSABLE_ENDINGS)
        or name.startswith(("cmake-build", "tmp.", "tmp-", "temp-", ".tmp"))
    )


def moved_rule(word: str, call: Call, scope: Scope) -> str:
    """Moving away the whole of a place is losing it."""
    path = paths.absolute(word.rstrip("/" + STAR) or "/", call.cwd, scope)
    rule = _worth(path, scope, call)
    if rule == "delete.system":
        return rule if path in _ROOTS else ""
    return rule if rule in ("delete.home", "delete.project", "delete.git") else ""
