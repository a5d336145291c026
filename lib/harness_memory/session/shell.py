"""What a shell command says of the work: the files it writes, the message it commits with."""

from __future__ import annotations

_BREAKS = ("&&", "||", ";", "|", "&", "then", "do", "(", "{")
_LAST_IS_TARGET = ("mv", "cp", "install", "ln")
_ALL_ARE_TARGETS = ("touch", "rm", "truncate", "rmdir", "unlink")
_ODD = frozenset("$*?{}()<>|&;`\"'\\!=,")


def written(command: str) -> list[str]:
    """Paths that a command writes, as it names them; what a variable or a pattern stands for is left out."""
    body = command.partition("<<")
    lines = [body[0] + (body[2].partition("\n")[0].partition(" ")[2] if body[1] else "")]
    paths: list[str] = []
    for part in _parts(" ".join(lines).replace(";", " ; ").replace("\n", " ; ").split()):
        while part and ("=" in part[0] or part[0] in ("sudo", "env", "time", "git")):
            del part[0]
        operands = [word.strip("\"'") for word in part[1:] if word[:1] != "-" and ">" not in word]
        name = part[0] if part else ""
        if name in _LAST_IS_TARGET and len(operands) > 1:
            paths += operands if name == "mv" else operands[-1:]
        elif name in _ALL_ARE_TARGETS or name == "tee":
            paths += operands
        elif name in ("sed", "perl") and any(word[:2] == "-i" or word[:3] == "-pi" for word in part):
            paths += operands[1:] or operands
        for at, word in enumerate(part):
            bare = word.lstrip("12&")
            if bare[:1] == ">" and not bare.startswith(">&"):
                paths.append((bare.lstrip(">|") or "".join(part[at + 1 : at + 2])).strip("\"'"))
    named = [path for path in paths if path and _ODD.isdisjoint(path) and not path.startswith(("/dev/", "/tmp/", "-"))]
    return list(dict.fromkeys(named))[:20]


def _parts(words: list[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word in _BREAKS:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def message(command: str) -> str:
    """The subject of the commit that a command makes; "" when it makes none, or takes the message from elsewhere."""
    rest = command.partition("git commit")[2]
    for option in (" -m", " -am", " --message", " -qm", " -a -m"):
        head, found, text = rest.partition(option)
        if found and "\n" not in head:
            text = text.lstrip(" =")
            break
    else:
        return ""
    if text[:2] in ('"$', "$("):  # -m "$(cat <<'EOF' …
        text = text.partition("\n")[2].lstrip("\n")
        return text.partition("\n")[0].strip()
    quote = text[:1] if text[:1] in ("'", '"') else ""
    text = text[1:].partition(quote)[0] if quote else text.partition(" ")[0]
    return text.strip().partition("\n")[0].strip()


def subjects(output: str) -> list[str]:
    """The subjects in the lines that `git commit` prints: `[branch 1a2b3c4] subject`."""
    found = []
    for line in output.split("\n"):
        head, close, subject = line.partition("] ")
        words = head[1:].split() if line[:1] == "[" and close else []
        if len(words) > 1 and len(words[-1]) >= 7 and all(char in "0123456789abcdef" for char in words[-1]):
            found.append(subject.strip())
    return found
