"""Claude Code hook: PreToolUse. See lib/harness_memory/hook/pre_tool_use.py."""

import sys

if sys.version_info >= (3, 8):
    tree = __file__.replace("\\", "/").rpartition("hooks/")[0].rstrip("/") or "."
    sys.path.insert(0, tree + "/lib/harness_memory/base")
    try:
        from bundle import Bundle  # type: ignore[import-not-found]

        bundle = Bundle("pre_tool_use")
        from harness_memory.hook.pre_tool_use import run
    except Exception:  # noqa: BLE001  (an incomplete installation is reported, not ignored)
        print(
            '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",'
            ' "permissionDecisionReason": "Harness guard: the installation is incomplete. Run install.py again."}}'
        )
        sys.exit(0)
    run(tree, bundle.save)
else:
    sys.exit(1)  # the command that started us tries another Python, or says so
