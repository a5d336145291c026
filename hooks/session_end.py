"""Claude Code hook: SessionEnd. See lib/harness_memory/hook/stop.py."""

import sys

if sys.version_info >= (3, 8):
    sys.path.insert(0, __file__.replace("\\", "/").rpartition("hooks/")[0] + "lib/harness_memory/base")
    try:
        from bundle import Bundle  # type: ignore[import-not-found]

        bundle = Bundle("session_end", "stop")
        from harness_memory.hook.runner import run
    except Exception:  # noqa: BLE001  (an incomplete installation must not break the session)
        sys.exit(0)
    run("SessionEnd", "stop", bundle.save)
else:
    sys.exit(1)  # the command that started us tries another Python, or says so
