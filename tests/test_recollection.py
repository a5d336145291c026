"""What a prompt brings back: the right session or note, once, and nothing for what was never worked on."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import support
from commandline import World
from life import Life, failures

from harness_memory.base import clock
from harness_memory.inject import compose
from harness_memory.project import identity
from harness_memory.session import capture, episode, sessions

SHOP = [
    (
        "Totals in the cart are off by a cent for guest checkouts",
        "Cart totals are rounded once at the end; the per-line rounding in the tax helper is gone.",
        "cart/totals.py",
    ),
    (
        "The websocket reconnect loop hammers the gateway after a deploy",
        "Reconnects now back off with jitter; the gateway closes idle sockets after thirty seconds.",
        "net/reconnect.py",
    ),
    (
        "Import of supplier spreadsheets fails on umlauts",
        "Spreadsheets are decoded as cp1252 when utf-8 fails; a fixture with umlauts guards it.",
        "imports/spreadsheet.py",
    ),
    ("Добавь кэш для парсера накладных", "Парсер накладных кэширует разобранные строки в памяти.", "docs/nakladnye.py"),
    ("购物车里的优惠券会被重复使用", "优惠券在下单时加锁,重复使用的请求会被拒绝。", "coupon/lock.py"),
    (
        "Die Mahnungen werden doppelt verschickt",
        "Mahnungen tragen jetzt einen Versandstempel und gehen einmal hinaus.",
        "mail/mahnung.py",
    ),
]
SECTIONS = ("columns", "directory", "entries", "ids", "blobs", "records")  # of a file of postings
FILLER = ["rename helper %d", "bump dependency %d", "tidy module %d", "format file %d", "document endpoint %d"]


@pytest.fixture
def shop(life: Life) -> Life:
    """A project with a past."""
    for number in range(12):
        topic = FILLER[number % len(FILLER)] % number
        past(life, "Please " + topic, "Did it: %s. Nothing else changed." % topic, "misc/part%d.py" % number)
    for ask, answer, file in SHOP:
        past(life, ask, answer, file)
    identity.record(identity.locate(str(life.store), str(life.cwd), str(life.cwd)), clock.iso(time.time()))
    return life


def project_of(life: Life) -> str:
    return identity.locate(str(life.store), str(life.cwd), str(life.cwd)).dir


def past(life: Life, ask: str, answer: str, file: str) -> str:
    """An episode as a session of some days ago would have left it; its name."""
    directory = project_of(life)
    number = len(episode.names(directory))
    started = clock.iso(time.time() - 86400 * 5 - 3600 * number)
    short_id = "%08x" % (0xA0000000 + number)
    blank = sessions.Session("", {"session_id": short_id, "claude_session": short_id, "started": started})
    state = capture.Capture()
    state.asks, state.answer, state.files, state.turn_files, state.ended = [["", ask]], answer, [file], 1, started
    value = episode.build(blank, state, str(life.cwd), "", False)
    support.publish(directory, blank.episode_name, episode.render(value))
    return blank.episode_name


def told(life: Life) -> dict[str, Any]:
    return dict(json.loads((life.directory / "injected.json").read_text("utf-8")))


# Handed over -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("prompt", "file"),
    [
        ("why are cart totals rounded only once at the end? a cent is off for guests again", "cart/totals.py"),
        ("the gateway is hammered by websocket reconnects again", "net/reconnect.py"),
        (
            "UnicodeDecodeError: 'utf-8' codec, in imports/spreadsheet.py line 40, supplier spreadsheets",
            "imports/spreadsheet.py",
        ),
        ("кэш парсера накладных отдаёт старые строки", "docs/nakladnye.py"),
        ("优惠券又被重复使用了", "coupon/lock.py"),
        ("Mahnungen gehen wieder doppelt hinaus, trotz Versandstempel", "mail/mahnung.py"),
    ],
)
def test_the_right_session_comes_back(shop: Life, prompt: str, file: str) -> None:
    shop.start()
    text = shop.prompt(prompt).context
    assert "files: " + file in text
    assert text.startswith("<harness-memory")
    assert "never instructions" in text
    assert compose.units(text) <= 1200
    assert text.count("\n- [") <= 3
    assert not failures(shop.store)


@pytest.mark.parametrize(
    "prompt",
    [
        "yes",
        "go on",
        "fix it",
        "continue",
        "ok, thanks!",
        "да",
        "weiter",
        "继续",
        "",
        "/melt cart totals rounded",
        "<task-notification>cart totals rounded once at the end</task-notification>",
        "write a haiku about autumn leaves over kyoto",
        "what is the capital of Mongolia and how cold does it get",
    ],
)
def test_nothing_comes_back(shop: Life, prompt: str) -> None:
    shop.start()
    assert "Possibly related" not in shop.prompt(prompt).stdout


def test_an_item_is_handed_over_once_and_again_after_a_compaction(shop: Life) -> None:
    shop.start()
    assert "cart/totals.py" in shop.prompt("cart totals rounded at the end, off by a cent").context
    assert "cart/totals.py" not in shop.prompt("cart totals are rounded at the end, why off by a cent?").stdout
    shop.start("compact")
    assert "cart/totals.py" in shop.prompt("so, cart totals rounded at the end, off by a cent").context


def test_the_session_itself_never_comes_back(life: Life) -> None:
    life.start()
    life.turn("Totals in the cart are off by a cent", "Cart totals are rounded once at the end.", "cart/totals.py")
    assert life.prompt("cart totals rounded once at the end, off by a cent?").stdout == ""


def test_the_command_told_shows_the_whole(shop: Life) -> None:
    import shlex
    import subprocess

    shop.start()
    text = shop.prompt("cart totals rounded at the end, off by a cent").context
    (command,) = [line.partition("whole: ")[2] for line in text.split("\n") if "whole: " in line][:1]
    done = subprocess.run(
        shlex.split(command), cwd=shop.cwd, env=support.clean_environment(shop.home), stdout=subprocess.PIPE, check=True
    )
    assert "Cart totals are rounded once" in done.stdout.decode()


def test_a_forgotten_session_stays_away(shop: Life, home: Path, repo: Path) -> None:
    world = World(home, repo)
    (file,) = [path for path in (world.project / "episodes").iterdir() if "cart/totals.py" in path.read_text("utf-8")]
    assert world.memory("forget", file.stem[-8:], "--yes").code == 0
    shop.start()
    assert "cart/totals.py" not in shop.prompt("cart totals rounded at the end, off by a cent").stdout
    kept = b"".join(path.read_bytes() for path in (world.project / "STATE" / "recall").rglob("*") if path.is_file())
    assert b"cart/totals" not in kept
    assert b"websocket" in kept


def test_an_episode_that_went_stays_away(shop: Life) -> None:
    shop.start()
    for path in (shop.project / "episodes").iterdir():
        path.unlink()
    assert shop.prompt("cart totals rounded at the end, off by a cent").stdout == ""


# Notes -----------------------------------------------------------------------------------------
def test_notes_of_project_and_user_come_back_and_superseded_ones_do_not(shop: Life, home: Path, repo: Path) -> None:
    world = World(home, repo)
    world.memory("remember", "Refund webhooks from Adyen arrive before the order is stored", "--topic", "adyen refunds")
    world.memory(
        "remember", "Terraform plans run in eu-central only", "--topic", "terraform regions", "--scope", "user"
    )
    shop.start()
    text = shop.prompt("the Adyen refund webhooks arrive before the order is stored, what now").context
    assert "note: " in text
    assert "show adyen-refunds" in text
    assert "show terraform-regions" in shop.prompt("run the terraform plans in which region, eu-central?").context
    world.memory("remember", "Adyen refund webhooks are queued until the order is stored", "--topic", "refund queue")
    assert world.memory("note", "supersede", "adyen-refunds", "refund-queue").code == 0
    later = Life(shop.home, shop.cwd, pid=shop.pid)
    later.start()
    text = later.prompt("the Adyen refund webhooks arrive before the order is stored, what now").context
    assert "adyen-refunds" not in text
    assert "show refund-queue" in text


# The record ------------------------------------------------------------------------------------
def test_the_receipt_says_what_was_handed_over_and_whether_it_was_used(shop: Life) -> None:
    shop.start()
    shop.prompt("cart totals rounded at the end, off by a cent; and the gateway hammered by websocket reconnects")
    items = {item["files"][0]: item for item in told(shop)["items"] if item["kind"] == "session"}
    assert {"cart/totals.py", "net/reconnect.py"} <= {*items}
    assert told(shop)["log"][-1]["why"] == "recall"
    assert all(item["used"] == "" for item in items.values())
    shop.transcript.prompt("go").edit(shop.cwd / "cart" / "totals.py").text("Fixed.")
    shop.stop("Fixed.")
    items = {item["files"][0]: item["used"] for item in told(shop)["items"] if item["kind"] == "session"}
    assert (items["cart/totals.py"], items["net/reconnect.py"]) == ("edited", "")
    short_id = next(item["item"] for item in told(shop)["items"] if item["files"] == ["net/reconnect.py"])[-13:-5]
    shop.transcript.prompt("and").bash('python3 "/opt/x/harness" memory show %s' % short_id, "…").text("Read.")
    shop.stop("Read.")
    items = {item["files"][0]: item["used"] for item in told(shop)["items"] if item["kind"] == "session"}
    assert items["net/reconnect.py"] == "read"
    page = (shop.directory / "session_memory_context.md").read_text("utf-8")
    assert "(recall)" in page
    assert "files: cart/totals.py" in page


def test_recall_can_be_switched_off(shop: Life) -> None:
    (shop.store / "config.json").write_text('{"recall_items": 0}', "utf-8")
    shop.start()
    assert shop.prompt("cart totals rounded at the end, off by a cent").stdout == ""


def test_deleting_the_cache_costs_nothing_but_time(shop: Life, home: Path, repo: Path) -> None:
    import shutil

    shop.start()
    shutil.rmtree(Path(project_of(shop)) / "STATE" / "recall")
    assert World(home, repo).memory("verify").code == 0
    shop.start()
    assert "cart/totals.py" in shop.prompt("cart totals rounded at the end, off by a cent").context


def test_a_session_that_goes_on_is_known_by_its_latest_words(shop: Life, home: Path, repo: Path) -> None:
    earlier = Life(shop.home, shop.cwd, pid=shop.pid)
    earlier.turn("Rework the loyalty ledger", "The loyalty ledger is append-only now.", "loyalty/ledger.py")
    assert World(home, repo).memory("rebuild").code == 0
    earlier.turn("Also the zeppelin exporter", "The zeppelin exporter streams.", "zep.py")
    shop.start()
    text = shop.prompt("the zeppelin exporter streams too slowly, loyalty ledger").context
    assert text.count(earlier.session.id[:8]) == 1
    assert "zep.py" in text
    assert World(home, repo).memory("verify").code == 0
