"""`sync`: one memory on several machines, through any git repository of yours."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from ..base import clock, config, files, invocation, settings
from ..base.lock import Busy
from ..base.redact import redact
from ..memory import sync as syncing
from ..memory.sync import Store
from ..project import identity
from ..project.remote import normalize
from ..setup import installation
from .call import Call, one
from .output import Refusal, ago, confirm, count, line, page

_PUBLIC = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht", "gitee.com", "dev.azure.com")
_EVERY_SECONDS = 300
_COPIES = """\
The history here and in the remote now begins with the present state. Other machines drop theirs with their next sync.
What others may keep: clones and backups of the remote, caches and forks of its host, machines that never sync again."""


def _configured(call: Call) -> Store:
    call.prepare(with_project=os.path.isdir(call.project.dir))  # it may have a remote since its last session
    if not syncing.configuration(call.root)["remote"]:
        raise Refusal("no remote is set. Run: harness memory sync init URL")
    return Store(call.root, os.environ)


def run(call: Call) -> int:
    store = _configured(call)
    if call.auto:
        _set_auto(call.root, call.auto == "on")
        return status(call)
    if not call.background:
        return _run(call, store)
    started = os.path.join(call.root, settings.SYNC_DIR, "started")
    if not config.is_off(os.environ) and not 0 <= time.time() - files.modified(started) < _EVERY_SECONDS:
        files.touch(started)
        command = [sys.executable, os.path.join(invocation.tree(), invocation.SCRIPT), "memory", "sync"]
        nothing = subprocess.DEVNULL
        subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True, cwd=call.root)
    return 0


def _run(call: Call, store: Store) -> int:
    try:
        with store.lock():
            result = store.sync(call.now)
    except Busy as error:
        raise Refusal(str(error.strerror)) from None
    except OSError as error:
        problem = "%s: %s" % (redact(str(error.filename)), redact(str(error.strerror)))
        syncing.configure(call.root, last={"at": clock.iso(call.now), "result": problem, "is_well": False})
        raise
    syncing.configure(call.root, last={"at": clock.iso(call.now), "result": result, "is_well": True})
    return call.answer({"remote": _shown(store.config["remote"]), "result": result})


def init(call: Call) -> int:
    call.prepare(with_project=False)
    url, project = call.url, call.project
    if "://" not in url and (os.path.isabs(url) or os.path.isdir(url) or url.startswith(("./", "../", "~"))):
        url = os.path.abspath(os.path.expanduser(url))
        if os.path.isdir(os.path.dirname(url)) and not files.names(url):
            Store(call.root, os.environ).git("init", "-q", "--bare", url)
    remote = normalize(url, os.getcwd())
    used = {each for path in call.all_dirs for each in identity.known(path, "remotes")}
    words = ["git", "config", "--get-regexp", r"^remote\..*url$"]
    listed = subprocess.run(words, cwd=project.root, capture_output=True).stdout.decode("utf-8", "replace").splitlines()
    used |= {normalize(row.partition(" ")[2], project.root) for row in listed} | {"file:" + project.root}
    if not remote:
        raise Refusal("%s is not the address of a repository" % line(redact(url)))
    if remote in used and call.force < 2:
        why = "holds the code of a project, whose readers would read your memory"
        raise Refusal("%s %s. Name another, or add --force --force" % (line(redact(url)), why))
    if remote.partition("/")[0] in _PUBLIC and not call.private:
        question = "Is %s a private repository? A public one shows your memory to everybody. Type yes: " % line(remote)
        if not sys.stdin.isatty() or not confirm(question):
            raise Refusal("%s may be public. Make sure that it is private, then add --private" % line(remote))
    syncing.configure(call.root, remote=url)
    return _run(call, _configured(call))


def status(call: Call) -> int:
    _configured(call)
    value = syncing.configuration(call.root)
    value.update(remote=_shown(value["remote"]), last=summary(call.root))
    shown = {key: value[key] for key in ("remote", "last", "auto", "exclude")}
    return call.answer(shown, page({**shown, "auto": "on" if value["auto"] else "off"}))


def summary(root: str) -> str:
    """One line for `status` and `doctor`; "" where the store is not synced."""
    value = syncing.configuration(root)
    last = value["last"]
    text = line("%s: %s" % (ago(clock.parse(last["at"]) or 0.0), last["result"])) if last else "never"
    return text if value["remote"] else ""


def off(call: Call) -> int:
    _configured(call)
    _set_auto(call.root, False)
    syncing.configure(call.root, remote="")
    return call.answer({"remote": None}, ["This store is not synced any more. Nothing was deleted."])


def exclude(call: Call) -> int:
    call.prepare(with_project=False)
    left_out = {*syncing.configuration(call.root)["exclude"]}
    every = {*left_out, *map(os.path.basename, call.all_dirs)}
    for word in call.projects:
        name = one(word, every, lambda id: (id, id.rpartition("-")[0]), "project", "list --all-projects")
        left_out = left_out - {name} if call.remove else left_out | {name}
    if call.projects:
        syncing.configure(call.root, exclude=sorted(left_out))
    note = "What the remote has of it already stays there." if call.projects and not call.remove else None
    return call.answer({"stays_here": sorted(left_out) or "nothing: every project is synced", "note": note})


def purge(call: Call) -> int:
    store = _configured(call)
    if not call.yes:
        number = count(int(store.git("rev-list", "--count", syncing.BRANCH)), "commit")
        what = "The %s of %s would become one. Nothing was changed. To do it: the same again with --yes"
        return call.answer({"purged": False}, [what % (number, _shown(store.config["remote"]))])
    with store.lock():
        store.sync(time.time())
        store.purge_history()
    return call.answer({"purged": True}, [_COPIES])


def _set_auto(root: str, is_auto: bool) -> None:
    """Write our entries again, with or without the background sync."""
    records = [item for item in installation.records(root) if os.path.exists(item["settings"])]
    if is_auto and not records:
        raise Refusal("no settings file here holds our hooks. Run install.py first")
    syncing.configure(root, auto=is_auto)
    for item in records:
        target = installation.Installation(invocation.tree(), item["scope"], item["settings"], root)
        target.install(target.wanted(item["interpreter"]), item["interpreter"])


def _shown(url: str) -> str:
    return line(redact(url))
