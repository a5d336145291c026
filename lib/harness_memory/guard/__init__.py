"""The guard: judging a tool call before it runs, and the trail of what was stopped."""
