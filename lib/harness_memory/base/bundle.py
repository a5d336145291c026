"""The modules of a hook in one compiled file: to find and open thirty files takes a tenth of a hook's time."""

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
    from types import ModuleType
    from typing import Any

_PACKAGE = "harness_memory"
_LIB = __file__.replace("\\", "/").rpartition(_PACKAGE + "/base/")[0]


class Bundle:
    """Importer of the modules in `__pycache__/<hook>.<python>.bundle`: `{name: (source, modified, size, code)}`.

    A module counts while its source has that time and size; the ordinary import finds the others, and `save` adds
    them. Deleting the file changes nothing but time.
    """

    def __init__(self, hook: str) -> None:
        python = "%s-%x" % (sys.implementation.cache_tag, sys.hexversion)
        self.path = "%sharness_memory/__pycache__/%s.%s.bundle" % (_LIB, hook, python)
        self.modules: dict[str, tuple[str, int, int, bytes]] = {}
        self.missing: list[str] = []
        try:
            with open(self.path, "rb") as file:
                modules = marshal.loads(file.read())
        except (OSError, ValueError, EOFError, TypeError):
            modules = {}
        self.modules = modules if isinstance(modules, dict) else {}
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith(_PACKAGE):
            return None
        source, *compiled_from, _ = self.modules.get(name) or ("", 0, 0, b"")
        if _status(_LIB + source) != compiled_from:
            self.missing.append(name)
            return None
        spec = type(__spec__)(name, self, origin=_LIB + source)  # type: ignore[arg-type]
        spec.has_location = True
        if source.endswith("/__init__.py"):
            spec.submodule_search_locations = [_LIB + source[: -len("/__init__.py")]]
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        exec(marshal.loads(self.modules[module.__name__][3]), module.__dict__)

    def save(self) -> None:
        """Add the modules that this run had to find by itself."""
        specs: list[Any] = [sys.modules[name].__spec__ for name in self.missing if name in sys.modules]
        if not specs or sys.dont_write_bytecode:
            return
        temporary = "%s.%d" % (self.path, system.getpid())
        try:
            with open(temporary, "xb") as file:  # a read-only install ends here
                for spec in specs:
                    source = spec.origin.replace("\\", "/")[len(_LIB) :]
                    code = marshal.dumps(spec.loader.get_code(spec.name))
                    self.modules[spec.name] = (source, *_status(spec.origin), code)
                file.write(marshal.dumps(self.modules))
            system.replace(temporary, self.path)
        except OSError:
            pass


def _status(source: str) -> list[int]:
    try:
        status = system.stat(source)
    except OSError:
        return []
    return [status.st_mtime_ns, status.st_size]
