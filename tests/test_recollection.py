"""What a prompt brings back: the right session or note, once, and nothing for what was never worked on."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, Callable

import pytest
import support
from commandline import World
from life import Life, failures

from harness_memory.base import clock, settings
from harness_memory.inject import compose
from harness_memory.project import identity
from harness_memory.recall import recent, stock
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
    state = {**capture.new(), "asks": [["", ask]], "answer": answer, "files": [file], "turn_files": 1, "ended": started}
    value = episode.build(blank, state, str(life.cwd), "", False)
    recent.note_episode(directory, blank.episode_name, value)
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
    assert "Earlier, and perhaps" not in shop.prompt(prompt).stdout


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


@pytest.mark.parametrize(("one_in", "is_told"), [(0, True), (1, False)])
def test_a_session_may_be_held_back(shop: Life, one_in: int, is_told: bool) -> None:
    (shop.store / "config.json").write_text(json.dumps({"recall_holdout": one_in}), "utf-8")
    start = shop.start()
    assert ("Past sessions" in start.stdout) is is_told
    text = shop.prompt("cart totals rounded at the end, off by a cent").stdout
    assert ("cart/totals.py" in text) is is_told
    assert told(shop)["log"][-1]["why"] == ("recall" if is_told else "held back")
    assert next(item.get("held", False) for item in told(shop)["items"] if item["kind"] == "session") is not is_told


def test_recall_can_be_switched_off(shop: Life) -> None:
    (shop.store / "config.json").write_text('{"recall_items": 0}', "utf-8")
    shop.start()
    assert shop.prompt("cart totals rounded at the end, off by a cent").stdout == ""


# The cache -------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [0, 10, 200])
def test_a_cut_cache_is_silent_and_made_anew(shop: Life, home: Path, repo: Path, size: int) -> None:
    damage_and_heal(shop, World(home, repo), lambda data: data[:size])


@pytest.mark.parametrize("section", SECTIONS)
def test_a_garbled_cache_is_silent_and_made_anew(shop: Life, home: Path, repo: Path, section: str) -> None:
    damage_and_heal(shop, World(home, repo), lambda data: garbled(data, section))


def garbled(data: bytes, section: str) -> bytes:
    """A file of postings with a bit of every fourth byte of a section turned over."""
    head, line, body = data.split(b"\n", 2)
    header = json.loads(line)
    ends = sorted(at for at in (*(header[name] for name in SECTIONS), header["size"]) if at > header[section])
    changed = bytearray(body)
    for at in range(header[section], ends[0], 4):
        changed[at] ^= 1
    return b"\n".join([head, line, bytes(changed)])


def damage_and_heal(shop: Life, world: World, damage: Callable[[bytes], bytes]) -> None:
    assert world.memory("rebuild").code == 0
    path = world.project / "STATE" / "recall" / "episodes.idx"
    path.write_bytes(damage(path.read_bytes()))
    assert world.memory("verify").code == 1
    shop.prompt("cart totals rounded at the end, off by a cent")
    assert not failures(shop.store)
    shop.start()
    assert "cart/totals.py" in shop.prompt("cart totals rounded at the end, off by one cent").context
    assert world.memory("verify").code == 0


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("section", ["", "directory", "entries", "blobs", "records"])
def test_a_lost_or_garbled_cache_of_notes_is_made_anew(
    shop: Life, home: Path, repo: Path, section: str, scope: str
) -> None:
    world = World(home, repo)
    text = "The zeppelin hangar closes at dusk; book the tether before."
    assert world.memory("remember", text, "--scope", scope).code == 0
    place = world.project if scope == "project" else world.root / "user"
    path = place / "STATE" / "recall" / "notes.idx"
    if section:
        path.write_bytes(garbled(path.read_bytes(), section))
    else:
        path.unlink()
    shop.prompt("when does the zeppelin hangar close? dusk, tether")
    assert not failures(shop.store)
    shop.start()
    found = shop.prompt("the zeppelin hangar closes at dusk, with the tether").context
    assert "zeppelin" in found
    assert world.memory("verify").code == 0


def test_deleting_the_cache_costs_nothing_but_time(shop: Life, home: Path, repo: Path) -> None:
    import shutil

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


def test_many_sessions_are_taken_into_the_file(life: Life) -> None:
    past(life, "Begin", "Begun with the first thing there was to do.", "a.py")
    directory = project_of(life)
    (name,) = episode.names(directory)
    value = episode.load(directory, name)
    assert value
    for number in range(settings.RECENT_MOST + 5):
        short_id = "%08x" % number
        other = {**value, "id": short_id, "headline": "thing%d" % number}
        path = Path(directory) / "episodes" / (name[:-13] + short_id + ".json")
        path.write_bytes(episode.render(other))
        recent.note_episode(directory, path.name, other)
    left = list((Path(directory) / "STATE" / "recall" / "recent").iterdir())
    assert 0 < len(left) < settings.RECENT_MOST
    found = stock.open_stock(str(life.store), directory)
    assert found
    assert found.count == settings.RECENT_MOST + 6
    assert [found.holders("thing%d" % number) for number in range(settings.RECENT_MOST + 5)] == [1] * 53
    found.close()


def test_adding_an_episode_is_quick(life: Life) -> None:
    past(life, "Begin", "Begun. " + support.prose(800), "a.py")
    directory = project_of(life)
    (name,) = episode.names(directory)
    value = episode.load(directory, name)
    assert value
    times = []
    for _ in range(9):
        began = time.process_time()
        recent.note_episode(directory, name, value)
        times.append(time.process_time() - began)
    assert sorted(times)[4] < 0.02
    assert os.path.exists(Path(directory) / "STATE" / "recall" / "recent" / name)
