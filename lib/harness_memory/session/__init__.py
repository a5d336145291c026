"""One session: its life, its transcript, its checkpoints and its record."""
