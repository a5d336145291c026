"""What secrets look like, and what only stands in their place.

Tokens show their maker by a prefix; passwords are found by the text around them.
A failing attempt of a pattern reads a bounded stretch and a successful one is consumed, so every scan is linear. A
match takes the whole word, so that hiding it uncovers no new start of one. Group 1, where there is one, is hidden.
"""

from __future__ import annotations

MARK = "[redacted:"

# A token begins where a word does; an escaped character and a spelled-out colour also end the word before it.
_B = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[abefnrtv0])|(?<=%[0-9A-Fa-f]{2})|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"
    r"|(?<=\\[0-7]{3})|(?<=[\[;]m)|(?<=[\[;][0-9]m)|(?<=[\[;][0-9]{2}m)|(?<=[\[;][0-9]{3}m))"
)
_W = "[A-Za-z0-9]{%d,}"
_U = "[A-Za-z0-9_-]{%d,}"
_G = _U + r"(?:\.[A-Za-z0-9_-]{2,}){0,4}"
_S = "[A-Za-z0-9+/=._-]{%d,}"
_X = "[0-9a-f]{%d}(?![0-9A-Za-z])"
_D = "(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{%d,}"  # a digit, unlike a name of words
# kind, prefixes, how many characters follow at least, which
_PREFIXED = (
    ("private-key", "AGE-SECRET-KEY-1", 40, _W),
    ("anthropic-key", "sk-ant-", 16, _U),
    ("openai-key", "sk-", 20, _D),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", 30, _W),
    ("github-token", "github_pat_", 22, _U),
    ("gitlab-token", "glpat- gldt- glrt- glcbt- glptt- glsoat- glft- glimt- glagent- gloas- glffct-", 20, _G),
    ("gitlab-token", "GR1348941", 20, _U),
    ("aws-key-id", "AKIA ASIA ABIA", 16, "[A-Z2-7]{%d}(?![A-Za-z0-9])"),
    ("google-key", "AIza", 35, _U),
    ("google-token", "ya29. GOCSPX-", 20, _U),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_org_live_ sk_org_test_", 10, _W),
    ("stripe-secret", "whsec_", 16, _S),
    ("twilio-key", "SK", 32, _X),
    ("sendgrid-key", "SG.", 16, r"[A-Za-z0-9_-]{%d,40}\.[A-Za-z0-9_-]{16,}"),
    ("mailgun-key", "key-", 32, _X),
    ("npm-token", "npm_", 36, _W),
    ("pypi-token", "pypi-Ag", 40, _U),
    ("huggingface-token", "hf_ api_org_", 30, _W),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", 40, _W),
    ("databricks-token", "dapi", 32, _X),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", 32, _W),
    ("linear-key", "lin_api_ lin_oauth_", 32, _W),
    ("notion-token", "ntn_ secret_", 40, _W),
    ("vault-token", "hvs. hvb. hvr.", 24, _U),
    ("doppler-token", "dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.", 30, r"(?:[a-z0-9_-]{2,35}\.)?" + _W),
    ("supabase-key", "sbp_ sb_secret_", 20, _U),
    ("groq-key", "gsk_", 40, _W),
    ("xai-key", "xai-", 40, _W),
    ("perplexity-key", "pplx-", 40, _W),
    ("replicate-token", "r8_", 36, _W),
    ("figma-token", "figd_", 36, _U),
    ("docker-token", "dckr_pat_ dckr_oat_", 24, _U),
    ("grafana-token", "glsa_ glc_", 32, _S),
    ("sentry-token", "sntrys_ sntryu_", 40, _S),
    ("atlassian-token", "ATATT3", 40, _S),
    ("bitbucket-token", "ATBB", 32, _W),
    ("newrelic-key", "NRAK-", 27, _W),
    ("heroku-key", "HRKU-", 36, _U),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", 32, _S),
    ("pulumi-token", "pul-", 40, _X),
    ("rubygems-key", "rubygems_", 48, _X),
    ("square-token", "sq0csp- sq0atp-", 22, _U),
    ("tailscale-key", "tskey-", 20, _D),
    ("dynatrace-token", "dt0c01. dt0s16.", 20, r"[A-Z0-9]{%d,30}\.[A-Z0-9]{40,}[A-Za-z0-9]*"),
    ("fly-token", "fm1_ fm2_ fo1_", 40, _S),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_", 32, _U),
    ("netlify-token", "nfp_", 36, _W),
    ("circleci-token", "CCIPAT_", 40, _U),
    ("buildkite-token", "bkua_", 40, _X),
    ("neon-key", "napi_", 40, _W),
    ("sonar-token", "squ_ sqp_ sqa_", 40, _X),
    ("posthog-key", "phx_", 40, _W),
    ("onepassword-token", "ops_eyJ", 40, _S),
    ("easypost-key", "EZAK", 54, _W),
    ("postman-key", "PMAK-", 40, _U),
)
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
    ("password", "sshpass ", 0, r"sshpass\s+-p\s*[\"']?" + _WORD),
    ("password", "mysql|mariadb", 0, r"(?:mysql|mariadb)[a-z]{0,20}\b[^\n|;&]{0,200}?\s-p" + _WORD),
    ("password", "docker login", 0, r"docker login\b[^\n|;&]{0,200}?\s-p[ =]?[\"']?" + _WORD),
    ("password", "curl ", 0,
     r"(?<=\s)(?:-u|--user)[ =]?[\"']?[^\s:\"'\[$]{1,100}:(?![0-9]+(?![^\s\"']))([^\s\"'\[\]]{3,})"),
)  # fmt: skip
RULES = [("private-key", "PRIVATE KEY", 0, _PEM)]
for _kind, _heads, _least, _tail in _PREFIXED:
    _pattern = _B + "(?:%s)" % _heads.replace(".", r"\.").replace(" ", "|") + _tail % _least
    RULES += [(_kind, _head, _least, _pattern) for _head in _heads.split()]
