"""Taking secrets out of text before it is kept: each becomes `[redacted:<kind>]`, the rest stays as it is.

This module suspects, `secret` judges. Suspicious are long words with digits, literals that stand beside secrets
(headers, logins, URLs), and names that announce one (`DB_PASSWORD=`, `"api_key": "`, `пароль:`). Clean text pays for a
few searches, and never for `re`.

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
_ALNUM = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
# What no token contains, as blanks; `/` too, or every path would be a word.
_SPLIT = bytes([byte if chr(byte) in _ALNUM or byte in b"-_.~+=:!" else 32 for byte in range(256)])
_TOKEN_MIN_CHARS, _BODY_MIN_CHARS = 14, 10
_HEX = b"0123456789abcdef-:.="

_PEM_EDGE = r"-----%s [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BREAK = r"(?:\\+[rn]|[\s>|#*\"'+,]){1,40}"
_PEM = (  # a key between its edges; without the second edge, its headers and lines as far as they go
    _PEM_EDGE % "BEGIN" + r"(?:(?:(?!-----)[\s\S]){20,20000}" + _PEM_EDGE % "END"
    + r"|(?:B[A-Z][A-Za-z-]{2,20}:(?:B[^\s>|#*\"'+,\\]{1,200}){0,63}?)?(?:B[A-Za-z0-9+/=]{24,})+"
    r"(?:B[A-Za-z0-9+/=]{1,23}(?=[)\]}\"'\s]{0,20}\Z))?)".replace("B", _PEM_BREAK)
)  # fmt: skip
_WORD = r"([^\s\"'\[\]$-][^\s\"'\[\]]{2,})"
_OPTION = r"(?:%s)\b[^\n|;&]{0,200}?\s%s[\"']?" + _WORD
# kind, literals of which one must be there, how many token characters follow it at least, pattern
_PLACES = (
    ("private-key", "PRIVATE KEY", 0, _PEM),
    ("aws-secret-key", "aws_secret_access_key|AWS_SECRET_ACCESS_KEY|SecretAccessKey|secretAccessKey", 0,
     r"(?i)secret_?access_?key[\"'\\]{0,3}\s{0,8}[:=\s]\s{0,8}[\"'\\]{0,3}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"),
    ("aws-key-id", "AKIA|ASIA|ABIA|ACCA", 16, r"(?<![A-Za-z0-9])A[KSBC][IC]A[A-Z2-7]{16}(?![A-Za-z0-9])"),
    ("azure-signature", "sig=", 20, r"(?<=[?&;\s\"'])sig=([A-Za-z0-9%+/=_-]{20,})"),
    ("signature", "Signature=|signature=", 20, r"(?<=[?&;,\s-])[Ss]ignature=([A-Za-z0-9%+/=_-]{20,})"),
    ("slack-webhook", "hooks.slack.com/", 20, r"hooks\.slack\.com/[a-z]{8,9}/([A-Za-z0-9/_-]{20,})"),
    ("discord-webhook", "/api/webhooks/", 0, r"discord(?:app)?\.com/api/webhooks/([0-9]{5,25}/[A-Za-z0-9_-]{20,})"),
    ("webhook", "webhookb2/|/webhook/|/webhooks/|/hook/|//hook", 0,
     r"//[^\s\"'<>]{0,100}?hook[^\s\"'<>]{0,60}?/([A-Za-z0-9@_-]{20,}[A-Za-z0-9/@_-]*)"),
    ("webhook", "hooks.zapier.com/", 0, r"hooks\.zapier\.com/hooks/[a-z]{4,8}/([0-9]{5,12}/[a-z0-9]{5,})"),
    ("webhook", "/with/key/", 0, r"/with/key/([A-Za-z0-9_-]{16,})"),
    ("password-hash", "$1$|$2a$|$2b$|$2y$|$5$|$6$|$y$|$apr1$", 0,
     r"\$(?:2[aby]\$[0-9]{2}|(?:1|5|6|y|apr1)\$(?:[a-z0-9=./]{1,20}\$)?[./A-Za-z0-9]{1,24})\$[./A-Za-z0-9]{22,}"),
    ("authorization", "uthorization|AUTHORIZATION", 0,
     r"(?<![A-Za-z])(?i:authorization)[\"'\\\]]{0,3}\s{0,8}[:=]\s{0,8}[fb]?[\"'\\]{0,3}"
     r"(?:(?i:bearer|basic|token|digest|apikey|bot|negotiate|key)\s{1,8}(?=[a-z]*[^a-z\s\"'`,;\\])"
     r"|(?:[A-Za-z][A-Za-z0-9-]{2,24}\s{1,8})?(?:token=)?(?=[^\s\"'`,;\\]{0,80}[0-9]))([^\s\"'`,;\\]{6,})"),
    ("bearer-token", "Bearer |bearer ", 16, r"[Bb]earer (?=[A-Za-z._~+/=-]{0,80}[0-9])([A-Za-z0-9._~+/=-]{16,})"),
    ("cookie", "Cookie: |cookie: |COOKIE: ", 3,
     r"(?i)(?<![a-z0-9])cookie:[ \t]{1,8}([^\s=;,\"'\[\]]{1,100}=[^\r\n\"'\\\[\]]{6,})"),
    ("password", "machine |machine\t|machine\n", 0,
     r"\bmachine\s{1,8}[^\s\"']{1,200}\s{1,8}login\s{1,8}[^\s\"']{1,100}\s{1,8}password\s{1,8}" + _WORD),
    ("password", "mysql|mariadb|7z ", 0, _OPTION % ("mysql[a-z]*|mariadb[a-z-]*|7z", "-p")),
    ("password", "docker login|sshpass|mongo|cqlsh|az login|twine |cf login|beeline", 0,
     _OPTION % ("docker login|sshpass|mongo[a-z]*|cqlsh|az login|twine upload|cf login|beeline", "-p[ =]?")),
    ("password", "sqlcmd|bcp |zip |mosquitto_|ipmitool", 0,
     _OPTION % (r"sqlcmd|bcp|(?<![a-z])(?:un)?zip|mosquitto_[a-z]+|ipmitool", "-P ?")),
    ("password", "redis-cli", 0, _OPTION % ("redis-cli", "-a ?")),
    ("password", "ldap", 0, _OPTION % (r"ldap[a-z]+", "-w ?")),
    ("password", "openssl", 0, _OPTION % ("openssl", r"(?:-k |-pass(?:in|out)? pass:)")),
    ("password", "htpasswd|lftp |smbclient|rabbitmqctl|etcdctl|/user:|/u:|passwd ", 0,
     r"(?:htpasswd -[A-Za-z]*b[A-Za-z]* \S{1,200} [^\s'\"]{1,80} |lftp -u [^\s,]{1,80},"
     r"|smbclient [^\n]{1,200}? -U [^\s%]{1,80}%"
     r"|rabbitmqctl (?:add_user|change_password) [^\s'\"]{1,80} |etcdctl [^\n]{0,200}?--user[ =][^\s:]{1,80}:"
     r"|net use [^\n]{1,200}?/user:\S{1,80} |/u:\S{1,80} /p:|chpasswd <<< [\"']?[^\s:'\"]{1,80}:)[\"']?" + _WORD),
    ("password", "curl ", 0,
     r"(?<=\s)(?:-u|--user)[ =]?[\"']?[^\s:\"'\[$]{1,100}:(?![0-9]+(?![^\s\"']))([^\s\"'\[\]]{3,})"),
    ("cookie", "curl ", 0, r"(?<=\s)(?:-b|--cookie)[ =]?[\"']?([^\s=;\"'\[$]{1,100}=[^\r\n\"'\\\[\]]{6,})"),
    ("password", "sudo -S|--password-stdin|| chpasswd", 0,
     r"\becho\s+(?:-n\s+)?[\"']?(?:[^\s:\"'|]{1,80}:)?([^\s\"'|$:][^\s\"'|:]{3,})[\"']?\s*\|\s*"
     r"(?:sudo -S|(?:sudo )?chpasswd|[^\n|]{0,200}--password-stdin)"),
    ("password", "IDENTIFIED BY|identified by", 0, r"(?i:identified)\s(?i:by)\s{1,4}[\"']([^\s\"']{4,})[\"']"),
    ("password", "asicAuth(|redential(|auth=(|AndPassword(", 0,
     r"(?:asicAuth|redential|auth=|AndPassword)\((?:\w+, ?)?\s*[\"'][^\"'\s]{1,80}[\"'],\s*[\"']([^\s\"']{6,})[\"']"),
    ("secret", "--from-literal|--secret-string|secret set |SecureString", 0,
     r"(?:--from-literal[= ][^\s=]{1,100}=|--secret-string[= ]|(?:secret set|SecureString)\b[^\n|;&]{0,200}?"
     r"--(?:body|value)[= ])[\"']?" + _WORD),
    ("secret", "jwt.|reateHmac(|hmac.new(", 0,
     r"(?:jwt\.[a-z]{4,6}\([^,()\n]{1,60},\s*|reateHmac\([^,()\n]{1,20},\s*|hmac\.new\(\s*)b?[\"']([^\s\"']{8,})[\"']"),
    ("password", "thin:", 0, r"thin:[^\s/:@]{1,60}/([^\s@\"'/]{3,60})@"),
    ("secret", "stringData:|kind: Secret", 0, r"\n([ ]*)(?:stringData|data):[ ]*((?:\n\1[ ]+[^\n]{1,4000}){1,64})"),
)  # fmt: skip
_RULES = [(head, row) for row in _PLACES for head in row[1].split("|") if head]
_URL = r"://[^\s/?#\"'`<>:\[]{0,256}:([^\s/?\"'`<>]{1,768})@"
_URL_USER = r"://([A-Za-z0-9_-]{20,64})@"

# Names whose value is a secret, by the end of the name, `-` written `_`: the kind of it.
_NAMES = {
    **dict.fromkeys(
        ("password", "passwd", "passphrase", "pwd", "pass", "passcode", "passwort", "passe", "pw"), "password"
    ),
    **dict.fromkeys(("psk", "kennwort", "wachtwoord", "senha", "clave", "parola", "heslo", "kata sandi"), "password"),
    **dict.fromkeys(("credential", "credentials", "creds"), "credential"),
    "secret": "secret",
    "token": "token",
    "key": "key",
    "auth": "auth",
    "_pat": "pat",
    "secret_key_base": "secret-key",
    "client_key_data": "private-key",
}
_NAMES_BEYOND_ASCII = {
    **dict.fromkeys(
        ("парол", "密码", "密碼", "パスワード", "비밀번호", "암호", "hasło", "şifre", "lösenord"), "password"
    ),
    **dict.fromkeys(("contraseñ", "पासवर्ड", "كلمة المرور", "كلمة السر", "mật khẩu", "jelszó", "סיסמ"), "password"),
    **dict.fromkeys(("токен", "令牌", "トークン", "토큰", "密钥", "密鑰", "キー", "schlüssel", "clé api"), "token"),
}
_OTHER = ("by", "buy", "com", "sur", "tres", "under", "over", "mon", "tur", "hot")  # words that only end like a name
_AFTER_NAME = (*" \t\n\"'`\\]?*0123456789_=:>：,(",)


def redact(text: str) -> str:
    words = text.encode("utf-8", "surrogatepass").translate(_SPLIT).split()
    words = [word for word in words if len(word) >= _TOKEN_MIN_CHARS and word.strip(_HEX) and _has_body(word)]
    suspects = [(kind, head, least, pattern) for head, (kind, _, least, pattern) in _RULES if head in text]
    if "@" in text and any("@" in rest[:1024].partition("/")[0] for rest in text.split("://")[1:]):
        suspects += [("password", "", 0, _URL), ("token", "", 0, _URL_USER)]
    if words or suspects:
        from .secret import tokens

        text = tokens(text, b" ".join(words).decode("ascii"), suspects)
    parts = []
    done = 0
    for start, end, kind in sorted(_assigned(text)):
        if start >= done:
            parts += [text[done:start], MARK, kind, "]"]
            done = end
    return "".join(parts) + text[done:] if parts else text


def _has_body(word: bytes) -> bool:
    """Whether a part of it is long, and neither a word nor a number."""
    parts = word.replace(b"-", b"_").replace(b".", b"_").replace(b":", b"_").split(b"_")
    return any(len(part) >= _BODY_MIN_CHARS and not part.isalpha() and not part.isdigit() for part in parts)


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
            from .secret import named

            return named(name, kind)
    return ""


def _assigned(text: str) -> Iterator[Span]:
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
