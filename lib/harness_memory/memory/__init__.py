"""What outlives a session: views, threads, tasks, ratings, briefing, archive, forgetting, backfill, checks."""
