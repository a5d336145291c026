"""The command line of install.py: arguments in, sentences and an exit code out."""

from __future__ import annotations

import argparse
import difflib
import os
import subprocess
import sys
from itertools import chain

from .. import __version__
from ..base import files, invocation, settings
from ..cli import arguments, output
from ..memory import backfill
from . import entries, interpreter, jsontree, merge, purge, registry, selftest, settingsfile, skills
from .installation import Change, Place, Removal, install, plan_install, plan_uninstall, uninstall
from .neighbours import neighbours
from .settingsfile import Refused

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
WINDOWS = os.name == "nt"
CLOSED_PIPE = 141  # what a shell says of a command that was cut off by `| head`
INTERRUPTED = 130  # and by Ctrl-C
NAMES_SHOWN = 10
_GUARD_ON = "on: stops what nobody wants, asks about what is hard to undo (without it: --no-guard)"
_GUARD_OFF = "left out (--guard puts it in)"


def main(argv: list[str]) -> int:
    output.prepare()
    parser = _parser()
    args = parser.parse_args(argv)
    if args.purge and not args.uninstall:
        parser.error("--purge goes with --uninstall")
    if args.backfill and (args.uninstall or args.dry_run):
        parser.error("--backfill goes with an install")
    if args.yes and not args.purge:
        parser.error("--yes goes with --uninstall --purge")
    if args.guard is not None and args.uninstall:
        parser.error("--guard and --no-guard do not go with --uninstall")
    try:
        code = _run(args)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        output.drop()
        return CLOSED_PIPE
    except KeyboardInterrupt:
        output.say("install.py: stopped. %s Run it again to finish." % _standing(args.scope), sys.stderr)
        return INTERRUPTED
    except Refused as error:
        output.say("install.py: %s Nothing was changed." % error, sys.stderr)
        return 1
    except OSError as error:
        _flush()
        output.say("install.py: %s. Run it again when that is put right." % error, sys.stderr)
        return 1


def _flush() -> None:
    """Say what was to be said, if there is anywhere to say it."""
    try:
        sys.stdout.flush()
    except OSError:
        output.drop()


def _standing(scope: str) -> str:
    """Whether the hooks are in the settings file, as it is at this moment."""
    try:
        place = _place(scope)
        is_in = merge.holds_ours(settingsfile.as_document(settingsfile.read(place.settings)), place.root)
    except (Refused, OSError, ValueError):
        return "Whether the hooks are in the settings file cannot be told."
    return "The hooks are %s %s." % ("in" if is_in else "not in", place.settings)


def _run(args: argparse.Namespace) -> int:
    _check_present()
    python = _interpreter(needed=not args.uninstall)
    place = _place(args.scope)
    wanted = _entries(python, guard=_is_guarded(place) if args.guard is None else args.guard)
    if args.uninstall:
        return _uninstall(place, wanted, dry_run=args.dry_run, purging=args.purge, confirmed=args.yes)
    return _install(place, wanted, python, dry_run=args.dry_run, backfilling=args.backfill)


