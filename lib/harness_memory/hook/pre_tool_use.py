"""PreToolUse: the guard's answer first, then what memory has for the call (see `trigger`).

    payload → findings (none: silence) → `decision` → reply

Every tool call passes here, so nothing is imported before it is needed, `os` included. A failure before the verdict
becomes a question to the user, never silence; a failure after it does not change the verdict.
"""

from __future__ import annotations

import sys

from ..base import settings
from ..base.process import attempt, contents, leave, pin, read_payload, system, watch
from ..base.typing import Callable
from ..guard.question import Environment, Question, exists, findings

_REPLY = (
    b'{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "%s",'
    b' "permissionDecisionReason": "%s"}}'
)
_LAST_RESORT = _REPLY % (b"ask", b"Harness guard: this call could not be judged. See: harness memory doctor")
_ALLOWED = _REPLY % (b"allow", b"Harness Memory: its own command line, which reads or records")


def run(tree: str, finish: Callable[[], None] = lambda: None, timer: Callable[..., None] = watch) -> None:
    """Answer one call, `finish` and leave the process. `tree` is the folder of this installation."""
    pin(sys.argv)
    env, reply = Environment(system.environ), b""
    verdict: list[bytes] = []  # the guard's reply, as soon as it is known

    def late() -> None:
        what = "nothing to go with the verdict" if verdict else "no verdict"
        error = TimeoutError("%s within %.1f seconds" % (what, settings.GUARD_DEADLINE_SECONDS))
        replies = [*verdict, _LAST_RESORT][:1]
        attempt(lambda: replies.append(_without_more(env, verdict, error)))
        leave(replies[-1], is_late=True)

    try:
        if env.get(settings.ENV_SWITCH).strip().lower() not in settings.OFF_WORDS:
            timer(settings.GUARD_DEADLINE_SECONDS, late)
            reply = _answer(env, tree, verdict)
    except BaseException as error:  # noqa: BLE001  (a call that cannot be judged is asked about)
        reply = _without_more(env, verdict, error)
    leave(reply, finish)


def _answer(env: Environment, tree: str, verdict: list[bytes]) -> bytes:
    payload = read_payload()
    question, reply, rules = Question(payload, env, tree), b"", []
    if question.tool != "Skill":
        policy = question.policy()
        against = findings(question, policy)
        if _may_bind(question):
            from ..guard import match
            from ..guard.policy import load
            from ..notes.binding import near

            rules = match.met(question, near)
            policy = load(question.root, question.project)
            against += policy.bind(rules)
        if against:
            from ..guard.decision import decide

            reply = decide(question, policy, against)
        elif question.tool == "Bash" and "harness" in str(question.given.get("command")):
            from ..guard.allowance import is_free

            reply = _ALLOWED if is_free(question) else b""
    verdict.append(reply)
    if question.tool != "Skill":
        _stamp(question.root)
        if reply or not (rules or _has_history(question)):
            return reply
    from . import runner

    return runner.trigger(payload, rules)


def _may_bind(question: Question) -> bool:
    """Whether a call holds the words of a note that binds (see `notes.binding`); nearly none does."""
    data = contents(question.root + "/" + settings.TRIGGERS_MARK, settings.FILE_MAX_BYTES)
    if not data:
        return False
    values = question.given.items()
    given = [value for key, value in values if key == "command" or len(str(value)) <= settings.PATH_CHARS]
    text = ("%s %s" % (question.cwd, given)).lower().replace("\\", "").replace("'", "").replace('"', "")
    lines = [line.partition("\t")[2].split(" ") for line in data.decode("utf-8", "replace").split("\n") if line]
    return any(all(word in text for word in words) for words in lines)


def _has_history(question: Question) -> bool:
    """Whether memory has something for a file or command that this session was not given yet (see `history`)."""
    if not exists(question.root + "/" + settings.KNOWN_PATH):
        return False
    from ..base.known import is_news, subject

    about = subject(question.tool, question.given)
    return is_news(question.root, about, str(question.payload.get("session_id") or ""))


def _without_more(env: Environment, verdict: list[bytes], error: BaseException) -> bytes:
    """The reply after a failure or at the deadline: the verdict if it is known, else a question to the user."""
    try:
        from ..guard.decision import failed

        asked = failed(env, error)
    except BaseException:  # noqa: BLE001  (even then not silence)
        asked = _LAST_RESORT
    return verdict[0] if verdict else asked


def _stamp(root: str) -> None:
    """Leave the sign by which `doctor` sees that the hook runs."""
    path = "/".join((root, settings.LAST_RUN_DIR, "PreToolUse"))
    try:
        places = [system.lstat(each) for each in (root + "/" + settings.HEALTH_DIR, path.rpartition("/")[0], path)]
        kinds = [each.st_mode & 0o170000 for each in places]  # of `st_mode`, without the `stat` module
        is_linked = kinds != [0o040000, 0o040000, 0o100000] or places[2].st_nlink != 1
        if not is_linked and (system.__name__ == "nt" or {each.st_uid for each in places} == {system.geteuid()}):
            return system.utime(path)
    except OSError:
        pass
    from ..base import files

    try:
        files.confine(root)
        files.ensure_private(root)
        files.write(path, b"")
    except OSError:
        pass  # `doctor` reports a store that cannot be written
