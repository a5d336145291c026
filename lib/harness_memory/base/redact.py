"""Taking secrets out of text before it is kept: each becomes `[redacted:<kind>]`, the rest stays as it is.

A substring search decides which patterns are tried, so that clean text never pays for `re`. Values assigned to telling
names (`DB_PASSWORD=`, `"api_key": "`, `--token `, `Authorization: Bearer `) are found by hand, because those names are
common in ordinary prose; `secret` separates values from what only stands in their place.

All scans are linear: a failing attempt of a pattern reads a bounded stretch and a successful one is consumed. A match
takes the whole word, so that hiding it uncovers no new start of one. Group 1, where there is one, is hidden.
"""

from __future__ import annotations

from . import settings
from .jsontext import MAX_DEPTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Span = tuple[int, int, str]

MARK = settings.REDACTED
# A token begins where a word does; an escaped character and a spelled-out colour also end the word before it.
_B = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[abefnrtv0])|(?<=%[0-9A-Fa-f]{2})|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"
    r"|(?<=\\[0-7]{3})|(?<=[\[;]m)|(?<=[\[;][0-9]m)|(?<=[\[;][0-9]{2}m)|(?<=[\[;][0-9]{3}m))"
)
_W = "[A-Za-z0-9]{%d,}"
_U = "[A-Za-z0-9_-]{%d,}"
_G = _U + r"(?:\.[A-Za-z0-9_-]{2,}){0,4}"
_S = "[A-Za-z0-9+/=._-]{%d,}"
_D = "(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{%d,}"  # a digit, unlike a name of words
# kind, prefixes, how many characters follow at least, which
_PREFIXED = (
    ("private-key", "AGE-SECRET-KEY-1", 40, _W),
    ("anthropic-key", "sk-ant-", 16, _U),
    ("openai-key", "sk-", 20, _D),
    ("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", 30, _W),
    ("github-token", "github_pat_", 22, _U),
    ("gitlab-token", "glpat-|gldt-|glrt-|glcbt-|glptt-|glsoat-|glft-|glimt-|glagent-|gloas-|glffct-", 20, _G),
    ("gitlab-token", "GR1348941", 20, _U),
    ("aws-key-id", "AKIA|ASIA|ABIA", 16, "[A-Z2-7]{%d}(?![A-Za-z0-9])"),
    ("google-key", "AIza", 35, _U),
    ("google-token", "ya29.|GOCSPX-", 20, _U),
    ("stripe-key", "sk_live_|sk_test_|rk_live_|rk_test_|sk_org_live_|sk_org_test_", 10, _W),
    ("stripe-secret", "whsec_", 16, _S),
    ("sendgrid-key", "SG.", 16, r"[A-Za-z0-9_-]{%d,40}\.[A-Za-z0-9_-]{16,}"),
    ("doppler-token", "dp.pt.|dp.st.|dp.sa.|dp.ct.|dp.scim.|dp.audit.", 30, r"(?:[a-z0-9_-]{2,35}\.)?" + _W),
    ("dynatrace-token", "dt0c01.|dt0s16.", 20, r"[A-Z0-9]{%d,30}\.[A-Z0-9]{40,}[A-Za-z0-9]*"),
    ("service-token", "tskey-", 20, _D),  # Tailscale
    # Twilio, Mailgun, Databricks; Pulumi, Buildkite, Sonar, RubyGems
    ("service-token", "SK|key-|dapi", 32, "[0-9a-f]{%d}(?![0-9A-Za-z])"),
    ("service-token", "pul-|bkua_|squ_|sqp_|sqa_|rubygems_", 40, "[0-9a-f]{%d,48}(?![0-9A-Za-z])"),
    # npm, Hugging Face, DigitalOcean, Shopify, Linear, Notion, Groq, xAI, Perplexity, Replicate, and so on
    ("service-token", "npm_|hf_|api_org_|dop_v1_|doo_v1_|dor_v1_|shpat_|shpca_|shppa_|shpss_|lin_api_|lin_oauth_|ntn_|"
     "secret_|gsk_|xai-|pplx-|r8_|ATBB|nfp_|napi_|phx_|EZAK", 32, _W),
    # Vault, Supabase, Figma, Docker, New Relic, Heroku, Square, LangSmith, CircleCI, Postman, PyPI
    ("service-token", "hvs.|hvb.|hvr.|sbp_|sb_secret_|figd_|dckr_pat_|dckr_oat_|NRAK-|HRKU-|sq0csp-|sq0atp-|lsv2_pt_|"
     "lsv2_sk_|CCIPAT_|PMAK-|pypi-Ag", 22, _U),
    # Grafana, Sentry, Atlassian, PlanetScale, Fly, 1Password
    ("service-token", "glsa_|glc_|sntrys_|sntryu_|ATATT3|pscale_tkn_|pscale_pw_|pscale_oauth_|fm1_|fm2_|fo1_|ops_eyJ",
     32, _S),
)  # fmt: skip
_PEM_EDGE = r"-----%s [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BREAK = r"(?:\\+[rn]|[\s>|#*\"'+,]){1,40}"
_PEM = (  # a key between its edges; without the second edge, its headers and lines as far as they go
    _PEM_EDGE % "BEGIN" + r"(?:(?:(?!-----)[\s\S]){1,20000}" + _PEM_EDGE % "END"
    + r"|(?:B[A-Z][A-Za-z-]{2,20}:(?:B[^\s>|#*\"'+,\\]{1,200}){0,63}?)?(?:B[A-Za-z0-9+/=]{24,})+"
    r"(?:B[A-Za-z0-9+/=]{1,23}(?=[)\]}\"'\s]{0,20}\Z))?)".replace("B", _PEM_BREAK)
)  # fmt: skip
_WORD = r"([^\s\"'\[\]$-][^\s\"'\[\]]{2,})"
# kind, literals of which one must be there, how many token characters follow it at least, pattern
_OTHERS = (
    ("aws-secret-key", "aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey|secretAccessKey", 0,
     r"(?i)secret_?access_?key[\"'\\]{0,3}\s{0,8}[:=]\s{0,8}[\"'\\]{0,3}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"),
    ("azure-signature", "sig=", 20, r"(?<=[?&;\s\"'])sig=([A-Za-z0-9%+/=_-]{20,})"),
    ("signature", "-Signature=|-signature=", 40,
     r"[Xx]-(?:[Aa]mz|[Gg]oog)-[Ss]ignature=([0-9a-fA-F]{40,}[A-Za-z0-9_]*)"),
    ("slack-token", "xox|xapp-", 10, _B + r"(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{10,}"),
    ("slack-webhook", "hooks.slack.com/", 20, r"hooks\.slack\.com/[a-z]{8,9}/([A-Za-z0-9/_-]{20,})"),
    ("discord-webhook", "/api/webhooks/", 20,
     r"discord(?:app)?\.com/api/webhooks/([0-9]{5,25}/[A-Za-z0-9_-]{20,})"),
    ("airtable-token", "pat", 79, _B + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![0-9A-Za-z])"),
    ("telegram-token", ":AA", 33, _B + r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33,}"),
    ("terraform-token", ".atlasv1.", 60, r"(?:(?<![A-Za-z0-9])[A-Za-z0-9]{14})?\.atlasv1\.[A-Za-z0-9_-]{60,}"),
    ("password-hash", "$1$|$2a$|$2b$|$2y$|$5$|$6$|$y$|$apr1$", 0,
     r"\$(?:2[aby]\$[0-9]{2}|(?:1|5|6|y|apr1)\$(?:[a-z0-9=./]{1,20}\$)?[./A-Za-z0-9]{1,24})\$[./A-Za-z0-9]{22,}"),
    ("jwt", "eyJ", 16, r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))eyJ[A-Za-z0-9_-]{10,}\.(?:eyJ)?[A-Za-z0-9_-]{10,}"
     r"(?:\.[A-Za-z0-9_-]+){0,3}"),
    ("authorization", "Authorization|authorization|AUTHORIZATION", 0,
     r"(?i:authorization)[\"'\\\]]{0,3}\s{0,8}[:=]\s{0,8}[fb]?[\"'\\]{0,3}"
     r"(?:(?i:bearer|basic|token|digest|apikey|bot|negotiate|key)\s{1,8})?"
     r"(?=[a-z]*[^a-z\s\"'`,;\\])([^\s\"'`,;\\]{6,})"),
    ("bearer-token", "Bearer |bearer ", 16, r"[Bb]earer (?=[A-Za-z._~+/=-]{0,80}[0-9])([A-Za-z0-9._~+/=-]{16,})"),
    ("cookie", "Cookie: |cookie: |COOKIE: ", 3,
     r"(?i)(?<![a-z0-9])cookie:[ \t]{1,8}([^\s=;,\"'\[\]]{1,100}=[^\r\n\"'\\\[\]]{6,})"),
    ("password", "machine |machine\t|machine\n", 0,
     r"\bmachine\s{1,8}[^\s\"']{1,200}\s{1,8}login\s{1,8}[^\s\"']{1,100}\s{1,8}password\s{1,8}" + _WORD),
    ("password", "sshpass ", 0, r"sshpass\s+-p\s*[\"']?" + _WORD),
    ("password", "mysql|mariadb", 0, r"(?:mysql|mariadb)[a-z]{0,20}\b[^\n|;&]{0,200}?\s-p" + _WORD),
    ("password", "docker login", 0, r"docker login\b[^\n|;&]{0,200}?\s-p[ =]?[\"']?" + _WORD),
    ("password", "curl ", 0,
     r"(?<=\s)(?:-u|--user)[ =]?[\"']?[^\s:\"'\[$]{1,100}:(?![0-9]+(?![^\s\"']))([^\s\"'\[\]]{3,})"),
)  # fmt: skip
_KEY = ("private-key", "PRIVATE KEY", 0, _PEM)
_RULES = [(head, row) for row in (_KEY, *_PREFIXED, *_OTHERS) for head in row[1].split("|")]
_URL = r"://[^\s/?#\"'`<>:\[]{0,256}:([^\s/?#\"'`<>]{1,768})@"

