"""Claude Code hook: SubagentStart. See lib/harness_memory/hook/subagent_start.py."""

import sys

if sys.version_info >= (3, 8):
    sys.path.insert(0, __file__.replace("\\", "/").rpartition("hooks/")[0] + "lib/harness_memory/base")
    try:
        from bundle import Bundle  # type: ignore[import-not-found]

        bundle = Bundle("subagent_start")
        from harness_memory.hook.runner import run
    except Exception:  # noqa: BLE001  (an incomplete installation must not break the session)
        sys.exit(0)
    run("SubagentStart", "subagent_start", bundle.save)
else:
    sys.exit(1)  # the command that started us tries another Python, or says so
