"""What hooks use of `os`, which takes a tenth of their time to load: `bundle` puts this in its place, on POSIX."""

import _stat
import io
import posix
import sys

globals().update({**vars(posix), **globals()})  # `import *` takes longer
sys.modules.setdefault("os", sys.modules[__name__])
sys.modules.setdefault("stat", _stat)  # the same names without a file of Python that repeats them
import posixpath as path  # noqa: E402  (which imports `os`)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

name, sep, devnull, SEEK_SET, O_BINARY, _exit, fdopen = "posix", "/", "/dev/null", 0, 0, posix._exit, io.open
_texts = [value.decode("utf-8", "surrogateescape") for pair in posix.environ.items() for value in pair]
environ = dict(zip(_texts[::2], _texts[1::2]))
sys.modules["os.path"] = path


def __getattr__(name: str) -> "Any":
    if name[:2] == "__":  # the import system asks
        raise AttributeError(name)
    if sys.modules["os"] is sys.modules[__name__]:
        del sys.modules["os"]
        finder = sys.meta_path.pop(0)
        os = __import__("os")
        sys.meta_path.insert(0, finder)
        os.environ.update(environ)
        # A module that has imported this one has the real names too from now on.
        globals().update({key: value for key, value in vars(os).items() if key[:2] != "__"})
    return getattr(sys.modules["os"], name)
