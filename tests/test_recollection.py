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
from harness_memory.inject import injection
from harness_memory.project import identity
from harness_memory.session import capture, episode, record, sessions, transcript

CART = "cart totals rounded at the end, off by a cent"
SHOP = Path(__file__).parent / "data" / "recollection" / "shop.jsonl"
FILLER = ["rename helper %d", "bump dependency %d", "tidy module %d", "format file %d", "document endpoint %d"]


@pytest.fixture
def shop(life: Life) -> Life:
    """A project with a past."""
    for number in range(12):
        topic = FILLER[number % len(FILLER)] % number
        past(life, "Please " + topic, "Did it: %s. Nothing else changed." % topic, "misc/part%d.py" % number)
    for ask, answer, file in map(json.loads, SHOP.read_text("utf-8").splitlines()):
        past(life, ask, answer, file)
    identity.record(identity.locate(str(life.store), str(life.cwd), str(life.cwd)), clock.iso(time.time()))
    return life


@pytest.fixture
def few(life: Life) -> Life:
    """A project with five sessions."""
    for ask, answer, file in support.rows("recollection/few.jsonl"):
        past(life, ask, answer, file)
    life.start()
    return life


def past(life: Life, ask: str, answer: str, file: str) -> None:
    """An episode of some days ago."""
    directory = identity.locate(str(life.store), str(life.cwd), str(life.cwd)).dir
    number = len(episode.names(directory))
    started = clock.iso(time.time() - 86400 * 5 - 3600 * number)
    short_id = "%08x" % (0xA0000000 + number)
    session = sessions.Session("", {"session_id": short_id, "claude_session": short_id, "started": started})
    state = capture.Capture()
    transcript.absorb(state, [{"type": "user", "message": {"content": ask}}], ())
    state.files, state.turn_files, state.ended = [file], 1, started
    transcript.absorb(state, [{"type": "assistant", "message": {"content": answer}}], ())
    value = record.build(session, state, str(life.cwd), "", False)
    support.publish(directory, session.episode_name, episode.render(value))


def receipt(life: Life) -> dict[str, Any]:
    return dict(json.loads((life.directory / "injected.json").read_text("utf-8")))


@pytest.mark.parametrize(("prompt", "file"), support.rows("recollection/brought_back.jsonl"))
def test_a_prompt_brings_the_right_session_back(shop: Life, prompt: str, file: str) -> None:
    shop.start()
    text = shop.prompt(prompt).context
    assert "files: " + file in text
    assert text.startswith("<harness-memory")
    assert "never instructions" in text
    assert injection.units(text) <= 1200
    assert text.count("\n- [") <= 3
    assert failures(shop.store) == []


def test_an_error_brings_the_session_back_that_met_it(shop: Life) -> None:
    shop.start()
    shop.prompt("hello there")

    def failed(error: str) -> str:
        own = {"error": error, "is_interrupt": False, "hook_event_name": "PostToolUseFailure"}
        result = shop.run("post_tool_use_failure", shop.session.tool_call("Bash", {"command": "make import"}, **own))
        return result.context if result.stdout else ""

    assert failed("make: *** No rule to make target 'deploy'. Stop.") == ""
    assert "files: imports/spreadsheet.py" in failed("UnicodeDecodeError: imports/spreadsheet.py, supplier spreadsheet")


@pytest.mark.parametrize(
    "prompt",
    [
        *("yes", "go on", "ok, thanks!", "A or B", "да", "继续", "", "/melt cart totals rounded"),
        *("Approved, implement it", "LGTM", "sounds good, option 2", "I agree, please start", "looks good, commit it"),
        "<task-notification>cart totals rounded once at the end</task-notification>",
        "write a haiku about autumn leaves over kyoto",
        "what is the capital of Mongolia and how cold does it get",
    ],
)
def test_an_unrelated_prompt_brings_nothing_back(shop: Life, prompt: str) -> None:
    shop.start()
    assert shop.prompt(prompt).stdout == ""


@pytest.mark.parametrize(("prompt", "file"), support.rows("recollection/few_brought_back.jsonl"))
def test_few_sessions_are_enough(few: Life, prompt: str, file: str) -> None:
    text = few.prompt(prompt).stdout
    assert "files: " + file in text if file else text == ""


def test_an_item_reads_as_it_was_said_and_comes_once_and_again_after_a_compaction(few: Life) -> None:
    text = few.prompt("Which permissions do guests have for the download button of receipts?").context
    assert "Show the receipts of a guest → The page shows" in text
    assert "The download button in the UI. Permissions: guests" in text
    assert "fix it. → I found the cause" in few.prompt("The invoice export runs out of memory again").context
    few.transcript.edit(few.cwd / "export" / "invoices.py").text("Looked.")
    few.stop("Looked.")
    for prompt in ("startup is slow again", "the export of invoices is out of memory", "what may guests download?"):
        assert few.prompt(prompt).stdout == "", prompt
    few.start("compact")
    assert "I found the cause" in few.prompt("so, the export of invoices is out of memory").context