RULES += [
    (_kind, _head, _least, _pattern) for _kind, _heads, _least, _pattern in _OTHERS for _head in _heads.split("|")
]
NETRC = r"\bmachine\s{1,8}[^\s\"']{1,200}\s{1,8}login\s{1,8}[^\s\"']{1,100}\s{1,8}password\s{1,8}" + _WORD
URL = r"://[^\s/?#\"'`<>:\[]{0,256}:([^\s/?#\"'`<>]{1,768})@"

# Names whose value is a secret, by the end of the name, `-` written `_`: the kind of it.
NAMES = {
    "password": "password", "passwd": "password", "passphrase": "password", "pwd": "password", "pass": "password",
    "sshpass": "password", "passcode": "password", "passwort": "password", "secret": "secret", "token": "token",
    ":_auth": "token", "api_key": "api-key", "apikey": "api-key", "api key": "api-key", "auth_key": "api-key",
    "access_key": "access-key", "accesskey": "access-key", "account_key": "access-key", "accountkey": "access-key",
    "secret_key": "secret-key", "secretkey": "secret-key", "secret_key_base": "secret-key",
    "signing_key": "secret-key", "encryption_key": "secret-key", "master_key": "secret-key", "app_key": "secret-key",
    "private_key": "private-key", "privatekey": "private-key", "client_key_data": "private-key",
}  # fmt: skip
CHOSEN = ("password", "secret")  # kinds that a person makes up
# Well-known defaults count as stand-ins: they are on every word list, so hiding them protects nothing.
_VOCABULARY = """
    a abc above access admin aes an and any api apikey apitoken app are argon argv at auth authorization
    authtoken bar base based basic baz bcrypt bearer below bool boolean bot buffer byte bytes cert change
    changeit changeme char check client code config const correct count credential credentials data db decode
    default demo digest disabled django dummy e empty enabled encoded encrypted enter env environ environment
    error example expired fake false field file flag float foo for from generated get getenv github gitlab goes
    google has hash hashed header here hex hidden hmac i id in include incorrect index insert int integer
    invalid is it item jwt key kind length let literal local localhost long lorem magic masked md me min missing
    must mutable mutation my name new nil no none not null number object of off ok old omit omitted on one
    opaque openai option optional or origin pass passcode passphrase passwd password path pbkdf per placeholder
    plain plaintext point prefix private process promise prompt public put pw pwd query random read readonly
    record redacted redis ref refresh replace replaceme req request required response result root safe same
    sample sanitized secret secrets secretstr see self session set sha short signed size some something stored
    str string stripe strong super supersecret symbol tbd test tester testing text the this to todo token tokens
    topsecret true tuple type uint undefined unknown unset usage use user username utf uuid val value var
    variable vault vec void weak with write wrong www xxx y yes you your yours z
"""
_WORDS = frozenset(_VOCABULARY.split())
_REFERENCES = ("$", "{", "<", "%", "--", "ENC[", "arn:", "vault:", "file:", "data:", "projects/", "env:", "env(")
_PATHS = ("/", "./", "../", "~/", "~\\", ".\\", "..\\")
_ELISIONS = ("***", "...", "\u2026", "xxxx", "\u2022\u2022")
_SYMBOLS = frozenset("!@#^~+=$%/")
_VARIABLE_HASH_CHARS = 20
_ELIDED_MAX_CHARS = 48
_DIGITS_OF_A_CHOICE = 4
_PHRASE_MIN_CHARS = 20
_LETTERS_MIN_CHARS = 32
_LABEL_WORD_MIN_CHARS = 16
_CODE_MAX_CHARS = 512  # names, paths and references end before; also bounds what a rejected value costs


