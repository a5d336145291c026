"""Recall without hooks: terms of a text, what ranks first, what is worth injecting, and a cache that keeps up."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, Iterable

import pytest
import support
from recall import measure
from recall.development import load

from harness_memory.recall import cache, index, passages, ranking, writer
from harness_memory.recall.documents import index_text
from harness_memory.recall.terms import code, stem, terms

SESSIONS = support.rows("recall/sessions.jsonl")
DAY = 86400.0
NOW = 1_800_000_000.0


def source(*documents: dict[str, Any]) -> index.Source:
    """Half of the documents in the file, half of them recent."""
    shown = ({**each, "text": "", "passages": passages.lines(each.get("text", ""))} for each in documents)
    made = [index_text(**{"kind": "session", "title": "", "time": NOW, **each}) for each in shown]
    half = len(made) // 2
    segment = index.Segment(writer.dump(None, made[:half], (), {})) if half else None
    return index.Source(segment, made[half:], set())


def found(documents: Iterable[dict[str, Any]], query: str, **context: Any) -> list[str]:
    searched = source(*documents)
    scores = ranking.score(searched, ranking.Query(query, **context), NOW)
    return [searched.record(number).id for number in ranking.best(searched, scores, 99)]


def picked(documents: Iterable[dict[str, Any]], query: str, unwanted: tuple[str, ...] = ()) -> list[str]:
    searched = source(*documents)
    items, _ = passages.pick(searched, ranking.Query(query), NOW, lambda n: searched.record(n).id in unwanted)
    return [searched.record(item.number).id for item in items]


@pytest.mark.parametrize("line", support.lines("recall/stems.txt"))
def test_a_word_is_stemmed(line: str) -> None:
    word, expected = line.split(" ")
    assert stem(word) == expected


@pytest.mark.parametrize(("text", "expected"), support.rows("recall/terms.jsonl"))
def test_a_text_is_split_into_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(("query", "expected"), support.rows("recall/queries.jsonl"))
def test_a_query_finds_its_own_words(query: str, expected: str) -> None:
    assert found(SESSIONS, query)[0] == expected


def test_newer_work_wins_a_tie_and_a_wrong_clock_hides_nothing() -> None:
    ages = {"old": 9, "new": 2, "later": -400}
    twins = [{"id": name, "text": "cache eviction", "time": NOW - age * DAY} for name, age in ages.items()]
    assert found(twins, "cache eviction")[-2:] == ["new", "old"]
    assert "later" in found(twins, "cache eviction")


def test_files_of_the_best_lead_to_other_work_on_them() -> None:
    documents = [
        {"id": "hit", "text": "checkout form validation", "files": ["web/PaymentForm.tsx"]},
        {"id": "same file", "text": "dark colours", "files": ["web/PaymentForm.tsx"]},
        {"id": "elsewhere", "text": "dark colours", "files": ["web/Menu.tsx"]},
    ]
    assert found(documents, "checkout validation") == ["hit", "same file"]


def test_a_note_without_files_does_not_fall_behind() -> None:
    note = {"id": "note", "kind": "note", "text": "We chose Redis streams over Celery for the queue"}
    work = [{"id": "s%d" % n, "text": "queue worker change", "files": ["worker.py"]} for n in range(4)]
    assert found([note, *work], "why Redis streams and not Celery")[0] == "note"


def test_the_session_so_far_explains_a_short_prompt() -> None:
    assert found(SESSIONS, "and now the tests") == []
    assert found(SESSIONS, "and now the tests", prompts=["safari drops the cookie"])[0] == "auth"
    assert found(SESSIONS, "yes", files=["audit/log.go"]) == ["ja"]
    assert found(SESSIONS, "yes", branch="feature/idempotency") == ["pay"]
    assert found(SESSIONS, "yes", branch="main") == []
    assert found(SESSIONS, "idempotency key for the charge", prompts=["cookie in safari"])[0] == "pay"


def test_only_what_a_prompt_calls_for_is_worth_injecting() -> None:
    asked = "customers charged twice, is it the idempotency key?"
    assert picked(SESSIONS, asked) == ["pay"]
    assert picked(SESSIONS, asked, unwanted=("pay",)) == []
    for prompt in ("yes", "go on", "write a haiku about the map of the sea", "what is a good cookie recipe?"):
        assert picked(SESSIONS, prompt) == [], prompt
    talk = [{"id": str(n), "text": "We chose a plan.\nThe Code follows the Plan number %d." % n} for n in range(8)]
    plan = "# Plan: Rewrite the Wallet Code\n\nMove the ledger to Rust, sign each transfer, and publish a crate of it. "
    assert picked(talk, plan * 3) == []
    many = [{"id": str(n), "text": "nil map panic in the planner"} for n in range(9)]
    assert len(picked([*many, *SESSIONS], "nil map panic in the planner")) == 3


def test_the_development_set_is_ranked_better_than_by_words_alone() -> None:
    projects = load()
    results = measure.measure(projects)
    for kind, by_name in results.items():
        ours, plain = (
            measure.mean([first_five for _, first_five in by_name[name]]) for name in ("recall", "plain BM25")
        )
        assert ours > plain, kind
    assert measure.mean([a for by_name in results.values() for a, _ in by_name["recall"]]) > 0.82
    shares = {name: count / total for name, (count, total) in measure.injection(projects).items()}
    unrelated, foreign, gets, right = (shares[name] for name in measure.ROWS)
    assert (unrelated <= 0.02, foreign <= 0.08, gets >= 0.5, right >= 0.75) == (True, True, True, True), shares
    session, answer = [count / total for count, total in measure.dialogue_rows().values()][:2]
    assert (session >= 0.7, answer >= 0.65) == (True, True), (session, answer)


# The cache -------------------------------------------------------------------------------------
class Store:
    """A project with episodes, searched as a prompt or a start does."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.project = root / "shop-0123456789ab"
        self.folder = self.project / "STATE" / "recall"
        (self.project / "episodes").mkdir(parents=True)

    def write(self, id: str, words: str, day: int = 1) -> Path:
        lists = ("asked", "what_remains", "files_changed", "tags", "learnings", "tasks", "commands_failed_then_fixed")
        value: dict[str, Any] = {"schema": 1, "id": id, "started": "2026-01-%02dT10:00:00Z" % day}
        value.update({key: [] for key in lists}, ended=value["started"], outcome="completed", thread=id)
        value.update(what_was_done=words, headline=words, session_id=id, duration_minutes=1)
        path = self.project / "episodes" / ("session-2026-01-%02dT100000Z-%s.json" % (day, id))
        path.write_text(json.dumps(value), "utf-8")
        return path

    def ids(self, query: str, *, is_whole: bool = False, own: tuple[str, ...] = ()) -> list[str]:
        places, ends = (str(self.root), str(self.project)), time.monotonic() + 60
        searched = cache.open_source(*places, time.time(), ends, own=frozenset(own), is_whole=is_whole)
        scores = ranking.score(searched, ranking.Query(query), NOW)
        records = [searched.record(number) for number in ranking.best(searched, scores, 99)]
        return [record.id.rpartition("Z-")[2][:8] for record in records]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    for number in range(30):
        store.write("%08x" % number, "module%d exporter" % number, number % 28 + 1)
    return store


