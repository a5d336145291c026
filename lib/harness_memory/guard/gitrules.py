"""Git where words alone do not tell: discards of work, pushes, settings. The other verbs stand in the row of `git`."""

from __future__ import annotations

from . import paths
from .calls import Call
from .deletes import is_disposable
from .shell import GLOBS, STAR, UNKNOWN, plain
from .words import WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .judge import Case, Found


def check(case: Case, call: Call) -> Found:
    verb, args = call.verb()
    rule = _push(case, call) if verb == "push" else _discard(call, verb, args)
    if rule and not is_harmless(case, rule, call):
        yield rule, call.line()
    is_shown = verb in WORDS["git-shows"] or (verb == "log" and not {"-p", "--patch"}.isdisjoint(args))
    is_told = is_shown and set(args).isdisjoint(WORDS["git-summaries"])
    words = args[args.index("--") + 1 :] if "--" in args else call.given.operands[2 if verb == "grep" else 1 :]
    for word in words if verb == "add" or is_told else ():
        against = case.rule(word.rpartition(":")[2], call)
        if against in (paths.SECRET, paths.ENV):
            yield "git.secret" if verb == "add" else against, plain(word)


def is_harmless(case: Case, rule: str, call: Call) -> bool:
    """Whether the script has just put aside what this rule is about, or made the repository itself."""
    if not rule.startswith(("git.reset", "git.discard", "git.clean")):
        return False
    is_made = any(paths.is_within(call.cwd, made) for made in case.found.made)
    if is_made or paths.is_temporary(paths.absolute(".", call.cwd, case.scope), case.scope):
        return True
    before = [each.verb() for each in case.found.calls[: call.number] if each.program == "git"]
    last = "".join([" " + "".join(args[:1]) for verb, args in before if verb == "stash"][-1:])
    return rule != "git.clean" and (last[:2] in (" ", " -") or last in (" push", " save"))


def _discard(call: Call, verb: str, args: list[str]) -> str:
    """`git checkout` and `git restore` of files."""
    given = call.given
    is_index = given.has("--staged,-S") and not given.has("--worktree,-W")
    if verb not in ("checkout", "restore") or is_index or given.has("-b,-B,--orphan,-t,--track,--detach,-d,-h,--help"):
        return ""
    words = args[args.index("--") + 1 :] if "--" in args else given.operands[1:]
    if verb == "checkout" and "--" not in args:  # the only argument is a path, or a branch; v1.x is a branch
        word = "".join(words)
        stem, dot, ending = word.rpartition("/")[2].rpartition(".")
        is_file = bool(dot and stem and ending.isalpha() and ending != "x" and len(ending) < 6)
        is_path = is_file or word in ("..", "*", ".", ":/") or word[:2] == "./" or STAR in word
        words = words[1:] if len(words) > 1 or not is_path else words
    is_file = 0 < len(words) < 4 and "." in words[0].rpartition("/")[2][1:]
    if is_file and not any(UNKNOWN in word or GLOBS & set(word) for word in words):
        is_made = all(word.endswith(WORDS["regenerated"]) or is_disposable(word.partition("/")[0]) for word in words)
        return "" if is_made or given.has("--ours,--theirs") else "git.discard-file"
    return "git.discard" if words else ""


def _push(case: Case, call: Call) -> str:
    given, refs = call.given, call.given.operands[2:]
    is_forced = given.has("--force,-f") or any(ref[:1] == "+" for ref in refs)
    has_lease = given.has("--force-with-lease,--force-if-includes")
    is_deleted = any(ref[:1] == ":" and len(ref) > 1 for ref in refs)
    if given.has("--dry-run,-n") or not (is_deleted or is_forced or has_lease):
        return ""
    if is_deleted:
        return "git.push-delete"
    branch = call.branch or _checked_out(call.cwd)
    targets = [ref.lstrip("+").rpartition(":")[2].replace("refs/heads/", "") for ref in refs]
    targets = [branch if target in ("HEAD", "@") else target for target in targets] or [branch]
    protected = case.policy.protected if case.policy else WORDS["protected"]
    starts = tuple([name.rstrip("*").rstrip("/") + "/" for name in protected])
    is_known = all(target and {UNKNOWN, STAR, "*"}.isdisjoint(target) for target in targets)
    is_shared = not is_known or any(target in protected or target.startswith(starts) for target in targets)
    if is_forced:
        is_all = given.has("--all,--branches,--tags")
        return "git.force-push" if is_shared or is_all else "git.force-push-own"
    # With a lease git itself refuses when another person has pushed.
    return "git.force-push" if is_shared and targets != [""] else ""


def _checked_out(cwd: str) -> str:
    from ..project import git

    repo = git.find(cwd)[1] if cwd[:1] == "/" or cwd[1:2] == ":" else None
    return git.branch(repo) if repo else ""