def _parser() -> argparse.ArgumentParser:
    parser = arguments.Parser(
        prog="install.py",
        description="Give Claude Code a memory across sessions: add hooks to its settings, and prove that they run.",
        epilog="Running it again repairs or upgrades an install and changes nothing else.",
    )
    scopes = "user: all your projects (default); project: this folder, shared; local: this folder, yours alone"
    parser.add_argument("--scope", choices=settingsfile.SCOPES, default="user", help=scopes)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--no-guard", action="store_false", dest="guard", default=None, help="leave the guard out")
    choice.add_argument(
        "--guard", action="store_true", default=None, help="put the guard in (default, unless left out)"
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would change, change nothing")
    parser.add_argument("--uninstall", action="store_true", help="take the hooks out again; the memory stays")
    parser.add_argument("--backfill", action="store_true", help="and remember earlier sessions from their transcripts")
    parser.add_argument("--purge", action="store_true", help="with --uninstall: delete the memory too, after asking")
    parser.add_argument("--yes", action="store_true", help="with --purge: do not ask")
    parser.add_argument("--version", action="version", version="harness-memory %s" % __version__)
    return parser


def _install(place: Place, wanted: entries.Entries, python: str, *, dry_run: bool, backfilling: bool) -> int:
    change = plan_install(place, wanted)
    words = invocation.command(ROOT, python, windows=WINDOWS)
    if dry_run:
        _show(place, change)
        for path in skills.missing(place, words):
            output.say("Would add the skill %s" % path)
        output.say("Nothing was changed (--dry-run).")
        return 0
    install(place, wanted, python, change)
    own = skills.install(place, words)
    is_compiled = _compile(python)
    if change.is_nothing:
        output.say("Already up to date: %s" % place.settings)
    else:
        output.say("Installed into %s" % place.settings)
        if os.path.exists(place.backup):
            output.say("  as it was before:  %s" % place.backup)
    output.say("  memory:            %s" % place.store)
    output.say("  interpreter:       %s" % python)
    output.say("  guard:             %s" % (_GUARD_ON if wanted.has_guard else _GUARD_OFF))
    output.say("  skills:            %s" % os.path.join(skills.folder(place.settings), "harness-*"))
    for path in own:
        output.say("  note: %s is your own and was left as it is; ours is in %s" % (path, ROOT))
    if not is_compiled:
        output.say("  note: the bytecode of %s could not be written; the hooks run, but start more slowly" % ROOT)
    _warn(place)
    if not _prove(place, wanted.has_guard):
        return 1
    where = "any" if place.scope == "user" else "this"
    output.say("Start `claude` in %s project: from now on its sessions are remembered." % where)
    output.say("  look:  %s status" % words)
    output.say("  undo:  %s" % _again(place, "--uninstall"))
    return _earlier(place, words, backfilling=backfilling)


def _earlier(place: Place, words: str, *, backfilling: bool) -> int:
    """Sessions from before us: remembered at once, or the command that does it."""
    number = len(backfill.paths(backfill.config_dir(os.environ)))
    if backfilling:
        from ..cli import backfilling as verb

        output.say("\n".join(verb.page(verb.run(""))))
    elif number:
        output.say("  past:  %s backfill --all" % words)
        output.say("         remembers what it finds in %d transcript%s" % (number, "" if number == 1 else "s"))
    return 0


def _warn(place: Place) -> None:
    """Of what would keep a good install from working, or others from liking it."""
    switch = jsontree.parse(settingsfile.as_document(settingsfile.read(place.settings))).get("disableAllHooks")
    if switch is not None and switch.kind == "true":
        output.say('  note: "disableAllHooks" is on in this file, so Claude Code will not run any hook')
    for name in (settings.ENV_HOME, settings.ENV_CONFIG_DIR):
        if os.environ.get(name):
            output.say("  note: %s is set here; Claude Code has to be started with the same value" % name)
    if place.scope == "project":
        output.say("  note: the file names paths of this machine, so do not commit it; --scope local is for you alone")
    for path, is_same in neighbours(place, os.environ, os.path.expanduser("~"), os.getcwd()).items():
        what = "the same hooks, which run once" if is_same else "our hooks by other commands, so they run twice"
        output.say("  note: %s holds %s where both files count" % (path, what))


def _prove(place: Place, has_guard: bool) -> bool:
    """Play a session through the commands as they stand in the file."""
    commands = merge.commands(settingsfile.as_document(settingsfile.read(place.settings)), place.root)
    output.say("Self-test, each hook run as Claude Code runs it:")
    good = True
    guard = commands.get(entries.GUARD_EVENT, "") if has_guard else ""
    trials = selftest.challenge(guard, os.environ, selftest.CASES[:1]) if guard else ()
    for outcome in chain(selftest.play(commands, os.environ), trials):
        good = good and not outcome.problem
        result = "FAILED: " + outcome.problem if outcome.problem else "ok, %.0f ms" % outcome.milliseconds
        output.say("  %-17s %s" % (outcome.event, result))
    if not good:
        output.say(
            "The self-test failed, so this install does not work as it should; Claude Code itself is not disturbed."
        )
        output.say("  undo:  %s" % _again(place, "--uninstall"))
    return good


def _uninstall(place: Place, wanted: entries.Entries, *, dry_run: bool, purging: bool, confirmed: bool) -> int:
    removal = plan_uninstall(place, wanted)
    memory = purge.survey(place.store) if purging else None
    if dry_run:
        _show(place, removal)
        if memory is not None:
            _tell_purge("Would delete", memory)
        output.say("Nothing was changed (--dry-run).")
        return 0
    if memory is not None and memory.paths:
        _check_purge(place, memory)
        if not confirmed and not _confirm("Delete %s in %s for good? Type yes: " % (memory.summary, memory.root)):
            raise Refused("not confirmed. Leave out --purge to keep the memory.")
        removal = plan_uninstall(place, wanted)  # whoever was asked may have changed the settings before answering
    own = uninstall(place, removal, memory)
    for path in own:
        output.say("Your own version of a skill stays: %s" % path)
    is_whole = memory is None or not any(map(os.path.lexists, memory.paths))
    _tell_removal(place, removal)
    for path in removal.stores:
        if os.path.isdir(path) and not (purging and path == place.store):
            how = "" if path == place.store else "with %s set to it, " % settings.ENV_HOME
            output.say("The memory stays in %s (%s--uninstall --purge deletes it)" % (path, how))
    if memory is not None:
        _tell_purge("Deleted" if is_whole else "Could not delete all of", memory)
        _tell_left(place)
    for other in registry.load(place.store):
        output.say("Still installed in %s (--scope %s)" % (other.get("settings"), other.get("scope")))
    return 0 if is_whole else 1


def _tell_purge(verb: str, memory: purge.Memory) -> None:
    output.say("%s %s in %s" % (verb, memory.summary, memory.root) if memory.paths else "No memory in %s" % memory.root)


def _tell_removal(place: Place, removal: Removal) -> None:
    if removal.is_nothing:
        output.say("Nothing of ours in %s" % place.settings)
    elif removal.after is None:
        output.say("Removed %s, which held nothing else" % place.settings)
    else:
        output.say("Taken out of %s" % place.settings)


def _tell_left(place: Place) -> None:
    names = [name for name in files.names(place.store) if name != settings.INSTALLS_FILE]
    if names:
        more = ", and %d more" % (len(names) - NAMES_SHOWN) if len(names) > NAMES_SHOWN else ""
        output.say("Left in it: %s%s" % (", ".join(names[:NAMES_SHOWN]), more))


def _check_purge(place: Place, memory: purge.Memory) -> None:
    """A mistyped HARNESS_MEMORY_HOME must not cost more than a memory: /home may well hold a folder `user`."""
    for doomed in map(os.path.realpath, memory.paths):
        for precious in (os.path.expanduser("~"), ROOT, os.getcwd(), os.path.dirname(place.settings)):
            if (os.path.realpath(precious) + os.sep).startswith(doomed + os.sep):
                raise Refused("%s contains %s and will not be deleted." % (doomed, precious))


def _confirm(question: str) -> bool:
    try:
        return input(output.passage(question)).strip().lower() == "yes"
    except EOFError:
        print()
        return False


def _show(place: Place, change: Change) -> None:
    if change.is_nothing:
        output.say("Nothing to change in %s" % place.settings)
        return
    before, after = (_lines(data) for data in (change.before, change.after))
    names = [place.settings if data is not None else os.devnull for data in (change.before, change.after)]
    for line in difflib.unified_diff(before, after, names[0], names[1]):
        text = line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
        output.say(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")[:-1])


def _lines(data: bytes | None) -> list[str]:
    return settingsfile.decode(data or b"").replace("\r\n", "\n").splitlines(keepends=True)


def _compile(python: str) -> bool:
    command = [python, "-I", "-S", "-m", "compileall", "-q", os.path.join(ROOT, "lib")]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def _check_present() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        raise Refused("the folder you are in is gone. Go to another and try again.") from None


def _place(scope: str) -> Place:
    settings_path = settingsfile.locate(scope, os.environ, os.path.expanduser("~"), os.getcwd())
    here, led = os.path.join(os.path.realpath(os.getcwd()), ""), os.path.realpath(settings_path)
    if scope != "user" and not led.startswith(here):
        raise Refused(
            "%s is a link to %s, which is not in this folder. Install there, if you mean it." % (settings_path, led)
        )
    memory = files.root_from(os.environ)
    files.confine(memory)
    return Place(ROOT, scope, settings_path, memory)


def _is_guarded(place: Place) -> bool:
    """As chosen before."""
    return registry.find(place.store, place.settings).get("guard") is not False


def _entries(python: str, *, guard: bool) -> entries.Entries:
    memory, home = files.root_from(os.environ), os.path.expanduser("~")
    try:
        (ROOT + python + memory).encode("utf-8")
    except UnicodeEncodeError:
        raise Refused("JSON cannot hold the path %s. Move the folder and try again." % ascii(ROOT)) from None
    stores = list(dict.fromkeys([memory, os.path.realpath(memory)]))
    return entries.entries(ROOT, python, stores, home, windows=WINDOWS, guard=guard)


def _interpreter(*, needed: bool) -> str:
    found = interpreter.find()
    if found is None and needed:
        raise Refused("found no Python 3.8 or later outside a virtual environment. Install one and try again.")
    return found or sys.executable


def _again(place: Place, option: str) -> str:
    scope = "" if place.scope == "user" else " --scope %s" % place.scope
    return "python3 %s%s %s" % (invocation.quote(os.path.join(ROOT, "install.py")), scope, option)
