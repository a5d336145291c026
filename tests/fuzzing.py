"""Generated input of every kind the product reads, run through the real hooks, and what must be true afterwards.

A case is known by its seed, kind and number and can be made again from these alone. It changes some files of a
`fuzzworld.World`, runs one or more hooks, and says what went wrong: an exit code, a word on standard error, an answer
the client would not take, a bug (as the failure stamps tell it), a write outside the store, a lost record, a file left
half or open to others, too much time or memory. Then the world is put back as it was.
"""

from __future__ import annotations

import builtins
import json
import os
import re
from collections import Counter
from typing import Any, Callable, Iterator

import guard_tables
import protocol
import support
from fuzzworld import CHECKPOINT, GIT_CONFIG, GUARD, IDS, NESTED, OTHERS_WORD, Outcome, World, readable
from mutation import Chance

from harness_memory.base import settings
from harness_memory.setup import entries, installation, merge, settingsfile

SLACK_SECONDS = 2.0  # the watchdog has its grace, and others use the machine too
LIMITS_SECONDS = {"SessionEnd": settings.SESSION_END_DEADLINE_SECONDS, "PreToolUse": settings.GUARD_DEADLINE_SECONDS}
MOST_CPU_SECONDS = 0.9  # no input is so long that it should take longer
MOST_BYTES = 64 * 1024 * 1024  # of memory, beyond what the interpreter has; no input has more than a megabyte
SCRIPTS = tuple(protocol.EVENTS)
SHARES = {
    "payload": 30,
    "transcript": 20,
    "checkpoint": 10,
    "meta": 7,
    "state": 15,
    "note": 6,
    "guard": 4,
    "git": 4,
    "settings": 4,
}
ROWS = [row for section in guard_tables.SECTIONS for row in guard_tables.rows(section)]
COMMANDS = [row["command"] for row in ROWS if "command" in row]
CALLS = [(row["tool"], row["input"]) for row in ROWS if "tool" in row]
TIMES = (0.0, 1.0, 1e9, 2e9, 2.0**33, 253402300800.0, 1e12)  # 1970, long ago, 2033, 2242, 10000, beyond
PROMPTS = ("Round the totals", "/melt ice", "And the parser?", "yes", "<task-notification>\n<task-id>a</task-id>")


class Run:
    """One hook to be run."""

    __slots__ = ("data", "env", "script")

    def __init__(self, script: str, data: bytes, env: dict[str, str]) -> None:
        self.script = script
        self.data = data
        self.env = env


class Case:
    """Files to change (None: away with it) and hooks to run."""

    def __init__(self, kind: str, number: int, seed: int) -> None:
        self.kind = kind
        self.number = number
        self.chance = Chance("%d:%s:%d" % (seed, kind, number))
        self.edits: dict[str, bytes | None] = {}
        self.times: dict[str, float] = {}
        self.runs: list[Run] = []

    @property
    def name(self) -> str:
        return "%s:%d" % (self.kind, self.number)

    def mentions(self, word: str) -> bool:
        """Whether anything of the input says a word."""
        data = word.encode()
        inputs = [run.data for run in self.runs] + [content for content in self.edits.values() if content]
        return any(data in content for content in inputs) or any(word in str(run.env) for run in self.runs)


def cases(seed: int) -> Iterator[tuple[str, int]]:
    """Kinds and numbers without end, each kind by its share."""
    row = [kind for kind, share in SHARES.items() for _ in range(share)]
    Chance(seed).shuffle(row)
    taken: Counter[str] = Counter()
    while True:
        for kind in row:
            yield kind, taken[kind]
            taken[kind] += 1


