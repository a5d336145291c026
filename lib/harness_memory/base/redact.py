"""Taking secrets out of text before it is kept: each becomes `[redacted:<kind>]`, the rest stays as it is.

This module suspects, `secret` judges. Suspicious are long words with digits, literals that stand beside secrets
(headers, logins, URLs), and names that announce one (`DB_PASSWORD=`, `"api_key": "`, `пароль:`). Every suspicion yields
spans, and one pass replaces them. Clean text pays for a few searches, and never for `re`.

All scans are linear: a failing attempt of a pattern reads a bounded stretch and a successful one is consumed.
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
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_ALNUM = frozenset(_LETTERS)
# What no token contains becomes a blank; `/` too, or every path would be a word.
_AROUND = bytes(range(256)).translate(None, _LETTERS.encode() + b"-_.~+")
_SPLIT = bytes.maketrans(_AROUND, b" " * len(_AROUND))
_TOKEN_MIN_CHARS, _BODY_MIN_CHARS = 16, 10
_HEX = b"0123456789abcdef-."

_PEM_EDGE = r"-----%s [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BREAK = r"(?:\\+[rn]|[\s>|#*\"'+,]){1,40}"
_PEM = (  # a key between its edges; without the second edge, its headers and lines as far as they go
    _PEM_EDGE % "BEGIN" + r"(?:(?:(?!-----)[\s\S]){20,20000}" + _PEM_EDGE % "END"
    + r"|(?:B[A-Z][A-Za-z-]{2,20}:(?:B[^\s>|#*\"'+,\\]{1,200}){0,63}?)?(?:B[A-Za-z0-9+/=]{24,})+"
    r"(?:B[A-Za-z0-9+/=]{1,23}(?=[)\]}\"'\s]{0,20}\Z))?)".replace("B", _PEM_BREAK)
)  # fmt: skip
_WORD = r"[\"']?([^\s\"'\[\]$-][^\s\"'\[\]]{2,})"
_OPTION = r"(?:%s)\b[^\n|;&]{0,200}?\s(?:%s)" + _WORD
_QUOTED = r"[\"']([^\s\"']{4,})[\"']"
# kind, literals of which one must be there (with another after `&`), pattern whose last group is the secret
_PLACES = (
    ("private-key", "PRIVATE KEY", _PEM),
    ("private-key", "Private-Lines:", r"Private-Lines: [0-9]{1,3}((?:\s{1,4}[A-Za-z0-9+/=]{16,}){1,64})"),
    ("aws-key-id", "AKIA|ASIA|ABIA|ACCA", r"(?<![A-Za-z0-9])A[KSBC][IC]A[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("telegram-token", ":AA", r"(?:(?<![A-Za-z0-9])|(?<=bot))[0-9]{8,10}:A[A-Za-z0-9_-]{30,}"),
    ("azure-secret", "Q~", r"(?<![A-Za-z0-9_~.])[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~])"),
    ("google-token", "1//0", r"1//0[A-Za-z0-9_-]{20,}"),
    ("signature", "?sig|&sig|&Sig|-Signature=|?code=|&code=",
     r"[?&-](?:[Ss]ig|[Ss]ignature|code)=([A-Za-z0-9%+/=_-]{20,})"),
    ("slack-webhook", "hooks.slack.com/", r"hooks\.slack\.com/[a-z]{8,9}/([A-Za-z0-9/_-]{20,})"),
    ("discord-webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/([0-9]{5,25}/[A-Za-z0-9_-]{20,})"),
    ("webhook", "webhookb2/|/webhook/|/webhooks/|/hook/|//hook|/with/key/",
     r"//[^\s\"'<>]{0,100}?(?:hook|with/key)[^\s\"'<>]{0,60}?/([A-Za-z0-9@_-]{20,}[A-Za-z0-9/@_-]*)"),
    ("password-hash", "$1$|$2a$|$2b$|$2y$|$5$|$6$|$y$|$apr1$",
     r"\$(?:2[aby]\$[0-9]{2}|(?:1|5|6|y|apr1)\$(?:[a-z0-9=./]{1,20}\$)?[./A-Za-z0-9]{1,24})\$[./A-Za-z0-9]{22,}"),
    ("authorization", "uthorization|AUTHORIZATION",
     r"(?<![A-Za-z])(?i:authorization)[\"'\\\]]{0,3}\s{0,8}[:=]\s{0,8}[fb]?[\"'\\]{0,3}"
     r"(?:(?i:bearer|basic|token|digest|apikey|bot|negotiate|key)\s{1,8}(?=[a-z]*[^a-z\s\"'`,;\\])"
     r"|(?:[A-Za-z][A-Za-z0-9-]{2,24}\s{1,8})?(?:token=)?(?=[^\s\"'`,;\\]{0,80}[0-9]))([^\s\"'`,;\\]{6,})"),
    ("cookie", "Cookie: |cookie: |COOKIE: ",
     r"(?i)(?<![a-z0-9])cookie:[ \t]{1,8}([^\s=;,\"'\[\]]{1,100}=[^\r\n\"'\\\[\]]{6,})"),
    ("cookie", "curl & -b|curl & --cookie", r"\s(?:-b|--cookie)[ =]?[\"']?([^\s=;\"'\[$]{1,100}=[^\r\n\"'\\\[\]]{6,})"),
    ("password", "machine&login ",
     r"\bmachine\s{1,8}[^\s\"']{1,200}\s{1,8}login\s{1,8}[^\s\"']{1,100}\s{1,8}password\s{1,8}" + _WORD),
    ("password", "mysql& -p|mariadb& -p|7z & -p|unrar & -p", _OPTION % ("mysql[a-z]*|mariadb[a-z-]*|7z|unrar", "-p")),
    ("password", "login & -p|sshpass|mongo& -p|cqlsh|twine |beeline& -p|useradd& -p|rdesktop& -p",
     _OPTION % ("login|sshpass|mongo[a-z]*|cqlsh|twine upload|beeline|useradd|rdesktop", "-p[ =]?")),
    ("password", "sqlcmd|bcp & -P|zip & -P|mosquitto_& -P|ipmitool",
     _OPTION % (r"sqlcmd|bcp|(?<![a-z])(?:un)?zip|mosquitto_[a-z]+|ipmitool", "-P ?")),
    ("password", "redis-cli& -a", _OPTION % ("redis-cli", "-a ?")),
    ("password", "http & -a |https & -a |xh & -a ", _OPTION % ("https?|xh", r"-a [\"']?[^\s:\"']{1,80}:")),
    ("password", "ldap& -w", _OPTION % (r"ldap[a-z]+", "-w ?")),
    ("password", "openssl& -k|openssl& -pass", _OPTION % ("openssl", r"-k |-pass(?:in|out)? pass:")),
    ("password", "curl & -|-creds &:",
     r"\s(?:-[a-zA-Z]{0,4}u|--[a-z-]{0,20}(?:user|creds))[ =]?[\"']?[^\s:\"'\[$]{1,100}:"
     r"(?![0-9]+(?![^\s\"']))([^\s\"'\[\]]{3,})"),
    ("password", "htpasswd|lftp |smbclient|rabbitmqctl|etcdctl|/user:|/u:|<<< |net user |sqlplus |vault login|wpa_pass",
     r"(?:htpasswd -[A-Za-z]*b[A-Za-z]*(?: [^\s'\"]{1,200}){1,2} |lftp -u [^\s,]{1,80},|net user [^\s/]{1,80} "
     r"|smbclient\b[^\n]{0,200}? -U [\"']?[^\s%]{1,80}%|sqlplus [^\s/]{1,80}/|vault login |wpa_passphrase \S{1,80} "
     r"|rabbitmqctl (?:add_user|change_password) [^\s'\"]{1,80} |etcdctl [^\n]{0,200}?--user[ =][^\s:]{1,80}:"
     r"|net use [^\n]{1,200}?/user:\S{1,80} |/u:\S{1,80} /p:|sudo -S <<< "
     r"|chpasswd <<< [\"']?[^\s:'\"]{1,80}:)(?![/-])" + _WORD),
    ("password", "sudo -S|--password-stdin|--stdin|| chpasswd",
     r"\becho\s+(?:-n\s+)?[\"']?(?:[^\s:\"'|]{1,80}:)?([^\s\"'|$:][^\s\"'|:]{3,})[\"']?\s*\|\s*"
     r"(?:sudo -S|(?:sudo )?chpasswd|[^\n|]{0,200}--(?:password-)?stdin)"),
    ("password", "IDENTIFIED BY|identified by", r"(?i:identified)\s(?i:by)\s{1,4}" + _QUOTED),
    ("password", "asicAuth(|redential(|redentials(|auth=(|auth = (|AndPassword(|basic_auth|Connection(|i_connect(|PDO(",
     r"(?:asicAuth|redentials?|auth ?= ?|AndPassword|basic_auth|Connection|mysqli_connect|PDO)[( ]"
     r"(?:\$?\w+, ?)?\s*(?:[\"'][^\"'\s]{1,80}[\"'],\s*){1,2}" + _QUOTED),
    ("secret", "--from-literal|--secret-string|secret set |SecureString",
     r"(?:--from-literal[= ][^\s=]{1,100}=|--secret-string[= ]|(?:secret set|SecureString)\b[^\n|;&]{0,200}?"
     r"--(?:body|value)[= ]|ConvertTo-SecureString )" + _WORD),
    ("secret", "jwt.|reateHmac(|hmac.new(",
     r"(?:jwt\.[a-z]{4,6}\([^,()\n]{1,60},\s*|reateHmac\([^,()\n]{1,20},\s*|hmac\.new\(\s*)b?" + _QUOTED),
    ("password", "thin:", r"thin:[^\s/:@]{1,60}/([^\s@\"'/]{3,60})@"),
    ("secret", "stringData:|kind: Secret",
     r"\n([ ]*)(?:stringData|data):[ ]*((?:\n\1[ ]+[^\n]{1,4000}){1,64})"),
)  # fmt: skip
_URLS = (
    ("token", "@", r"://([A-Za-z0-9_-]{20,64})[:@]"),
    ("password", "@", r"://[^\s/?#\"'`<>:\[]{0,256}:(?![0-9]+[?#])([^\s/\"'`<>]{1,768})@"),
)
_RULES = [(*head.partition("&")[::2], row) for row in _PLACES for head in row[1].split("|") if head]

# Names whose value is a secret, by the end of the name, `-` written `_`: the kind of it.
_PASSWORDS = """
    password passwd passphrase pwd pass passcode passwort passe pw psk kennwort wachtwoord senha clave parola heslo mdp
