"""Claude Code hook: PreToolUse. See lib/harness_memory/hook/pre_tool_use.py."""

import gc
import sys

gc.disable()  # the process ends before there is anything to collect
if sys.version_info >= (3, 8):
    import _signal  # type: ignore[import-not-found]

    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # Ctrl-C stops Claude, not our record
    tree = __file__.replace("\\", "/").rpartition("hooks/")[0].rstrip("/") or "."
    sys.path.insert(0, tree + "/lib")
    try:
        from harness_memory.hook.pre_tool_use import run
    except Exception:  # noqa: BLE001  (an incomplete installation is reported, not ignored)
        print(
            '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",'
            ' "permissionDecisionReason": "Harness guard: the installation is incomplete. Run install.py again."}}'
        )
        sys.exit(0)
    run(tree)
else:
    sys.exit(1)  # the command that started us tries another Python, or says so
