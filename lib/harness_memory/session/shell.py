"""What shell commands say of the work: files they write, commits they make, failures and what worked instead."""

from __future__ import annotations

from ..base import settings
from ..base.text import brief, clean, cut
from ..base.typing import Any
from .capture import Capture, keep

_BREAKS = ("&&", "||", ";", "|", "&", "then", "do", "(", "{")
_ODD = frozenset("$*?{}()<>|&;`\"'\\!=,")


def written(command: str) -> list[str]:
    """Paths that a command writes, as it names them; what a variable or a pattern stands for is left out."""
    head, _, body = command.partition("<<")
    parts: list[list[str]] = [[]]
    for word in (head + body.partition("\n")[0].partition(" ")[2]).replace(";", " ; ").replace("\n", " ; ").split():
        parts += [[]] if word in _BREAKS else []
        parts[-1] += [] if word in _BREAKS else [word]
    paths: list[str] = []
    for part in map(_bare, parts):
        operands = [word.strip("\"'") for word in part[1:] if word[:1] != "-" and ">" not in word]
        name = part[0] if part else ""
        if name in ("mv", "cp", "install", "ln") and len(operands) > 1:
            paths += operands if name == "mv" else operands[-1:]
        elif name in ("touch", "rm", "truncate", "rmdir", "unlink", "tee"):  # git rm --cached leaves a checkpoint
            paths += [each for each in operands if name != "rm" or settings.CHECKPOINT_PREFIX not in each]
        elif name in ("sed", "perl") and any(word[:2] == "-i" or word[:3] == "-pi" for word in part):
            paths += operands[1:] or operands
        for at, word in enumerate(part):
            bare = word.lstrip("12&")
            if bare[:1] == ">" and not bare.startswith(">&"):
                paths.append((bare.lstrip(">|") or "".join(part[at + 1 : at + 2])).strip("\"'"))
    named = [path for path in paths if path and _ODD.isdisjoint(path) and not path.startswith(("/dev/", "/tmp/", "-"))]
    return list(dict.fromkeys(named))[:20]


def _bare(words: list[str]) -> list[str]:
    """The words of a command without what is set or run around it; of `git mv` it is `mv` that counts."""
    while words and ("=" in words[0].partition("/")[0] or words[0] in ("sudo", "env", "time", "git")):
        words = words[1:]
    return words


def message(command: str) -> str:
    """The subject of the commit that a command makes; "" when it makes none, or takes the message from elsewhere."""
    rest = command.partition("git commit")[2]
    options = [each for each in (" -m", " -am", " -qm", " --message") if each in rest.partition("\n")[0]]
    text = rest.partition(options[0])[2].lstrip(" =") if options else ""
    if text[:2] in ('"$', "$("):  # -m "$(cat <<'EOF' …
        text = text.partition("\n")[2]
    elif text[:1] in ("'", '"'):
        text = text[1:].partition(text[0])[0]
    else:
        text = text.partition(" ")[0]
    return text.strip().partition("\n")[0].strip()


def add_result(state: Capture, block: dict[str, Any], detail: list[str], is_error: bool) -> list[str]:
    """Take in a result; the files it changed. `detail`: the command, its commit's subject, the files it names."""
    command, subject, *changed = detail
    if is_error:
        keep(state.failed, command, 12)
        fault = _fault(block.get("content"))
        if fault:
            keep(state.errors, brief("%s: %s" % (cut(command, 80), fault), settings.ITEM_CHARS), 8)
        return []
    if subject:
        keep(state.commits, subject, settings.COMMITS_KEPT)
    earlier = next((each for each in reversed(state.failed) if _is_variant(each, command)), "")
    if earlier:
        state.failed.remove(earlier)
        if earlier != command:
            keep(state.fixed, [earlier, command], 5)
    return changed


def _fault(content: Any) -> str:
    """The line of a failed command's output that says most: the last that names an error, else the last."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [clean(part.get("text"), settings.TEXT_FIELD_MAX_CHARS) for part in parts if isinstance(part, dict)]
    stripped = map(str.strip, "\n".join(texts).split("\n"))
    lines = [line for line in stripped if line and not line.startswith("Exit code ")]
    said = [line for line in lines if not line.endswith(".log")]  # not where more of it was written
    named = [line for line in said if any(word in line for word in ("rror", "xception", "atal", "panic", "not found"))]
    return cut(next(reversed(named or lines), ""), settings.ITEM_CHARS)


def _is_variant(*commands: str) -> bool:
    """Whether two commands are forms of the same attempt."""
    last = [command.rsplit(" && ", 1)[-1] if command.startswith("cd ") else command for command in commands]
    words, others = [_bare(command.split()) for command in last]
    if words[:1] != others[:1]:  # by another program: `python x.py` → `python3 x.py`, `uv run pytest x.py`
        named, more = ({word for word in each if word[:1] != "-"} for each in (words, others))
        return (len(words) > 1 and words[1:] == others[1:]) or (len(named) > 1 and named <= more)
    return 0 < min(len(words), len(others)) <= 2 or len({*words} & {*others}) >= 2
