"""Constants, limits, path segments and environment names that modules share or a person may look for.

Numbers carry their unit in the name. What `config.json` may override is in `config`; everything here is fixed.
"""

from __future__ import annotations

SCHEMA = 1

# Environment
ENV_SWITCH = "HARNESS_MEMORY"  # "off" disables every hook of the process tree
ENV_HOME = "HARNESS_MEMORY_HOME"
ENV_CONFIG_DIR = "CLAUDE_CONFIG_DIR"
ENV_PROJECT_DIR = "CLAUDE_PROJECT_DIR"
ENV_CLIENT_PID = "CLAUDE_PID"
ENV_ENTRYPOINT = "CLAUDE_CODE_ENTRYPOINT"
ENV_SESSION_ID = "CLAUDE_CODE_SESSION_ID"
ENV_ATTENDED = "CLAUDE_CODE_SESSION_ATTENDED"  # "0" where no person can answer a question
# What the client gives to everything it starts; other CLAUDE_CODE_ names may be a person's settings.
ENV_CLIENT = ("CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", ENV_SESSION_ID, ENV_ENTRYPOINT, ENV_ATTENDED, ENV_CLIENT_PID)
OFF_WORDS = ("off", "0", "false", "no")

# Store layout
CLAUDE_DIR = ".claude"
STORE_DIR = "memory"
CONFIG_FILE = "config.json"
GUARD_FILE = "guard.json"  # in the store, and in a project's .claude folder
GUARD_DIR = "guard"
INSTALLS_FILE = "installs.json"
VIEW_FILE = "view.html"  # derived: the memory as a page
HEALTH_DIR = "health"
KNOWN_PATH = HEALTH_DIR + "/known"
FAILURES_DIR = HEALTH_DIR + "/failures"
LAST_RUN_DIR = HEALTH_DIR + "/last-run"
PROJECT_FILE = "project.json"
EPISODES_DIR = "episodes"
EPISODE_PREFIX = "session-"
WORK_DIR = "WORK"
META_FILE = "META.yaml"
SUMMARY_FILE = "summary.md"
CAPTURE_FILE = "capture.json"
ARTIFACTS_DIR = "artifacts"
LOCAL_DIR = "local"
STATE_DIR = "STATE"
LIVE_DIR = "live"
ROWS_FILE = "rows.cache"  # derived: what the views show of each episode
PROGRESS_DIR = "progress"
THREADS_DIR = "threads"
RATINGS_PATH = ("LEARNING", "SIGNALS", "ratings.jsonl")
RULES_LOG_PATH = ("LEARNING", "SIGNALS", "rules.jsonl")
REVIEW_FILE = "review.json"
CURRENT_WORK_FILE = "current-work.json"
CONVERSATION_FILE = "conversation_state.json"
INDEX_FILE = "INDEX.md"
VIEWS = (INDEX_FILE, STATE_DIR + "/" + CONVERSATION_FILE, STATE_DIR + "/" + CURRENT_WORK_FILE)
NOTES_INDEX_FILE = "MEMORY.md"
BRIEFING_FILE = "briefing.md"
PROFILES_DIR = "profiles"
USER_DIR = "user"
LEARNING_DIR = "LEARNING"
TOPICS_DIR = "topics"
ARCHIVE_DIR = "archive"
ARCHIVE_SUFFIX = ".tar.gz"
NOTES_ARCHIVE_DIR = "notes"
RECALL_DIR = "recall"
RECALL_INDEX = "index"
RECALL_LOG = "recent.jsonl"
TRIGGERS_MARK = "triggers"  # in the root: words without which no note binds a call
SYNC_DIR = "sync"  # in the root: this machine's part of `harness memory sync`
VERSIONS_FILE = "versions.json"
GITIGNORE_FILE = ".gitignore"
FORGOTTEN_FILE = "forgotten.json"
RECEIPT_FILE = "session_memory_context.md"
INJECTED_FILE = "injected.json"
LOCK_SUFFIX = ".lock"
TEMP_SUFFIX = ".tmp"
REDACTED = "[redacted:"  # and the kind of the secret, and "]"
CHECKPOINT_PREFIX = "completion-checkpoint"
CLAIM_SUFFIX = ".claimed"
DAMAGED_SUFFIX = ".damaged"
ARTIFACT_PREFIX = "checkpoint-"
MALFORMED_SUFFIX = ".malformed"
DIR_MODE = 0o700
FILE_MODE = 0o600

# Project identity
SLUG_CHARS = 40
ID_HASH_CHARS = 12
PARENTS_SEARCHED = 64
IDENTITY_ITEMS_KEPT = 50

# Life of a session
STATUSES = ACTIVE, COMPLETED, ABANDONED = ("ACTIVE", "COMPLETED", "ABANDONED")
DIED = "DIED"  # as shown: on disk it is ACTIVE until the next session start

