"""Taking secrets out of text before it is kept: each becomes `[redacted:<kind>]`, the rest stays as it is.

Four scans, all linear. Tokens that show their maker by a prefix are a table of patterns; a
substring search decides which are tried, so that clean text never pays for `re`. Private keys, passwords
in URLs and values assigned to telling names (`DB_PASSWORD=`, `"api_key": "`, `--token `,
`Authorization: Bearer `) are found by hand, because those names are common in ordinary prose.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Match

    Span = tuple[int, int, str]

MARK = "[redacted:"

_ALNUM = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_TOKEN_CHARS = _ALNUM | frozenset("-_.+/=%:")

# A token begins where a word does; an escaped character and a colour spelled out also end the word before it.
_B = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[abefnrtv0])|(?<=%[0-9A-Fa-f]{2})|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"
    r"|(?<=\\[0-7]{3})|(?<=[\[;]m)|(?<=[\[;][0-9]m)|(?<=[\[;][0-9]{2}m)|(?<=[\[;][0-9]{3}m))"
)
_ESCAPE_MAX_CHARS = 6
_PEM_EDGE = r"-----%s [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BREAK = r"(?:\\+[rn]|[\s>|#*\"'+,]){1,40}"
_PEM_LINE = r"[A-Za-z0-9+/=]{24,}"
_PEM_LAST_LINE = _PEM_BREAK + r"[A-Za-z0-9+/=]{1,23}(?=[)\]}\"'\s]{0,20}\Z)"
_PEM_NAME = r"[A-Z][A-Za-z-]{2,20}:"
_PEM_WORD = r"[^\s>|#*\"'+,\\]{1,200}"
_PEM_MAX_CHARS = 20_000
_PEM_HEADER_WORDS = 64

_WORD = r"([^\s\"'\[\]$-][^\s\"'\[\]]{2,})"

_NETRC = r"\bmachine\s{1,8}[^\s\"']{1,200}\s{1,8}login\s{1,8}[^\s\"']{1,100}\s{1,8}password\s{1,8}" + _WORD

# (kind, literals, how many token characters must follow one, pattern). A failing attempt of a pattern
# reads a bounded stretch and a successful one is consumed: that keeps every scan linear. A match takes the
# whole word, so that hiding it uncovers no new start of one. Group 1, where there is one, is what is hidden.
_RULES: tuple[tuple[str, tuple[str, ...], int, str], ...] = (
    ("private-key", ("AGE-SECRET-KEY-1",), 40, _B + r"AGE-SECRET-KEY-1[0-9A-Z]{40}[0-9A-Za-z]*"),
    ("anthropic-key", ("sk-ant-",), 16, _B + r"sk-ant-[A-Za-z0-9_-]{16,}"),
    ("openai-key", ("sk-",), 20, _B + r"sk-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,}"),
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), 30, _B + r"gh[pousr]_[A-Za-z0-9]{30,}"),
    ("github-token", ("github_pat_",), 22, _B + r"github_pat_[A-Za-z0-9_]{22,}"),
    (
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glsoat-", "glft-", "glimt-", "glagent-", "gloas-", "glffct-"),
        20,
        _B + r"gl(?:pat|dt|rt|cbt|ptt|soat|ft|imt|agent|oas|ffct)-[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9_-]{2,}){0,4}",
    ),
    ("gitlab-token", ("GR1348941",), 20, _B + r"GR1348941[A-Za-z0-9_-]{20,}"),
    ("aws-key-id", ("AKIA", "ASIA", "ABIA"), 16, _B + r"A[BKS]IA[A-Z2-7]{16}(?![A-Za-z0-9])"),
    (
        "aws-secret-key",
        ("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey", "secretAccessKey"),
        0,
        r"(?i)secret_?access_?key[\"'\\]{0,3}\s{0,8}[:=]\s{0,8}[\"'\\]{0,3}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    ("google-key", ("AIza",), 35, _B + r"AIza[0-9A-Za-z_-]{35,}"),
    ("google-token", ("ya29.", "GOCSPX-"), 20, _B + r"(?:ya29\.|GOCSPX-)[0-9A-Za-z_-]{20,}"),
    ("azure-signature", ("sig=",), 20, r"(?<=[?&;\s\"'])sig=([A-Za-z0-9%+/=_-]{20,})"),
    (
        "signature",
        ("-Signature=", "-signature="),
        40,
        r"[Xx]-(?:[Aa]mz|[Gg]oog)-[Ss]ignature=([0-9a-fA-F]{40,})",
    ),
    ("slack-token", ("xox", "xapp-"), 10, _B + r"(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{10,}"),
    (
        "slack-webhook",
        ("hooks.slack.com/",),
        20,
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})",
    ),
    ("discord-webhook", ("/api/webhooks/",), 20, r"discord(?:app)?\.com/api/webhooks/([0-9]{5,25}/[A-Za-z0-9_-]{20,})"),
    ("stripe-key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), 10, _B + r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    ("stripe-key", ("sk_org_",), 15, _B + r"sk_org_(?:live|test)_[A-Za-z0-9]{10,}"),
    ("stripe-secret", ("whsec_",), 16, _B + r"whsec_[A-Za-z0-9+/=]{16,}"),
    ("twilio-key", ("SK",), 32, _B + r"SK[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("sendgrid-key", ("SG.",), 32, _B + r"SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,}"),
    ("mailgun-key", ("key-",), 32, _B + r"key-[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("npm-token", ("npm_",), 36, _B + r"npm_[A-Za-z0-9]{36,}"),
    ("pypi-token", ("pypi-Ag",), 40, _B + r"pypi-Ag[A-Za-z0-9_-]{40,}"),
    ("huggingface-token", ("hf_", "api_org_"), 30, _B + r"(?:hf|api_org)_[A-Za-z0-9]{30,}"),
    ("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), 40, _B + r"do[opr]_v1_[0-9a-f]{40}[0-9A-Za-z]*"),
    ("databricks-token", ("dapi",), 32, _B + r"dapi[0-9a-f]{32}(?:-[0-9])?(?![0-9A-Za-z])"),
    (
        "shopify-token",
        ("shpat_", "shpca_", "shppa_", "shpss_"),
        32,
        _B + r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}[0-9A-Za-z]*",
    ),
    ("linear-key", ("lin_api_", "lin_oauth_"), 32, _B + r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    ("notion-token", ("ntn_", "secret_"), 40, _B + r"(?:ntn|secret)_[A-Za-z0-9]{40,}"),
    ("telegram-token", (":AA",), 33, _B + r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33,}"),
    ("vault-token", ("hvs.", "hvb.", "hvr."), 24, _B + r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    (
        "doppler-token",
        ("dp.pt.", "dp.st.", "dp.sa.", "dp.ct.", "dp.scim.", "dp.audit."),
        30,
        _B + r"dp\.(?:pt|st|sa|ct|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{30,}",
    ),
    ("supabase-key", ("sbp_", "sb_secret_"), 20, _B + r"(?:sbp|sb_secret)_[A-Za-z0-9_-]{20,}"),
    ("groq-key", ("gsk_",), 40, _B + r"gsk_[A-Za-z0-9]{40,}"),
    ("xai-key", ("xai-",), 40, _B + r"xai-[A-Za-z0-9]{40,}"),
    ("perplexity-key", ("pplx-",), 40, _B + r"pplx-[A-Za-z0-9]{40,}"),
    ("replicate-token", ("r8_",), 36, _B + r"r8_[A-Za-z0-9]{36,}"),
    ("figma-token", ("figd_",), 36, _B + r"figd_[A-Za-z0-9_-]{36,}"),
    ("docker-token", ("dckr_pat_", "dckr_oat_"), 24, _B + r"dckr_[op]at_[A-Za-z0-9_-]{24,}"),
    ("grafana-token", ("glsa_", "glc_"), 32, _B + r"gl(?:sa|c)_[A-Za-z0-9_+/=-]{32,}"),
    ("sentry-token", ("sntrys_", "sntryu_"), 40, _B + r"sntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    ("atlassian-token", ("ATATT3",), 40, _B + r"ATATT3[A-Za-z0-9+/=_-]{40,}"),
    ("bitbucket-token", ("ATBB",), 32, _B + r"ATBB[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    ("newrelic-key", ("NRAK-",), 27, _B + r"NRAK-[A-Z0-9]{27,}"),
    ("heroku-key", ("HRKU-",), 36, _B + r"HRKU-[A-Za-z0-9_-]{36,}"),
    ("planetscale-token", ("pscale_",), 36, _B + r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}"),
    ("pulumi-token", ("pul-",), 40, _B + r"pul-[0-9a-f]{40}(?![0-9A-Za-z])"),
    ("rubygems-key", ("rubygems_",), 48, _B + r"rubygems_[0-9a-f]{48}(?![0-9A-Za-z])"),
    ("square-token", ("sq0csp-", "sq0atp-"), 22, _B + r"sq0(?:csp|atp)-[A-Za-z0-9_-]{22,}"),
    ("tailscale-key", ("tskey-",), 20, _B + r"tskey-(?=[A-Za-z-]{0,60}[0-9])[A-Za-z0-9-]{20,}"),
    ("terraform-token", (".atlasv1.",), 60, r"(?:(?<![A-Za-z0-9])[A-Za-z0-9]{14})?\.atlasv1\.[A-Za-z0-9_-]{60,}"),
    ("dynatrace-token", ("dt0c01.", "dt0s16."), 60, _B + r"dt0[cs][0-9]{2}\.[A-Z0-9]{20,30}\.[A-Z0-9]{40,}"),
    ("fly-token", ("fm1_", "fm2_", "fo1_"), 40, _B + r"f(?:m[12]|o1)_[A-Za-z0-9+/=_-]{40,}"),
    ("langsmith-key", ("lsv2_",), 32, _B + r"lsv2_(?:pt|sk)_[A-Za-z0-9_]{32,}"),
    ("airtable-token", ("pat",), 79, _B + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?![0-9A-Za-z])"),
    ("netlify-token", ("nfp_",), 36, _B + r"nfp_[A-Za-z0-9]{36,}"),
    ("circleci-token", ("CCIPAT_",), 40, _B + r"CCIPAT_[A-Za-z0-9_]{40,}"),
    ("buildkite-token", ("bkua_",), 40, _B + r"bkua_[0-9a-f]{40}(?![0-9A-Za-z])"),
    ("neon-key", ("napi_",), 40, _B + r"napi_[A-Za-z0-9]{40,}"),
    ("sonar-token", ("squ_", "sqp_", "sqa_"), 40, _B + r"sq[apu]_[0-9a-f]{40}(?![0-9A-Za-z])"),
    ("posthog-key", ("phx_",), 40, _B + r"phx_[A-Za-z0-9]{40,}"),
    ("onepassword-token", ("ops_eyJ",), 40, _B + r"ops_eyJ[A-Za-z0-9_=-]{40,}"),
    ("easypost-key", ("EZAK",), 54, _B + r"EZAK[A-Za-z0-9]{54}(?![A-Za-z0-9])"),
    (
        "password-hash",
        ("$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$apr1$"),
        0,
        r"\$(?:2[aby]\$[0-9]{2}|(?:1|5|6|y|apr1)\$(?:[a-z0-9=./]{1,20}\$)?[./A-Za-z0-9]{1,24})\$[./A-Za-z0-9]{22,}",
    ),
    ("postman-key", ("PMAK-",), 40, _B + r"PMAK-[A-Za-z0-9-]{40,}"),
    (
        "jwt",
        ("eyJ",),
        16,
        r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))eyJ[A-Za-z0-9_-]{10,}\.(?:eyJ)?[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]+){0,3}",
    ),
    ("bearer-token", ("Bearer ", "bearer "), 16, r"[Bb]earer (?=[A-Za-z._~+/=-]{0,80}[0-9])([A-Za-z0-9._~+/=-]{16,})"),
    (
        "cookie",
        ("Cookie: ", "cookie: ", "COOKIE: "),
        3,
        r"(?i)(?<![a-z0-9])cookie:[ \t]{1,8}([^\s=;,\"'\[\]]{1,100}=[^\r\n\"'\\\[\]]{6,})",
    ),
    ("password", ("sshpass ",), 0, r"sshpass\s+-p\s*[\"']?" + _WORD),
    ("password", ("mysql", "mariadb"), 0, r"(?:mysql|mariadb)[a-z]{0,20}\b[^\n|;&]{0,200}?\s-p" + _WORD),
    ("password", ("docker login",), 0, r"docker login\b[^\n|;&]{0,200}?\s-p[ =]?[\"']?" + _WORD),
    (
        "password",
        ("curl ",),
        0,
        r"(?<=\s)(?:-u|--user)[ =]?[\"']?[^\s:\"'\[$]{1,100}:(?![0-9]+(?![^\s\"']))([^\s\"'\[\]]{3,})",
    ),
)  # fmt: skip

# Names whose value is a secret, by the end of the name, `-` written `_`; True: a person chose the value.
_NAMES: tuple[tuple[str, str, bool], ...] = (
    ("password", "password", True),
    ("passwd", "password", True),
    ("passphrase", "password", True),
    ("pwd", "password", True),
    ("pass", "password", True),
    ("secret", "secret", True),
    ("token", "token", False),
    ("api_key", "api-key", False),
    ("apikey", "api-key", False),
    ("api key", "api-key", False),
    ("access_key", "access-key", False),
    ("accesskey", "access-key", False),
    ("account_key", "access-key", False),
    ("accountkey", "access-key", False),
    ("secret_key", "secret-key", False),
    ("secretkey", "secret-key", False),
    ("secret_key_base", "secret-key", False),
    ("private_key", "private-key", False),
    ("privatekey", "private-key", False),
    ("signing_key", "secret-key", False),
    ("encryption_key", "secret-key", False),
    ("auth_key", "api-key", False),
    ("master_key", "secret-key", False),
    ("app_key", "secret-key", False),
    ("sshpass", "password", True),
    ("passcode", "password", True),
    ("passwort", "password", True),
    ("client_key_data", "private-key", False),
    (":_auth", "token", False),
    ("authorization", "authorization", False),
)
_SCHEMES = ("bearer", "basic", "token", "digest", "apikey", "bot", "negotiate", "key")
_SIGNS = {"=": "=", ":": ":", ">": ">", "=>": ":", ":=": "="}  # longer ones compare
_QUOTES = ('"', "'", "`")
_ESCAPE = "\\"
_VALUE_ENDS = (MARK, "\\n", "\\r", "\\t", "\\u")
_BLANKS = (" ", "\t")
_STRING_PREFIXES = ("f", "b", "r", "u", "F", "B", "R", "U")
_NAME_TAIL = (*_QUOTES, _ESCAPE, "]", "?", "*", *"0123456789")
_AFTER_NAME = (*_NAME_TAIL, *_BLANKS, "_", "=", ":", ">")
_NAME_MAX_CHARS = 64
_OPTION_WORD_MIN_CHARS = 10
_VALUE_MAX_CHARS = 4096
_JUDGED_CHARS = 768
_HOST_MAX_CHARS = 1024
_PIECE_CHARS = 48
_STOPS = str.maketrans(dict.fromkeys("\t\r\n\v\f\"'`<>;&|,)]}(", " "))
_ENV_STOPS = str.maketrans(dict.fromkeys("\t\r\n\v\f\"'`<>;&|", " "))


def redact(text: str) -> str:
    if "PRIVATE KEY" in text:
        text = _splice(text, _private_keys(text))
    for kind, literals, run, pattern in _RULES:
        for literal in literals:
            if literal in text and _may_match(text, literal, run):
                text = _substitute(text, kind, pattern)
                break
    if "machine" in text and "login" in text and "password" in text:
        text = _substitute(text, "password", _NETRC)
    if "://" in text and "@" in text:
        text = _splice(text, _url_passwords(text))
    return _splice(text, _assigned(text))


def redact_tree(value: Any) -> Any:
    """A copy of a JSON-like value with every string redacted, keys too; a secret's name as key condemns
    the values below it."""
    root: list[Any] = [value]
    todo: list[tuple[Any, tuple[str, bool] | None]] = [(root, None)]
    while todo:
        node, fate = todo.pop()
        is_dict = isinstance(node, dict)
        members = list(node.items() if is_dict else enumerate(node))
        if is_dict:
            node.clear()
        for key, child in members:
            verdict = (_verdict(key) if is_dict else None) or fate
            if isinstance(child, (dict, list)):
                child = child.copy()
                todo.append((child, verdict))
            node[redact(key) if isinstance(key, str) else key] = _redact_member(child, verdict)
    return root[0]


def _verdict(key: object) -> tuple[str, bool] | None:
    """The kind of secret that a name announces, and whether a person chooses it."""
    if isinstance(key, str):
        name = _lower(key)
        for ending, kind, chosen in _NAMES:
            if name.endswith(ending) and _ends_name(key, len(name) - len(ending), len(name)):
                return kind, chosen
    return None


def _redact_member(value: Any, verdict: tuple[str, bool] | None) -> Any:
    if verdict and (isinstance(value, str) or (isinstance(value, (int, float)) and not isinstance(value, bool))):
        from .placeholder import is_secret

        kind, chosen = verdict
        text = str(value)
        bare = text.partition(" ")[2] if kind == "authorization" and " " in text else text
        if is_secret(bare, quoted=True, strict=False, chosen=chosen):
            return MARK + kind + "]"
    return redact(value) if isinstance(value, str) else value


def _may_match(text: str, literal: str, run: int) -> bool:
    """Whether some occurrence starts a word and has `run` token characters after it."""
    word = literal[0] in _ALNUM
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        if (not word or _starts_word(text, at)) and _is_run(text, end, run):
            return True
        at = text.find(literal, end)
    return False


def _starts_word(text: str, at: int) -> bool:
    if at == 0 or text[at - 1] not in _ALNUM:
        return True
    before = text[max(0, at - _ESCAPE_MAX_CHARS) : at]
    return "\\" in before or "%" in before or "[" in before or ";" in before


def _is_run(text: str, start: int, length: int) -> bool:
    piece = text[start : start + length]
    return len(piece) == length and _TOKEN_CHARS.issuperset(piece)


def _substitute(text: str, kind: str, pattern: str) -> str:
    import re

    from .placeholder import is_mask, stands_in

    def hide(match: Match[str]) -> str:
        group = 1 if match.re.groups else 0
        secret = match.group(group)
        if is_mask(secret) or (kind == "password" and stands_in(secret)):
            return match.group()
        start = match.start(group) - match.start()
        return match.group()[:start] + MARK + kind + "]"

    return re.sub(pattern, hide, text)


def _splice(text: str, spans: Iterator[Span]) -> str:
    parts = []
    done = 0
    for start, end, kind in sorted(spans):
        if start >= done:
            parts += [text[done:start], MARK, kind, "]"]
            done = end
    return "".join(parts) + text[done:] if parts else text


def _private_keys(text: str) -> Iterator[Span]:
    """A key and its edges; without the second edge, what there is of it."""
    import re

    from .placeholder import is_mask

    begin, end = re.compile(_PEM_EDGE % "BEGIN"), re.compile(_PEM_EDGE % "END")
    found = begin.search(text)
    while found:
        dashes = text.find("-----", found.end(), found.end() + _PEM_MAX_CHARS)
        edge = end.match(text, dashes) if dashes > found.end() else None
        last = edge.end() if edge else _end_of_key(text, found.end())
        if last > found.end() and not is_mask(text[found.start() : last]):
            yield found.start(), last, "private-key"
        found = begin.search(text, last)


def _end_of_key(text: str, at: int) -> int:
    """Where the lines of a key end that begins here, after its headers; `at` when there are none."""
    import re

    between, line, word = re.compile(_PEM_BREAK), re.compile(_PEM_LINE), re.compile(_PEM_WORD)
    start, last, words = at, at, 0
    gap = between.match(text, at)
    while gap:
        found = line.match(text, gap.end())
        if found:
            last = found.end()
        elif last == start and words < _PEM_HEADER_WORDS and (words or re.compile(_PEM_NAME).match(text, gap.end())):
            found = word.match(text, gap.end())
            words += 1
        gap = between.match(text, found.end()) if found else None
    rest = re.compile(_PEM_LAST_LINE).match(text, last) if last > start else None
    return rest.end() if rest else last


def _url_passwords(text: str) -> Iterator[Span]:
    from .placeholder import stands_in

    at = text.find("://")
    while at >= 0:
        start = at + 3
        authority = _until(text, start, _HOST_MAX_CHARS, "/?#\"'`<> \t\r\n")
        login = authority.rpartition("@")[0]
        user, colon, password = login.partition(":")
        if colon and password and not user.endswith(MARK[:-1]) and not stands_in(password):
            yield start + len(user) + 1, start + len(login), "password"
        at = text.find("://", start)


def _until(text: str, start: int, limit: int, stops: str) -> str:
    piece = text[start : start + limit]
    for stop in stops:
        piece = piece.partition(stop)[0]
    return piece


def _assigned(text: str) -> Iterator[Span]:
    lower = _lower(text)
    for name, kind, chosen in _NAMES:
        at = lower.find(name)
        while at >= 0:
            end = at + len(name)
            if text[end : end + 1] in _AFTER_NAME and _ends_name(text, at, end):
                span = _assignment(text, at, end, kind, chosen)
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


def _assignment(text: str, at: int, end: int, kind: str, chosen: bool) -> Span | None:
    """The secret assigned to the name whose last word is `text[at:end]`, if there is one."""
    sign, start = _separator(text, end)
    if not sign:
        return None
    key_at = _name_start(text, at)
    if text.endswith(MARK, 0, key_at):
        return None
    before = text[key_at - 1 : key_at]
    option = text.startswith("--", key_at)
    if (sign == " " and not option) or (sign == ">" and before != "<"):
        return None
    if kind == "authorization":
        return _credential(text, start)
    glued = sign == "=" and text[start - 1] == "="
    environment = glued and text[key_at:end].isupper()
    strict = environment or sign == ">" or (glued and (option or before in ("?", "&")))
    first, last, quoted = _value(text, start, environment)
    if sign == "==" and not quoted:
        return None
    strict = strict or (option and last - first >= _OPTION_WORD_MIN_CHARS)
    if _judge(text, first, last, quoted=quoted, strict=strict, chosen=chosen):
        return first, _whole(text, first, last, quoted, environment), kind
    # `token: str = "..."`: the value comes after the type.
    after = _skip_blanks(text, last + (text[last : last + 1] == "]"))
    if quoted or sign != ":" or text[after : after + 1] != "=" or text[after + 1 : after + 2] in ("=", ">"):
        return None
    first, last, quoted = _value(text, _skip_blanks(text, after + 1), False)
    if not _judge(text, first, last, quoted=quoted, strict=False, chosen=chosen):
        return None
    return first, _whole(text, first, last, quoted, False), kind


def _judge(text: str, first: int, last: int, *, quoted: bool, strict: bool, chosen: bool) -> bool:
    from .placeholder import is_secret

    if last - first < 3:
        return False
    called = not quoted and text[last : last + 1] == "("
    return is_secret(text[first : last + called], quoted=quoted, strict=strict, chosen=chosen)


def _credential(text: str, start: int) -> Span | None:
    """What follows `Authorization:`, after the scheme when it names one."""
    from .placeholder import is_secret, stands_in

    environment = False
    first, last, quoted = _value(text, start, environment)
    scheme, blank, rest = text[first:last].partition(" ")
    if quoted and blank and scheme.lower() in _SCHEMES:
        first, scheme = last - len(rest), rest
    elif text[first:last].lower() in _SCHEMES:
        environment = True
        first, last, quoted = _value(text, _skip_blanks(text, last), environment)
        scheme = text[first:last]
    elif not is_secret(text[first:last], quoted=quoted, strict=False, chosen=False):
        return None
    if len(scheme) < 6 or stands_in(scheme) or (scheme.isalpha() and scheme.islower()):
        return None
    return first, _whole(text, first, last, quoted, environment), "authorization"


def _separator(text: str, at: int) -> tuple[str, int]:
    """The sign between a name that ends at `at` and its value, and where the value starts."""
    while text[at : at + 1] in _NAME_TAIL:
        at += 1
    sign_at = _skip_blanks(text, at)
    sign = text[sign_at : sign_at + 1]
    if sign not in _SIGNS:
        if text.startswith(" is ", at):
            return "is", at + 4
        return (" ", sign_at) if sign_at > at else ("", at)
    after = sign_at + 1
    following = text[after : after + 2]
    if sign == ":" and following[:1] in (":", "/"):
        return ("", at) if following in ("//", "::") or following[:1] == ":" else (sign, after)
    while sign != ">" and text[after : after + 1] in ("=", ">"):
        sign, after = sign + text[after], after + 1
    if text.startswith(("** ", "**\t"), after):  # `**Password:** …`, as answers are written
        after += 2
    return _SIGNS.get(sign, "=="), _skip_blanks(text, after)


def _skip_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in _BLANKS:
        at += 1
    return at


def _name_start(text: str, at: int) -> int:
    first = max(0, at - _NAME_MAX_CHARS)
    while at > first and (text[at - 1] in _ALNUM or text[at - 1] in "_-."):
        at -= 1
    return at


def _value(text: str, start: int, environment: bool) -> tuple[int, int, bool]:
    """Where the value at `start` begins and ends inside its quotes, and whether it has any.

    One without is read as far as it takes to judge it: a text may be full of names whose value is all the rest."""
    at = start
    if text[at : at + 1] in _STRING_PREFIXES and text[at + 1 : at + 2] in _QUOTES:
        at += 1
    escapes = at
    while text[escapes : escapes + 1] == _ESCAPE:
        escapes += 1
    quote = text[escapes : escapes + 1]
    if quote in _QUOTES:
        opening = text[at : escapes + 1]
        opening = opening * 3 if text.startswith(opening * 3, at) else opening
        first = at + len(opening)
        return first, _closing(text, first, opening), True
    return start, start + len(_bare(text, start, _stops(environment), _JUDGED_CHARS)), False


def _whole(text: str, first: int, last: int, quoted: bool, environment: bool) -> int:
    """Where a value ends that was read as far as it takes to judge it."""
    if quoted or last - first < _JUDGED_CHARS:
        return last
    return first + len(_bare(text, first, _stops(environment), len(text)))


def _stops(environment: bool) -> dict[int, str]:
    return _ENV_STOPS if environment else _STOPS


def _closing(text: str, first: int, quote: str) -> int:
    """The end of a quoted value: its quote, else the end of the line."""
    end = text.find("\n", first, first + _VALUE_MAX_CHARS)
    end = min(len(text), first + _VALUE_MAX_CHARS) if end < 0 or len(quote) == 3 else end
    at = text.find(quote, first, end)
    while at > 0 and text[at - 1] == _ESCAPE and text[at - 2] != _ESCAPE and at > first:
        at = text.find(quote, at + 1, end)
    return end if at < 0 else at


def _bare(text: str, start: int, stops: dict[int, str], limit: int) -> str:
    if text.startswith(MARK, start):
        return MARK
    pieces = []
    size = _PIECE_CHARS
    limit += start
    while True:
        piece = text[start : start + size].translate(stops)
        word = "" if piece[:1].isspace() else (piece.split(None, 1) or [""])[0]
        if "\\" in word or "[" in word:
            for stop in _VALUE_ENDS:
                word = word.partition(stop)[0]
        pieces.append(word)
        start += size
        if len(word) < size or start >= limit:
            return "".join(pieces).rstrip(".:\\")
        size *= 4
