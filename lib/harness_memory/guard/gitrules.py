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
    (verb, args), branch = call.verb(), call.branch
    if verb == "push" and not branch and (call.cwd[:1] == "/" or call.cwd[1:2] == ":"):
        from ..project import git

        repo = git.find(call.cwd)[1]
        branch = git.branch(repo) if repo else ""
    rule = _rule(call, case.policy.protected if case.policy else WORDS["protected"], branch)
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
    before = [each.verb() for each in case.found.calls[: case.found.calls.index(call)] if each.program == "git"]
    last = "".join([" " + "".join(args[:1]) for verb, args in before if verb == "stash"][-1:])
    return rule != "git.clean" and (last[:2] in (" ", " -") or last in (" push", " save"))


def _rule(call: Call, protected: tuple[str, ...], branch: str) -> str:
    """`branch` is the one checked out, where known."""
    (verb, args), given = call.verb(), call.given
    if verb == "push":
        return _push(call, protected, branch)
    words = args[args.index("--") + 1 :] if "--" in args else given.operands[1:]
    if verb == "restore" and given.has("--staged,-S") and not given.has("--worktree,-W"):
        return ""
    if verb == "checkout" and "--" not in args:
        if given.has("-b,-B,--orphan,-t,--track,--detach,-d") or args == ["-h"]:
            return ""
        # The only argument is a path, or a branch; v1.x is a branch.
        word = "".join(words)
        stem, dot, ending = word.rpartition("/")[2].rpartition(".")
        is_file = bool(dot and stem and ending.isalpha() and ending != "x" and len(ending) < 6)
        is_path = is_file or word in ("..", "*", ".", ":/") or word[:2] == "./" or STAR in word
        words = words[1:] if len(words) > 1 or not is_path else words
    if verb not in ("checkout", "restore") or not words or "--help" in args:
        return ""
    is_file = len(words) < 4 and "." in words[0].rpartition("/")[2][1:]
    is_sure = not any(UNKNOWN in word or GLOBS & set(word) for word in words)
    if is_file and is_sure:
        is_made = all(word.endswith(WORDS["regenerated"]) or is_disposable(word.partition("/")[0]) for word in words)
        return "" if is_made or given.has("--ours,--theirs") else "git.discard-file"
    return "git.discard"


def _push(call: Call, protected: tuple[str, ...], branch: str) -> str:
    given, refs = call.given, call.given.operands[2:]
    if given.has("--dry-run,-n"):
        return ""
    if any(ref[:1] == ":" and len(ref) > 1 for ref in refs):
        return "git.push-delete"
    has_lease = given.has("--force-with-lease,--force-if-includes")
    is_forced = given.has("--force,-f") or any(ref[:1] == "+" for ref in refs)
    if not is_forced and not has_lease:
        return ""
    if given.has("--all,--branches,--tags"):
        return "git.force-push"
    targets = [ref.lstrip("+").rpartition(":")[2].replace("refs/heads/", "") for ref in refs]
    targets = [branch if target in ("HEAD", "@") else target for target in targets] or [branch]
    starts = tuple([name.rstrip("*").rstrip("/") + "/" for name in protected])
    is_known = all(target and {UNKNOWN, STAR, "*"}.isdisjoint(target) for target in targets)
    if is_known and not any(target in protected or target.startswith(starts) for target in targets):
        return "git.force-push-own"
    # With a lease git itself refuses when another person has pushed.
    return "git.force-push-own" if has_lease and not is_forced and targets == [""] else "git.force-push"
