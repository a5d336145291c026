#!/usr/bin/env python3
"""Install Harness Memory into Claude Code's settings, or take it out: `python3 install.py --help`."""

# No syntax in this file that an old Python could not read: it has to be able to say that it is too old.
import os
import signal
import sys

if sys.version_info < (3, 8):  # noqa: UP036
    sys.exit("install.py: this is Python %d.%d; 3.8 or later is needed. Try python3 install.py" % sys.version_info[:2])

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))


def stop(*_):
    # type: (object) -> None
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # once is enough: what is under way is put away now
    raise KeyboardInterrupt


if __name__ == "__main__":
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop)
    try:
        from harness_memory.setup.command import main
    except KeyboardInterrupt:
        sys.stderr.write("install.py: stopped before anything was done. Run it again.\n")
        sys.exit(130)
    raise SystemExit(main(sys.argv[1:]))
