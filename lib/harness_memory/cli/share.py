"""A memory elsewhere: `share` and `team` in a repository, `sync` on other machines, `export` and `import` as a file."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Iterator

from ..base import clock, files, invocation, settings
from ..base.redact import redact
from ..base.text import brief
from ..memory import sync as syncing
from ..memory import transfer
from ..memory.sync import Store
from ..notes.note import Note, render
from ..notes.shelf import Shelf
from ..project import identity
from ..project.remote import normalize
from ..setup import installation
from . import notes
from .call import Call, one
from .output import Refusal, ago, ask, complain, count, line, short

_PUBLIC = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht", "gitee.com", "dev.azure.com")
_HOMES = ("/home/", "/Users/", ":\\Users\\", "/root/")  # of anybody
_EVERY_SECONDS = 300


def share(call: Call) -> int:
    note, checkout = call.find_note(call.name, is_readable=True), call.project.root
    path = Shelf(settings.TEAM_SCOPE, checkout).path(note.slug)
    author = brief(_git(checkout, "user.name"), settings.NOTE_NAME_CHARS)
    fields = {**note.fields, "name": note.name, "description": note.description, "type": note.type}
    # Without what says where and when it was written down.
    fields.update(scope="", session="", author=author, shared=call.today)
    text = render(Note(note.slug, fields, note.body))
    if private := [*_private(text)]:
        what = "%s is not for others to see; nothing was written. Correct it:\n%s"
        raise Refusal(what % (note.ref, "\n".join(private)))
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    if any(map(os.path.islink, (path, folder, os.path.dirname(folder)))):
        raise Refusal("%s is a link. Replace it by a folder of the checkout" % short(folder))
    files.write(path, text, durable=True)
    os.chmod(path, 0o644)  # a file of the checkout is not private
    done = "Shared in %s. %s:" % (short(path), "Commit it for the team" if call.project.repo else "No git: pass it on")
    return call.answer({"note": note.ref, "file": path, "text": text}, [done, "", text.rstrip("\n")])


def _private(text: str) -> Iterator[str]:
    """Lines that others must not see: secrets, and paths of a person's home."""
    marks = (*_HOMES, os.path.expanduser("~") + os.sep)
    for number, row in enumerate(text.split("\n"), 1):
        if redact(row) != row:
            yield "  line %d holds a secret" % number
        elif any(mark in row + os.sep for mark in marks):
            yield "  line %d names a path of a person's home: %s" % (number, line(row))


def _git(checkout: str, *words: str) -> str:
    """A value of git's configuration there; "" without one."""
    done = subprocess.run(["git", "config", *words], cwd=checkout, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


def team(call: Call) -> int:
    if call.action == "list":
        call.scope = settings.TEAM_SCOPE
        return notes.list_notes(call, "No team notes in this checkout. Add one: harness memory share NAME")
    note = call.find_note("%s/%s" % (settings.TEAM_SCOPE, call.name.rpartition("/")[2]))
    if call.action == "show":
        return notes.show(call, note)
    # It may not be committed yet: a copy stays in the project's archive of notes.
    data = files.read(note.path, of_anyone=True) or b""
    call.prepare()
    copy = call.shelf("project").archived(note.slug, call.now)
    files.write(copy, data, durable=True)
    files.erase(note.path)
    return call.answer({"removed": note.path, "copy": copy})


def export(call: Call) -> int:
    if sys.stdout.isatty():
        raise Refusal("the file goes to standard output: harness memory export > FILE.tgz")
    homes = [os.path.basename(path) for path in call.dirs if os.path.isdir(path)]
    if not homes:
        raise Refusal("nothing is remembered here. Other projects: harness memory export --all-projects")
    call.prepare(with_project=False)
    homes += [settings.USER_DIR] if call.all_projects else []
    complain("exported %s" % count(transfer.export(call.root, homes, sys.stdout.buffer, call.now), "file"))
    return 0


def import_(call: Call) -> int:
    source = os.path.abspath(os.path.expanduser(call.source))
    if os.path.isdir(source):
        call.prepare()
        with Shelf("project", call.dir) as shelf:
            slugs = transfer.take_pages(source, shelf, call.now)
        return call.answer({"notes": slugs}, ["Took over %s from %s." % (count(len(slugs), "note"), short(source))])
    contents, project = transfer.load(source), call.project
    ids = {path.split("/")[0] for path in contents if "/" in path} - {settings.ARCHIVE_DIR}
    is_moved = call.folder is not None and len(ids) == 1 and ids != {settings.USER_DIR}
    if is_moved:
        contents, ids = transfer.moved(contents, ids.pop(), project.id), {project.id}
    call.prepare(with_project=is_moved)
    changed = transfer.take(call.root, contents, call.now)
    places = ", ".join(map(line, sorted(ids)))
    lines = ["Took over %s from %s into %s." % (count(len(changed), "file"), short(source), places)]
    is_other = len(ids) == 1 and ids.isdisjoint((project.id, settings.USER_DIR))
    lines += ["That is another project. Into this one: the same with --project ."] if is_other else []
    return call.answer({"changed": changed, "projects": sorted(ids)}, lines)


def _configured(call: Call) -> Store:
    call.prepare(with_project=os.path.isdir(call.dir))  # it may have a remote since its last session
    if not syncing.configuration(call.root)["remote"]:
        raise Refusal("no remote is set. Run: harness memory sync init URL")
    return Store(call.root, os.environ)


def sync(call: Call) -> int:
    store = _configured(call)
    if call.auto:
        _set_auto(call.root, call.auto == "on")
        return sync_status(call)
    if not call.background:
        return _run(call, store)
    started = os.path.join(call.root, settings.SYNC_DIR, "started")
    if not 0 <= time.time() - files.modified(started) < _EVERY_SECONDS:
        files.write(started, b"")
        command = [sys.executable, os.path.join(invocation.tree(), invocation.SCRIPT), "memory", "sync"]
        nothing = subprocess.DEVNULL
        subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True, cwd=call.root)
    return 0


