"""One module a hook event: what happens, in the order it happens."""