"""
_NAMES = {
    **dict.fromkeys(_PASSWORDS.split(), "password"),
    **dict.fromkeys(("credential", "credentials", "creds", "zugangsdaten"), "credential"),
    "kata sandi": "password", "secret": "secret", "token": "token", "jeton": "token", "key": "key", "auth": "auth",
    "bearer": "bearer-token", "_pat": "pat", "secret_key_base": "secret-key", "client_key_data": "private-key",
}  # fmt: skip
_PASSWORDS_BEYOND_ASCII = """
    парол 密码 密碼 口令 パスワード 비밀번호 암호 hasło şifre lösenord contraseñ पासवर्ड jelszó סיסמ المرور السر khẩu
"""
_NAMES_BEYOND_ASCII = {
    **dict.fromkeys(_PASSWORDS_BEYOND_ASCII.split(), "password"),
    **dict.fromkeys(("токен", "令牌", "トークン", "토큰", "密钥", "密鑰", "キー", "schlüssel", "clé api"), "token"),
}
_OTHER = ("by", "buy", "com", "sur", "tres", "under", "over", "mon", "tur", "hot")  # words that only end like a name
_AFTER_NAME = (*" \t\n\"'`\\]?*0123456789_=:>：,(",)


def redact(text: str) -> str:
    for _ in range(4):  # what a secret has hidden is seen the next time
        parts = []
        done = 0
        for start, end, kind in sorted(_spans(text), key=lambda span: span[0]):
            if start >= done:
                parts += [text[done:start], MARK, kind, "]"]
                done = end
        if not parts:
            break
        text = "".join(parts) + text[done:]
    return text


def _spans(text: str) -> Iterator[Span]:
    """The secrets of a text, those that are known by their own form first."""
    rows = [row for head, other, row in _RULES if head in text and other in text]
    if "@" in text and any("@" in rest[:1024].partition("/")[0] for rest in text.split("://")[1:]):
        rows += _URLS
    words = text.encode("utf-8", "surrogatepass").translate(_SPLIT).split()
    words = [word for word in words if len(word) >= _TOKEN_MIN_CHARS and word.strip(_HEX) and _has_body(word)]
    if words:
        from .secret import tokens

        yield from tokens(text, [word.decode("ascii") for word in words])
    if rows:
        from .secret import places

        yield from places(text, dict.fromkeys(rows))
    lower = _lower(text)
    for names in (_NAMES,) if text.isascii() else (_NAMES, _NAMES_BEYOND_ASCII):
        for name, kind in names.items():
            at = lower.find(name)
            while at >= 0:
                end = at + len(name)
                is_name = text[end : end + 1] in _AFTER_NAME and _ends_name(text, at, end)
                if is_name or names is not _NAMES:
                    from .secret import assignment

                    span = assignment(text, at, end, kind)
                    if span is not None:
                        yield span
                        end = span[1]
                at = lower.find(name, end)


def _has_body(word: bytes) -> bool:
    """Whether a part of it is long, and neither a word nor a number."""
    parts = word.replace(b"-", b"_").replace(b".", b"_").split(b"_")
    return any(len(part) >= _BODY_MIN_CHARS and not part.isalpha() and not part.isdigit() for part in parts)


def redact_tree(value: Any, names: tuple[str, ...] = ()) -> Any:
    """A copy of a JSON value with all its text redacted, keys too; each text as the value of every key above it."""
    if len(names) > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {redact(key): redact_tree(child, (*names, key)) for key, child in value.items()}
    if isinstance(value, list):
        return [redact_tree(child, (*names, "")) for child in value]
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        return value
    text = redact(str(value))
    for head in ['"%s": """' % name for name in names if name]:
        line = redact('%s%s"""' % (head, text))
        text = line[len(head) : -3] if line.startswith(head) else text
    return text if text != str(value) else value


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) != len(text):  # a few letters grow when lowered; offsets must hold
        lower = "".join([c.lower() if c in _ALNUM else c for c in text])
    return lower.replace("-", "_")


def _ends_name(text: str, at: int, end: int) -> bool:
    """`pass` ends DB_PASS, dbPass and dbpass, but not bypass."""
    if at == 0 or text[at - 1] not in _ALNUM or text[at] in "_-" or text[at].isupper() != text[at - 1].isupper():
        return True
    glued = text[at:end].lower() in ("pass", "pwd", "key", "auth") and not text[max(0, at - 5) : at].lower().endswith(
        _OTHER
    )
    return end - at > 4 or glued
