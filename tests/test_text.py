"""Text of records is whole words, one line, without control characters and secrets; instants are UTC."""

from __future__ import annotations

import calendar
import random
import time

import pytest
import support

from harness_memory.base import clock, neutral, text

TOKEN = "ghp" + "_abcdefghijklmnopqrstuvwxyz0123456789AB"
SHIELDS = (
    "\x1b[31m", "\x1b[38;5;196m", "\x1b(B", "\x1bc", "\x9b31m", "\x1b]0;title\x07", "\\033[31m", "\\e[1m",
    "\\u001b[31m", "\\x1b[38;5;196m", "\\u003d", "\\x0a", "\\012", "\\n", "%0A",
)  # fmt: skip
HIDDEN = "\u200b\ufeff\ufe0f\ufff9\u180f\U0001d173\U000e0041\U000e0100"


@pytest.mark.parametrize(("value", "limit", "expected"), support.rows("text/cut.jsonl"))
def test_cut_ends_at_a_word(value: str, limit: int, expected: str) -> None:
    assert text.cut(value, limit) == expected


@pytest.mark.parametrize(("value", "expected"), support.rows("text/one_line.jsonl"))
def test_one_line_has_no_control_characters(value: str, expected: str) -> None:
    assert text.one_line(value) == expected


def test_a_block_keeps_its_lines() -> None:
    assert text.block("\r\n a\r\n\tb \x00\r\n\r\nc\n") == "a\n\tb\n\nc"


@pytest.mark.parametrize("shield", SHIELDS)
def test_nothing_before_a_token_shields_it(shield: str) -> None:
    assert "[redacted:github-token]" in text.passage("use " + shield + TOKEN + " now", 900)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_nothing_within_a_token_shields_it(hidden: str) -> None:
    assert text.passage("use " + TOKEN[:6] + hidden + TOKEN[6:] + " now", 900) == "use [redacted:github-token] now"
    assert text.one_line("<%s/a>" % hidden) == "</a>"


def test_a_secret_at_the_cut_is_redacted_first() -> None:
    for start in range(180, 205):
        assert "ghp_" not in text.brief("x" * start + " " + TOKEN + " y", 200)


@pytest.mark.parametrize(("value", "expected"), support.rows("text/first_sentence.jsonl"))
def test_the_first_sentence_is_the_opening_statement(value: str, expected: str) -> None:
    assert text.first_sentence(value, 60) == expected


def test_any_value_becomes_text_that_a_file_can_hold() -> None:
    assert [text.clean(value, 10) for value in (None, 1, [], {}, b"x")] == [""] * 5
    assert text.clean("a\ud800b", 10).encode("utf-8") == b"a?b"


@pytest.mark.parametrize(("value", "expected"), support.rows("text/inert.jsonl"))
def test_a_line_of_a_record_is_inert(value: str, expected: str) -> None:
    assert neutral.line(value) == expected


def test_instants_read_back() -> None:
    source = random.Random(3)
    for _ in range(1000):
        seconds = source.randrange(0, 4_102_444_800)
        assert clock.parse(clock.iso(seconds)) == seconds == calendar.timegm(time.gmtime(seconds))
        assert clock.unstamp(clock.stamp(clock.iso(seconds))) == clock.iso(seconds)
    assert clock.parse("1970-01-01T00:00:01.754Z") == pytest.approx(1.754)


@pytest.mark.parametrize(
    "value",
    [None, 5, "", "2026-11-16", "2026-13-16T00:00:00Z", "2026-11-16T00:00:00+01:00", "x" * 20, "2026-11-16 00:00:00Z"],
)
def test_other_text_is_not_an_instant(value: object) -> None:
    assert clock.parse(value) is None