def stands_in(value: str) -> bool:
    """Not a secret in any place: empty, masked, a variable, a documentation word."""
    if len(value) < 3 or value.startswith(MARK) or len(set(value)) <= 2:
        return True
    is_hash = value[0] == "$" and len(value) >= _VARIABLE_HASH_CHARS and value.count("$") >= 3
    if (value.startswith(_REFERENCES) and not is_hash) or "://" in value or "${" in value or "{{" in value:
        return True
    if value.lower() in _WORDS or len(value) > _CODE_MAX_CHARS or _is_elided(value):
        return len(value) <= _CODE_MAX_CHARS
    digits = sum(c.isdigit() for c in value)
    words = _words(value) if digits < _DIGITS_OF_A_CHOICE else []  # `admin2024`: people choose a word and a year
    return bool(words) and (_WORDS.issuperset(words) or ("your" in words and not digits))


def is_mask(token: str) -> bool:
    """A vendor's token with its body blanked out, or the one printed in the vendor's manual."""
    return len(set(token[len(token) // 2 :])) <= 2 or "EXAMPLE" in token or _is_elided(token)


def is_secret(value: str, *, quoted: bool, strict: bool, chosen: bool) -> bool:
    """Whether the value assigned to a secret's name is one.

    `strict` marks places that hold values only (environment, option, query); `chosen` names whose value a person
    picks (passwords), which may be an ordinary word, while tokens never are.
    """
    if len(value) > _CODE_MAX_CHARS:
        return not value.startswith(MARK)
    is_path = value.startswith(_PATHS) or (value[1:3] in (":\\", ":/") and value[0].isalpha())
    if is_path or stands_in(value):
        return False
    if value.isdigit():
        return chosen and len(value) >= 4
    if not quoted:
        return not _is_code(value) and (len(value) >= 4 if strict else _is_random(value, chosen))
    if " " in value:  # text for a reader: "Invalid token", "Enter a password"
        words = _words(value)
        return bool(words) and not value[0].isupper() and {"password", "token", "secret", "key"}.isdisjoint(words)
    is_word = value.replace("_", "").replace("-", "").isalpha()
    return len(value) >= (4 if chosen else _LABEL_WORD_MIN_CHARS if is_word else 0)


def _is_elided(value: str) -> bool:
    lower = value.lower()
    return len(value) <= _ELIDED_MAX_CHARS and any(mark in lower for mark in _ELISIONS)


def _words(value: str) -> list[str]:
    """Lower-case words of an identifier or phrase, humps split, digits dropped: `myApiKey2` is my, api, key.

    None when it has a sign that identifiers and phrases do not have.
    """
    out = []
    previous = ""
    for c in value:
        if c.isalpha():
            out.append(" " + c if c.isupper() and previous.islower() else c)
        elif c in "_-. '\"`[]/:?!*" or c.isdigit():
            out.append(" ")
        else:
            return []
        previous = c
    return "".join(out).lower().split()


def _is_code(value: str) -> bool:
    head, call, _ = value.partition("(")
    if call or value[-1] in "[{(" or value.startswith(("--", "*", "!")):
        return all(part.isidentifier() for part in head.strip("[{!*-").split(".")) or not head
    head, index, _ = value.partition("[")
    parts = head.split(".")
    if not all(part.isidentifier() for part in parts):
        return False
    return bool(index) or (len(parts) > 1 and not any(_is_random(part, False) for part in parts))


def _is_random(value: str, chosen: bool) -> bool:
    bare = value.replace("_", "").replace("-", "")
    if bare.isalpha():
        return len(value) >= (_PHRASE_MIN_CHARS if "-" in value else _LETTERS_MIN_CHARS)
    if not any(c.isalpha() for c in bare):
        return chosen and len(value) >= 8
    if chosen:
        return len(value) >= 5 and any(c.isdigit() or c in _SYMBOLS for c in value)
    word = bare.rstrip("0123456789")
    is_word_and_number = len(bare) < 12 and word.isalpha() and len(word) > 2
    return len(value) >= 8 and any(c.isdigit() for c in value) and not is_word_and_number
