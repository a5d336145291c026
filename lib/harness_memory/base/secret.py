"""Whether a text is a secret, and where one ends; loaded only when `redact` has a suspicion."""

from __future__ import annotations

from .settings import REDACTED as MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Match

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
# kind, prefixes, how many characters follow at least, which; a prefix of three characters only begins a whole word
_PREFIXED = (
    ("private-key", "AGE-SECRET-KEY-1", 40, _W),
    ("anthropic-key", "sk-ant-", 16, _U),
    ("openai-key", "sk-", 20, _D),
    ("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", 30, _W),
    ("github-token", "github_pat_", 22, _U),
    ("gitlab-token", "glpat-|gldt-|glrt-|glcbt-|glptt-|glsoat-|glft-|glimt-|glagent-|gloas-|glffct-", 20, _G),
    ("gitlab-token", "GR1348941", 20, _U),
    ("google-key", "AIza", 35, _U),
    ("google-token", "ya29.|GOCSPX-|1//0", 20, _U),
    ("stripe-key", "sk_live_|sk_test_|rk_live_|rk_test_|sk_org_live_|sk_org_test_|sk_prod_|rk_prod_", 10, _W),
    ("stripe-secret", "whsec_", 16, _S),
    ("slack-token", "xoxe.xox[a-z]-|xox[a-z]-|xapp-", 10, "[A-Za-z0-9-]{%d,}"),
    ("sendgrid-key", "SG.", 16, r"[A-Za-z0-9_-]{%d,40}\.[A-Za-z0-9_-]{16,}"),
    ("doppler-token", "dp.pt.|dp.st.|dp.sa.|dp.ct.|dp.scim.|dp.audit.", 30, r"(?:[a-z0-9_-]{2,35}\.)?" + _W),
    ("dynatrace-token", "dt0c01.|dt0s16.", 20, r"[A-Z0-9]{%d,30}\.[A-Z0-9]{40,}[A-Za-z0-9]*"),
    ("airtable-token", "pat", 14, r"[A-Za-z0-9]{%d}\.[0-9a-f]{64}(?![0-9A-Za-z])"),
    # Twilio, Firecrawl; Mailgun, Databricks, Pulumi, Buildkite, Sonar, RubyGems, Shippo, Sourcegraph
    ("service-token", "SK|fc-|sk_", 32, "[0-9a-f]{%d,64}(?![0-9A-Za-z])"),
    ("service-token", "key-|dapi|pul-|bkua_|squ_|sqp_|sqa_|rubygems_|shippo_live_|shippo_test_|sgp_|e2b_|cal_live_", 32,
     "(?:[0-9a-f]{16}_)?[0-9a-f]{%d,64}(?![0-9A-Za-z])"),
    ("service-token", "waka_|amzn.mws.|access-production-|access-sandbox-|ctx7sk-|sk-lf-", 36,
     "[0-9a-f-]{%d}(?![0-9A-Za-z])"),
    # npm, Hugging Face, DigitalOcean, Shopify, Linear, Notion, Groq, xAI, Perplexity, Replicate, and so on
    ("service-token", "npm_|api_org_|dop_v1_|doo_v1_|dor_v1_|shpat_|shpca_|shppa_|shpss_|lin_api_|lin_oauth_|ntn_|"
     "secret_|gsk_|xai-|pplx-|ATBB|nfp_|napi_|phx_|EZAK|EZTK|jina_|rdme_|pnu_|p8e-|ico-|csk-|CLOJARS_|AKCp|cmVmd|"
     "EAAC|IGQVJ|vcp_|apify_api_|tvly-|tvly-dev-|tvly-prod-", 32, _W),
    ("service-token", "hf_|r8_|oy2|cio|fw_|re_|y0_|AQ.|sl.|A3-", 20, "(?=[A-Za-z-]*[0-9])[A-Za-z0-9_-]{%d,}"),
    ("service-token", "LTAI|rnd_|tr_dev_|tr_prod_|lip_|API-|4b1d", 20, "(?=[A-Za-z]*[0-9])" + _W),
    # Vault, Supabase, Figma, Docker, New Relic, Heroku, Square, LangSmith, CircleCI, Postman, PyPI, Tailscale
    ("service-token", "hvs.|hvb.|hvr.|sbp_|sb_secret_|figd_|dckr_pat_|dckr_oat_|NRAK-|NRII-|HRKU-|sq0csp-|sq0atp-|EAAA|"
     "lsv2_pt_|lsv2_sk_|CCIPAT_|PMAK-|PMAT-|pypi-|pcsk_|nvapi-|xkeysib-|xsmtpsib-|fio-u-|dnkey-|tfp_|duffel_live_|"
     "duffel_test_|sha256~|AQVN|bb_live_|bb_test_|FLWSECK-|FLWSECK_TEST-|tskey-", 20,
     "(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_.-]{%d,}"),
    # Grafana, Sentry, Atlassian, PlanetScale, Fly, 1Password, Bedrock
    ("service-token", "glsa_|glc_|sntrys_|sntryu_|ATATT3|pscale_tkn_|pscale_pw_|pscale_oauth_|fm1_|fm2_|fo1_|ops_eyJ|"
     "fm1a_|fm1r_|ABSK|sk.eyJ", 32, _S),
    ("vault-token", "s.", 24, "(?=[A-Za-z]*[0-9])[A-Za-z0-9]{%d}(?![A-Za-z0-9_.(-])"),
    ("service-token", "v1.0-", 24, "[0-9a-f]{%d}-[0-9a-f]{100,}"),  # Cloudflare
)  # fmt: skip
# kind, what a suspicious word contains, pattern
_SHAPES = (
    ("telegram-token", ":A", r"(?:(?<![A-Za-z0-9])|(?<=bot))[0-9]{8,10}:A[A-Za-z0-9_-]{33,}"),
    ("terraform-token", ".atlasv1.", r"(?:(?<![A-Za-z0-9])[A-Za-z0-9]{14})?\.atlasv1\.[A-Za-z0-9_-]{60,}"),
    ("jwt", "eyJ", r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))eyJ[A-Za-z0-9_-]{10,}\.(?:eyJ)?[A-Za-z0-9_-]{10,}"
     r"(?:\.[A-Za-z0-9_-]+){0,3}"),
    ("azure-secret", "Q~", r"(?<![A-Za-z0-9_~.])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~])"),
    ("discord-token", ".", r"(?<![\w.-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"),
    ("service-token", ".", r"(?<![A-Za-z0-9])(?:pat|sat)\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
)  # fmt: skip
_UNKNOWN = (  # a short word and much that is random, as vendors make their tokens; but not hashes and identifiers
    r"(?<![A-Za-z0-9_-])(?<!sha1=)(?<!sha256=)(?<!sha512=)([a-z][a-z0-9]{1,9}[_-](?:[a-z0-9]{2,8}[_-]){0,2})"
    r"([A-Za-z0-9]{28,})(?![A-Za-z0-9_/+=-])"
)
_IDS = ("toolu", "msg", "req", "call", "run", "chatcmpl", "file", "thread", "resp", "pk", "org", "sha256", "sha512")

