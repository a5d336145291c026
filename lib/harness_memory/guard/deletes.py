"""Deletions: what a target is worth decides, not how it is spelled."""

from __future__ import annotations

from ..base.typing import Iterator
from . import paths
from .calls import CONTAINER, Call, Trace, find_parts
from .question import exists
from .shell import GLOBS, STAR, UNKNOWN, joined, narrows, plain
from .words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .paths import Scope

ROOTS = WORDS["roots"]
GRAVE = ("delete.project", "delete.home", "delete.system")


def check(call: Call, scope: Scope, found: Trace) -> Iterator[tuple[str, str]]:
    name, given, words, is_deep = call.program, call.given, call.given.operands, True
    if name in ("find", "fd", "fdfind"):
        yield from _found(call, scope, found)
        return
    if name == "mv":  # only what is lost where it is moved to
        places = [paths.absolute(word.rstrip(STAR), call.cwd, scope) for word in words]
        words = [w for w, path in zip(words[:-1], places) if words[-1] == "/dev/null" or is_place(path, scope)]
    elif name == "rsync":
        is_mirror = any(flag.startswith("--del") for flag in given.flags) and not given.has("-n,--dry-run")
        words = words[-1:] if is_mirror else []
    else:
        words = [word for kind, word in call.accesses() if kind == "d" and word.lower() not in ("/s", "/q", "/f")]
        if not words:  # gci ~ | Remove-Item -Recurse
            words = [word for each in call.sources() for word in each.given.operands or ["./" + STAR]]
        flags = [each.lower() for each in (*given.flags, *given.operands)]
        is_deep = name in ("rimraf", "del-cli", "tar") or any(f == "/s" or f.startswith(("-r", "--re")) for f in flags)
    for word in dict.fromkeys(words):
        rule = target_rule(word, call, scope, found) if is_deep else _file_rule(word, call, scope, found)
        if name == "rsync" and rule == "delete.project" and any(".git" in value for _, _, value in given.values):
            rule = "delete.unknown"  # the history stays
        if name == "mv" and words == given.operands[:-1] and rule in ("", "delete.inside"):
            rule = "service.delete"  # mv data.db /dev/null
        if rule:
            yield rule, plain(word)


def is_place(path: str, scope: Scope) -> bool:
    """The whole home or a root of the system."""
    return path in ROOTS or paths.home_relative(path, scope) == "~"


def _found(call: Call, scope: Scope, found: Trace) -> Iterator[tuple[str, str]]:
    """`find … -delete`, or with `rm`; without names the target is all below the start."""
    args, (starts, names, is_narrowed) = call.args, find_parts(call)
    is_some = bool(names) or is_narrowed
    runs_rm = any(flag in ("-exec", "-execdir", "-x", "-X") and word == "rm" for flag, word in zip(args, args[1:]))
    for start in starts if "-delete" in args or (runs_rm and is_some) else ():
        place = paths.absolute(start, call.cwd, scope)
        rule = "" if is_some else target_rule(start.rstrip("/") + "/" + STAR, call, scope, found)
        if is_some and worth(place, scope, call) in ("delete.system", "delete.home"):
            rule = "delete.outside"  # some files of a place so wide: it must be wrong
        rule = rule if call.where else paths.own_rule(place, paths.WRITE, scope) or rule
        if rule:
            yield rule, plain(start)


def _file_rule(word: str, call: Call, scope: Scope, found: Trace) -> str:
    """Single files: only all of a place that matters, or a part of git's own."""
    path = paths.absolute(word, call.cwd, scope)
    if word.rpartition("/")[2] == STAR and worth(path[:-2] or "/", scope, call) in GRAVE:
        return "" if _is_made(word, call, found) else "delete.unknown"
    if call.program == "shred":
        rule = "disk.overwrite" if path.startswith("/dev/") else target_rule(word, call, scope, found)
        return "service.delete" if rule == "delete.inside" else rule
    folder = paths.home_relative(path.rpartition("/")[0], scope)[2:]
    is_kept = folder not in WORDS["personal-folders"] or paths.is_within(path, scope.places[1])
    return _git_rule(path, call, scope) or ("" if is_kept or _is_made(word, call, found) else "delete.outside")


def _is_made(word: str, call: Call, found: Trace) -> bool:
    """Whether the script itself has made the target before, or a folder above it."""
    path = joined(call.cwd, word.rstrip("/" + STAR))
    return any(at <= call.number and paths.is_within(path, made) for made, at in found.made.items())


def target_rule(word: str, call: Call, scope: Scope, found: Trace) -> str:
    """What speaks against the recursive deletion of a target; "" for nothing at all."""
    if not word or len(word) > paths.MAX_PATH_CHARS:
        return ""
    if ":" in word[2:] and call.program == "rsync":
        return "delete.outside"
    rule = _tree_rule(word, call, call.cwd, scope)
    if rule not in GRAVE and _is_made(word, call, found):
        return ""
    if call.elsewhere and rule in ("", "delete.inside", "delete.outside"):
        is_worse = _tree_rule(word, call, call.elsewhere, scope) in (*GRAVE, "delete.git")
        return "delete.unknown" if is_worse else rule
    return rule


