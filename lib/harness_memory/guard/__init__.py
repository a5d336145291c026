"""The guard: what a tool call would do, judged before it runs."""