class Fuzzer:
    """Makes cases, runs them in one world and judges what they left."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.seed = seed
        self.counts: Counter[str] = Counter()
        self.slowest: dict[str, float] = {}
        self.most_bytes = 0
        self.outcomes: list[Outcome] = []
        self.seeds = Seeds(world)
        self.facts = Facts(world)
        self.settings = SettingsFile(world)

    def make(self, kind: str, number: int) -> Case:
        case = Case(kind, number, self.seed)
        MAKERS[kind](self.seeds, case)
        for path, data in case.edits.items():
            if data is not None and case.chance.happens(0.04):
                case.times[path] = case.chance.choice(TIMES)
        return case

    def run(self, kind: str, number: int) -> list[str]:
        """What is wrong; each line names the case."""
        self.counts[kind] += 1
        if kind == "settings":
            found = self.settings.problems(Case(kind, number, self.seed))
        else:
            found = self._run(self.make(kind, number))
        return ["seed %d %s:%d  %s" % (self.seed, kind, number, problem) for problem in found]

    def _run(self, case: Case) -> list[str]:
        for path, data in case.edits.items():
            _put(path, data)
        for path, when in case.times.items():
            os.utime(path, (when, when))
        self.outcomes = []
        found: list[str] = []
        for run in case.runs:
            self.counts["hook runs"] += 1
            outcome = self.world.runner.hook(run.script, run.data, run.env, self.world.app)
            self.outcomes.append(outcome)
            found += self._judge(case, outcome)
        changes = self.world.image.changed()
        found += self._stamps()
        found += self.facts.problems(case, changes)
        self.world.image.restore(changes)
        return found

    def _judge(self, case: Case, outcome: Outcome) -> list[str]:
        event = outcome.event
        self.slowest[event] = max(self.slowest.get(event, 0.0), outcome.seconds)
        self.most_bytes = max(self.most_bytes, outcome.memory)
        found = [] if outcome.code == 0 else ["exit code %d" % outcome.code]
        found += ["stderr: %s" % outcome.stderr.decode("utf-8", "replace")[-600:]] if outcome.stderr else []
        found += protocol.complaints(event, outcome.stdout)
        found += ["touched %s %s" % stray for stray in outcome.strays[:5]]
        limit = LIMITS_SECONDS.get(event, settings.DEADLINE_SECONDS)
        if outcome.seconds > limit + SLACK_SECONDS or outcome.cpu > MOST_CPU_SECONDS:
            found.append("took %.2f s, %.2f s of CPU" % (outcome.seconds, outcome.cpu))
        if outcome.memory > MOST_BYTES:
            found.append("took %d MB" % (outcome.memory >> 20))
        is_named = case.mentions(OTHERS_WORD) or case.mentions(self.world.other.name)
        if OTHERS_WORD.encode() in outcome.stdout and not is_named:
            found.append("told of another project")
        return ["%s: %s" % (event, line) for line in found]

    def _stamps(self) -> list[str]:
        found = []
        for path in support.failures(self.world.store):
            try:
                stamp = json.loads(path.read_text("utf-8"))
                error, detail = str(stamp["error"]), str(stamp["detail"])
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                continue  # one of the files that were damaged on purpose
            if is_bug(error):
                found.append("%s: %s\n%s" % (stamp["event"], error[:300], detail[-900:]))
        return found


def is_bug(error: str) -> bool:
    """Whether a failure stamp tells of an exception nobody meant to raise."""
    kind = getattr(builtins, error.partition(":")[0], None)
    return isinstance(kind, type) and issubclass(kind, BaseException) and not issubclass(kind, OSError)


# What cases are made of ----------------------------------------------------------------------------


class Seeds:
    """Good input of every kind, to be spoilt."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.files = world.image.files
        self.payloads = world.payloads()
        self.transcript = world.current.transcript_path
        self.lines = self.files[self.transcript].splitlines(keepends=True)
        self.entries = [json.loads(line) for line in self.lines]
        self.cursor = self.files[self.transcript]
        agents = self.transcript[: -len(".jsonl")] + "/subagents/"
        self.agents = agents
        self.agent_lines = self.files[agents + "agent-a1.jsonl"].splitlines(keepends=True)
        self.project = str(world.project())
        self.metas = [path for path in self.files if path.endswith(settings.META_FILE)]
        self.classes = self._classes()
        self.absent = self._absent()
        self.claude = str(world.app / ".claude")

    def run(self, case: Case, script: str, payload: Any = None, **env: str | None) -> None:
        payload = self.payloads[script] if payload is None else payload
        data = payload if isinstance(payload, bytes) else support.encode(payload)
        case.runs.append(Run(script, data, self.world.environment(self.world.current, **env)))

    def run_some(self, case: Case, *scripts: str) -> None:
        """One or two of these events, as they are."""
        for script in case.chance.sample(scripts, 2 if case.chance.happens(0.15) else 1):
            self.run(case, script)

    def _classes(self) -> list[list[str]]:
        """The files of the store by what they are: a day, an id or a time makes no other kind of file."""
        kinds: dict[str, list[str]] = {}
        root = str(self.world.store)
        for path in self.files:
            if path.startswith(root):
                kinds.setdefault(re.sub(r"[0-9a-f]*[0-9][0-9a-zTZ.:-]*", "0", path[len(root) :]), []).append(path)
        # Those that hold most of a session's state come up more often.
        rich = ("/capture.json", "/injected.json", "/live/", "/project.json", "/conversation_state.json", "/episodes/")
        return [kinds[name] for name in sorted(kinds) for _ in range(4 if any(part in name for part in rich) else 1)]

    def _absent(self) -> dict[str, Any]:
        """Files of the store that this world has none of, as they might be."""
        root, project, now = str(self.world.store), self.project, "2026-11-16T12:00:00Z"
        texts = [{"words": 2, "hash": "0" * 32, "at": now}]
        forgotten = {
            "schema": 1,
            "salt": "ab",
            "sessions": {IDS["done"]: now},
            "notes": {"0" * 32: now},
            "texts": texts,
        }
        install = {"settings": "/x", "rules": ["Read(~/x)"], "folders": []}
        return {
            root + "/config.json": {"retention_days": 90, "recall_items": 3},
            root + "/installs.json": {"schema": 1, "installs": [install]},
            root + "/health/failures/1763290000000000000-1.json": {"schema": 1, "at": now, "event": "x", "error": "x"},
            root + "/guard/allowed/" + "0" * 64: "once\n",
            root + "/health/degraded/0123456789abcdef": "",
            project + "/STATE/forgotten.json": forgotten,
            project + "/STATE/consolidated.json": {"schema": 1, "at": now},
            project + "/STATE/consolidation-told": "",
            project + "/STATE/backfill.json": {"schema": 1, "empty": {IDS["done"]: 12}},
            project + "/STATE/dirty/session-2026-11-16T120000Z-d0000000.json": "",
            project + "/briefing.md.1": "# Before\n",
        }

    def own(self, path: str) -> bool:
        """Whether a file belongs to the present session alone."""
        return IDS["current"][:8] in path


