"""Claude Code hook: PostToolUseFailure, of the plugin only. See lib/harness_memory/hook/recall.py."""

import sys

if sys.version_info >= (3, 8):
    sys.path.insert(0, __file__.replace("\\", "/").rpartition("hooks/")[0] + "lib/harness_memory/base")
    try:
        from bundle import Bundle  # type: ignore[import-not-found]

        bundle = Bundle("post_tool_use_failure", "recall")
        from harness_memory.hook.runner import run
    except Exception:  # noqa: BLE001  (an incomplete installation must not break the session)
        sys.exit(0)
    run("PostToolUseFailure", "recall", bundle.save)
else:
    sys.exit(1)  # the command that started us tries another Python, or says so
