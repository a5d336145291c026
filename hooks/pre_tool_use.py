"""Claude Code hook: PreToolUse. What it does is in lib/harness_memory/guard/gate.py."""

import gc
import sys

gc.disable()  # the process is over before there is anything to collect
if sys.version_info >= (3, 8):
    import _signal  # type: ignore[import-not-found]

    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # who interrupts Claude does not mean the record of it
    tree = __file__.replace("\\", "/").rpartition("hooks/")[0].rstrip("/") or "."
    sys.path.insert(0, tree + "/lib")
    try:
        from harness_memory.guard.gate import run
    except Exception:  # noqa: BLE001  (an incomplete installation is told, not passed over)
        print(
            '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",'
            ' "permissionDecisionReason": "Harness guard: the installation is incomplete. Run install.py again."}}'
        )
        sys.exit(0)
    run(tree)