# Names whose value is a secret, by the end of the name, `-` written `_`: the kind of it.
_NAMES = {
    "password": "password", "passwd": "password", "passphrase": "password", "pwd": "password", "pass": "password",
    "sshpass": "password", "passcode": "password", "passwort": "password", "secret": "secret", "token": "token",
    ":_auth": "token", "api_key": "api-key", "apikey": "api-key", "api key": "api-key", "auth_key": "api-key",
    "access_key": "access-key", "accesskey": "access-key", "account_key": "access-key", "accountkey": "access-key",
    "secret_key": "secret-key", "secretkey": "secret-key", "secret_key_base": "secret-key",
    "signing_key": "secret-key", "encryption_key": "secret-key", "master_key": "secret-key", "app_key": "secret-key",
    "private_key": "private-key", "privatekey": "private-key", "client_key_data": "private-key",
}  # fmt: skip

_ALNUM = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_TOKEN_CHARS = _ALNUM | frozenset("-_.+/=%:")
_AFTER_NAME = (*" \t\"'`\\]?*0123456789_=:>",)


def redact(text: str) -> str:
    suspects = []
    for literal, (kind, heads, least, pattern) in _RULES:
        if literal in text and _may_match(text, literal, least):
            if "{%d" in pattern:  # what follows a prefix
                pattern = _B + "(?:%s)" % heads.replace(".", r"\.") + pattern % least
            suspects.append((kind, pattern))
    if "@" in text and any("@" in rest[:1024].partition("/")[0] for rest in text.split("://")[1:]):
        suspects.append(("password", _URL))
    if suspects:
        from .secret import hidden

        for kind, pattern in suspects:
            text = hidden(text, kind, pattern)
    parts = []
    done = 0
    for start, end, kind in sorted(_assigned(text)):
        if start >= done:
            parts += [text[done:start], MARK, kind, "]"]
            done = end
    return "".join(parts) + text[done:] if parts else text


