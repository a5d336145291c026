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

    The file holds an index `{name: (sources, their times and sizes, place, size)}` and at each place what that import
    loads, in the order of completion: `(name, source, code, TABLES)`. Such a group counts while its sources are the
    same; `save` adds the others. Those of the runner and of the handler are loaded at once, without the import system.
    """

    def __init__(self, hook: str, handler: str = "") -> None:
        gc.disable()  # the process ends before there is anything to collect
        python = "%s-%x-2" % (sys.implementation.cache_tag, sys.hexversion)  # 2: the form of the file
        self.path = "%sharness_memory/__pycache__/%s.%s.modules" % (_LIB, hook, python)
        self.groups: Dict[str, Tuple[List[str], List[Tuple[int, int]], int, int]] = {}
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
        if self._load(_PACKAGE):
            self._load("%s.hook.%s" % (_PACKAGE, handler or hook))

    def find_spec(self, name: str, path: object = None, target: object = None) -> "Any":
        if name.startswith(_PACKAGE):
            if not self._load(name):
                self.missing.append(name)
                return None
        elif name != "os" or system.__name__ != "posix":
            return _extension(name)
        return type(__spec__)(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: "Any") -> "Any":
        return sys.modules[spec.name] if spec.name != "os" else __import__(_PACKAGE + ".hook.lightos", fromlist=["os"])

    def exec_module(self, module: object) -> None:
        """Nothing is left to do."""

    def _load(self, head: str) -> bool:
        """Do what the import system does for a group, in short; False when it is missing or stale."""
        sources, statuses, place, size = self.groups.get(head, ([], [], 0, 0))
        modules = self._read(place, size) if size and _statuses(sources) == statuses else None
        loaded = sys.modules
        for name, source, code, tables in modules or ():
            parent, _, child = name.rpartition(".")
            if parent and parent not in loaded:
                __import__(parent)  # in another group, which may load this one too
            if name in loaded:
                continue
            module: Any = type(sys)(name)
            module.__file__, module.__package__, module.TABLES = _LIB + source, parent, tables
            if source.endswith("__init__.py"):
                module.__package__, module.__path__ = name, [module.__file__[: -len("/__init__.py")]]
            loaded[name] = module
            exec(code, module.__dict__)
            if parent:
                setattr(loaded[parent], child, module)
        return bool(modules)

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
                kept = {head: (*group[:2], self._read(*group[2:])) for head, group in self.groups.items()}
                while order:
                    head = last = next(name for name in self.missing if name in order)
                    for name in self.missing:
                        last = name if name in order and name.startswith(last + ".") else last  # `import a.b.c`
                    names = order[: order.index(last) + 1]
                    keys = [(name, key) for name in names for key in ("__file__", "TABLES_FILE")]
                    paths = [getattr(sys.modules[name], key, "")[len(_LIB) :] for name, key in keys]
                    sources = [*dict.fromkeys(filter(None, paths))]
                    kept[head] = sources, _statuses(sources), [_compiled(name) for name in names]
                    order = order[len(names) :]
                file.seek(_INDEX_BYTES)
                dump = marshal.dumps
                places = {head: (*group[:2], file.tell(), file.write(dump(group[2]))) for head, group in kept.items()}
                file.seek(0)
                file.write(dump(places)[:_INDEX_BYTES])
            system.replace(temporary, self.path)
        except OSError:
            system.unlink(temporary)  # on a full disk; `leave` does not mind a second failure


def _extension(name: str) -> "Any":
    """A compiled module of Python's own, found without reading folders."""
    machinery = __import__("_imp")
    folder = next((folder for folder in sys.path if folder.endswith("lib-dynload")), "")
    path = "%s/%s%s" % (folder, name, machinery.extension_suffixes()[0])
    try:
        if machinery.is_builtin(name) or machinery.is_frozen(name) or not system.stat(path):
            return None
    except OSError:
        return None
    loader = sys.modules["_frozen_importlib_external"].ExtensionFileLoader(name, path)
    return type(__spec__)(name, loader, origin=path)


def _compiled(name: str) -> "Tuple[str, str, Any, Any]":
    import ast  # to leave out the annotations of functions, which nothing reads here

    path, future = str(sys.modules[name].__file__), __import__("__future__").annotations.compiler_flag
    with open(path, "rb") as file:
        tree = ast.parse(file.read().replace(b"from __future__ import annotations\n", b"\n", 1))
    for node in ast.walk(tree):
        if isinstance(node, (ast.arg, ast.FunctionDef)):
            node.annotation = node.returns = None  # type: ignore[union-attr]
    code = compile(tree, path, "exec", future, True, optimize=2)
    return name, path[len(_LIB) :], code, getattr(sys.modules[name], "TABLES", None)


def _statuses(sources: "List[str]") -> "List[Tuple[int, int]]":
    try:
        return [(each.st_mtime_ns, each.st_size) for each in [system.stat(_LIB + source) for source in sources]]
    except OSError:
        return []
