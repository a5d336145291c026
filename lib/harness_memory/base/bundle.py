"""The modules of a hook in one compiled file: to find, open and link thirty files takes a quarter of a hook's time."""

# Without `from __future__ import annotations`, here and in what is compiled: that loads a module from a file.
import gc
import marshal
import sys

try:
    import posix as system  # what `os` itself is made of; the guard answers before that is loaded
except ImportError:  # Windows
    import nt as system  # type: ignore[no-redef,import-not-found,unused-ignore]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Tuple

_PACKAGE = "harness_memory"
_INDEX_BYTES = 1 << 15  # some 6,000 are used
_LIB = __file__.replace("\\", "/").rpartition(_PACKAGE + "/base/")[0]


class Bundle:
    """Importer of the modules in `__pycache__/<hook>.<python>.modules`, and of `hook.lightos` in place of `os`.

    The file holds an index `{name: ({source: time and size}, place, size)}` and at each place what that import loads,
    in the order of completion: `(name, source, code, TABLES)`; a module may have read `TABLES` from its `TABLES_FILE`.
    Such a group counts while its sources are the same; the ordinary import finds the others, and `save` adds them.
    """

    def __init__(self, hook: str) -> None:
        gc.disable()  # the process ends before there is anything to collect
        python = "%s-%x" % (sys.implementation.cache_tag, sys.hexversion)
        self.path = "%sharness_memory/__pycache__/%s.%s.modules" % (_LIB, hook, python)
        self.groups: Dict[str, Tuple[Dict[str, List[int]], int, int]] = {}
        self.missing: List[str] = []
        self.is_watched = "importtime" in sys._xoptions  # a report that is to name each module
        try:
            self.file = system.open(self.path, system.O_RDONLY | getattr(system, "O_BINARY", 0))
            index = None if self.is_watched else self._read(0, _INDEX_BYTES)
            self.groups = index if isinstance(index, dict) else {}
        except OSError:
            pass
        sys.meta_path.insert(0, self)
        # The hook has imported this module without its package, and ours come last: that is three folders less to read.
        sys.path[:] = [*sys.path[1:], _LIB]

    def find_spec(self, name: str, path: object = None, target: object = None) -> "Any":
        if name.startswith(_PACKAGE):
            sources, place, size = self.groups.get(name, ({}, 0, 0))
            is_current = size and all(_status(source) == status for source, status in sources.items())
            modules = self._read(place, size) if is_current else None
            if not modules:
                self.missing.append(name)
                return None
            for each, *module in modules:
                if "." in each:
                    __import__(each.rpartition(".")[0])  # in another group, which may load `each` too
                if each not in sys.modules:
                    _load(each, *module)
        elif name != "os" or system.__name__ != "posix":
            return None
        return type(__spec__)(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: "Any") -> "Any":
        return sys.modules[spec.name] if spec.name != "os" else __import__(_PACKAGE + ".hook.lightos", fromlist=["os"])

    def exec_module(self, module: object) -> None:
        """Nothing is left to do."""

    def _read(self, place: int, size: int) -> "Any":
        """What was saved there; None when it is cut short or wiped, as after a power cut. Python checks no more."""
        system.lseek(self.file, place, 0)
        try:
            return marshal.loads(system.read(self.file, size))
        except (EOFError, TypeError, ValueError):
            return None

    def save(self) -> None:
        """Add the modules that this run had to find by itself."""
        order = [name for name in sys.modules if name in self.missing]  # a module moves to the end when it is complete
        if not order or sys.dont_write_bytecode or self.is_watched:
            return
        temporary = "%s.%d" % (self.path, system.getpid())
        try:
            with open(temporary, "xb") as file:  # a read-only install ends here
                groups = {head: (group[0], self._read(*group[1:])) for head, group in self.groups.items()}
                while order:
                    head = last = next(name for name in self.missing if name in order)
                    for name in self.missing:
                        last = name if name in order and name.startswith(last + ".") else last  # `import a.b.c`
                    names = order[: order.index(last) + 1]
                    keys = [(name, key) for name in names for key in ("__file__", "TABLES_FILE")]
                    paths = [getattr(sys.modules[name], key, "")[len(_LIB) :] for name, key in keys]
                    sources = {path: _status(path) for path in filter(None, paths)}
                    groups[head] = sources, [_compiled(name) for name in names]
                    order = order[len(names) :]
                file.seek(_INDEX_BYTES)
                dump = marshal.dumps
                places = {head: (kept[0], file.tell(), file.write(dump(kept[1]))) for head, kept in groups.items()}
                file.seek(0)
                file.write(dump(places)[:_INDEX_BYTES])
            system.replace(temporary, self.path)
        except OSError:
            system.unlink(temporary)  # on a full disk; `leave` does not mind a second failure


def _load(name: str, source: str, code: "Any", tables: object) -> None:
    """What the import system does, in short."""
    parent, _, child = name.rpartition(".")
    module: Any = type(sys)(name)
    module.__file__, module.__package__, module.TABLES = _LIB + source, parent, tables
    if source.endswith("__init__.py"):
        module.__package__, module.__path__ = name, [module.__file__[: -len("/__init__.py")]]
    sys.modules[name] = module
    exec(code, module.__dict__)
    if parent:
        setattr(sys.modules[parent], child, module)


def _compiled(name: str) -> "Tuple[str, str, Any, Any]":
    path, future = str(sys.modules[name].__file__), __import__("__future__").annotations.compiler_flag
    with open(path, "rb") as file:
        text = file.read().replace(b"from __future__ import annotations\n", b"\n", 1)
    code = compile(text, path, "exec", future, True, optimize=2)
    return name, path[len(_LIB) :], code, getattr(sys.modules[name], "TABLES", None)


def _status(source: str) -> "List[int]":
    try:
        status = system.stat(_LIB + source)
    except OSError:
        return []
    return [status.st_mtime_ns, status.st_size]
