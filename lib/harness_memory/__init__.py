"""Harness Memory: plain-file memory for Claude Code across sessions."""

__version__ = "0.1.0"
