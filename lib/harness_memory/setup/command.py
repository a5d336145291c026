"""The command line of install.py: arguments in, sentences and an exit code out."""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys

from .. import __version__, settings, store
from . import entries, interpreter, jsontree, merge, registry, selftest, settingsfile
from .installation import Change, Place, install, plan_install, plan_uninstall, uninstall
from .settingsfile import Refused

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
WINDOWS = os.name == "nt"


def main(argv: list[str]) -> int:
    parser = _parser()
    args = parser.parse_args(argv)
    if args.purge and not args.uninstall:
        parser.error("--purge goes with --uninstall")
    if args.yes and not args.purge:
        parser.error("--yes goes with --uninstall --purge")
    try:
        python = _interpreter(needed=not args.uninstall)
        place, wanted = _place(args.scope), _entries(python)
        if args.uninstall:
            return _uninstall(place, wanted, dry_run=args.dry_run, purge=args.purge, confirmed=args.yes)
        return _install(place, wanted, python, dry_run=args.dry_run)
    except Refused as error:
        print("install.py: %s Nothing was changed." % error, file=sys.stderr)
        return 1
    except OSError as error:
        print("install.py: %s. Run it again when that is put right." % error, file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="install.py",
        description="Give Claude Code a memory across sessions: add hooks to its settings, and prove that they run.",
        epilog="Running it again repairs or upgrades an install and changes nothing else.",
    )
    scopes = "user: all your projects (default); project: this folder, shared; local: this folder, yours alone"
    parser.add_argument("--scope", choices=settingsfile.SCOPES, default="user", help=scopes)
    parser.add_argument("--dry-run", action="store_true", help="show what would change, change nothing")
    parser.add_argument("--uninstall", action="store_true", help="take the hooks out again; the memory stays")
    parser.add_argument("--purge", action="store_true", help="with --uninstall: delete the memory too, after asking")
    parser.add_argument("--yes", action="store_true", help="with --purge: do not ask")
    parser.add_argument("--version", action="version", version="harness-memory %s" % __version__)
    return parser


def _install(place: Place, wanted: entries.Entries, python: str, *, dry_run: bool) -> int:
    change = plan_install(place, wanted)
    if dry_run:
        return _show(place, change)
    install(place, wanted, python, change)
    if change.is_nothing:
        print("Already up to date: %s" % place.settings)
    else:
        print("Installed into %s" % place.settings)
        if change.before is not None:
            print("  as it was before:  %s" % place.backup)
    print("  memory:            %s" % place.store)
    print("  interpreter:       %s" % python)
    _compile(python)
    _warn(place)
    if not _prove(place):
        return 1
    print("Start `claude` in any project: from now on its sessions are remembered.")
    print("  look:  %s status" % entries.harness_command(ROOT, python, windows=WINDOWS))
    print("  undo:  %s" % _again(place, "--uninstall"))
    return 0


def _warn(place: Place) -> None:
    """Of what would keep a good install from working."""
    switch = jsontree.parse(settingsfile.as_document(settingsfile.read(place.settings))).get("disableAllHooks")
    if switch is not None and switch.kind == "true":
        print('  note: "disableAllHooks" is on in this file, so Claude Code will not run any hook')
    for name in (settings.ENV_HOME, settings.ENV_CONFIG_DIR):
        if os.environ.get(name):
            print("  note: %s is set here; Claude Code has to be started with the same value" % name)


def _prove(place: Place) -> bool:
    """Play a session through the commands as they stand in the file."""
    text = settingsfile.as_document(settingsfile.read(place.settings))
    print("Self-test, each hook run as Claude Code runs it:")
    good = True
    for outcome in selftest.play(merge.commands(text, place.root), os.environ):
        good = good and not outcome.problem
        result = "FAILED: " + outcome.problem if outcome.problem else "ok, %.0f ms" % outcome.milliseconds
        print("  %-17s %s" % (outcome.event, result))
    if not good:
        print("The self-test failed, so this install does not work as it should; Claude Code itself is not disturbed.")
        print("  undo:  %s" % _again(place, "--uninstall"))
    return good


