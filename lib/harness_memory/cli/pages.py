"""`briefing` and `profile`, pages that people keep and sessions are given; `consolidate`, material for new ones.

A page has former versions beside it: `briefing.md`, `briefing.md.1` the one before, `briefing.md.2`. Each is written
or renamed in one step: a process killed at any point leaves the present version and those before it.
"""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import Callable

from ..base import clock, files, settings
from ..base.redact import redact
from ..memory import briefing as curated
from ..session.record import summary
from .call import Call
from .output import Fields, Refusal, count, local, read_input, short

_SESSIONS = 30  # shown by consolidate


def standard_input(usage: str) -> str:
    """The text on standard input, without secrets."""
    return _checked(read_input(settings.CURATED_MAX_BYTES, "Give the text: harness memory %s < FILE" % usage))


def _checked(data: bytes) -> str:
    lines, problem = curated.parse(data)
    if problem or not lines:
        raise Refusal("the text is %s; nothing was written" % (problem or "empty"))
    return redact("\n".join(lines) + "\n")


def edit_text(name: str, before: str, write: Callable[[str], object]) -> int:
    """Open a text in the editor and `write` what is saved; when that fails, the draft stays and is named."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command:
        raise Refusal("no editor is set. Set one: export EDITOR=nano (or vim, code --wait, …)")
    draft = os.path.join(tempfile.mkdtemp(prefix="harness-"), name + ".md")
    files.write(draft, before)
    sys.stdout.flush()
    try:
        words = [word.strip('"') for word in shlex.split(command, posix=os.name != "nt")]
        if code := subprocess.run([*words, draft], check=False).returncode:
            raise Refusal("the editor %s ended with exit code %d" % (words[0], code))
        data = files.read(draft) or b""
        if data.strip() in (b"", before.strip().encode("utf-8")):
            print("Nothing changed.")
        else:
            write(_checked(data))
    except (Refusal, OSError, ValueError) as error:
        what = str(error)
        if isinstance(error, OSError):
            what = "cannot use %s: %s" % (error.filename or command, error.strerror)
        raise Refusal("%s. The old version stays; your text is kept: %s" % (what, short(draft))) from None
    shutil.rmtree(os.path.dirname(draft))
    return 0


class Page:
    """The briefing, or the profile of a skill; a session is given the first `limit` lines."""

    def __init__(self, call: Call, skill: str = "") -> None:
        if skill and not curated.skill_name(skill):
            raise Refusal('"%s" cannot be the name of a skill' % skill)
        self.call, skill = call, curated.skill_name(skill)
        self.usage = "profile set " + skill if skill else "briefing set"
        self.limit = settings.PROFILE_LINES if skill else settings.BRIEFING_LINES
        self.name = skill + ".md" if skill else settings.BRIEFING_FILE
        self.path = os.path.join(call.dir, settings.PROFILES_DIR if skill else "", self.name)
        self.former = (self.path + ".1", self.path + ".2")

    def text(self, path: str = "") -> str:
        return "".join(row + "\n" for row in curated.read(path or self.path).lines)

    def replace(self, text: str) -> int:
        """Write a new version and keep the two before; show what changed."""
        self.call.prepare()
        before, data = self.text(), files.read(self.path)
        if text != before:
            if data is not None:
                if files.exists(self.former[0]):
                    files.move(*self.former)
                files.write(self.former[0], data, durable=True)
            files.write(self.path, text, durable=True)
        diff = "\n".join(difflib.unified_diff(before.splitlines(), text.splitlines(), "before", "after", lineterm=""))
        rows = ["Secrets in it were redacted."] * (settings.REDACTED in text)
        rows += [diff, "", "Written: %s" % short(self.path)] if diff else ["Nothing changed."]
        long = "A session is given the first %d lines: shorten the page." % self.limit
        rows += [long] * (text.count("\n") > self.limit)
        return self.call.answer({"file": self.path, "changed": text != before, "diff": diff}, rows)


def profiles(call: Call) -> int:
    names = [name[:-3] for name in files.names(os.path.join(call.dir, settings.PROFILES_DIR)) if name[-3:] == ".md"]
    rows: list[Fields] = []
    for skill in [name for name in names if curated.skill_name(name) == name]:
        page = curated.read(Page(call, skill).path)
        first = page.problem or next(filter(None, map(str.strip, page.lines)), "")
        changed = clock.iso(files.modified(page.path))
        rows.append({"skill": skill, "file": page.path, "changed": changed, "first": first})
    none = "No profiles yet. Write one: harness memory profile set SKILL < FILE"
    return call.listing("SKILL CHANGED BEGINS=first", rows, none)


def show(call: Call) -> int:
    page = Page(call, getattr(call, "skill", ""))
    text = page.text()
    if not text:
        raise Refusal("no %s here yet. Write one: harness memory %s < FILE" % (page.name, page.usage))
    return call.answer({"file": page.path, "text": text}, [text.rstrip("\n")])


def write(call: Call) -> int:
    page = Page(call, getattr(call, "skill", ""))
    text = page.text(page.former[0]) if call.action == "rollback" else standard_input(page.usage)
    if not text:
        raise Refusal("no earlier version: %s does not exist" % short(page.former[0]))
    return page.replace(text)


def consolidate(call: Call) -> int:
    if call.done:
        call.prepare()
        curated.mark_consolidation(call.dir, call.now)
        return call.answer({"done": True}, ["Consolidated: sessions count as new from now on."])
    last = curated.last_consolidation(call.dir)
    after = clock.parse(last) or -1.0
    recent = [each for each in reversed(call.records) if files.modified(each.episode_path) > after]
    new = [record.episode for record in recent if record.episode]
    shown = new[-_SESSIONS:]
    when = "since the last consolidation, %s" % local(last) if last else "and no consolidation yet"
    rows = ["%s %s." % (count(len(new), "session"), when)]
    rows += ["The newest %d of them:" % len(shown)] * (len(new) > len(shown))
    for value in shown:
        outside = "Text from outside came in by %s.\n" % ", ".join(value["taint"]) if value.get("taint") else ""
        rows.append("\nSession %s\n%s%s" % (value["id"], outside, summary(value).rstrip()))
    return call.answer({"last": last or None, "new": len(new), "sessions": shown}, rows)
