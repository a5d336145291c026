"""Which memory a directory belongs to; where a session works, and how long there is to do something about it."""

from __future__ import annotations

import os
import time

from ..base import files, settings
from ..base.text import brief_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .git import Repository


class Project:
    """`dir` is its store directory, which need not exist yet; `root` is what relative paths start from."""

    __slots__ = ("branch", "dir", "id", "identity", "name", "remote", "repo", "root")

    def __init__(self, directory: str, name: str, root: str, remote: str, branch: str) -> None:
        self.id = os.path.basename(directory)
        self.dir, self.name, self.root, self.remote, self.branch = directory, name, root, remote, branch
        self.identity = ""  # this and `repo` only from `identity.locate`
        self.repo: Repository | None = None


class Context:
    """`root` is what the session's files are relative to; `folders` may hold checkpoints."""

    __slots__ = ("ends", "folders", "project_dir", "remote", "root", "roots", "store_root")

    def __init__(
        self, store_root: str, project_dir: str, root: str, remote: str, ends: float, folders: tuple[str, ...] = ()
    ) -> None:
        self.store_root, self.project_dir, self.root, self.remote = store_root, project_dir, root, remote
        self.ends = ends
        self.roots = tuple(dict.fromkeys(folder for folder in (root, *folders) if folder))
        claude = [os.path.join(folder, settings.CLAUDE_DIR) for folder in self.roots]
        self.folders = [folder for folder in claude if not os.path.islink(folder)]  # a link may lead to others' files

    def checkpoints(self) -> list[str]:
        """Paths of the checkpoint files and claims that wait in `folders`."""
        paths = [os.path.join(folder, name) for folder in self.folders for name in files.names(folder)]
        return [path for path in paths if os.path.basename(path).startswith(settings.CHECKPOINT_PREFIX)]

    def left(self) -> float:
        return self.ends - time.monotonic()


def relative_path(path: str, roots: tuple[str, ...]) -> str:
    """The path below the project's root with forward slashes; "" for anything outside it."""
    path = path.replace("\\", "/")
    for root in roots:
        head = root.replace("\\", "/").rstrip("/") + "/"
        if os.path.normcase(path).startswith(os.path.normcase(head)):
            parts = [part for part in path[len(head) :].split("/") if part not in ("", ".")]
            return "" if ".." in parts else brief_of("/".join(parts), 1000)
    return ""