def test_a_prompt_takes_in_new_and_changed_episodes(store: Store) -> None:
    assert len(store.ids("exporter", is_whole=True)) == 30
    store.write("aaaaaaaa", "zeppelin hangar", 28)
    store.write("bbbbbbbb", "zeppelin tether", 28)
    assert store.ids("zeppelin", own=("bbbbbbbb",)) == ["aaaaaaaa"]
    assert sorted(store.ids("zeppelin")) == ["aaaaaaaa", "bbbbbbbb"]
    before = (store.folder / "index").read_bytes()
    store.write("0000000a", "zeppelin mooring mast", 11)
    assert "0000000a" in store.ids("mooring", is_whole=True)
    assert store.ids("module10", is_whole=True) == []
    assert (store.folder / "index").read_bytes() == before, "a few changes go to the log"


def test_what_is_gone_is_dropped_by_a_start(store: Store) -> None:
    store.ids("exporter", is_whole=True)
    store.write("aaaaaaaa", "zeppelin").unlink()
    for path in sorted((store.project / "episodes").iterdir())[:20]:
        path.unlink()
    assert len(store.ids("exporter", is_whole=True)) == 10
    assert len(store.ids("exporter")) == 10


def test_many_changes_are_merged_into_the_index(store: Store) -> None:
    store.ids("exporter", is_whole=True)
    for number in range(100, 140):
        store.write("%08x" % number, "zeppelin%d exporter" % number)
        store.ids("exporter", is_whole=number % 7 == 0)
    assert len(store.ids("exporter", is_whole=True)) == 70
    assert not (store.folder / "recent.jsonl").exists() or (store.folder / "recent.jsonl").stat().st_size < 70_000


def test_a_damaged_cache_is_replaced(store: Store) -> None:
    store.ids("exporter", is_whole=True)
    index = store.folder / "index"
    for damaged in (index.read_bytes()[:-40], b"harness-recall 0.1.2 little\n{}\n"):
        (store.folder / "episodes.idx").write_text("of an older version", "utf-8")
        index.write_bytes(damaged)
        assert len(store.ids("exporter", is_whole=True)) == 30
        assert sorted(path.name for path in store.folder.iterdir()) == ["index", "recall.lock"]


def test_a_torn_log_loses_nothing(store: Store) -> None:
    store.ids("exporter", is_whole=True)
    store.write("aaaaaaaa", "zeppelin hangar")
    store.ids("zeppelin")
    log = store.folder / "recent.jsonl"
    log.write_bytes(log.read_bytes()[:-30])
    store.write("bbbbbbbb", "zeppelin tether")
    assert sorted(store.ids("zeppelin")) == ["aaaaaaaa", "bbbbbbbb"]


def test_a_large_index_is_read_in_parts(store: Store) -> None:
    for number in range(600):
        store.write("f%07x" % number, " ".join("word%d" % (number * 200 + n) for n in range(150)), number % 28 + 1)
    assert store.ids("word80010", is_whole=True) == ["f%07x" % 400]
    assert (store.folder / "index").stat().st_size > 1 << 20
    assert store.ids("word80010") == ["f%07x" % 400]
    assert len(store.ids("exporter")) == 30
    assert code("exporter") == 137180289, "the same in every Python: several may read one index"
