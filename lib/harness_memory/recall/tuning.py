"""Numbers of the ranking, measured on coding sessions and commit histories."""

from __future__ import annotations

# Reading ---------------------------------------------------------------------------------------
QUERY_MAX_CHARS = 4096  # start and end of a longer prompt
QUERY_TAIL_CHARS = 1024
QUERY_MAX_TERMS = 256
POSTINGS_MAX = 10_000  # per query; a frequent term adds little and costs most
TERMS_MIN = 6  # read even beyond POSTINGS_MAX
CANDIDATES = 500  # by their words; only these are ranked further
DOCUMENT_MAX_CHARS = 64 * 1024
PATHS_MAX = 64
PROMPTS_MAX = 5  # latest of this session

# Words -----------------------------------------------------------------------------------------
SATURATION = 1.1  # BM25's k1
LENGTH_SHARE = 0.55  # BM25's b
QUERY_SATURATION = 2.0
FRAMING_WEIGHT = 0.45  # of words that frame a request
CONTEXT_WEIGHT = 0.5  # of words in this session's earlier prompts and its branch
PAIR_WEIGHT = 0.5
PAIR_TOP = 60

# Recency ---------------------------------------------------------------------------------------
RECENCY_OF_WORK = 2.0
RECENCY_OF_NOTES = 0.15
RECENCY_DAYS = 3.0
USUAL_DAYS = 30.0

# Files -----------------------------------------------------------------------------------------
FILE_FEEDBACK = 0.4  # of the best score, for a document about the files of the best few
FILE_TOP = 5
CONTEXT_FILE_WEIGHT = 0.3  # of the best score, for a document about the files of this session

# Injection -------------------------------------------------------------------------------------
WORTH_MIN = 0.9  # 98 of 100 unrelated prompts get nothing, 65 of 100 related ones a right memory
WORTH_SCALE = 5.0
PICK_MAX = 3
PICK_EXAMINED = 10