_NAME_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
_TOKEN = _NAME_CHARS | frozenset("+/=~%:")
_SIGNS = {"=": "=", ":": ":", "：": ":", ">": ">", "=>": ":", ":=": "="}  # longer ones compare
_QUOTES = ('"', "'", "`")
_NAME_TAIL = (*_QUOTES, "\\", "]", "?", "*", *"0123456789")
# Words between a name and its value in a sentence: "das Passwort lautet x", "password for the db: x".
_LINKS = ("is", "ist", "lautet", "est", "es", "é", "è", "to", "was", "jest", "は", "是", "为", "는", "은")
_LINKS_GLUED = ("は", "是", "为", "為", "는", "은", ":", "：")
_VALUE_MAX_CHARS = 4096
_STOPS = str.maketrans(dict.fromkeys("\t\r\n\v\f\"'`<>;&|,)]}(", " "))
_ENV_STOPS = str.maketrans(dict.fromkeys("\t\r\n\v\f\"'`<>;&|", " "))
_WEAK = ("key", "auth", "credential", "pat")  # names of much that is no secret: the value must look like one
_HARMLESS_WORDS = """
    public primary foreign cache sort partition hash row index group object file idempotency registry routing lookup map
    next page continuation change sync request lifecycle pub publishable anon host ssh translation dict react item
    unique lock resource resourcekey export s3 checksum etag client
"""
_HARMLESS = frozenset(_HARMLESS_WORDS.split())
_KEYS = {
    **dict.fromkeys(("api", "auth"), "api-key"), **dict.fromkeys(("access", "account"), "access-key"),
    **dict.fromkeys(("secret", "signing", "encryption", "master", "app"), "secret-key"), "private": "private-key",
}  # fmt: skip
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
_TELLING = frozenset(("password", "passwd", "secret", "token", "key", "credential", "credentials", "auth"))
_REFERENCES = ("$", "{", "<", "%", "--", "ENC[", "arn:", "vault:", "file:", "data:", "projects/", "env:", "env(")
_CODE_MAX_CHARS = 512  # names, paths and references end before; also bounds what a rejected value costs