def _tree_rule(word: str, call: Call, cwd: str, scope: Scope) -> str:
    # `dir/*`, `dir/*/`, `dir/*.*` and `dir/.*` stand for all of dir.
    base, is_all = word.rstrip("/") if STAR in word else word, False
    while True:
        head, slash, name = base.rpartition("/")
        if name not in ("*", ".*") and (GLOBS.isdisjoint(name) or narrows(plain(name))):
            break
        base, is_all = (head or ("/" if slash else ".")), True
    path = paths.absolute(base, cwd, scope)
    if UNKNOWN in path:
        return _unknown(path, scope, call)
    if is_all and path in scope.temps and not paths.is_within(scope.places[1], path):
        return ""
    folder, _, name = path.rpartition("/")
    if folder in _projects(scope) and not GLOBS.isdisjoint(name) and paths.matches(name, ".git"):
        return "delete.git"
    rules = [worth(each, scope, call) for each in paths.variants(base, cwd, scope, paths.DELETE)]
    is_mild = paths.is_within(path, scope.places[1]) and not paths.is_temporary(path, scope) and not is_disposable(name)
    return next(filter(None, rules), "delete.inside" if is_mild else "")


def _unknown(path: str, scope: Scope, call: Call) -> str:
    head, _, rest = path.partition(UNKNOWN)
    folder, _, stem = head.rpartition("/")
    name = path.rstrip("/").rpartition("/")[2]
    if call.where == CONTAINER or (UNKNOWN not in name and is_disposable(name)):
        return ""
    if ".." in rest:
        return "delete.unknown"
    if paths.is_temporary(head.rstrip("/"), scope) or any(is_disposable(piece) for piece in folder.split("/")[2:]):
        return ""
    # `build-$VERSION`: some sibling of a known name
    return "delete.inside" if stem and paths.is_within(folder, scope.places[1]) else "delete.unknown"


def _git_rule(path: str, call: Call, scope: Scope) -> str:
    """A repository's whole history, or a part of git's own files."""
    if call.where == CONTAINER or paths.is_temporary(path, scope):
        return ""
    if path.endswith("/.git"):
        is_ours = path[:-5] in _projects(scope) or any(paths.is_within(place, path[:-5]) for place in scope.places)
        return "delete.git" if is_ours else "delete.git-part"
    inner = path.partition("/.git/")[2].split("/")
    is_all = inner in (["objects"], ["refs"], ["refs", "heads"])
    return "delete.git" if is_all else "delete.git-part" if inner[0] in WORDS["git-parts"] else ""


def worth(path: str, scope: Scope, call: Call) -> str:
    """The rule for the places that must not go, and those outside that should not."""
    local, project = paths.home_relative(path, scope), scope.places[1]
    if call.where == CONTAINER:
        is_data = path.startswith(WORDS["container-data"]) and not path.startswith(WORDS["free-system"])
        return "delete.outside" if path in ROOTS or is_data else ""
    if local == "~":
        return "delete.home"
    if path in ROOTS:
        return "delete.system"
    if any(paths.is_within(place, path) for place in _projects(scope)):
        return "delete.project"
    if path in scope.temps:
        return "delete.outside"
    rule = _git_rule(path, call, scope)
    is_main = local[:2] == "~/" and local[2:] in WORDS["main-folders"]
    if rule or is_main or any(paths.is_within(home, path) for home in scope.homes):
        return rule or "delete.home"
    # A session in `/` does not make the system part of the project.
    is_project = project not in ROOTS or project in scope.homes
    is_free = path.startswith(WORDS["free-system"]) or paths.is_temporary(path, scope)
    if is_free or (is_project and paths.is_within(path, project)):
        return ""
    if paths.is_system(path):
        return "delete.system" if path.count("/") < 3 else "delete.outside"
    if path.startswith("/dev/") and not path.startswith("/dev/shm/"):
        return "disk.overwrite"
    is_rebuilt = is_disposable(path.rpartition("/")[2]) and path.count("/") > 2
    is_rebuilt = is_rebuilt or local.startswith(WORDS["home-caches"]) or path.startswith(WORDS["work-folders"])
    return "" if is_rebuilt else "delete.outside"


def _projects(scope: Scope) -> tuple[str, ...]:
    """The project; and the present folder, unless it is a folder of that like any other."""
    here, project = scope.places
    is_all_projects = project in ROOTS or any(paths.is_within(home, project) for home in scope.homes)
    is_own = is_all_projects or not paths.is_within(here, project) or exists(scope.cwd.rstrip("/") + "/.git")
    return (project, here) if is_own and not paths.is_temporary(here, scope) else (project,)


def is_disposable(name: str) -> bool:
    """Build output, caches and environments, which a command brings back."""
    is_listed = name in WORDS["disposable"] or name.endswith(WORDS["disposable-endings"])
    return is_listed or name.startswith(WORDS["disposable-starts"])
