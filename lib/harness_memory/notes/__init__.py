"""Facts that people keep: notes, their scopes, their index, and what is wrong with them."""
