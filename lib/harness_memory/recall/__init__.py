"""Recall: which sessions and notes a prompt, a file or an error calls for."""
