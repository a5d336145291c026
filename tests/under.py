"""Runs a hook script after the code in HARNESS_TESTS_UNDER, in the same process.

The script is named in HARNESS_TESTS_SCRIPT. Neither name is left in the environment.
"""

import os

__file__ = os.environ.pop("HARNESS_TESTS_SCRIPT")
exec(os.environ.pop("HARNESS_TESTS_UNDER"), {})
with open(__file__, "rb") as _file:
    _code = compile(_file.read(), __file__, "exec")
exec(_code, {"__name__": "__main__", "__file__": __file__})
