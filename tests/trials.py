"""An operation that dies or fails at one point, and what must be true afterwards."""

from __future__ import annotations

import errno
import json
import os
from typing import Callable, Iterator

import invariants
import protocol
import storm
import support
from interposer import CHANGES, CUT, FAULTS, KILL, TEAR, Outcome, Plan
from invariants import Facts
from life import failures
from operations import Operation
from scene import Scene

from harness_memory.base import settings

GRACE_SECONDS = 1.0  # for the watchdog, and for whoever else is at work on this machine


class Trial:
    """One scene, and what is known there with and without each operation."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.slowest: dict[str, float] = {}
        self._known: dict[str, tuple[Facts, Outcome]] = {}
        self._before: dict[tuple[str, type], Facts] = {}
        scene.reset()
        self.elsewhere = self._elsewhere()

    def before(self, operation: Operation) -> Facts:
        """What is known when it was not done."""
        key = operation.session, type(operation)
        if key not in self._before:
            self._set_up(operation)
            self.scene.go_on(operation.session)
            self._before[key] = invariants.facts(self.scene.store)
        return self._before[key]

    def _set_up(self, operation: Operation) -> None:
        self.scene.reset()
        operation.prepare(self.scene)

    def known(self, operation: Operation) -> tuple[Facts, Outcome]:
        """What is known when it was done undisturbed, and how it went."""
        if operation.name not in self._known:
            self._set_up(operation)
            outcome = operation.run(self.scene, Plan())
            assert outcome.code in ((0,) if operation.is_hook else (0, 1)), outcome
            assert not outcome.stderr, outcome
            self.scene.go_on(operation.session)
            assert self._remembered(operation) == []
            self._known[operation.name] = invariants.facts(self.scene.store), outcome
        return self._known[operation.name]

    # Deaths
    def die(self, operation: Operation, plan: Plan, run: Callable[[], Outcome] | None = None) -> tuple[bool, list[str]]:
        """Whether it was interrupted, and what is wrong afterwards; `run` is another way to do it."""
        self.known(operation)
        self.before(operation)
        outcome = self._run(operation, plan, run)
        if not outcome.is_killed:
            return False, []
        wrong = self._half_written() if plan.act == KILL else []
        is_done = operation.is_synced and plan.act == CUT and plan.at > _changes(self.known(operation)[1])
        is_repeated = operation.converges and plan.at % 2 == 0 and not is_done
        if is_repeated:
            repeated = operation.run(self.scene, Plan())
            wrong += bearing(operation, repeated) if operation.is_hook else manners(repeated)
        self.scene.go_on(operation.session)
        wrong += self._wrong(operation, is_kill=plan.act == KILL, is_repeated=is_repeated, is_done=is_done)
        wrong += self._remembered(operation) if is_repeated or is_done else []
        return True, ["%s, %r: %s" % (operation, plan, each) for each in wrong]

    def _run(self, operation: Operation, plan: Plan, run: Callable[[], Outcome] | None = None) -> Outcome:
        self._set_up(operation)
        outcome = run() if run else operation.run(self.scene, plan)
        if operation.is_hook:
            self.slowest[operation.event] = max(self.slowest.get(operation.event, 0.0), outcome.seconds)
        return outcome

    def _half_written(self) -> list[str]:
        files = [path for path in sorted(self.scene.store.rglob("*")) if path.is_file()]
        return [problem for path in files for problem in storm.damaged(path)]

    def _wrong(
        self, operation: Operation, *, is_kill: bool = True, is_repeated: bool = False, is_done: bool = False
    ) -> list[str]:
        store = self.scene.store
        after = self.known(operation)[0]
        before = after if is_repeated or is_done else self.before(operation)
        found = invariants.facts(store)
        if is_repeated:
            found["shop", "audit"] = after["shop", "audit"]  # what was tried twice is on record twice
        elif operation.name == "allowed call":  # a permission that cannot be read is none
            found["shop", "audit"] = [
                ("tool_noted", *event[1:]) if event[1] == "git.reset-hard" else event
                for event in found["shop", "audit"]
            ]
        wrong = invariants.mixtures(found, before, after)
        damage = invariants.damage(store)
        if damage and not is_kill:  # what was not worth the wait for the disk may be lost, and is named
            told = self.scene.world.memory("verify").stdout
            damage = [each for each in damage if os.path.basename(each.split()[0].rstrip(":")) not in told]
        if self._elsewhere() != self.elsewhere:
            wrong.append("the other project has changed")
        return wrong + damage + ["stamped: %s" % error for error in failures(store)]

    def _remembered(self, operation: Operation) -> list[str]:
        return invariants.holding(self.scene.store, operation.forgets) if operation.forgets else []

    def _elsewhere(self) -> dict[str, bytes]:
        (other,) = [path for path in support.project_dirs(self.scene.store) if path.name.startswith("else")]
        return support.snapshot(other)

    # Faults
    def fail(self, operation: Operation, plan: Plan) -> tuple[bool, list[str]]:
        """Whether there was still something to fail, and what is wrong with how it was borne."""
        self.known(operation)
        self.before(operation)
        outcome = self._run(operation, plan)
        wrong = bearing(operation, outcome) if operation.is_hook else manners(outcome)
        wrong += ["stamped: %s" % error for error in failures(self.scene.store) if not is_ours(error, plan.act)]
        for path in support.failures(self.scene.store):
            path.unlink()
        wrong += self._half_written()
        self.scene.go_on(operation.session)
        is_done = (
            not operation.is_hook and outcome.code == 0 and operation.name != "backfill"
        )  # which takes what it can
        wrong += self._wrong(operation, is_repeated=is_done)  # what says that it is done must be so
        wrong += self._remembered(operation) if is_done else []
        return plan.at <= count(outcome, plan), ["%s, %r: %s" % (operation, plan, each) for each in wrong]

    def complaints(self, plan: Plan) -> list[str]:
        """What the product itself finds wrong with the scene as it is now."""
        check = invariants.complaints if plan.act == KILL else invariants.unhealed
        return check(self.scene.world)


def count(outcome: Outcome, plan: Plan) -> int:
    """How many operations there were that the plan counts."""
    return sum(not plan.kinds or name in plan.kinds for name, _ in outcome.operations)


def _changes(outcome: Outcome) -> int:
    return sum(name in CHANGES for name, _ in outcome.operations)


def last_cut(trial: Trial, operation: Operation) -> Plan:
    """The power goes when all is done and told."""
    return Plan(CUT, _changes(trial.known(operation)[1]) + 1, changes=True)


def bearing(operation: Operation, outcome: Outcome) -> list[str]:
    """A hook ends well whatever it meets, and says nothing the client would misread; the guard does not give way."""
    wrong = protocol.complaints(operation.event, outcome.stdout.encode("utf-8"))
    limit = settings.DEADLINE_SECONDS + GRACE_SECONDS
    if outcome.seconds > limit:
        wrong.append("took %.1f s" % outcome.seconds)
    if outcome.code or outcome.stderr:
        wrong.append("exit %d, stderr %r" % (outcome.code, outcome.stderr))
    if operation.must_stop and not wrong and _decision(outcome) not in ("ask", "deny"):
        wrong.append("let through: %r" % outcome.stdout)
    return wrong


def _decision(outcome: Outcome) -> str:
    reply = json.loads(outcome.stdout or "{}")
    return str(reply.get("hookSpecificOutput", {}).get("permissionDecision"))


def manners(outcome: Outcome) -> list[str]:
    """A command says what is wrong in words, and that it is: 2 when it could not be done."""
    wrong = []
    if outcome.code not in (0, 1, 2) or "Traceback" in outcome.stderr:
        wrong.append("exit %d: %s" % (outcome.code, outcome.stderr))
    elif outcome.code == 2 and not outcome.stderr.strip():
        wrong.append("exit 2 without a word")
    return wrong


def is_ours(error: str, code: int) -> bool:
    """A stamp that tells of the fault, and of no mistake of ours in bearing it."""
    return "Errno %d" % code in error or errno.errorcode[code] in error


def deaths(trial: Trial, operation: Operation) -> Iterator[Plan]:
    """Every point at which a death leaves something else on the disk."""
    _, whole = trial.known(operation)
    changes = _changes(whole)
    writes = sum(name == "write" for name, _ in whole.operations)
    yield from (Plan(KILL, number, changes=True) for number in range(1, changes + 1))
    yield from (Plan(TEAR, number) for number in range(1, writes + 1))
    yield from (Plan(CUT, number, changes=True) for number in range(1, changes + 2))


LASTING = (errno.EACCES, errno.EROFS)  # what is closed to us stays so at the next attempt


def faults(trial: Trial, operation: Operation) -> Iterator[Plan]:
    """Every operation that can fail, in every way in which it can; then for good."""
    _, whole = trial.known(operation)
    for code, kinds in FAULTS.items():
        total = sum(name in kinds for name, _ in whole.operations)
        if code not in LASTING:
            yield from (Plan(code, number) for number in range(1, total + 1))
        if code != errno.EINTR:
            yield from (Plan(code, number, stays=True) for number in range(1, total + 1, 1 if code in LASTING else 5))
