"""Which memory a directory belongs to."""