def payload_case(seeds: Seeds, case: Case) -> None:
    chance = case.chance
    script = chance.choice(SCRIPTS)
    payload = dict(seeds.payloads[script])
    if script == "pre_tool_use":
        tool, given = chance.choice(CALLS) if chance.happens(0.4) else ("Bash", {"command": chance.choice(COMMANDS)})
        payload.update(tool_name=tool, tool_input=given)
    elif script == "user_prompt_submit":
        payload["prompt"] = chance.choice(PROMPTS)
    elif script == "session_start":
        payload["source"] = chance.choice(("startup", "resume", "clear", "compact", "fork"))
    how = chance.random()
    if how < 0.15:
        payload[chance.choice(list(payload))] = chance.value()
        data = chance.encoded(payload)
    elif how < 0.7:
        data = chance.encoded(chance.tree(payload))
    else:
        data = chance.bytes(support.encode(payload))
    env: dict[str, str | None] = {}
    if chance.happens(0.2):
        names = ("CLAUDE_PROJECT_DIR", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "LANG", "PWD")
        word = chance.text().replace("\0", "").encode("utf-8", "replace").decode("utf-8")[:5000]
        env[chance.choice(names)] = chance.choice((word, None, "99999999999999999999", "²"))
    seeds.run(case, script, data, **env)
    if chance.happens(0.1):
        seeds.run(case, script, data, **env)


def transcript_case(seeds: Seeds, case: Case) -> None:
    chance = case.chance
    lines = list(seeds.lines)
    is_agent = chance.happens(0.2)
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        _change_lines(chance, lines, seeds.entries)
    data = b"".join(lines)
    if chance.happens(0.15):
        data = chance.bytes(data)
    agent = seeds.agents + chance.choice(("agent-a1.jsonl", "agent-b2.jsonl", ".jsonl", "²\u202e.jsonl"))
    case.edits[agent if is_agent else seeds.transcript] = data
    if chance.happens(0.3):  # read from the beginning
        case.edits[seeds.project + "/WORK/%s/c0000000/capture.json" % _day(seeds)] = None
    seeds.run_some(case, "stop", "pre_compact", "session_end")


