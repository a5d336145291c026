"""`sync`: one memory on several machines, through any git repository of yours."""

from __future__ import annotations

import argparse
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
from . import arguments, resolve
from .output import Refusal, ago, answer, confirm, count, line, short

_ABOUT = """\
Keep one memory on several machines, through a git repository of yours: ssh, https, or a folder, as on a USB stick.
`sync` commits, fetches, merges and pushes. What people wrote stays in its newer version and the other is archived;
what was forgotten stays forgotten. Settings of the machine, caches and running sessions stay where they are."""
_PUBLIC = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht", "gitee.com", "dev.azure.com")
_EVERY_SECONDS = 300
_COPIES = """\
The history here and in the remote now begins with the present state. Other machines drop theirs with their next sync.
What others may keep: clones and backups of the remote, caches and forks of its host, machines that never sync again."""


def sync(argv: list[str]) -> int:
    examples = "sync init git@example.org:me/memory.git\nsync\nsync status\nsync --auto on\nsync exclude secret-project"
    actions = arguments.Actions("sync", _ABOUT, examples)
    run = actions.add("run", "commit, fetch, merge, push (the default)")
    run.add_argument("--auto", choices=("on", "off"), help="at every start and end of a session, in the background")
    run.add_argument("--background", action="store_true", help="in a process of its own, at most once in five minutes")
    init = actions.add("init", "name the remote, and sync for the first time")
    init.add_argument("url", metavar="URL", help="of a repository that holds nothing else")
    init.add_argument("--private", action="store_true", help="the remote is private: do not ask")
    init.add_argument("--force", action="count", default=0, help="twice: although a project's code is there")
    init.add_argument("--since", metavar="DAY", type=arguments.instant, help="send no session from before this day")
    actions.add("status", "the remote, the last result, what is left out")
    actions.add("off", "stop syncing; memory, remote and history stay")
    exclude = actions.add("exclude", "projects that stay on this machine; without a name, list them")
    exclude.add_argument("projects", nargs="*", metavar="PROJECT", help="by name or id")
    exclude.add_argument("--remove", action="store_true", help="sync them again")
    purge = actions.add("purge-history", "after `forget`: replace all former states by the present one")
    purge.add_argument("--yes", action="store_true", help="do it")
    args = actions.parse(argv, "run")
    root = arguments.private_root()
    if args.action == "init":
        _choose_remote(root, args)
    elif args.action != "exclude" and not syncing.configuration(root).get("remote"):
        raise Refusal("no remote is set. Run: harness memory sync init URL")
    verbs = {"init": _run, "status": _status, "off": _off, "exclude": _exclude, "purge-history": _purge}
    if args.action == "run":
        return _auto(root, args) if args.auto else _start_background(root) if args.background else _run(root, args)
    return verbs[args.action](root, args)


def _run(root: str, args: argparse.Namespace) -> int:
    now, store = time.time(), Store(root, os.environ)
    try:
        with store.lock():
            result = store.sync(now)
    except Busy as error:
        raise Refusal(str(error.strerror)) from None
    except OSError as error:
        syncing.note_result(root, "%s: %s" % (redact(str(error.filename)), redact(str(error.strerror))), False, now)
        raise
    syncing.note_result(root, result, True, now)
    return answer(args.json, {"result": result}, ["%s: %s." % (_shown(store.config["remote"]), result)])


def _start_background(root: str) -> int:
    started = os.path.join(root, settings.SYNC_DIR, "started")
    if not config.is_off(os.environ) and not 0 <= time.time() - files.modified(started) < _EVERY_SECONDS:
        files.touch(started)
        command = [sys.executable, os.path.join(invocation.tree(), invocation.SCRIPT), "memory", "sync"]
        nothing = subprocess.DEVNULL
        subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True, cwd=root)
    return 0


