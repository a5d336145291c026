"""Recall: which sessions and notes a prompt, a file or an error calls for."""

from __future__ import annotations

import os

from ..base import files, settings


def is_due(project_dir: str) -> bool:
    """Whether a prompt cannot bring the index up to date: its log is long, or it is missing with much to read."""
    folder = os.path.join(project_dir, settings.STATE_DIR, settings.RECALL_DIR)
    log = os.path.join(folder, settings.RECALL_LOG)
    if os.path.exists(os.path.join(folder, settings.RECALL_INDEX)):
        return os.path.exists(log) and os.path.getsize(log) > settings.RECALL_LOG_BYTES
    archives = os.path.join(os.path.dirname(project_dir), settings.ARCHIVE_DIR, os.path.basename(project_dir))
    episodes = files.names(os.path.join(project_dir, settings.EPISODES_DIR))
    return os.path.isdir(archives) or len(episodes) > settings.RECALL_TAKEN_AT_PROMPT