def _uninstall(place: Place, wanted: entries.Entries, *, dry_run: bool, purge: bool, confirmed: bool) -> int:
    change = plan_uninstall(place, wanted)
    if dry_run:
        return _show(place, change)
    if purge:
        _check_purge(place)
        if not confirmed and not _confirm("Delete all memory in %s for good? Type yes: " % place.store):
            raise Refused("not confirmed. Leave out --purge to keep the memory.")
    uninstall(place, change)
    if change.is_nothing:
        print("Nothing of ours in %s" % place.settings)
    elif change.after is None:
        print("Removed %s, which held nothing else" % place.settings)
    else:
        print("Taken out of %s" % place.settings)
    if purge:
        store.remove_tree(os.path.realpath(place.store))
        print("Deleted the memory in %s" % place.store)
    elif os.path.isdir(place.store):
        print("The memory stays in %s (--uninstall --purge deletes it)" % place.store)
    for other in registry.load(place.store):
        print("Still installed in %s (--scope %s)" % (other.get("settings"), other.get("scope")))
    return 0


def _check_purge(place: Place) -> None:
    """A mistyped HARNESS_MEMORY_HOME must not cost more than a memory."""
    doomed = os.path.realpath(place.store)
    for precious in (os.path.expanduser("~"), ROOT, os.getcwd(), os.path.dirname(place.settings)):
        if (os.path.realpath(precious) + os.sep).startswith(doomed.rstrip(os.sep) + os.sep):
            raise Refused("%s contains %s and will not be deleted." % (place.store, precious))


def _confirm(question: str) -> bool:
    try:
        return input(question).strip().lower() == "yes"
    except EOFError:
        print()
        return False


def _show(place: Place, change: Change) -> int:
    if change.is_nothing:
        print("Nothing to change in %s" % place.settings)
        return 0
    before, after = (_lines(data) for data in (change.before, change.after))
    names = [place.settings if data is not None else os.devnull for data in (change.before, change.after)]
    for line in difflib.unified_diff(before, after, names[0], names[1]):
        text = line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        sys.stdout.write(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
    print("Nothing was changed (--dry-run).")
    return 0


def _lines(data: bytes | None) -> list[str]:
    return settingsfile.decode(data or b"").replace("\r\n", "\n").splitlines(keepends=True)


def _compile(python: str) -> None:
    library = os.path.join(ROOT, "lib")
    command = [python, "-I", "-S", "-m", "compileall", "-q", library]
    if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        print("  note: the bytecode in %s could not be written; the hooks run, but start more slowly" % library)


def _place(scope: str) -> Place:
    settings_path = settingsfile.locate(scope, os.environ, os.path.expanduser("~"), os.getcwd())
    return Place(ROOT, scope, settings_path, store.root_from(os.environ))


def _entries(python: str) -> entries.Entries:
    memory, home = store.root_from(os.environ), os.path.expanduser("~")
    try:
        (ROOT + python + memory).encode("utf-8")
    except UnicodeEncodeError:
        raise Refused("JSON cannot hold the path %s. Move the folder and try again." % ascii(ROOT)) from None
    stores = list(dict.fromkeys([memory, os.path.realpath(memory)]))
    return entries.entries(ROOT, python, stores, home, windows=WINDOWS)


def _interpreter(*, needed: bool) -> str:
    found = interpreter.find()
    if found is None and needed:
        raise Refused("found no Python 3.8 or later outside a virtual environment. Install one and try again.")
    return found or sys.executable


def _again(place: Place, option: str) -> str:
    scope = "" if place.scope == "user" else " --scope %s" % place.scope
    return "python3 %s%s %s" % (entries.quote(os.path.join(ROOT, "install.py")), scope, option)