def _run(call: Call, store: Store) -> int:
    last = {"at": clock.iso(call.now), "result": "", "is_well": False}
    with store.lock():
        try:
            last.update(result=store.sync(call.now), is_well=True)
        except OSError as error:
            last["result"] = redact("%s: %s" % (error.filename, error.strerror))
            raise
        finally:
            syncing.configure(call.root, last=last)
    return call.answer({"remote": redact(store.config["remote"]), "result": last["result"]})


def init(call: Call) -> int:
    call.prepare(with_project=False)
    url, project = call.url, call.project
    if "://" not in url and (os.path.isabs(url) or os.path.isdir(url) or url.startswith(("./", "../", "~"))):
        url = os.path.abspath(os.path.expanduser(url))
        if os.path.isdir(os.path.dirname(url)) and not files.names(url):
            Store(call.root, os.environ).git("init", "-q", "--bare", url)
    remote = normalize(url, os.getcwd())
    used = {each for path in call.all_dirs for each in identity.known(path, "remotes")} | {"file:" + project.root}
    used |= {normalize(each, project.root) for each in _git(project.root, "--get-regexp", r"^remote\..*url$").split()}
    if remote in used:
        why = "holds the code of a project, whose readers would read your memory. Name another"
        raise Refusal("%s %s" % (line(redact(url)), why))
    if remote.partition("/")[0] in _PUBLIC and not call.private:
        question = "Is %s a private repository? A public one shows your memory to everybody. Type yes: " % line(remote)
        if not sys.stdin.isatty() or ask(question) != "yes":
            raise Refusal("%s may be public. Make sure that it is private, then add --private" % line(remote))
    syncing.configure(call.root, remote=url)
    return _run(call, _configured(call))


def sync_status(call: Call) -> int:
    value = _configured(call).config
    value.update(remote=redact(value["remote"]), last=summary(call.root), auto="on" if value["auto"] else "off")
    return call.answer({key: value[key] for key in ("remote", "last", "auto", "exclude")})


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
    see = "list --all-projects"
    named = {one(word, every, lambda id: (id, id.rpartition("-")[0]), "project", see) for word in call.projects}
    left_out = left_out - named if call.remove else left_out | named
    if named:
        syncing.configure(call.root, exclude=sorted(left_out))
    note = "What the remote has of it already stays there." if named and not call.remove else None
    return call.answer({"stays_here": sorted(left_out) or "nothing: every project is synced", "note": note})


def purge(call: Call) -> int:
    store = _configured(call)
    if not call.yes:
        note = "The present state would replace all others. Nothing was changed. To do it: the same again with --yes"
        return call.answer({"purged": False, "remote": redact(store.config["remote"]), "note": note})
    with store.lock():
        store.sync(time.time())
        store.purge_history()
    here = "The history here and in the remote now begins with the present state."
    others = "Other machines drop theirs with their next sync. Clones, backups, caches and forks may keep it."
    return call.answer({"purged": True, "here": here, "others": others})


def _set_auto(root: str, is_auto: bool) -> None:
    """Write our entries again, with or without the background sync."""
    records = [item for item in installation.records(root) if os.path.exists(item["settings"])]
    if is_auto and not records:
        raise Refusal("no settings file here holds our hooks. Run install.py first")
    syncing.configure(root, auto=is_auto)
    for item in records:
        target = installation.Installation(invocation.tree(), item["scope"], item["settings"], root)
        target.install(target.wanted(item["interpreter"]), item["interpreter"])
