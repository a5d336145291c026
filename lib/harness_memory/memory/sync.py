"""The store as a git repository that several machines share: commit, fetch, merge (see `merge`), push.

    sync/config.json    {"schema", "remote", "exclude": [project id], "auto",
                        "last": {"at", "result", "is_well"}: what the last run came to}
    refs/heads/main     what this machine has; the remote has the same branch
    refs/harness/base   what of the remote was last merged

Files change before the refs do, and merging is idempotent: a run killed at any point is finished by the next one.
Only commands load this module; it starts git without hooks, prompts and the caller's GIT_ variables.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ..audit import trail
from ..base import clock, files, machine, settings
from ..base.lock import Lock
from ..base.typing import Fields
from ..notes.shelf import Shelf, user_shelf
from ..project import identity
from . import archive, merge, views
from .forget import list_again, writers_stopped

BRANCH, BASE = "refs/heads/main", "refs/harness/base"
_CONFIG = os.path.join(settings.SYNC_DIR, "config.json")
_SPEC = {"remote": "text", "exclude": ["text"], "auto": "flag", "last?": {"*": "any"}}
_DEFAULTS = {"schema": settings.SCHEMA, "remote": "", "exclude": [], "auto": False, "last": {}}
_TRIES = 12  # another machine may push at the same moment, again and again
_NONE, _EMPTY_TREE = "0" * 40, "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
_OPTIONS = (
    *("core.hooksPath=" + os.devnull, "core.excludesFile=" + os.devnull, "core.attributesFile=" + os.devnull),
    *("core.autocrlf=false", "core.fileMode=false", "core.fsmonitor=false", "gc.autoDetach=false"),
    *("maintenance.auto=false", "init.defaultBranch=main", "user.name=Harness Memory", "user.email=memory@localhost"),
)


def configuration(root: str) -> Fields:
    """Without a remote when the store is not synced."""
    return {**_DEFAULTS, **(files.load_json(os.path.join(root, _CONFIG), _SPEC) or {})}


def configure(root: str, **changes: Any) -> None:
    files.write_json(os.path.join(root, _CONFIG), {**configuration(root), **changes}, durable=True)


class Store:
    """A store and its repository; use it under `lock`."""

    def __init__(self, root: str, env: Mapping[str, str]) -> None:
        self.root, self.repository = root, os.path.join(root, ".git")
        env = {key: value for key, value in env.items() if not key.startswith("GIT_") or key == "GIT_SSH_COMMAND"}
        env.update(GIT_TERMINAL_PROMPT="0", GIT_DEFAULT_HASH="sha1", LC_ALL="C")
        self.options: Fields = {"cwd": root, "env": env, "stdout": subprocess.PIPE}
        self.config = configuration(root)
        self.reader: Any = None  # a process that loads contents

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        path = os.path.join(self.root, settings.SYNC_DIR, "sync.lock")
        with Lock(path, 1.0, "another sync is running. It does the work of this one"):
            for path in glob.glob(os.path.join(glob.escape(self.repository), "**", "*.lock"), recursive=True):
                files.remove(path)  # of a git that was killed
            try:
                yield
            finally:
                if self.reader:
                    self.reader.communicate()

    # Git
    def _command(self, *words: str) -> list[str]:
        options = [word for option in _OPTIONS for word in ("-c", option)]
        return ["git", *options, *(["--git-dir=" + self.repository] if words[0] != "init" else ()), *words]

    def git(self, *words: str, data: str = "", may_fail: bool = False) -> str:
        options = {**self.options, "input": data.encode("utf-8", "surrogateescape"), "stderr": subprocess.PIPE}
        done = subprocess.run(self._command(*words), check=False, **options)
        if done.returncode and not may_fail:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise OSError(errno.EIO, lines[-1] if lines else "exit code %d" % done.returncode, "git " + words[0])
        return str(done.stdout.decode("utf-8", "surrogateescape")).strip()

    def load(self, sha: str) -> bytes:
        if not self.reader:
            self.reader = subprocess.Popen(self._command("cat-file", "--batch"), stdin=subprocess.PIPE, **self.options)
        self.reader.stdin.write(sha.encode() + b"\n")
        self.reader.stdin.flush()
        size = int(self.reader.stdout.readline().split()[2])
        return bytes(self.reader.stdout.read(size + 1)[:-1])

    def commit_of(self, ref: str) -> str:
        return self.git("rev-parse", "-q", "--verify", ref + "^{commit}", may_fail=True)

    def remote_head(self) -> str:
        return self.git("ls-remote", self.config["remote"], BRANCH).partition("\t")[0]

    def push(self, commit: str, *options: str) -> None:
        self.git("push", "-q", *options, self.config["remote"], "%s:%s" % (commit, BRANCH))

    def tree(self, commit: str) -> merge.Tree:
        """The plain files of a commit that are merged here."""
        data = self.git("ls-tree", "-r", "-z", commit) if commit else ""
        rows = [row.partition("\t") for row in data.split("\0") if row.startswith("1006")]
        return {path: head.split()[2] for head, _, path in rows if not self.is_left_out(path)}

    def is_left_out(self, path: str) -> bool:
        return merge.home(path) in self.config["exclude"] or not merge.rule_of(path)

    # One run
    def sync(self, now: float) -> str:
        """Bring store and remote together; what came of it, in a few words."""
        if not os.path.isdir(self.repository):
            self.git("init", "-q", self.root)
        files.write_gitignore(self.root)
        taken: list[str] = []
        for attempt in range(1, _TRIES + 1):
            prepare(self.root, now)
            head, theirs = self.commit(*filter(None, [self.commit_of(BRANCH)])), self.remote_head()
            if theirs and not self.commit_of(theirs):
                self.git("fetch", "-q", "--no-tags", self.config["remote"], BRANCH)
            try:
                common = self.git("merge-base", head, theirs, may_fail=True) if theirs not in ("", head) else theirs
                if common != theirs:
                    taken += self.take(head, theirs, common, now)
                    head = self.commit_of(BRANCH)
                if head != theirs:
                    self.push(head)
                break
            except OSError as error:
                # A session wrote what was to be merged, or another machine was faster.
                is_passing = isinstance(error, BlockingIOError) or self.remote_head() != theirs
                if attempt == _TRIES or not is_passing:
                    raise
        self.git("update-ref", BASE, head)
        if taken or head != theirs:
            self.git("gc", "--auto", "-q", may_fail=True)
        said = ["%d file%s taken over" % (len(taken), "s" * (len(taken) > 1))] if taken else []
        said += ["one of two versions archived (see: harness memory review)"] * any(map(merge.is_former, taken))
        return ", ".join([*said, *["sent"] * (head != theirs)]) or "nothing to do"

    def commit(self, *parents: str) -> str:
        """Commit what other machines get of this one, unless the last of the parents has it already; the commit."""
        # As if every file were big: one pack in place of thousands of objects. A file may vanish while it looks.
        self.git("-c", "core.bigFileThreshold=1", "add", "-A", "--ignore-errors", ".", may_fail=True)
        head = parents[-1] if parents else ""
        rows = self.git("diff-index", "--cached", "--raw", "--no-renames", "-z", head or _EMPTY_TREE).split("\0")
        correct, is_changed = {}, not head
        for row, path in zip(rows[::2], rows[1::2]):
            before, after = ("" if sha == _NONE else sha for sha in row.split()[2:4])
            if path != settings.GITIGNORE_FILE and self.is_left_out(path):
                correct[path] = before
            elif after and path.endswith((".jsonl", "/" + settings.PROJECT_FILE)):
                data = merge.shared(path, self.load(after)).decode("utf-8", "surrogateescape")
                correct[path] = self.git("hash-object", "-w", "--stdin", data=data)
            is_changed = is_changed or correct.get(path, after) != before
        if correct:
            modes = [("100644 %s 0" % sha if sha else "0 " + _NONE, path) for path, sha in correct.items()]
            self.git("update-index", "-z", "--index-info", data="".join(["%s\t%s\0" % row for row in modes]))
        head = self.commit_tree(self.git("write-tree"), *parents) if is_changed else head
        self.git("update-ref", BRANCH, head)
        return head

    def commit_tree(self, tree: str, *parents: str) -> str:
        words = [word for parent in parents for word in ("-p", parent)]
        return self.git("commit-tree", *words, "-m", "Memory of " + machine.own_id(self.root), tree)

    def take(self, head: str, theirs: str, common: str, now: float) -> list[str]:
        """Merge a commit of the remote into the files, and commit them; the paths that changed."""
        base = common or self.commit_of(BASE)
        is_purged = bool(base) and not common  # `purge-history` elsewhere: the old commits must not come back
        merged = merge.Merged(self.tree(base), self.tree(head), self.tree(theirs), self.load)
        apply(self.root, merged, now)
        self.git("read-tree", "-i", "-m", theirs)
        self.commit(*([theirs] if is_purged else [head, theirs]))
        if is_purged:
            self.drop_unreachable()
        return [*merged.changes]

    def purge_history(self) -> None:
        """Replace all commits by one of the present state, in the remote and here."""
        commit = self.commit_tree(BRANCH + "^{tree}")
        self.push(commit, "--force-with-lease=%s:%s" % (BRANCH, self.remote_head()))
        for ref in (BRANCH, BASE):
            self.git("update-ref", ref, commit)
        self.drop_unreachable()

    def drop_unreachable(self) -> None:
        files.remove(os.path.join(self.repository, "FETCH_HEAD"))
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")


def prepare(root: str, now: float) -> None:
    """Finish what a killed run left; give this machine its own audit trails and curated files their times."""
    own = machine.name(root)
    for project in _projects(root):
        top = os.path.join(project, settings.SECURITY_DIR)
        # A trail of the time before the sync moves into the folder of this machine.
        with trail.lock(project) if any(map(str.isdecimal, files.names(top))) else contextlib.nullcontext():
            for path in trail.paths(project):
                target = os.path.join(top, own, *path.split(os.sep)[-3:])
                if not files.exists(target):
                    files.ensure_dir(os.path.dirname(target))
                    os.renames(path, target)
    refresh(root)
    merge.record_versions(root, now)


def apply(root: str, merged: merge.Merged, now: float) -> None:
    """Write what a merge changes; BlockingIOError when a file has changed since the merge."""
    homes: dict[str, list[str]] = {}
    for path in merged.changes:
        homes.setdefault(merge.home(path), []).append(path)
    for home, paths in homes.items():
        directory, is_project, left = os.path.join(root, home), identity.is_project_id(home), partial(merged.left, home)
        with writers_stopped(directory) if is_project else user_shelf(root).lock:
            for name in settings.VIEWS if is_project else ():
                files.remove(os.path.join(directory, name))  # `refresh` renders those that are missing
            for path in paths:
                _replace(root, path, merged)
        if any(path.endswith((settings.FORGOTTEN_FILE, settings.ARCHIVE_SUFFIX)) for path in paths):
            with archive.lock(directory), contextlib.suppress(files.Unreadable):  # `verify` names a damaged one
                archive.rewrite(directory, left, now)
    refresh(root)


def _replace(root: str, path: str, merged: merge.Merged) -> None:
    target, after = os.path.join(root, *path.split("/")), merged.changes[path]
    present = files.read(target, settings.ARCHIVE_MAX_BYTES)
    found = None if present is None else merge.blob_id(merge.shared(path, present))
    if found not in (merged.ours.get(path), after):
        raise BlockingIOError(errno.EAGAIN, "was changed by a session. Run it again", target)
    if after:
        data = merged.load(after)
        files.write(target, merge.localized(present or b"", data) if path.endswith(settings.PROJECT_FILE) else data)
        if path in merged.versions:
            os.utime(target, (clock.parse(merged.versions[path][0]) or 0.0,) * 2)
    elif files.remove(target):
        with contextlib.suppress(OSError):
            os.removedirs(os.path.dirname(target))


def _projects(root: str) -> list[str]:
    return [os.path.join(root, name) for name in files.names(root) if identity.is_project_id(name)]


def refresh(root: str) -> None:
    """Render what is missing of the views, and list new notes."""
    for home in _projects(root):
        if not all(files.exists(os.path.join(home, name)) for name in settings.VIEWS):
            views.refresh(home, 10.0)
    list_again([*(Shelf("project", home) for home in _projects(root)), user_shelf(root)])
