"""Claude Code hook: SubagentStart. See lib/harness_memory/hook/subagent_start.py."""

import gc
import os
import sys

gc.disable()  # the process ends before there is anything to collect
if sys.version_info >= (3, 8):
    import _signal  # type: ignore[import-not-found]

    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # Ctrl-C stops Claude, not our record
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
    try:
        from harness_memory.base.bundle import Bundle

        bundle = Bundle("subagent_start")
        from harness_memory.hook.runner import run
    except Exception:  # noqa: BLE001  (an incomplete installation must not break the session)
        sys.exit(0)
    run("SubagentStart", bundle.save)
else:
    sys.exit(1)  # the command that started us tries another Python, or says so