def tokens(text: str, words: str, suspects: list[tuple[str, str, int, str]]) -> str:
    """The text without tokens of known form, of which `words` has those that may be some, and without `suspects`."""
    rows = [(kind, pattern) for kind, part, pattern in _SHAPES if part in words]
    for kind, heads, least, pattern in _PREFIXED if words else ():
        parts = [head.partition("[")[0] for head in heads.split("|")]
        if any(part in words and _may_match(text, part, least) for part in parts):
            edge = _B if len(min(parts, key=len)) > 3 else "(?<![_-])" + _B
            rows.append((kind, edge + "(?:%s)" % heads.replace(".", r"\.") + pattern % least))
    pieces = [piece for word in words.split() for piece in word.replace("_", "-").split("-")[1:]]
    rows += [("token", _UNKNOWN)] if any(_is_random(piece, 28) for piece in pieces) else []
    rows += [(kind, pattern) for kind, head, least, pattern in suspects if not least or _may_match(text, head, least)]
    for kind, pattern in sorted(rows, key=lambda row: row[0] != "private-key"):  # a key may hold other forms
        text = _hidden(text, kind, pattern)
    return text


def _may_match(text: str, literal: str, run: int) -> bool:
    """Whether some occurrence starts a word and has `run` token characters after it."""
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        piece = text[end : end + run]
        if len(piece) == run and _TOKEN.issuperset(piece):
            before = text[max(0, at - 6) : at]  # an escaped character ends the word before it too
            is_word = before[-1:] not in _NAME_CHARS or before[-1:] in "_-."
            if is_word or any(sign in before for sign in "\\%[;"):
                return True
        at = text.find(literal, end)
    return False