# Input
STDIN_MAX_BYTES = 12 * 1024 * 1024  # real payloads reach 6 MB
FILE_MAX_BYTES = 4 * 1024 * 1024  # no file of ours comes near it; larger ones are left unread
CHECKPOINT_MAX_BYTES = 64 * 1024  # ten thousand words, redacted well within a deadline
TRANSCRIPT_CHUNK_BYTES = 1024 * 1024
TRANSCRIPT_LINE_MAX_BYTES = 8 * 1024 * 1024  # longer lines are skipped, not held in memory
TEXT_FIELD_MAX_CHARS = 64 * 1024  # what is kept of a prompt or an answer before cutting

# Time
HOOK_TIMEOUT_SECONDS = 5  # what install.py asks the client for
DEADLINE_SECONDS = 4.0  # our own, so that the client never has to kill us
SESSION_END_DEADLINE_SECONDS = 1.0  # clients before 2.1.74 kill SessionEnd at 1.5 s
GUARD_DEADLINE_SECONDS = 2.5  # then the user is asked
GUARD_LOCK_SECONDS = 0.8  # for the audit trail; the answer does not wait longer
ALLOWANCE_SECONDS = 10 * 60  # how long a permission for one call waits for it
LOCK_WAIT_SECONDS = 1.5
SIBLING_LOCK_WAIT_SECONDS = 0.05  # the holder of a dead session's lock is already finishing it

# Text
ASK_CHARS = 300
ASKS_KEPT_FIRST = 3
ASKS_KEPT_LAST = 5
DONE_CHARS = 3000
TURN_CHARS = 32 * 1024  # read of a prompt or an answer
PASSAGE_CHARS = 400
SUMMARY_BLOCK = ("<session-record>", "</session-record>")  # of the client's own summary of a long conversation
SUMMARY_LABELS = {"decided": "d", "learned": "f", "prefers": "r", "open": "lo"}
PASSAGES_CHARS = 24_000  # of an episode: what recall may hand over
SUMMARY_LINE_CHARS = 120
REMAINS_ITEMS = 12
KIND_ITEMS = 3  # decisions of a turn, and its facts; as many of a session wait for review
KIND_TOTAL = 24  # decisions of an episode, and its facts
COMMITS_KEPT = 20  # of a session
ITEM_CHARS = 240
RULES_KEPT = 24  # of a session
FILES_IN_EPISODE = 30
PATH_CHARS = 4096
SKILL_CHARS = 80
NAME_CHARS = 200  # of a branch, a model, a reason
STEP_HASH_CHARS = 12
ACTIVE_TASKS_SHOWN = 20

# Notes
# How many days an older note of a type may rank before a newer one.
NOTE_TYPE_HEADSTART_DAYS = {"feedback": 180, "user": 90, "decision": 60, "project": 30, "reference": 0}
NOTE_TYPES = tuple(NOTE_TYPE_HEADSTART_DAYS)
TEAM_SCOPE = "team"  # notes of the checkout, in its .claude/memory
NOTE_SCOPES = ("local", "project", TEAM_SCOPE, "user")  # the nearer wins
ENFORCE = ("remind", "ask", "deny")  # how firmly a note binds
NOTE_LINES = 200  # a longer topic is to be summarised
NOTE_NAME_CHARS = 80
NOTE_DESCRIPTION_CHARS = 160
NOTE_UNUSED_DAYS = 182  # six months without verification
NOTES_INDEX_LINES = 200  # a longer index is not read
NOTES_INDEX_BYTES = 25 * 1024
RECENT_RATINGS = 5

# Audit
SECURITY_DIR = "SECURITY"
AUDIT_TAIL_BYTES = 16 * 1024  # holds the last event many times over

# Injection
INJECTION_SHARES = {  # UTF-16 units of each part, in order of priority; unused ones go to the next
    "health": 400, "state": 1800, "briefing": 7000, "rules": 900, "running": 400, "open": 1200, "decisions": 900,
    "notes": 1200, "menu": 1600, "profile": 2400, "recall": 1200, "usage": 500,
}  # fmt: skip
BRIEFING_LINES = 80
PROFILE_LINES = 30
INJECTION_MAX_UNITS = 9500  # from 10,001 on the client shows a preview
INJECTION_BESIDE_UNITS = 2200  # what a long briefing leaves for the other parts
SKILL_SESSIONS_SHOWN = 5
CURATED_MAX_BYTES = 256 * 1024
CURATED_LINE_CHARS = 500  # one endless line must not keep out all others
INJECTIONS_LOGGED = 40  # of a session, one by one; of earlier ones the sums

# Recall
RECALL_UNITS = 1200
RECALL_LOG_BYTES = 64 * 1024  # a longer log goes into the index at the next start
RECALL_TAKEN_AT_PROMPT = 16  # new documents; a start or `search` takes in the rest
RECALL_RESERVE_SECONDS = 1.0  # what looking back must leave of a prompt's time

# Retention, backfill, consolidation
ARCHIVE_MAX_BYTES = 1024 * 1024 * 1024
DAY_SECONDS = 86400