def _change_lines(chance: Chance, lines: list[bytes], entries: list[Any]) -> None:
    at = chance.randrange(len(lines)) if lines else 0
    what = chance.randrange(8)
    if what < 4:
        entry = chance.tree(chance.choice(entries))
        lines[at : at + 1] = [chance.encoded(entry).replace(b"\n", b" ") + b"\n"]
    elif what == 4:
        lines[at : at + 1] = [chance.bytes(b"".join(lines[at : at + 1]))]
    elif what == 5:
        lines[at:at] = [chance.choice((b"", b"null", b"[]", b"{}", b'"x"', b"{", b"\0" * 100, b"[" * 3000)) + b"\n"]
    elif what == 6:
        del lines[at : at + chance.choice((1, 3, 100))]
    else:
        chance.shuffle(lines)


def checkpoint_case(seeds: Seeds, case: Case) -> None:
    chance = case.chance
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        good = chance.choice((CHECKPOINT, NESTED, {**CHECKPOINT, **NESTED}, {**NESTED, "session_id": IDS["current"]}))
        data = chance.encoded(chance.tree(good))
        data = chance.bytes(data) if chance.happens(0.3) else data
        middle = chance.choice(("", "", "-%d" % os.getpid(), "-²", ".9" * 9, "-99999999999", chance.text()))
        ending = chance.choice(
            (".json",) * 3 + (".json.c0000000.123.claimed", ".json.d0000000.²².claimed", ".rejected")
        )
        case.edits[seeds.claude + "/" + _file_name("completion-checkpoint" + middle, ending)] = data
    if chance.happens(0.3):
        folder = seeds.project + "/WORK/%s/c0000000/artifacts/" % _day(seeds)
        data = chance.encoded(chance.tree(chance.choice((CHECKPOINT, NESTED))))
        case.edits[folder + _file_name("checkpoint-" + chance.choice(("x", chance.text())), ".json")] = data
    seeds.run_some(case, "stop", "pre_compact", "session_end", "session_start")


def meta_case(seeds: Seeds, case: Case) -> None:
    chance = case.chance
    path = chance.choice(seeds.metas)
    text = seeds.files[path].decode("utf-8")
    data = chance.lines(text).encode("utf-8", "surrogatepass")
    case.edits[path] = chance.bytes(data) if chance.happens(0.3) else data
    seeds.run_some(case, *SCRIPTS)


def state_case(seeds: Seeds, case: Case) -> None:
    chance = case.chance
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if chance.happens(0.3):
            path = chance.choice(sorted(seeds.absent))
            value = seeds.absent[path]
            data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        else:
            path = chance.choice(chance.choice(seeds.classes))
            data = seeds.files[path]
        if chance.happens(0.06):  # a stranger among the files
            path = os.path.join(os.path.dirname(path), _file_name(chance.text(), os.path.splitext(path)[1]))
        case.edits[path] = _spoilt(chance, path, data)
    seeds.run_some(case, *SCRIPTS)


