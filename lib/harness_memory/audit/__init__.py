"""The hash-chained trail of what was stopped."""
