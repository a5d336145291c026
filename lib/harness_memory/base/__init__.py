"""Bytes, text and time, safely: files, locks, JSON, YAML, clock, redaction, limits."""
