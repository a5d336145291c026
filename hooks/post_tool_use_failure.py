"""Claude Code hook: PostToolUseFailure, of the plugin only. See lib/harness_memory/hook/tool_failure.py."""

import gc
import sys

gc.disable()  # the process ends before there is anything to collect
if sys.version_info >= (3, 8):
    import _signal  # type: ignore[import-not-found]

    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # Ctrl-C stops Claude, not our record
    sys.path.insert(0, __file__.replace("\\", "/").rpartition("hooks/")[0] + "lib")
    try:
        from harness_memory.base.bundle import Bundle

        bundle = Bundle("post_tool_use_failure")
        from harness_memory.hook.runner import run
    except Exception:  # noqa: BLE001  (an incomplete installation must not break the session)
        sys.exit(0)
    run("PostToolUseFailure", bundle.save)
else:
    sys.exit(1)  # the command that started us tries another Python, or says so
