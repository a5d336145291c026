"""Harness Memory: plain-file memory for Claude Code across sessions.

`Bundle` loads the modules of a hook from one compiled file, because finding and opening thirty files takes a tenth of
a hook's time.
"""

from __future__ import annotations

import marshal
import sys

try:
    import posix as system  # what `os` itself is made of; the guard answers before that is loaded
except ImportError:  # Windows
    import nt as system  # type: ignore[no-redef,import-not-found,unused-ignore]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any

__version__ = "0.1.0"
_LIB = __file__.replace("\\", "/")[: -len("harness_memory/__init__.py")]


class Bundle:
    """Importer of the modules in `__pycache__/<hook>.<python>.bundle`: `{name: (source, modified, size, code)}`.

    A module counts while its source has that time and size; the ordinary import finds the others, and `save` adds
    them. Deleting the file changes nothing but time.
    """

    def __init__(self, hook: str) -> None:
        python = "%s-%x" % (sys.implementation.cache_tag, sys.hexversion)
        self.path = "%sharness_memory/__pycache__/%s.%s.bundle" % (_LIB, hook, python)
        self.modules: dict[str, tuple[str, int, int, CodeType]] = {}
        try:
            with open(self.path, "rb") as file:
                modules = marshal.loads(file.read())
        except (OSError, ValueError, EOFError, TypeError):
            modules = {}
        self.modules = modules if isinstance(modules, dict) else {}
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self.modules:
            return None
        source, *compiled_from, _ = self.modules[name]
        try:
            status = system.stat(_LIB + source)
        except OSError:
            return None
        if [status.st_mtime_ns, status.st_size] != compiled_from:
            return None
        spec = type(__spec__)(name, self, origin=_LIB + source)  # type: ignore[arg-type]
        spec.has_location = True
        if source.endswith("/__init__.py"):
            spec.submodule_search_locations = [_LIB + source[: -len("/__init__.py")]]
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        exec(self.modules[module.__name__][3], module.__dict__)

    def save(self) -> None:
        """Add the modules that this run had to find by itself."""
        specs: list[Any] = [module.__spec__ for name, module in sys.modules.items() if name.startswith(__name__ + ".")]
        others = [spec for spec in specs if spec and spec.loader is not self]
        if not others:
            return
        temporary = "%s.%d" % (self.path, system.getpid())
        try:
            with open(temporary, "xb") as file:  # a read-only install ends here
                for spec in others:
                    source, status = spec.origin.replace("\\", "/")[len(_LIB) :], system.stat(spec.origin)
                    code = spec.loader.get_code(spec.name)
                    self.modules[spec.name] = (source, status.st_mtime_ns, status.st_size, code)
                file.write(marshal.dumps(self.modules))
            system.replace(temporary, self.path)
        except OSError:
            pass