def _spoilt(chance: Chance, path: str, data: bytes) -> bytes:
    if chance.happens(0.1):
        half = data[: len(data) // 2]
        return chance.choice((b"", b"\0", b"null", b"[]", b"{}", b'""', b"0", b"\xff" * 9, half, b"[" * 5000))
    if path.endswith(".json") and chance.happens(0.75):
        return chance.encoded(chance.tree(json.loads(data)) if data else chance.value())
    if path.endswith(".jsonl") and chance.happens(0.7):
        lines = data.splitlines()
        lines.append(chance.encoded(chance.tree(json.loads(lines[-1]))).replace(b"\n", b" "))
        return b"\n".join(lines) + b"\n"
    if path.endswith((".md", ".yaml")) and chance.happens(0.6):
        return chance.lines(data.decode("utf-8")).encode("utf-8", "surrogatepass")
    return chance.bytes(data)


def note_case(seeds: Seeds, case: Case) -> None:
    chance = case.chance
    folders = (seeds.project, seeds.project, str(seeds.world.store) + "/user")
    for _ in range(chance.choice((1, 1, 2, 3))):
        good = chance.choice([path for path in seeds.files if "/topics/" in path and OTHERS_WORD not in path])
        data = chance.lines(seeds.files[good].decode("utf-8")).encode("utf-8", "surrogatepass")
        name = _file_name(chance.choice(("cart", "new", chance.text())), ".md")
        path = chance.choice(folders) + "/LEARNING/topics/" + name
        if chance.happens(0.15):
            path = seeds.project + "/WORK/%s/c0000000/local/" % _day(seeds) + chance.choice(("here", "cart")) + ".md"
        case.edits[path] = chance.bytes(data) if chance.happens(0.25) else data
    seeds.run_some(case, "session_start", "user_prompt_submit", "pre_tool_use", "stop", "subagent_start")


def guard_case(seeds: Seeds, case: Case) -> None:
    chance = case.chance
    for folder in chance.choice(((str(seeds.world.store),), (seeds.claude,), (str(seeds.world.store), seeds.claude))):
        data = chance.encoded(chance.tree(GUARD))
        case.edits[folder + "/guard.json"] = chance.bytes(data) if chance.happens(0.3) else data
    payload = dict(seeds.payloads["pre_tool_use"])
    if chance.happens(0.6):
        tool, given = chance.choice(CALLS) if chance.happens(0.3) else ("Bash", {"command": chance.choice(COMMANDS)})
        payload.update(tool_name=tool, tool_input=given)
    seeds.run(case, "pre_tool_use", payload)
    if chance.happens(0.15):
        seeds.run(case, "session_start")


def git_case(seeds: Seeds, case: Case) -> None:
    chance = case.chance
    app = str(seeds.world.app)
    good = {
        "HEAD": "ref: refs/heads/main\n",
        "config": GIT_CONFIG % "app"
        + '[url "git@example.org:"]\n\tinsteadOf = https://example.org/\n[include]\n\tpath = x',
        "packed-refs": "# pack-refs with: peeled\n%s refs/heads/main\n" % ("a" * 40),
        "commondir": "../..\n",
        "gitdir": app + "/.git\n",
        "config.worktree": '[remote "origin"]\n\turl = ssh://git@example.org:22/ada/app.git\n',
        "logs/HEAD": "%s %s Ada <a@b> 1 +0000\tclone: from x\n" % ("0" * 40, "a" * 40),
    }
    if chance.happens(0.25):
        there = chance.choice((app + "/real", "../other/.git", "real", ".git"))
        case.edits[app + "/.git"] = chance.bytes(("gitdir: %s\n" % there).encode())
        folder = app + "/real/"
        case.edits[folder + "HEAD"] = good["HEAD"].encode()
    else:
        folder = app + "/.git/"
    for name in chance.sample(sorted(good), chance.choice((1, 2, 3))):
        data = chance.lines(good[name]).encode("utf-8", "surrogatepass")
        case.edits[folder + name] = chance.bytes(data) if chance.happens(0.4) else data
    payload = {**seeds.payloads["pre_tool_use"], "tool_input": {"command": "git push"}}
    seeds.run_some(case, "session_start", "user_prompt_submit", "stop", "session_end")
    if chance.happens(0.3):
        seeds.run(case, "pre_tool_use", payload)


MAKERS: dict[str, Callable[[Seeds, Case], None]] = {
    "payload": payload_case,
    "transcript": transcript_case,
    "checkpoint": checkpoint_case,
    "meta": meta_case,
    "state": state_case,
    "note": note_case,
    "guard": guard_case,
    "git": git_case,
}


def _day(seeds: Seeds) -> str:
    return next(path for path in seeds.metas if "/c0000000/" in path).split("/")[-3]


def _file_name(stem: str, ending: str) -> str:
    """Any name that a file can have."""
    name = (stem.replace("/", "_").replace("\0", "")[:60]).encode("utf-8", "replace").decode("utf-8")
    return (name if name.strip(".") or ending else "x") + ending


def _put(path: str, data: bytes | None) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        os.rename(path, path + "-was-here") if data is not None else None
    if data is None:
        if os.path.lexists(path):
            os.unlink(path)
        return
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)


# What must be true afterwards ----------------------------------------------------------------------


