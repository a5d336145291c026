"""A tree of files as it was, what has changed in it since, and a way back."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path


class Image:
    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.marks = self._walk()
        self.files = {path: Path(path).read_bytes() for path, mark in self.marks.items() if stat.S_ISREG(mark[0])}

    def changed(self) -> list[str]:
        """Paths that are new, different or gone."""
        now = self._walk()
        return sorted(path for path in {*now, *self.marks} if now.get(path) != self.marks.get(path))

    def restore(self) -> None:
        touched = set()
        for path in self.changed():
            mark = self.marks.get(path)
            touched |= {path, os.path.dirname(path)}
            if mark is None or not stat.S_ISDIR(mark[0]) or not os.path.isdir(path) or os.path.islink(path):
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path)
                elif os.path.lexists(path):
                    os.unlink(path)
            if mark is None:
                continue
            if stat.S_ISDIR(mark[0]):
                os.makedirs(path, exist_ok=True)
            else:
                Path(path).write_bytes(self.files[path])
            os.chmod(path, stat.S_IMODE(mark[0]))
            os.chown(path, mark[3], -1)
        for path in sorted(touched & self.marks.keys(), reverse=True):
            os.utime(path, ns=(self.marks[path][1], self.marks[path][1]))

    def _walk(self) -> dict[str, tuple[int, int, int, int]]:
        """Every path with its mode, time, size and owner."""
        found: dict[str, tuple[int, int, int, int]] = {}
        folders = [self.root]
        while folders:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    info = entry.stat(follow_symlinks=False)
                    is_folder = stat.S_ISDIR(info.st_mode)
                    found[entry.path] = (info.st_mode, info.st_mtime_ns, 0 if is_folder else info.st_size, info.st_uid)
                    if is_folder:
                        folders.append(entry.path)
        return found
