"""How the end-to-end tests come by their client, and that they are loud when they cannot."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import client
import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for npm is a shell script")

BROKEN_NPM = "#!/bin/sh\necho the registry is away\nexit 1\n"
WORKING_NPM = """#!/bin/sh
echo call >> "$CALLS"
sleep 0.3
for kind in {folders}; do
    mkdir -p "node_modules/@anthropic-ai/claude-code-$kind"
    printf '#!/bin/sh\\necho "{version} (Claude Code)"\\n' > "node_modules/@anthropic-ai/claude-code-$kind/claude"
    chmod +x "node_modules/@anthropic-ai/claude-code-$kind/claude"
done
"""
FOLDERS = "linux-x64 linux-arm64 darwin-x64 darwin-arm64"


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_BIN", raising=False)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))


def with_npm(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str | None) -> None:
    npm = folder / "npm"
    folder.mkdir()
    if script is not None:
        npm.write_text(script, encoding="utf-8")
        npm.chmod(0o755)
    path = [str(folder), "/bin", "/usr/bin"] if script is not None else [str(folder)]
    monkeypatch.setenv("PATH", os.pathsep.join(path))


@pytest.mark.parametrize(
    ("npm", "why"),
    [
        (None, "there is no npm"),
        (BROKEN_NPM, "the registry is away"),
        (WORKING_NPM.format(folders="plan9-mips", version=client.VERSION), "no binary that runs"),
        (WORKING_NPM.format(folders=FOLDERS, version="1.0.0"), "no binary that runs"),
    ],
)
def test_without_a_client_it_skips_loudly_or_fails_in_ci(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, npm: str | None, why: str
) -> None:
    with_npm(tmp_path / "bin", monkeypatch, npm)
    with pytest.warns(client.ClientMissing, match=why), pytest.raises(pytest.skip.Exception, match=why):
        client.binary()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=why):
        client.binary()


def test_a_named_client_that_does_not_run_is_no_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("CLAUDE_BIN", str(tmp_path / "nothing"))
    with pytest.raises(pytest.fail.Exception, match="does not run"):
        client.binary()


def test_runs_at_the_same_time_install_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_npm(tmp_path / "bin", monkeypatch, WORKING_NPM.format(folders=FOLDERS, version=client.VERSION))
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: client.binary(), range(4)))
    assert len(found) == 1
    assert (tmp_path / "calls").read_text(encoding="utf-8") == "call\n"
    assert sorted(p.name for p in (tmp_path / "cache" / "harness-memory-tests").iterdir()) == [
        "claude-code-" + client.VERSION,
        "claude-code-%s.lock" % client.VERSION,
    ]