class Facts:
    """Records that no run of the present session may lose or change."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.root = str(world.store) + os.sep
        self.kept = {path for path in world.image.files if self._is_fact(path)}
        self.grown = {path for path in world.image.files if path.startswith(self.root) and path.endswith(".jsonl")}
        self.episode = next(path for path in world.image.files if "/episodes/" in path and "-c0000000." in path)

    def _is_fact(self, path: str) -> bool:
        if not path.startswith(self.root) or path.endswith((".lock", ".jsonl")):
            return False
        if IDS["current"][:8] in path or IDS["dead"][:8] in path:
            return False
        segments = ("/episodes/", "/WORK/", "/topics/", "/profiles/", "/briefing.md")
        return any(segment in path for segment in segments)

    def problems(self, case: Case, changes: tuple[list[str], list[str], list[str]]) -> list[str]:
        added, different, gone = changes
        touched = {*different, *gone} - case.edits.keys()
        lost = [path for path in sorted(touched & self.kept) if not self._is_excused(case, path)]
        found = ["lost or changed %s" % path for path in lost]
        found += [self._shortened(path) for path in sorted(touched & self.grown)]
        found += self._missing(case)
        found += [self._broken(path) for path in (*added, *different) if path not in case.edits]
        found += self._own_loss(case)
        return [line for line in found if line]

    def _is_excused(self, case: Case, path: str) -> bool:
        """Who sets retention to a day has old records deleted."""
        return "/episodes/" in path and any(edit.endswith("/config.json") for edit in case.edits)

    def _shortened(self, path: str) -> str:
        try:
            with open(path, "rb") as file:
                now = file.read()
        except OSError:
            return "lost %s" % path
        return "" if now.startswith(self.world.image.files[path].rstrip(b"\n")) else "rewrote %s" % path

    def _missing(self, case: Case) -> list[str]:
        """A damaged record stays where it is, or beside it."""
        edits = [path for path, data in case.edits.items() if data and path in self.kept]
        there = (path for path in edits if not self._is_excused(case, path))
        return ["removed the damaged %s" % path for path in there if not _is_kept(path)]

    def _broken(self, path: str) -> str:
        """What the product wrote must be whole, and nobody else's to read."""
        if not path.startswith(self.root) or os.path.isdir(path):
            return ""
        if path.endswith(settings.TEMP_SUFFIX):
            return "left %s" % path
        if os.stat(path, follow_symlinks=False).st_mode & 0o077:
            return "open to others: %s" % path
        if path.endswith((settings.DAMAGED_SUFFIX, settings.MALFORMED_SUFFIX)) or "/STATE/dirty/" in path:
            return ""
        if os.path.basename(os.path.dirname(path)) == settings.NOTES_ARCHIVE_DIR:
            return ""  # as it was before, whatever it was
        wrong = readable(path)
        return "not readable: %s: %s" % (path, wrong) if wrong else ""

    def _own_loss(self, case: Case) -> str | list[str]:
        """What the present session had on record stays there, whatever happens to the records of others."""
        mine = (IDS["current"], "/c0000000/", "-c0000000.", "/project.json", "/config.json", "/forgotten.json", "/.git")
        if case.kind == "payload" or any(part in path for path in case.edits for part in mine):
            return []
        try:
            with open(self.episode, "rb") as file:
                files = json.loads(file.read())["files_changed"]
        except (OSError, ValueError, KeyError, RecursionError) as error:
            return ["the present session's episode is lost: %s" % error]
        return [] if "current.py" in files else ["the present session's episode lacks its file: %s" % files]


def _is_kept(path: str) -> bool:
    return os.path.lexists(path) or os.path.lexists(path + settings.DAMAGED_SUFFIX)


# The client's settings -----------------------------------------------------------------------------


