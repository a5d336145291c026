"""The rules of `rules.txt`: how firm each is, why it stops a call, and what to do instead."""

from __future__ import annotations

from .shell import table

DENY, ASK, LOG, OFF = "deny", "ask", "log", "off"
TIERS = (OFF, LOG, ASK, DENY)  # from the mildest to the firmest
PROFILES = ("relaxed", "normal", "strict")
TABLES_FILE = __file__[: -len(".py")] + ".txt"
TABLES: dict[str, list[str]] = globals().get("TABLES") or {
    name.strip(): [field.strip() for field in fields]
    for name, *fields in [row.split("|") for row in table(TABLES_FILE)]
}
RULES = TABLES  # id: tier, reason, remedy
