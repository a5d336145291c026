"""What a path is: a secret, a start-up file, a part of the system, ours, or none of these.

Paths are compared in one form: absolute, folded, in lower case, with forward slashes, a drive as `/c`, the home
directory (anyone's) as `~`. Both the path as written and the place it really leads to are looked at.
"""

from __future__ import annotations

from ..base.process import system
from ..base.typing import Iterator
from .quick import HINTS
from .shell import BRACKET, GLOBS, QUESTION, STAR, TILDE, UNKNOWN, Unreadable, fits, folded, joined
from .words import HOME_PLACES, WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .question import Question

MAX_PATH_CHARS = 5000  # no system takes longer ones
MAX_JUDGED = 300  # of one question; beyond that only what may be a secret, as often again
READ, WRITE, DELETE = "read", "write", "delete"
SECRET, ENV, SENSITIVE, STARTUP = "path.secret", "path.env", "path.sensitive", "path.startup"


class Scope:
    """Where a call is made: the directories that rules speak of, in the form that paths are compared in."""

    def __init__(self, question: Question) -> None:
        self.home, self.project, self.cwd = question.home, question.project, question.cwd
        self.env = env = question.env
        config = env.get("CLAUDE_CONFIG_DIR") or self.home + "/.claude"
        places = [[place, real(place)] if place else [] for place in (self.home, question.root, question.tree, config)]
        self.homes, self.root, self.tree, self.config = [[*dict.fromkeys(map(form, both))] for both in places]
        temps = [env.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
        self.temps = [*WORDS["temps"], *(form(temp) for temp in temps if len(temp) > 2)]
        self.places = (form(self.cwd), form(self.project))
        self.memory: str | None = None  # the folder of this project's memory, once it is asked for
        self.judged: dict[tuple[str, str, str], str] = {}


def absolute(word: str, cwd: str, scope: Scope) -> str:
    """A word as a path in the form described above; relative ones as seen from `cwd`."""
    path = "/" + word[5:].lstrip("/") if word.startswith("file:") else word
    for variable, place in HOME_PLACES.items() if path[:1] in ("%", UNKNOWN) else ():
        for start in ("%" + variable + "%", UNKNOWN + ":" + variable):
            path = TILDE + place + path[len(start) :] if path.lower().startswith(start) else path
    if path[:1] == TILDE and path[1:2] not in ("", "/", "\\"):  # of a user
        path = "/home/" + path[1:]
    return form(joined(form(cwd, scope), form(path, scope)), scope)


def form(path: str, scope: Scope | None = None) -> str:
    path = path.replace("\\", "/")
    if path[1:2] == ":" and path[:1].isalpha():
        path = "/" + path[0] + path[2:]
    path = folded(path).lower()
    if path.startswith(("/mnt/c/", "/private/tmp", "/private/var", "/private/etc")):
        path = path[4:] if path[1] == "m" else path[8:]
    return scope.homes[0] + path[1:] if scope is not None and path[:1] == TILDE else path


def real(path: str) -> str:
    """Where a path leads, as far as links can be read; without `os`, which costs a hook a millisecond."""
    done, waiting, jumps = "", path.split("/")[1:] if path.startswith("/") else [], 0
    while waiting:
        piece = waiting.pop(0)
        if piece in ("", ".", ".."):
            done = done.rpartition("/")[0] if piece == ".." else done
            continue
        try:
            target = system.readlink(done + "/" + piece) if jumps < 20 else ""
        except (OSError, ValueError):
            target = ""
        jumps += bool(target)
        done = done + "/" + piece if not target else "" if target[0] == "/" else done
        waiting = target.split("/") + waiting if target else waiting
    return done or path


def home_relative(path: str, scope: Scope) -> str:
    """`~/...` for a path below anyone's home directory; `~` for one itself; else the path."""
    for home in scope.homes:
        if is_within(path, home):
            return "~" + path[len(home) :]
    pieces = path.split("/")
    depth = {"root": 2, "home": 3, "users": 3, "c": 4 if pieces[2:3] == ["users"] else 0}.get("".join(pieces[1:2]), 0)
    if depth and len(pieces) >= depth and pieces[depth - 1]:
        return "/".join(["~", *pieces[depth:]])
    return path


def is_temporary(path: str, scope: Scope) -> bool:
    """Below a folder for temporary files, unless that holds the home or the project."""
    is_ours = any(is_within(path, place) for place in (*scope.homes, scope.places[1]))
    return not is_ours and any(is_within(path, temp) for temp in scope.temps)


def is_within(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def variants(word: str, cwd: str, scope: Scope, access: str = READ) -> Iterator[str]:
    """The paths that a word may stand for: as written, as patterns may complete it, as links lead it."""
    path = absolute(word, cwd, scope)
    yield path
    if not GLOBS.isdisjoint(path):
        # The first name that matters for each piece that is a pattern; `*` alone aims at nothing.
        own, pieces = WORDS["own-samples"] if access == WRITE else (), path.split("/")
        names = list(pieces)
        for at, piece in enumerate(pieces):
            if GLOBS.isdisjoint(piece):
                continue
            is_open = piece[:1] == STAR or piece.startswith(".git") or (piece[:1] != "." and len(piece) < 3)
            samples = own if is_open else (*own, *WORDS["samples"])
            names[at] = next((name for name in samples if matches(piece, name)), piece)
        if names != pieces:
            yield "/".join(names)
    elif UNKNOWN not in path:
        # Links are followed from the words as written: file systems may know upper and lower case.
        exact = joined(joined(scope.cwd, cwd), word.replace(TILDE, scope.home, 1) if word[:1] == TILDE else word)
        goal = real(exact)
        if goal != exact:
            yield form(goal, scope)


def matches(pattern: str, name: str) -> bool:
    """Whether the shell could complete `pattern`, with its markers, to `name`."""
    while BRACKET in pattern:  # `[a-z]` is any character
        head, _, rest = pattern.partition(BRACKET)
        pattern = head + "?" + rest.partition("]")[2]
    is_hidden = name[:1] == "." and pattern[:1] != "."
    if pattern[-1:] not in (name[-1:], STAR, QUESTION, UNKNOWN, "?"):
        return False
    return not is_hidden and fits(name, pattern.replace(STAR, "*").replace(QUESTION, "?").replace(UNKNOWN, "?"), "")


def rule_for(word: str, access: str, cwd: str, scope: Scope) -> str:
    """The id of the rule that stands against this access; "" when none does."""
    if len(word) > MAX_PATH_CHARS:
        return ""
    key = (word, access, cwd)
    if key not in scope.judged:
        if len(scope.judged) >= MAX_JUDGED and not any(hint in word.lower() for hint in HINTS):
            return ""
        if len(scope.judged) >= 2 * MAX_JUDGED:
            raise Unreadable("more paths than can be judged")
        rules = (_rule(path, access, scope) for path in variants(word, cwd, scope, access))
        scope.judged[key] = next((each for each in rules if each), "")
    return scope.judged[key]


def _rule(path: str, access: str, scope: Scope) -> str:
    name, local = path.rpartition("/")[2], home_relative(path, scope)
    rule = _secret(path, name, local, scope)
    rule = "" if local == path and is_temporary(path, scope) else rule
    if rule and (access == READ or (access == DELETE and rule == SECRET)):
        return rule
    if access == READ:
        return _other_memory(path, scope)
    other = own_rule(path, access, scope) or _guarded(path, name, local, access, scope)
    return other or {ENV: "path.env-write", SECRET: SENSITIVE * (access == WRITE)}.get(rule, "")


def _secret(path: str, name: str, local: str, scope: Scope) -> str:
    pieces = path.split("/")
    if name.endswith(WORDS["public"]):
        return ""
    inner = next((pieces[at + 1 :] for at, piece in enumerate(pieces) if piece in WORDS["secret-dirs"]), None)
    if inner is not None:
        return "" if inner and inner[0].startswith(WORDS["no-keys"]) else SECRET
    below = local[2:] + "/" if local[:2] == "~/" else ""
    for folder in WORDS["config-folders"]:  # of other systems
        below = ".config" + below[len(folder) :] if below.startswith(folder + "/") else below
    if below.startswith(WORDS["secret-home"]) or below == ".aws/" or path.startswith(WORDS["secret-system"]):
        return SECRET
    if path.startswith("/proc/") and name in ("environ", "mem") and "/self/environ" not in path:
        return SENSITIVE
    if name not in WORDS["secret-names"] and (
        below.startswith(WORDS["sensitive-home"]) or path.startswith(WORDS["sensitive-system"])
    ):
        return SENSITIVE
    is_ours = is_within(path, scope.places[1])
    if is_ours and not set(WORDS["fixtures"]).isdisjoint(path[len(scope.places[1]) :].split("/")[:-1]):
        return ""  # made for tests, or part of a package
    is_key = name.startswith(("id_rsa", "id_ed25519", "id_ecdsa")) and "." not in name.replace(".bak", "")
    if name in WORDS["secret-names"] or is_key:
        return SECRET
    is_sensitive = _is_sensitive(path, name, below[:1] == "." and not is_ours)
    return ENV if is_env(name) else SENSITIVE if is_sensitive else ""


def _is_sensitive(path: str, name: str, is_hidden: bool) -> bool:
    if name in WORDS["sensitive-names"] or path.startswith("/etc/sudoers") or path.endswith(WORDS["secret-anywhere"]):
        return True
    if name.endswith(WORDS["sensitive-suffixes"]):
        harmless = {"pem": WORDS["harmless-key"], "key": ("pub",)}.get(name[-3:], ())
        is_public = any(part in name for part in harmless)
        return not (is_public or len(name) < 5 or path.startswith("/etc/ssl/certs/"))
    *words, suffix = name.replace("-", ".").replace("_", ".").split(".")
    kinds = WORDS["home-secret-words"] if is_hidden else WORDS["secret-stems"]
    is_named = not {suffix, *words}.isdisjoint(kinds) and suffix in WORDS["data-suffixes"] + kinds
    is_data = suffix in WORDS["data-suffixes"] or not words or (suffix in ("yaml", "yml") and "account" not in name)
    is_joined = is_data and any(part in "".join(words or [suffix]) for part in WORDS["joined-secrets"])
    return (is_named or is_joined) and set(words).isdisjoint(WORDS["harmless-env"])


def is_env(name: str) -> bool:
    """`.env` and its kin; examples, templates and tests are for everyone."""
    if not (name in (".env", ".flaskenv") or name.startswith(".env.") or (name.endswith(".env") and len(name) > 4)):
        return False
    return set(WORDS["harmless-env"]).isdisjoint(name.replace("-", ".").replace("_", ".").split("."))


def own_rule(path: str, access: str, scope: Scope) -> str:
    """The rule for changing what is ours: the store, the installed code, the client's settings."""
    for root in scope.root:
        if is_within(path, root):
            return "self.audit" if "/security" in path[len(root) :] else "self.memory"
        if access == DELETE and is_within(root, path):
            return "self.memory"
    folder, _, name = path.rpartition("/")
    if name in ("settings.json", "settings.local.json") and folder in scope.config:
        return "self.guard" if access == DELETE else "self.settings"
    if path.endswith(("/.claude/settings.json", "/.claude/settings.local.json", "/.claude/guard.json")):
        return "self.project-settings"
    is_code = any(is_within(path, tree) and not is_within(scope.places[1], tree) for tree in scope.tree)
    return "self.guard" if is_code else ""


def _other_memory(path: str, scope: Scope) -> str:
    """Another project's folder of the store: one that has sessions, and is not this project's. Or all of them."""
    for root in scope.root:
        path = path.replace(root + "/archive/", root + "/", 1)  # where each project has a folder too
        name = path[len(root) + 1 :].partition("/")[0] if path.startswith(root + "/") else ""
        if path in (root, root + "/archive", root + "/view.html") or not (GLOBS | {UNKNOWN}).isdisjoint(name):
            return "self.other-memory"
        if name[-13:-12] == "-" and len(name) > 13:
            if scope.memory is None:
                from ..project import identity

                scope.memory = form(identity.locate(scope.root[0], scope.project, scope.cwd).dir)
            if name != scope.memory.rpartition("/")[2]:
                return "self.other-memory"
    return ""


def _guarded(path: str, name: str, local: str, access: str, scope: Scope) -> str:
    if local in WORDS["startup"] or path in WORDS["startup"] or local.startswith(WORDS["startup-dirs"]):
        return STARTUP
    if local in ("~/.gitconfig", "~/.config/git/config"):
        return "path.git-hooks"
    if path.startswith(WORDS["disks"]):
        return "disk.overwrite"
    if path.startswith(WORDS["core-files"]):
        return "path.system-core"
    if is_system(path) and not is_temporary(path, scope):
        return "path.system"
    inner = path.partition("/.git/")[2]
    if (inner.startswith("hooks/") or inner in ("config", "hooks")) and not path.endswith((".sample", ".lock")):
        return "path.git-hooks"
    if name in WORDS["ci-names"] or any(each in path for each in WORDS["ci-dirs"]):
        return "path.ci"
    return "path.no-delete" if access == DELETE and name in WORDS["no-delete"] else ""


def is_system(path: str) -> bool:
    top, folder, *_ = [*path.split("/", 2), ""]
    is_listed = (not top and folder in WORDS["system-dirs"]) or path.startswith(WORDS["system-prefixes"])
    return is_listed and not path.startswith(WORDS["free-prefixes"])