def _choose_remote(root: str, args: argparse.Namespace) -> None:
    url, project = args.url, arguments.locate(args)
    if "://" not in url and (os.path.isabs(url) or os.path.isdir(url) or url.startswith(("./", "../", "~"))):
        url = os.path.abspath(os.path.expanduser(url))
        if os.path.isdir(os.path.dirname(url)) and not files.names(url):
            Store(root, os.environ).git("init", "-q", "--bare", url)
    remote = normalize(url, os.getcwd())
    if not remote:
        raise Refusal("%s is not the address of a repository" % line(redact(url)))
    used = {each for path in arguments.all_dirs() for each in identity.remotes(path)}
    words = ["git", "config", "--get-regexp", r"^remote\..*url$"]
    listed = subprocess.run(words, cwd=project.root, capture_output=True).stdout.decode("utf-8", "replace").splitlines()
    used |= {normalize(row.partition(" ")[2], project.root) for row in listed} | {"file:" + project.root}
    if remote in used and args.force < 2:
        what = "%s holds the code of a project: whoever reads the code would read your memory" % line(remote)
        raise Refusal("%s. Name another repository, or say --force --force" % what)
    if remote.partition("/")[0] in _PUBLIC and not args.private:
        question = "Is %s a private repository? A public one shows your memory to everybody. Type yes: " % line(remote)
        if not sys.stdin.isatty() or not confirm(question):
            raise Refusal("%s may be public. Make sure that it is private, then add --private" % line(remote))
    since = time.strftime("%Y-%m-%d", time.localtime(args.since)) if args.since else ""
    syncing.configure(root, remote=url, since=since)


def _status(root: str, args: argparse.Namespace) -> int:
    value = {**syncing.configuration(root), "last": syncing.last(root)}
    value["remote"] = _shown(value["remote"])
    lines = ["Remote    " + value["remote"], "Last      " + summary(root)]
    lines += ["Automatic " + ("on" if value["auto"] else "off")]
    lines += ["Left out  " + ", ".join(value["exclude"])] if value["exclude"] else []
    lines += ["Since     " + value["since"]] if value["since"] else []
    return answer(args.json, value, lines)


def summary(root: str) -> str:
    """One line for `status` and `doctor`; "" where the store is not synced."""
    last = syncing.last(root)
    if not syncing.configuration(root).get("remote"):
        return ""
    return line("%s: %s" % (ago(clock.parse(last["at"]) or 0.0), last["result"])) if last else "never"


def _off(root: str, args: argparse.Namespace) -> int:
    if syncing.configuration(root)["auto"]:
        _set_auto(root, False)
    syncing.configure(root, remote="")
    return answer(args.json, {"remote": None}, ["This store is not synced any more. Nothing was deleted."])


def _exclude(root: str, args: argparse.Namespace) -> int:
    left_out = {*syncing.configuration(root).get("exclude", ())}
    every = {*left_out, *map(os.path.basename, arguments.all_dirs())}
    for word in args.projects:
        name = resolve.one(word, every, lambda id: (id, id.rpartition("-")[0]), "project", str, "list --all-projects")
        left_out = left_out - {name} if args.remove else left_out | {name}
    if args.projects:
        syncing.configure(root, exclude=sorted(left_out))
    lines = ["Stays on this machine: " + name for name in sorted(left_out)] or ["Every project is synced."]
    lines += ["What the remote has of it already stays there."] if args.projects and not args.remove else []
    return answer(args.json, sorted(left_out), lines)


def _purge(root: str, args: argparse.Namespace) -> int:
    store = Store(root, os.environ)
    if not args.yes:
        number = count(int(store.git("rev-list", "--count", syncing.BRANCH)), "commit")
        what = "The %s of %s would become one. Nothing was changed. To do it: the same again with --yes"
        return answer(args.json, {"purged": False}, [what % (number, _shown(store.config["remote"]))])
    with store.lock():
        store.sync(time.time())
        store.purge_history()
    return answer(args.json, {"purged": True}, [_COPIES])


def _auto(root: str, args: argparse.Namespace) -> int:
    is_auto = args.auto == "on"
    paths = _set_auto(root, is_auto)
    text = "Sessions sync in the background when they start and end" if is_auto else "Sessions do not sync any more"
    return answer(args.json, {"auto": is_auto, "settings": paths}, ["%s (%s)." % (text, ", ".join(map(short, paths)))])


def _set_auto(root: str, is_auto: bool) -> list[str]:
    """Write our entries again, with or without the background sync; the settings files that hold them."""
    records = [item for item in installation.records(root) if os.path.exists(item["settings"])]
    if is_auto and not records:
        raise Refusal("no settings file here holds our hooks. Run install.py first")
    syncing.configure(root, auto=is_auto)
    for item in records:
        target = installation.Installation(invocation.tree(), item["scope"], item["settings"], root)
        target.install(target.wanted(item["interpreter"]), item["interpreter"])
    return [item["settings"] for item in records]


def _shown(url: str) -> str:
    return line(redact(url))