class SettingsFile:
    """Installing into a settings file and out of it again leaves what was there."""

    def __init__(self, world: World) -> None:
        self.folder = world.home.parent / "settings"
        self.folder.mkdir(exist_ok=True)
        self.path = str(self.folder / "settings.json")
        self.place = installation.Target(str(support.ROOT), "user", self.path, str(self.folder / "memory"))
        self.wanted = entries.entries(str(support.ROOT), "/usr/bin/python3", [self.place.store], str(self.folder))
        ours = self.wanted.as_settings()
        hook = {"type": "command", "command": "echo hi", "timeout": 5}
        theirs: dict[str, Any] = {
            "model": "opus",
            "permissions": {"allow": ["Bash(ls *)", "Read(~/x/**)"], "deny": []},
            "hooks": {"Stop": [{"hooks": [hook]}], "PreToolUse": [{"matcher": "Bash", "hooks": [hook, hook]}]},
            "env": {"A": "1"},
        }
        both = {**theirs, "hooks": {**theirs["hooks"], **ours["hooks"]}}
        self.documents: list[Any] = [theirs, {}, {"hooks": {}}, ours, both]

    def problems(self, case: Case) -> list[str]:
        chance = case.chance
        value = chance.choice(self.documents)
        if chance.happens(0.8):
            value = chance.tree(value)
        text = json.dumps(value, indent=chance.choice((2, 4, None, "\t")), ensure_ascii=chance.happens(0.5))
        data = text.encode("utf-8", "surrogatepass") + chance.choice((b"", b"\n", b"\r\n"))
        if chance.happens(0.35):
            data = chance.bytes(data, chance.choice((1, 1, 2)))
        for path in (self.path, self.place.backup):
            if os.path.exists(path):
                os.unlink(path)
        with open(self.path, "wb") as file:
            file.write(data)
        try:
            return self._there_and_back(data)
        except Exception as error:  # noqa: BLE001  (that is what is looked for)
            import traceback

            return ["%s: %s\n%s" % (type(error).__name__, error, traceback.format_exc(limit=-4))]

    def _there_and_back(self, data: bytes) -> list[str]:
        try:
            change = installation.plan_install(self.place, self.wanted)
        except settingsfile.Refused:
            return [] if settingsfile.read(self.path) == data else ["refused, and changed the file all the same"]
        installation.install(self.place, self.wanted, "/usr/bin/python3", change)
        installed = settingsfile.read(self.path) or b""
        found = [] if self._without_ours(installed) == self._without_ours(data) else ["changed what was not ours"]
        if not installation.plan_install(self.place, self.wanted).is_empty:
            found.append("not at rest after one install")
        installation.uninstall(self.place, installation.plan_uninstall(self.place, self.wanted))
        left = settingsfile.read(self.path)
        if left is None:
            return [*found, "the file is gone"]
        if not self._holds_ours(data) and left != data:
            found.append("not the same bytes after install and uninstall: %r" % left[:300])
        if self._without_ours(left) != self._without_ours(data):
            found.append("uninstall changed what was not ours")
        has_ours = merge.hooks(settingsfile.document(left), self.place.root)
        return [*found, "our hooks are left"] if has_ours else found

    def _holds_ours(self, data: bytes) -> bool:
        value = _loaded(data)
        return _stripped(value, self.wanted.rules) != _stripped(value, [], ours=False)

    def _without_ours(self, data: bytes) -> Any:
        return _stripped(_loaded(data), self.wanted.rules)


def _loaded(data: bytes) -> Any:
    text = data.decode("utf-8", "surrogateescape").lstrip("\ufeff")
    return json.loads(text, parse_constant=str, object_pairs_hook=_pairs) if text.strip() else []


def _pairs(pairs: list[tuple[str, Any]]) -> Any:
    return [(key, _number(value)) for key, value in pairs]


def _number(value: Any) -> Any:
    return repr(value) if isinstance(value, float) else value


def _stripped(value: Any, rules: list[str], *, ours: bool = True, path: tuple[str, ...] = ()) -> Any:
    """A document, its objects as pairs, without our hooks and rules and without what is empty then."""
    if isinstance(value, list) and value and all(isinstance(item, tuple) for item in value):
        pairs = [(key, _stripped(item, rules, ours=ours, path=(*path, key))) for key, item in value]
        return [pair for pair in pairs if pair[1] != [] or not (path == ("hooks",) or pair[0] in _EMPTIED)]
    if isinstance(value, list):
        kept = [item for item in value if not (ours and (_is_ours_alone(item) or _is_our_rule(item, rules, path)))]
        items = [_stripped(item, rules, ours=ours, path=path) for item in kept]
        return [item for item in items if item not in ([], [("matcher", "*")], [("matcher", "")])]
    return value


_EMPTIED = ("hooks", "permissions", "allow")  # what goes when nothing of ours is left in it


def _is_ours_alone(item: Any) -> bool:
    """A hook of ours, or a group of such hooks."""
    if not isinstance(item, list):
        return False
    hooks = [pair[1] for pair in item if isinstance(pair, tuple) and pair[0] == "hooks"]
    if hooks and isinstance(hooks[-1], list) and hooks[-1] and all(map(_is_ours_alone, hooks[-1])):
        return True
    command = [pair[1] for pair in item if isinstance(pair, tuple) and pair[0] == "command"]
    return bool(command) and isinstance(command[-1], str) and entries.is_our_command(command[-1], str(support.ROOT))


def _is_our_rule(item: Any, rules: list[str], path: tuple[str, ...]) -> bool:
    return isinstance(item, str) and path == ("permissions", "allow") and (item in rules or entries.is_our_rule(item))
