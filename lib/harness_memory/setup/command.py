"""The command line of install.py: arguments in, sentences and an exit code out."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from pathlib import Path
from typing import Iterator

from .. import __version__, cli
from ..base import files, invocation, settings
from ..cli import call, output
from ..cli.output import Refusal
from . import installation, selftest, settingsfile
from .installation import Installation

ROOT = invocation.tree()


def main(argv: list[str]) -> int:
    failed = "Run it again when that is corrected."
    return output.run(lambda: _run(_parse(argv)), "install.py", 1, " Nothing was changed.", failed)


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="install.py",
        description="Give Claude Code a memory across sessions: add hooks to its settings, and prove that they run.",
        epilog="Running it again repairs or upgrades an install and changes nothing else.",
    )
    for names, keywords in cli.options():
        parser.add_argument(*names, **keywords)
    parser.add_argument("--version", action="version", version="harness-memory %s" % __version__)
    args = parser.parse_args(argv)
    is_wrong = args.uninstall and (args.backfill or args.statusline or args.guard or args.no_guard)
    if is_wrong or args.purge > args.uninstall or args.yes > args.purge or (args.guard and args.no_guard):
        parser.error("--purge goes with --uninstall, --yes with --purge, the other options with an install")
    return args


def _run(args: argparse.Namespace) -> int:
    python = find_python()
    if not python and not args.uninstall:
        raise Refusal("found no Python 3.8 or later outside a virtual environment. Install one and try again.")
    if not invocation.WINDOWS and "\\" in ROOT and not args.uninstall:
        raise Refusal("%s: hooks cannot run below a folder with a backslash in its name. Move it and try again." % ROOT)
    if call.is_in_session() and os.environ.get(settings.ENV_HOME):
        raise Refusal("a project's settings may have set %s. Run this in a terminal of your own." % settings.ENV_HOME)
    cwd, home, store = call.working_directory(), os.path.expanduser("~"), files.root_from(os.environ)
    path = settingsfile.locate(args.scope, os.environ, home, cwd)
    real = os.path.realpath(path)
    if args.scope != "user" and not real.startswith(os.path.join(os.path.realpath(cwd), "")):
        raise Refusal("%s: a link to %s, which is outside this folder. Install there if you mean it." % (path, real))
    files.confine(store)
    target = Installation(ROOT, args.scope, path, store)
    guard = True if args.guard else False if args.no_guard else None
    wanted = target.wanted(python or sys.executable, guard, args.statusline)
    return _uninstall(target, wanted, args) if args.uninstall else _install(target, wanted, python, args)


def find_python() -> str:
    """The path of the base interpreter that runs us, "" without one; links outlive upgrades, their targets do not."""
    if sys.prefix == sys.base_prefix:
        return sys.executable
    names = ["python.exe"] if invocation.WINDOWS else ["bin/python%d.%d" % sys.version_info[:2], "bin/python3"]
    return next(filter(os.path.isfile, (os.path.join(sys.base_prefix, name) for name in names)), "")


def _install(target: Installation, wanted: settingsfile.Entries, python: str, args: argparse.Namespace) -> int:
    after, link = target.installed(wanted), installation.place_on_path(ROOT, os.environ)
    transcripts = Path(files.config_dir(os.environ), "projects").glob("*/*.jsonl")
    earlier = len([path for path in transcripts if not path.name.startswith("agent-")])
    is_linked = not link or os.path.lexists(link)
    if args.dry_run:
        lines = ["Would add the skill %s" % path for path in target.skills(python) if not os.path.lexists(path)]
        lines += ["Would link %s" % link] * (not is_linked)
        lines += ["Would read the transcripts of %s" % output.count(earlier, "earlier session")] * args.backfill
        return _rehearse(target, after, lines)
    edited = target.install(wanted, python)
    document = settingsfile.load(target.path)[1]
    output.show("note: " + note for note in _notes(target.scope, document, edited))
    scope = "" if target.scope == "user" else " --scope " + target.scope
    undo = "%s%s --uninstall" % (invocation.script_command(ROOT, "install.py", python), scope)
    commands = {hook.event: hook.command for hook in settingsfile.hooks(document, ROOT)}
    outcomes = [*selftest.play(commands, os.environ)]
    if wanted.has_guard:
        outcomes += selftest.challenge(commands[settingsfile.GUARD_EVENT], os.environ, selftest.CASES[:1])
    failures = ["  %-17s FAILED: %s" % (outcome.event, outcome.problem) for outcome in outcomes if outcome.problem]
    if failures:
        end = "The self-test failed: this install does not work. Claude Code is not affected."
        output.show(["Self-test, each hook run as Claude Code runs it:", *failures, end, "Undo: " + undo])
        return 1
    if not is_linked:
        os.symlink(os.path.join(ROOT, invocation.SCRIPT), link)
    command = "harness memory" if link else invocation.command(ROOT, python)
    guard = "the guard" if wanted.has_guard else "no guard (--guard adds it)"
    parts = ["%d hooks" % len(commands), guard, "%d skills" % len(target.skills(python))]
    parts += ["`%s`" % output.short(link)] * bool(link)
    what, where = "Installed" if after != target.before else "Already up to date", output.short(target.path)
    output.show(["%s: %s (%s; self-test passed)" % (what, where, ", ".join(parts))])
    held, code = _remembered(target.store), 0
    if earlier and not held and not args.backfill and sys.stdin.isatty() and sys.stdout.isatty():
        question = "Claude Code still has the transcripts of %s. Remember these too? [Y/n] "
        args.backfill = output.ask(question % output.count(earlier, "session")) in ("", "y", "yes")
    if args.backfill:
        code = cli.main(["memory", "backfill", "--all"])
    else:
        output.show(["Remembered: " + (held or "nothing yet; it begins with the next session")])
    past = "-> %s backfill --all" % command if earlier and not held and not args.backfill else ""
    output.show(output.page({"See it": "-> %s status" % command, "Earlier sessions": past, "Undo": "-> " + undo}))
    return code


def _notes(scope: str, document: settingsfile.Document, edited: list[str]) -> Iterator[str]:
    """What a person should know about an install."""
    for name in filter(os.environ.get, (settings.ENV_HOME, settings.ENV_CONFIG_DIR)):
        yield "%s is set here; start Claude Code with the same value" % name
    if settingsfile.disables_hooks(document):
        yield '"disableAllHooks" is on in this file, so Claude Code runs no hook'
    if forbidden := settingsfile.forbidden():
        yield forbidden
    if scope == "project":
        yield "the file holds paths of this machine, so do not commit it; --scope local is for you alone"
    yield from ("%s has your changes and stays as it is" % path for path in edited)


def _remembered(store: str) -> str:
    """How many sessions and notes the memory holds; "" without a session."""
    places = ("*/%s/*.json" % settings.EPISODES_DIR, "*/%s/%s/*.md" % (settings.LEARNING_DIR, settings.TOPICS_DIR))
    episodes, notes = ([*Path(store).glob(place)] for place in places)
    projects = {path.parent for path in episodes}
    counts = map(output.count, map(len, (episodes, projects, notes)), ("session", "project", "note"))
    return "%s of %s and %s, in %s" % (*counts, output.short(store)) if episodes else ""


def _uninstall(target: Installation, wanted: settingsfile.Entries, args: argparse.Namespace) -> int:
    paths = installation.memory(target.store) if args.purge else []
    what = _remembered(target.store) or "the memory in %s" % output.short(target.store)
    if args.dry_run:
        lines = ["Would remove %s" % path for path in target.removable()]
        return _rehearse(target, target.without(wanted)[0], [*lines, *["Would delete %s" % what] * bool(paths)])
    # A mistyped HARNESS_MEMORY_HOME must not cost more than a memory: /home may hold a folder `user`.
    for precious in (os.path.expanduser("~"), ROOT, os.getcwd(), os.path.dirname(target.path)):
        for path in map(os.path.realpath, paths):
            if (os.path.realpath(precious) + os.sep).startswith(path + os.sep):
                raise Refusal("%s: contains %s and will not be deleted." % (path, precious))
    if paths and not args.yes and output.ask("Delete %s for good? Type yes: " % what) != "yes":
        raise Refusal("not confirmed. Leave out --purge to keep the memory.")
    is_changed = target.without(wanted)[0] != target.before
    edited = target.uninstall(wanted, paths)
    lines = [("Removed from %s" if is_changed else "Nothing of ours in %s") % output.short(target.path)]
    lines += ["A skill with your changes stays: %s" % path for path in edited]
    is_deleted = not any(map(os.path.lexists, paths))
    left = ", ".join(name for name in files.names(target.store) if name != settings.INSTALLS_FILE)
    if args.purge:
        verb = "Deleted" if is_deleted else "Could not delete all of"
        lines += ["%s %s" % (verb, what) if paths else "No memory in %s" % target.store]
        lines += ["Left in it: %s" % left] * bool(left)
    elif left:
        lines += ["The memory stays in %s (--uninstall --purge deletes it)" % output.short(target.store)]
    others = installation.records(target.store)
    lines += ["Still installed in %s (--scope %s)" % (each["settings"], each.get("scope")) for each in others]
    output.show(lines)
    return 0 if is_deleted else 1


def _rehearse(target: Installation, after: bytes | None, lines: list[str]) -> int:
    old, new = [(data or b"").decode("utf-8", "replace").splitlines() for data in (target.before, after)]
    source, goal = [os.devnull if data is None else target.path for data in (target.before, after)]
    diff = [*difflib.unified_diff(old, new, source, goal, lineterm="")] or ["Nothing to change in %s" % target.path]
    print(output.passage("\n".join([*diff, *lines, "Nothing was changed (--dry-run)."])))
    return 0
