"""The numbers of the ranking, each measured on coding sessions, commit histories and conversations alike."""

from __future__ import annotations

# Reading ---------------------------------------------------------------------------------------
QUERY_MAX_CHARS = 4096  # the opening and the end of a longer prompt
QUERY_TAIL_CHARS = 1024
QUERY_MAX_TERMS = 256
POSTINGS_MAX = 10_000  # looked at for a query; a common word adds little and costs most
TERMS_MIN = 6  # looked up all the same
CANDIDATES = 500  # by their words; only these are looked at further
DOCUMENT_MAX_CHARS = 64 * 1024
PATHS_MAX = 64
PROMPTS_MAX = 5  # of this session, the latest

# Words -----------------------------------------------------------------------------------------
SATURATION = 1.1  # BM25's k1: how soon another occurrence adds little
LENGTH_SHARE = 0.55  # BM25's b: how much a long document is held against it
QUERY_SATURATION = 2.0
FRAMING_WEIGHT = 0.45  # words that frame a request more than they name its subject
CONTEXT_WEIGHT = 0.5  # words of this session's earlier prompts and of the branch
PAIR_WEIGHT = 0.5
PAIR_TOP = 60

# Being new -------------------------------------------------------------------------------------
RECENCY_OF_WORK = 2.0
RECENCY_OF_NOTES = 0.15
RECENCY_DAYS = 3.0
USUAL_DAYS = 30.0
NOTE_TYPES = frozenset(
    ("note", "user", "feedback", "project", "reference", "fact", "turn", "message", "dialogue", "dialog", "chat")
    + ("conversation", "passage", "utterance", "memory")
)
# Of documents with files or names of source files; from here on they are records of work. Conversations: under 0.02.
CODE_SHARE = 0.15
_SOURCE_NAMES = (
    "c cc cfg conf cpp cs css ex go h hpp html java js json jsx kt lua md mjs php pl proto ps1 py rb rs rst scala sh"
    " sql swift tf toml ts tsx vue xml yaml yml"
)
SOURCE_NAMES = frozenset(_SOURCE_NAMES.split())

# Files -----------------------------------------------------------------------------------------
FILE_FEEDBACK = 0.4  # of the best score, for a document about the files of the best few
FILE_TOP = 5
CONTEXT_FILE_WEIGHT = 0.3  # of the best score, for a document about the files of this session

# Conversations ---------------------------------------------------------------------------------
TURN_MAX_TERMS = 60
TURN_GAP_S = 3600
NEXT_WEIGHT = 0.2
PREVIOUS_WEIGHT = 0.3
CONVERSATION_WEIGHT = 0.3

# Handing over ----------------------------------------------------------------------------------
WORTH_MIN = 0.9  # 98 in 100 unrelated prompts find nothing, 65 in 100 related ones find a right memory
WORTH_SCALE = 5.0
PICK_MAX = 3
PICK_LOOKED_AT = 10