def redact_tree(value: Any, kind: str = "", depth: int = 0) -> Any:
    """A copy of a JSON value with every string redacted, keys too; a secret's name as key condemns all below it."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {redact(key): redact_tree(child, _kind(key) or kind, depth + 1) for key, child in value.items()}
    if isinstance(value, list):
        return [redact_tree(child, kind, depth + 1) for child in value]
    if kind and isinstance(value, (str, int, float)) and not isinstance(value, bool):
        text = str(value)
        from .secret import is_secret

        bare = text.partition(" ")[2] if kind == "authorization" and " " in text else text
        if is_secret(bare, quoted=True, strict=False, kind=kind):
            return MARK + kind + "]"
    return redact(value) if isinstance(value, str) else value


def _kind(key: str) -> str:
    """The kind of secret that a name announces."""
    name = _lower(key)
    for ending, kind in (*_NAMES.items(), ("authorization", "authorization")):
        if name.endswith(ending) and _ends_name(key, len(name) - len(ending), len(name)):
            return kind
    return ""


def _may_match(text: str, literal: str, run: int) -> bool:
    """Whether some occurrence starts a word and has `run` token characters after it."""
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        piece = text[end : end + run]
        if len(piece) == run and _TOKEN_CHARS.issuperset(piece):
            before = text[max(0, at - 6) : at]  # an escaped character ends the word before it too
            if literal[0] not in _ALNUM or before[-1:] not in _ALNUM or any(sign in before for sign in "\\%[;"):
                return True
        at = text.find(literal, end)
    return False


def _assigned(text: str) -> Iterator[Span]:
    lower = _lower(text)
    for name, kind in _NAMES.items():
        at = lower.find(name)
        while at >= 0:
            end = at + len(name)
            if text[end : end + 1] in _AFTER_NAME and _ends_name(text, at, end):
                from .secret import assignment

                span = assignment(text, at, end, kind)
                if span is not None:
                    yield span
                    end = span[1]
            at = lower.find(name, end)


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) != len(text):  # a few letters grow when lowered; offsets must hold
        lower = "".join([c.lower() if c in _ALNUM else c for c in text])
    return lower.replace("-", "_")


def _ends_name(text: str, at: int, end: int) -> bool:
    """`pass` ends DB_PASS and dbPass, but neither bypass nor a sentence."""
    if end - at > 4 or at == 0 or text[at - 1] not in _ALNUM:
        return True
    return text[at].isupper() != text[at - 1].isupper() or text[at : at + 3].lower() != "pas"