def _hidden(text: str, kind: str, pattern: str) -> str:
    import re

    def hide(match: Match[str]) -> str:
        group = match.lastindex or 0
        secret = match.group(group)
        if pattern is _UNKNOWN:
            is_id = match.group(1).rstrip("_-").partition("_")[0].partition("-")[0] in _IDS
            if is_id or not _is_random(secret, 28) or secret.islower() or secret.isupper():
                return match.group()
            group = 0
        elif kind == "secret" and "\n" in secret:  # the entries of a Kubernetes secret
            return re.sub(r"(?m)(: +[\"']?)(?!\|)([^\s\"'{$]{4,})", r"\1%ssecret]" % MARK, match.group())
        # A token with its body blanked out, or the one that is printed in a manual.
        is_kept = len(set(secret[len(secret) // 2 :])) <= 2 or "EXAMPLE" in secret or _is_elided(secret)
        if kind in ("password", "authorization", "secret"):
            is_kept = stands_in(secret) or (kind == "authorization" and _is_code(secret))
        elif kind == "cookie":
            is_kept = not any(_is_credential(*part.partition("=")[::2]) for part in secret.split(";"))
        elif kind == "webhook":
            is_kept = sum(c.isdigit() for c in secret) < 5
        elif pattern.startswith("://("):
            is_kept = not _is_random(secret, 20)
        if is_kept:
            return match.group()
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        return match.group()[:start] + MARK + kind + "]" + match.group()[end:]

    return re.sub(pattern, hide, text)


def _is_credential(name: str, value: str) -> bool:
    """Whether a cookie opens something: `sid=abcdef123456`, but not `PART_NUMBER=ROCKET_0001`."""
    is_session = any(word in name.lower() for word in ("sess", "sid", "token", "auth", "jwt", "sso"))
    return _is_random(value, 16) or (is_session and len(value) >= 10 and sum(c.isdigit() for c in value) > 1)


def named(name: str, kind: str) -> str:
    """The kind of a secret under a whole name in lower case; "" if the name is of something else."""
    words = name.replace("-", "_").replace(".", "_").strip("_").split("_")
    if kind in ("key", "token") and not _HARMLESS.isdisjoint(words):
        return ""
    stem = words[-2] if words[-1] == "key" and len(words) > 1 else words[-1][:-3]
    return next((known for head, known in _KEYS.items() if stem.endswith(head)), kind) if kind == "key" else kind


def assignment(text: str, at: int, end: int, kind: str) -> tuple[int, int, str] | None:
    """The secret assigned to the name whose last word is `text[at:end]`, if there is one."""
    key_at, furthest = at, max(0, at - 64)
    while key_at > furthest and text[key_at - 1] in _NAME_CHARS:
        key_at -= 1
    name = text[key_at:end]
    sign, start = _separator(text, end, is_foreign=not name.isascii())
    kind = named(_snake(name), kind)
    if not sign or not kind or text.endswith(MARK, 0, key_at):
        return None
    before, option = text[key_at - 1 : key_at], name.startswith("-")
    is_part = before == text[end : end + 1] == ":"  # of an ARN
    if is_part or text[max(0, key_at - 7) : key_at].lower().endswith(("::", "page ", "next ", "public ")):
        return None
    if sign == ">" and before != "<":
        sign = "link"
    glued = sign == "=" and text[start - 1] == "="
    stops = _ENV_STOPS if glued and name.isupper() else _STOPS
    first, last, quoted = _value(text, start, stops)
    if not name.isascii() and not text[first:last].isascii():  # `パスワードはabc123です`
        last = first + next(number for number, c in enumerate(text[first:last]) if not c.isascii())
    if sign in ("link", " ") and not option:
        if sign == " " and name.lower() == "pass":
            return None  # the verb
        value = text[first:last].rstrip(".!?") if not quoted else text[first:last]
        last = first + len(value)
        is_odd = _is_odd(value) if kind not in _WEAK else _is_random(value, 20)
        if quoted and sign == " " and kind == "password" and not name.lower().endswith("pass"):
            is_plain = stands_in(value) or not {" ", "="}.isdisjoint(value)
            is_odd = is_odd or (len(value) > 5 and not is_plain and _is_unusual(value, True))
        return (first, last, kind) if is_odd and "://" not in value else None
    if (quoted or text[last : last + 1] != "<") if sign == ">" else sign == "==" and not quoted:
        return None
    strict = stops is _ENV_STOPS or sign == ">" or (glued and (option or before in ("?", "&")))
    strict = strict or (option and last - first >= 10)
    for is_typed in (False, True):
        if is_typed:  # `token: str = "..."`: the value comes after the type
            after = _skip_blanks(text, last + (text[last : last + 1] == "]"))
            if quoted or sign != ":" or text[after : after + 1] != "=" or text[after + 1 : after + 2] in ("=", ">"):
                break
            first, last, quoted = _value(text, _skip_blanks(text, after + 1), stops)
        value = text[first : last + (not quoted and text[last : last + 1] == "(")]
        if kind in _WEAK and not _is_random(value, 20):
            is_env = strict and name.isupper() and len(value) >= 12 and _TOKEN.issuperset(value)
            is_env = is_env and any(c.isdigit() for c in value)
            is_id = before in ("?", "&") and len(value) == 36
            if not (is_env or is_id) and (kind in ("key", "pat") or not _is_odd(value)):
                continue
        if last - first >= 3 and is_secret(value, quoted=quoted, strict=strict and not is_typed, kind=kind):
            return first, last, kind
    return None


def _snake(name: str) -> str:
    pairs = zip(" " + name, name)
    return "".join(["_" + c if c.isupper() and (last.islower() or last.isdigit()) else c for last, c in pairs]).lower()


def _separator(text: str, at: int, *, is_foreign: bool) -> tuple[str, int]:
    """The sign between a name that ends at `at` and its value, and where the value starts."""
    while is_foreign and text[at : at + 1].isalpha() and not text.startswith(_LINKS_GLUED, at):
        at += 1  # an inflected ending
    while text[at : at + 1] in _NAME_TAIL:
        at += 1
    sign_at = _skip_blanks(text, at)
    sign = text[sign_at : sign_at + 1]
    if sign not in _SIGNS:
        return _link(text, at, sign_at)
    after = sign_at + 1
    if sign == ":" and text.startswith((":", "//"), after):
        return "", at
    while sign != ">" and text[after : after + 1] in ("=", ">"):
        sign, after = sign + text[after], after + 1
    if text.startswith(("** ", "**\t"), after):  # `**Password:** …`, as answers are written
        after += 2
    after = _skip_blanks(text, after)
    return _SIGNS.get(sign, "=="), after + (text[after : after + 1] == "N" and text[after + 1 : after + 2] == "'")


def _link(text: str, at: int, sign_at: int) -> tuple[str, int]:
    """As `_separator`, where words or the grammar of a file stand between: "is", `value=`, a table, an argument."""
    if text.startswith(" is ", at):
        return "is", at + 4
    if text.startswith(_LINKS_GLUED[:-2], at):
        return "link", _skip_blanks(text, at + 1)
    for form in (' value="', " value='", ", ", ",", " | ", " (", " {\n", "\n"):
        if text.startswith(form, at):
            if form[-1] in "\"'":
                return "=", at + len(form) - 1
            start = _skip_blanks(text, at + len(form))
            if form[-1] in "\n":  # an entry of a list: `- name: DB_PASSWORD`, below it `value: …`
                word, colon, _ = text[start : start + 32].partition(":" if form == "\n" else "=")
                if not colon or word.strip() not in ("value", "default"):
                    return "", at
                return ":", _skip_blanks(text, start + len(word) + 1)
            is_call = form in (", ", ",") and text[start : start + 1] not in _QUOTES
            return ("", at) if is_call else ("link", start)
    start = sign_at
    for _ in range(5):
        word = text[start : start + 24].split(" ", 1)[0]
        if word in _LINKS or (word[-1:] == ":" and word[:-1].isalpha()):
            return "link", _skip_blanks(text, start + len(word))
        if not word.isalpha():
            break
        start = _skip_blanks(text, start + len(word))
    return (" ", sign_at) if sign_at > at else ("", at)


def _is_odd(value: str) -> bool:
    """Whether a word in a sentence can only be a password or token: `m0nkeyBusiness7`, not `Base64Url`."""
    if len(value) < 6 or len(value) > _CODE_MAX_CHARS or stands_in(value) or _is_code(value) or "/" in value[:1]:
        return False
    has_letter, has_digit = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    is_address = "@" in value[1:-1] and "." in value.partition("@")[2]
    if not (has_letter and has_digit) or is_address or not value.isascii() or " " in value:
        return False
    if "=" in value:
        return _is_random(value, 16)
    shape = "".join(["0" if c.isdigit() else c for c in value]).replace("00", "0").replace("00", "0")
    triples = zip(shape, shape[1:], shape[2:])
    is_leet = any(a.isalpha() and b == "0" and c.islower() for a, b, c in triples) and not value.islower()
    return is_leet or any(c in "!@#$^&*" for c in value[1:]) or _is_random(value, 16)


def _is_random(value: str, least: int) -> bool:
    """Whether digits and letters of both cases, or of one in a longer value, alternate as in no name, date or path."""
    if not least <= len(value) <= _CODE_MAX_CHARS or not _TOKEN.issuperset(value) or "%" in value:
        return False
    tail = value.rpartition(".")[2] if "." in value else ""
    if {"/", "."} <= {*value} or (len(tail) < 6 and tail.isalpha()):  # a path, a file
        return False
    digits = sum(c.isdigit() for c in value)
    runs = sum(a.isdigit() != b.isdigit() for a, b in zip(value, value[1:]))
    if (value.count("-") == 4 and len(value) == 36) or digits < 2 or runs < 4 + len(value) // 24:
        return False
    bare = value.strip("=")
    is_mixed = any(c.isupper() for c in bare) and any(c.islower() for c in bare)
    return is_mixed or (len(bare) >= 24 and runs >= 8)


def _skip_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at


def _value(text: str, start: int, stops: dict[int, str]) -> tuple[int, int, bool]:
    """Where the value at `start` begins and ends inside its quotes, and whether it has any."""
    at = start + (text[start : start + 1] in tuple("fbruFBRU") and text[start + 1 : start + 2] in _QUOTES)
    escapes = at
    while text[escapes : escapes + 1] == "\\":
        escapes += 1
    if text[escapes : escapes + 1] not in _QUOTES:
        if text.startswith(MARK, start):
            return start, start + len(MARK), False
        for limit in (768, len(text)):  # a text may be full of names: few have a value that is longer
            piece = text[start : start + limit].translate(stops)
            word = "" if piece[:1].isspace() else (piece.split(None, 1) or [""])[0]
            if len(word) < limit:
                break
        for stop in (MARK, "\\n", "\\r", "\\t", "\\u"):
            word = word.partition(stop)[0]
        return start, start + len(word.rstrip(".:\\")), False
    quote = text[at : escapes + 1]
    quote = quote * 3 if text.startswith(quote * 3, at) else quote
    first = at + len(quote)
    end = text.find("\n", first, first + _VALUE_MAX_CHARS)
    end = min(len(text), first + _VALUE_MAX_CHARS) if end < 0 or len(quote) == 3 else end
    close = text.find(quote, first, end)
    while close > first and text[close - 1] == "\\" and text[close - 2] != "\\":
        close = text.find(quote, close + 1, end)
    return first, end if close < 0 else close, True


def stands_in(value: str) -> bool:
    """Not a secret in any place: empty, masked, a variable, a documentation word."""
    if len(value) < 3 or value.startswith(MARK) or len(set(value)) <= 2:
        return True
    if "EXAMPLE" in value or (value[0] in "^~#" and value[1:].replace(".", "").isalnum() and len(value) < 10):
        return True  # a version, a colour
    if any(sign in value for sign in ("(?", "%s", "[^", "a-z", "A-Z", "0-9", "\\.", "\\(")):
        return True  # a pattern
    is_hash = value[0] == "$" and len(value) >= 20 and value.count("$") >= 3
    if (value.startswith(_REFERENCES) and not is_hash) or "://" in value or "${" in value or "{{" in value:
        return True
    if value.lower() in _WORDS or len(value) > _CODE_MAX_CHARS or _is_elided(value):
        return len(value) <= _CODE_MAX_CHARS
    digits = sum(c.isdigit() for c in value)
    words = _words(value) if digits < 4 else []  # `admin2024`: people choose a word and a year
    if digits < 3 and not _TELLING.isdisjoint(words):
        return True  # the name of a secret, not one
    if digits < 2 and any(word in value.lower() for word in ("pass", "pwd", "secret")):
        return True
    return bool(words) and (_WORDS.issuperset(words) or ("your" in words and not digits))


def is_secret(value: str, *, quoted: bool, strict: bool, kind: str) -> bool:
    """Whether the value assigned to a secret's name is one; `strict` marks environment, option and query."""
    chosen = kind in ("password", "secret")  # by a person: it may be an ordinary word, which tokens never are
    if len(value) > _CODE_MAX_CHARS:
        return not value.startswith(MARK)
    is_path = (value[:1] == "/" and value[1:2].isalnum()) or value.startswith(("./", "../", "~/", "~\\", ".\\", "..\\"))
    if is_path or (value[1:3] in (":\\", ":/") and value[0].isalpha()) or stands_in(value):
        return False
    if value.isdigit():
        return chosen and len(value) >= 4
    if not quoted:
        return not _is_code(value) and (len(value) >= 4 if strict else _is_unusual(value, chosen))
    if " " in value:  # text for a reader: "Invalid token", "Enter a password"
        words = _words(value)
        return bool(words) and not value[0].isupper() and {"password", "token", "secret", "key"}.isdisjoint(words)
    if value.isalpha() and (value.islower() or value.isupper()) and len(value) < 10:
        return False  # what code calls a password is mostly a sample
    is_word = value.replace("_", "").replace("-", "").replace(".", "" if not chosen else ".").isalpha()
    return len(value) >= (4 if chosen else 999 if "[" in value or (is_word and "." in value) else 30 if is_word else 0)


def _is_elided(value: str) -> bool:
    return len(value) <= 48 and any(mark in value.lower() for mark in ("***", "...", "\u2026", "xxxx", "\u2022\u2022"))


def _words(value: str) -> list[str]:
    """`myApiKey2` is my, api, key; none when it has a sign that identifiers and phrases do not have."""
    if not all(c.isalnum() or c in "_-. '\"`[]/:?!*" for c in value):
        return []
    pairs = zip(" " + value, value)
    parts = [" " + c if c.isupper() and last.islower() else c if c.isalpha() else " " for last, c in pairs]
    return "".join(parts).lower().split()


def _is_code(value: str) -> bool:
    head, call, _ = value.partition("(")
    if call or value[-1] in "[{(" or value.startswith(("--", "*", "!")):
        return all(part.isidentifier() for part in head.strip("[{!*-").split(".")) or not head
    head, index, _ = value.partition("[")
    parts = head.split(".")
    is_telling = len(parts) > 1 and not _TELLING.isdisjoint(_words(value))
    is_name = bool(index) or is_telling or (len(parts) > 1 and not any(_is_unusual(part, False) for part in parts))
    return is_name and all(part.isidentifier() for part in parts)


def _is_unusual(value: str, chosen: bool) -> bool:
    bare = value.replace("_", "").replace("-", "")
    if bare.isalpha():
        return len(value) >= (20 if "-" in value else 32)
    if not any(c.isalpha() for c in bare):
        return chosen and len(value) >= 8
    if chosen:
        return len(value) >= 5 and any(c.isdigit() or c in "!@#^~+=$%/" for c in value)
    word = bare.rstrip("0123456789")
    is_word_and_number = len(bare) < 12 and word.isalpha() and len(word) > 2
    return len(value) >= 8 and any(c.isdigit() for c in value) and not is_word_and_number
