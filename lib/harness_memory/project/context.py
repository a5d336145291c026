"""Where a session works, and how long there is to do something about it."""

from __future__ import annotations

import os
import time

from ..base import settings


class Context:
    """`root` is what the session's files are relative to; `folders` may hold checkpoints."""

    __slots__ = ("ends", "folders", "project_dir", "remote", "root", "roots", "store_root")

    def __init__(
        self, store_root: str, project_dir: str, root: str, remote: str, ends: float, folders: tuple[str, ...] = ()
    ) -> None:
        self.store_root = store_root
        self.project_dir = project_dir
        self.root = root
        self.remote = remote
        self.ends = ends
        self.roots = tuple(dict.fromkeys(folder for folder in (root, *folders) if folder))
        claude = [os.path.join(folder, settings.CLAUDE_DIR) for folder in self.roots]
        self.folders = [folder for folder in claude if not os.path.islink(folder)]  # a link may lead to others' files

    def left(self) -> float:
        return self.ends - time.monotonic()