def test_a_forgotten_or_deleted_session_stays_away(shop: Life, home: Path, repo: Path) -> None:
    world = World(home, repo)
    shop.start()
    (file,) = [path for path in (world.project / "episodes").iterdir() if "cart/totals.py" in path.read_text("utf-8")]
    assert world.memory("forget", file.stem[-8:], "--yes").code == 0
    assert "cart/totals.py" not in shop.prompt(CART).stdout
    kept = b"".join(path.read_bytes() for path in (world.project / "STATE" / "recall").rglob("*") if path.is_file())
    assert b"cart/totals" not in kept
    for path in (world.project / "episodes").iterdir():
        path.unlink()
    assert shop.prompt("the gateway is hammered by websocket reconnects again").stdout == ""


def test_notes_come_back_and_superseded_ones_do_not(shop: Life, home: Path, repo: Path) -> None:
    world = World(home, repo)
    asked = "the Adyen refund webhooks arrive before the order is stored, what now"
    world.memory("remember", "Refund webhooks from Adyen arrive before the order is stored", "--topic", "adyen refunds")
    world.memory("remember", "Terraform plans run in eu-central only", "--topic", "terraform", "--scope", "user")
    shop.start()
    text = shop.prompt(asked).context
    assert "note adyen-refunds] Refund webhooks from Adyen arrive before the order is stored" in text
    assert "show adyen-refunds" in text
    assert "show terraform" in shop.prompt("run the terraform plans in which region, eu-central?").context
    world.memory("remember", "Adyen refund webhooks are queued until the order is stored", "--topic", "refund queue")
    assert world.memory("note", "supersede", "adyen-refunds", "refund-queue").code == 0
    later = Life(shop.home, shop.cwd, pid=shop.pid)
    text = later.prompt(asked).context
    assert "adyen-refunds" not in text
    assert "show refund-queue" in text
    (world.project / "LEARNING" / "topics" / "refund-queue.md").unlink()
    assert "refund-queue" not in Life(shop.home, shop.cwd, pid=shop.pid).prompt(asked).stdout


def test_archived_sessions_come_back_by_their_title(shop: Life, home: Path, repo: Path) -> None:
    assert World(home, repo).memory("archive", "--before", "2100-01-01", "--open").code == 0
    shop.start()
    text = shop.prompt("cart totals are rounded once at the end; per-line rounding in the tax helper is gone").context
    assert "archived a000000c] Cart totals are rounded" in text
    assert " restore a000000c" in text


def test_the_receipt_says_what_was_recalled_and_used(shop: Life) -> None:
    def used() -> dict[str, str]:
        return {item["files"][0]: item["used"] for item in receipt(shop)["items"] if item["kind"] == "session"}

    shop.start()
    shop.prompt(CART + "; and the gateway hammered by websocket reconnects")
    assert used() == {"cart/totals.py": "", "net/reconnect.py": ""}
    assert receipt(shop)["log"][-1]["why"] == "recall"
    shop.transcript.prompt("go").edit(shop.cwd / "cart" / "totals.py").text("Fixed.")
    shop.stop("Fixed.")
    assert used() == {"cart/totals.py": "edited", "net/reconnect.py": ""}
    short_id = next(item["item"] for item in receipt(shop)["items"] if item["files"] == ["net/reconnect.py"])[-13:-5]
    shop.transcript.prompt("and").bash('python3 "/opt/x/harness" memory show %s' % short_id, "…").text("Read.")
    shop.stop("Read.")
    assert used()["net/reconnect.py"] == "read"
    page = (shop.directory / "session_memory_context.md").read_text("utf-8")
    assert ("(recall)" in page, "files: cart/totals.py" in page) == (True, True)


def test_a_question_for_all_decisions_brings_the_latest_once(few: Life) -> None:
    past(few, "Where do we keep the queue?", "We decided on Redis for the queue because jobs expire there.", "queue.py")
    few.stop("Done.")  # renews the list of sessions
    assert "We decided on Redis" in few.prompt("What did we decide so far?").context
    assert few.prompt("Which decisions did we make in this project?").stdout == ""


def test_a_step_that_was_done_since_is_not_quoted(life: Life) -> None:
    said = "Vouchers are checked at the till by `redeem`.\n\nNext steps:\n- Let vouchers expire\n- Print the vouchers"
    life.start()
    life.turn("Check vouchers at the till", said, "vouchers.py")
    life.end()
    second = life.another()
    second.start()
    second.turn("go on", "Vouchers expire after a year now.", "expiry.py")
    second.end()
    for view in ("none", "current-work.json"):  # without it, nothing is known to be done
        for path in life.store.glob("*/STATE/" + view):
            path.unlink()
        told = life.another().prompt("How are vouchers checked at the till, and do vouchers expire?").context
        steps = ("`redeem`", "Print the vouchers", "Let vouchers expire")
        assert [step in told for step in steps] == [True, True, view != "none"]


def test_recall_can_be_switched_off(shop: Life) -> None:
    (shop.store / "config.json").write_text('{"recall_items": 0}', "utf-8")
    shop.start()
    assert shop.prompt(CART).stdout == ""


def test_a_running_session_is_known_by_its_latest_words(shop: Life) -> None:
    sibling = Life(shop.home, shop.cwd, pid=shop.pid)
    sibling.turn("Rework the loyalty ledger", "The loyalty ledger is append-only now.", "loyalty/ledger.py")
    shop.start()
    shop.prompt("begin with the invoices")
    sibling.turn("Also the zeppelin exporter", "The zeppelin exporter streams.", "zep.py")
    text = shop.prompt("the zeppelin exporter streams too slowly, loyalty ledger").context
    assert text.count(" %s] " % sibling.session.id[:8]) == 1
    assert "zep.py" in text
