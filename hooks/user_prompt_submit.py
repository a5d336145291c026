"""Claude Code hook: UserPromptSubmit. See lib/harness_memory/hook/user_prompt_submit.py."""

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

        bundle = Bundle("user_prompt_submit")
        from harness_memory.hook.runner import run
    except Exception:  # noqa: BLE001  (an incomplete installation must not break the session)
        sys.exit(0)
    run("UserPromptSubmit", bundle.save)
else:
    sys.exit(1)  # the command that started us tries another Python, or says so
