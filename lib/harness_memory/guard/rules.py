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


def tier_in(profile: str, rule: str) -> str:
    tier = RULES[rule][0]
    base = tier.rstrip("+-")
    if profile == "relaxed" and tier == "ask-":
        return LOG
    if profile == "strict" and tier[-1] == "+":
        return DENY if base == ASK else ASK
    return base
