"""The command line of install.py: arguments in, sentences and an exit code out."""

from __future__ import annotations

import argparse
import difflib
import os
import sys

from .. import __version__, cli
from ..base import files, invocation, settings
from ..cli import arguments, output
from . import entries, interpreter, jsonedit, merge, purge, registry, selftest, settingsfile, skills
from .installation import Change, install, plan_install, plan_uninstall, uninstall
from .settingsfile import Refused, Target

ROOT = invocation.tree()
WINDOWS = os.name == "nt"


def main(argv: list[str]) -> int:
    output.prepare()
    args = _parse(argv)
    try:
        code = _run(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        output.drop()
        return output.CLOSED_PIPE
    except KeyboardInterrupt:
        print("install.py: stopped. Run it again to finish.", file=sys.stderr)
        return output.INTERRUPTED
    except Refused as error:
        print(output.passage("install.py: %s Nothing was changed." % error), file=sys.stderr)
    except OSError as error:
        output.drop()
        print(output.passage("install.py: %s. Run it again when that is corrected." % error), file=sys.stderr)
    return 1


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = arguments.Parser(
        prog="install.py",
        description="Give Claude Code a memory across sessions: add hooks to its settings, and prove that they run.",
        epilog="Running it again repairs or upgrades an install and changes nothing else.",
    )
    scopes = "user: all your projects (default); project: this folder, shared; local: this folder, yours alone"
    parser.add_argument("--scope", choices=settingsfile.SCOPES, default="user", help=scopes)
    guard = parser.add_mutually_exclusive_group()
    guard.add_argument("--no-guard", action="store_false", dest="guard", default=None, help="leave the guard out")
    guard.add_argument("--guard", action="store_true", default=None, help="add the guard (default, unless left out)")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, change nothing")
    parser.add_argument("--uninstall", action="store_true", help="remove the hooks; the memory stays")
    parser.add_argument("--backfill", action="store_true", help="and remember earlier sessions from their transcripts")
    parser.add_argument("--purge", action="store_true", help="with --uninstall: delete the memory too, after asking")
    parser.add_argument("--yes", action="store_true", help="with --purge: do not ask")
    parser.add_argument("--version", action="version", version="harness-memory %s" % __version__)
    args = parser.parse_args(argv)
    if args.uninstall and (args.backfill or args.guard is not None):
        parser.error("--backfill, --guard and --no-guard do not go with --uninstall")
    if (args.purge and not args.uninstall) or (args.yes and not args.purge) or (args.backfill and args.dry_run):
        parser.error("--purge goes with --uninstall, --yes with --purge, --backfill with a real install")
    return args


def _run(args: argparse.Namespace) -> int:
    python = interpreter.find()
    if not python and not args.uninstall:
        raise Refused("found no Python 3.8 or later outside a virtual environment. Install one and try again.")
    target = _target(args.scope)
    guard = args.guard
    if guard is None:
        guard = registry.find(target.store, target.settings).get("guard") is not False
    stores = list(dict.fromkeys([target.store, os.path.realpath(target.store)]))
    home = os.path.expanduser("~")
    wanted = entries.entries(ROOT, python or sys.executable, stores, home, windows=WINDOWS, guard=guard)
    return _uninstall(target, wanted, args) if args.uninstall else _install(target, wanted, python, args)


def _target(scope: str) -> Target:
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        raise Refused("the current folder is gone. Go to another and try again.") from None
    path = settingsfile.locate(scope, os.environ, os.path.expanduser("~"), cwd)
    real = os.path.realpath(path)
    if scope != "user" and not real.startswith(os.path.join(os.path.realpath(cwd), "")):
        raise Refused("%s: a link to %s, which is outside this folder. Install there if you mean it." % (path, real))
    store = files.root_from(os.environ)
    files.confine(store)
    try:
        (ROOT + sys.executable + store).encode("utf-8")
    except UnicodeEncodeError:
        raise Refused("%s: JSON cannot hold this path. Move the folder and try again." % ascii(ROOT)) from None
    return Target(ROOT, scope, path, store)


def _install(target: Target, wanted: entries.Entries, python: str, args: argparse.Namespace) -> int:
    change = plan_install(target, wanted)
    command = invocation.command(ROOT, python, windows=WINDOWS)
    if args.dry_run:
        missing = [path for path in skills.copies(target, command) if not os.path.lexists(path)]
        return _rehearse(target, change, ["Would add the skill %s" % path for path in missing])
    install(target, wanted, python, change)
    edited = skills.install(target, command)
    on = "on: stops or asks before what is hard to undo (without it: --no-guard)"
    _say("Already up to date: %s" if change.is_empty else "Installed into %s", target.settings)
    _say("  memory:       %s\n  interpreter:  %s", target.store, python)
    _say("  guard:        %s", on if wanted.has_guard else "left out (--guard adds it)")
    _say("  skills:       %s", os.path.join(skills.folder(target.settings), "harness-*"))
    for note in [*_obstacles(target), *("%s has your changes and stays as it is" % path for path in edited)]:
        _say("  note: %s", note)
    undo = "python3 %s --scope %s --uninstall" % (invocation.quote(os.path.join(ROOT, "install.py")), target.scope)
    if not _prove(target, wanted.has_guard):
        _say("The self-test failed: this install does not work. Claude Code is not affected.\n  undo:  %s", undo)
        return 1
    where = "any project" if target.scope == "user" else "this project"
    _say("Start `claude` in %s: from now on its sessions are remembered.", where)
    _say("  look:  %s status\n  undo:  %s", command, undo)
    if args.backfill:
        return cli.main(["memory", "backfill", "--all"])
    _say("  past:  %s backfill --all", command)
    return 0


def _obstacles(target: Target) -> list[str]:
    """What may keep an install from working."""
    switch = jsonedit.parse(settingsfile.document(settingsfile.read(target.settings))).find("disableAllHooks")
    variables = [name for name in (settings.ENV_HOME, settings.ENV_CONFIG_DIR) if os.environ.get(name)]
    notes = ["%s is set here; start Claude Code with the same value" % name for name in variables]
    if switch is not None and switch.kind == "t":
        notes.append('"disableAllHooks" is on in this file, so Claude Code runs no hook')
    if target.scope == "project":
        notes.append("the file holds paths of this machine, so do not commit it; --scope local is for you alone")
    return notes


def _prove(target: Target, has_guard: bool) -> bool:
    """Play a session through the commands as they stand in the file."""
    text = settingsfile.document(settingsfile.read(target.settings))
    commands = {hook.event: hook.command for hook in merge.hooks(text, target.root)}
    _say("Self-test, each hook run as Claude Code runs it:")
    outcomes = [*selftest.play(commands, os.environ)]
    if has_guard:
        outcomes += selftest.challenge(commands[entries.GUARD_EVENT], os.environ, selftest.CASES[:1])
    for outcome in outcomes:
        result = "FAILED: " + outcome.problem if outcome.problem else "ok, %.0f ms" % outcome.milliseconds
        _say("  %-17s %s", outcome.event, result)
    return not any(outcome.problem for outcome in outcomes)


def _uninstall(target: Target, wanted: entries.Entries, args: argparse.Namespace) -> int:
    removal = plan_uninstall(target, wanted)
    memory = purge.survey(target.store) if args.purge else None
    what = "%s in %s" % (memory.summary, memory.root) if memory and memory.paths else ""
    if args.dry_run:
        return _rehearse(target, removal, ["Would delete %s" % what] if what else [])
    if memory and what:
        memory.check([os.path.expanduser("~"), ROOT, os.getcwd(), os.path.dirname(target.settings)])
        if not args.yes and not output.confirm("Delete %s for good? Type yes: " % what):
            raise Refused("not confirmed. Leave out --purge to keep the memory.")
        removal = plan_uninstall(target, wanted)  # the settings may have changed while we asked
    edited = uninstall(target, removal, memory)
    _say("Nothing of ours in %s" if removal.is_empty else "Removed from %s", target.settings)
    for path in edited:
        _say("A skill with your changes stays: %s", path)
    is_deleted = memory is None or not any(map(os.path.lexists, memory.paths))
    left = ", ".join(name for name in files.names(target.store) if name != settings.INSTALLS_FILE)
    if memory is None and left:
        _say("The memory stays in %s (--uninstall --purge deletes it)", target.store)
    elif memory is not None:
        verb = "Deleted" if is_deleted else "Could not delete all of"
        _say("%s %s" % (verb, what) if what else "No memory in %s" % target.store)
        _say("Left in it: %s", left) if left else None
    for other in registry.load(target.store):
        _say("Still installed in %s (--scope %s)", other["settings"], other.get("scope"))
    return 0 if is_deleted else 1


def _rehearse(target: Target, change: Change, lines: list[str]) -> int:
    """Show a change as a diff."""
    sides = [(data or b"").decode("utf-8", "replace").splitlines() for data in change]
    names = [os.devnull if data is None else target.settings for data in change]
    diff = [*difflib.unified_diff(sides[0], sides[1], names[0], names[1], lineterm="")]
    diff = ["Nothing to change in %s" % target.settings] if change.is_empty else diff
    for line in [*diff, *lines, "Nothing was changed (--dry-run)."]:
        _say("%s", line)
    return 0


def _say(text: str, *values: object) -> None:
    print(output.passage(text % values if values else text))
