"""Every address of a repository gives one name, without a secret; other repositories have other names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import support

from harness_memory.project.remote import normalize


@pytest.mark.parametrize("case", support.rows("remote/names.jsonl"), ids=lambda case: case["url"][:40])
def test_an_address_gives_the_name_of_its_repository(case: dict[str, Any]) -> None:
    assert normalize(case["url"]) == case["name"]


@pytest.mark.parametrize(("one", "other"), support.rows("remote/different.jsonl"))
def test_different_repositories_have_different_names(one: str, other: str) -> None:
    assert "" not in (normalize(one), normalize(other))
    assert normalize(one) != normalize(other)


@pytest.mark.parametrize("url", support.rows("remote/hostile.jsonl"))
def test_a_name_is_printable_and_holds_no_credential(url: str) -> None:
    assert normalize(url, "/base").isprintable()
    assert "hunter2" not in normalize(url, "/base")


@pytest.mark.skipif(os.name == "nt", reason="POSIX paths")
def test_a_local_path_is_its_real_path(tmp_path: Path) -> None:
    here = os.path.realpath(str(tmp_path))
    for name in ("my repo", "bare.git", "both", "both.git"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "my repo")
    names = {
        here + "/my repo/": "/my repo",
        "/" + here + "//my repo/.git": "/my repo",
        "file://" + here + "/my%20repo": "/my repo",
        "file://localhost" + here + "/my repo": "/my repo",
        "./my repo": "/my repo",
        "../" + os.path.basename(here) + "/link": "/my repo",
        here + "/bare": "/bare.git",
        here + "/both": "/both",
        here + "/both.git": "/both.git",
    }
    for url, name in names.items():
        assert normalize(url, here) == "file:" + here + name, url
    assert normalize("my repo") == ""
