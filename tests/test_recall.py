"""Ranking memories: what a text is indexed by, what comes first and why, what is worth handing over."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Sequence

import pytest
from recall import measure
from recall.development import load

from harness_memory import recall
from harness_memory.recall import tuning
from harness_memory.recall.stem import stem
from harness_memory.recall.vocabulary import FRAMING

LIB = Path(__file__).parents[1] / "lib"
DAY = 86400.0
NOW = 1_800_000_000.0


def found(documents: Sequence[Any], query: Any, **options: Any) -> list[str]:
    return [id for _, id in recall.rank(recall.build(documents), query, **options)]


# Words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *(("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("agreed", "agre"), ("feed", "feed")),
        *(("plastered", "plaster"), ("motoring", "motor"), ("sing", "sing"), ("conflated", "conflat")),
        *(("hopping", "hop"), ("falling", "fall"), ("filing", "file"), ("happy", "happi"), ("sky", "sky")),
        *(("relational", "relat"), ("vietnamization", "vietnam"), ("sensibility", "sensibl"), ("formalize", "formal")),
        *(("electrical", "electr"), ("goodness", "good"), ("replacement", "replac"), ("adoption", "adopt")),
        *(("probate", "probat"), ("rate", "rate"), ("controlling", "control"), ("roll", "roll"), ("is", "is")),
        *(("bought", "bui"), ("children", "child"), ("wrote", "write"), ("running", "run"), ("ran", "run")),
        *(("миграция", "миграц"), ("миграции", "миграц"), ("größe", "größe"), ("", "")),
    ],
)
def test_stems(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the cache and its caches", ["cach", "cach"]),
        ("getUserName", ["getusername", "user", "name"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("user_id", ["user_id", "user", "id"]),
        ("src/auth/login.py", ["src/auth/login.py", "login.py", "src", "auth", "login", "py"]),
        (r"src\auth", ["src/auth", "src", "auth"]),
        ("follow-up", ["follow-up", "follow"]),
        ("Don't! It's Caroline's.", ["carolin"]),
        ("ERROR 404", ["error", "404"]),
        ("KeyError: 'user_id'", ["keyerror", "kei", "error", "user_id", "user", "id"]),
        ("./ -- ... _", []),
        ("Größe ÄNDERN Straße", ["gross", "andern", "strass"]),
        ("修复登录 login", ["修复", "复登", "登录", "login"]),
        ("登", ["登"]),
        ("テストを「直す」", ["テス", "スト", "トを", "直す"]),
        ("ＡＢＣ１２", ["abc12"]),
        ("x" * 100 + "." + "z" * 100, ["x" * 64, "x" * 64, "z" * 64]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert recall.terms(text) == expected


def test_the_framing_words_are_stems_that_are_indexed() -> None:
    asked = "How many days ago did I mention a recommendation, and which types of thing did you suggest using?"
    assert set(recall.terms(asked)) <= FRAMING


# Ranking ---------------------------------------------------------------------------------------

SESSIONS = [
    {"id": "pay", "text": "Double charge at checkout: added an idempotency key", "files": ["api/payments.ts"]},
    {"id": "auth", "text": "Login loops in Safari because of the SameSite cookie", "files": ["api/session.ts"]},
    {"id": "de", "text": "Umlaute auf der Produktseite waren falsch kodiert", "files": ["web/page.tsx"]},
    {"id": "ru", "text": "Исправлена миграция базы данных", "files": ["db/migrate.sql"]},
    {"id": "zh", "text": "修复了登录页面的错误", "files": ["web/login.tsx"]},
    {"id": "ja", "text": "監査ログの保存期間を変更した", "files": ["audit/log.go"]},
    {"id": "go", "text": "Fixed: panic: assignment to entry in nil map", "files": ["internal/plan/diff.go"]},
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("customers were charged twice in the checkout", "pay"),
        ("cookies in safari", "auth"),
        ("Warum ist der Umlaut auf der Seite falsch?", "de"),
        ("ошибка при миграции", "ru"),
        ("登录页面打不开", "zh"),
        ("監査ログは何年保存しますか", "ja"),
        ("panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\n\tinternal/plan/diff.go:88 +0x1d", "go"),
        ("what happened to session.ts", "auth"),
        ("look at /home/me/shop/api/payments.ts", "pay"),
    ],
)
def test_finds_its_own_words(query: str, expected: str) -> None:
    assert found(SESSIONS, query)[0] == expected


def test_nothing_in_common_is_not_found() -> None:
    assert found(SESSIONS, "quarterly budget spreadsheet") == []
    assert found(SESSIONS, "") == found([], "anything") == []


def test_a_newer_memory_wins_a_tie_and_a_later_one_is_unknown() -> None:
    twins = [{"id": name, "text": "cache eviction", "ts": NOW - age * DAY} for name, age in (("old", 9), ("new", 2))]
    future = {"id": "later", "text": "cache eviction", "ts": NOW + DAY}
    assert found([*twins, future], "cache eviction", now=NOW) == ["new", "old"]
    assert "later" in found([*twins, future], "cache eviction")
    same = [{"id": name, "text": "cache", "files": ["a.py"]} for name in "ab"]
    assert found(same, "cache") == ["a", "b"] == found(same, "cache")


def test_being_new_counts_for_work_and_hardly_for_notes() -> None:
    def ratio(**extra: Any) -> float:
        pair = [{"id": str(age), "text": "cache eviction", "ts": NOW - age * DAY, **extra} for age in (0, 100)]
        scores = {id: score for score, id in recall.rank(recall.build(pair), "cache eviction", now=NOW)}
        return scores["0"] / scores["100"]

    assert ratio(type="commit") > 1.8
    assert 1.0 < ratio(type="note") < 1.2
    assert 1.0 < ratio(type="session") < 1.2
    assert ratio(type="session", files=["cache.py"]) > 1.5
    assert ratio(title="in cache.py") > 1.8
    assert ratio(type="note", files=["cache.py"]) < 1.2


def test_files_of_the_best_lead_to_what_else_was_done_to_them() -> None:
    documents = [
        {"id": "hit", "text": "checkout form validation", "files": ["web/PaymentForm.tsx"]},
        {"id": "same file", "text": "dark colours", "files": ["web/PaymentForm.tsx"]},
        {"id": "elsewhere", "text": "dark colours", "files": ["web/Menu.tsx"]},
    ]
    assert found(documents, "checkout validation") == ["hit", "same file"]


def test_a_note_does_not_fall_behind_for_having_no_files() -> None:
    documents = [
        {"id": "note", "type": "project", "text": "We chose Redis streams over Celery for the queue"},
        *({"id": "s%d" % n, "text": "queue worker change", "files": ["worker.py"]} for n in range(4)),
    ]
    assert found(documents, "why Redis streams and not Celery")[0] == "note"


def test_context_speaks_for_a_short_prompt() -> None:
    assert found(SESSIONS, "and now the tests") == []
    assert found(SESSIONS, "and now the tests", context={"prompts": ["safari drops the cookie"]})[0] == "auth"
    assert found(SESSIONS, "yes", context={"files": ["/repo/audit/log.go"], "cwd": "/repo"}) == ["ja"]
    assert found(SESSIONS, "yes", context={"branch": "feature/idempotency"}) == ["pay"]
    assert found(SESSIONS, "yes", context={"branch": "main"}) == []


def test_what_is_asked_now_outweighs_what_was_asked_before() -> None:
    context = {"prompts": ["cookie in safari"]}
    assert found(SESSIONS, "idempotency key for the charge", context=context)[0] == "pay"


def test_a_turn_is_also_about_the_turns_beside_it() -> None:
    turns = ["How was the pottery class?", "Great, I finished two bowls!", "Nice weather today.", "Two bowls of soup?"]
    documents = [{"id": "D1:%d" % n, "text": text, "ts": NOW + 30 * n} for n, text in enumerate(turns)]
    assert found(documents, "bowls from the pottery class")[:2] == ["D1:0", "D1:1"]
    far = [{**each, "ts": each["ts"] + 9000 * n} for n, each in enumerate(documents)]
    gap = {
        way: {id: s for s, id in recall.rank(recall.build(d), "pottery bowls")}
        for way, d in (("near", documents), ("far", far))
    }
    assert gap["near"]["D1:1"] - gap["near"]["D1:3"] > gap["far"]["D1:1"] - gap["far"]["D1:3"]


def test_a_long_prompt_costs_what_a_short_one_does() -> None:
    opening, pasted, end = "idempotency key " * 20, "zebra%d quagga " * 9000, " safari cookie"
    query = recall.Query(opening + pasted + end)
    assert {"idempot", "safari", "cooki"} <= set(query.weights)
    assert len(query.weights) <= tuning.QUERY_MAX_TERMS
    many = recall.Query(" ".join("word%d" % n for n in range(20_000)))
    assert len(many.weights) <= tuning.QUERY_MAX_TERMS


@pytest.mark.parametrize(
    "documents",
    [
        [None, 3, "text", [], {}, {"text": "no id"}],
        [{"id": 7, "text": None, "title": 3, "files": "a.py", "tags": 5, "ts": "yesterday", "type": []}],
        [{"id": "x", "text": "cache \ud800 \x00", "files": [None, 3, "", "a.py"], "tags": [None], "ts": float("nan")}],
        [{"id": "x", "text": "cache", "ts": True, "unheard": {"of": 1}}],
        [{"id": "x", "text": "", "files": ["a.py"]}, {"id": "x", "text": "cache"}],
    ],
)
@pytest.mark.parametrize("query", ["cache", "", None, 5, "\ud800 ?", "a.py", "to be or not to be"])
@pytest.mark.parametrize("context", [None, 3, {}, {"prompts": "cache", "files": [None], "branch": 3, "cwd": []}])
def test_garbage_is_left_alone(documents: Any, query: Any, context: Any) -> None:
    index = recall.build(documents)
    ranked = recall.rank(index, query, now=NOW, context=context)
    assert all(isinstance(id, str) and score >= 0 for score, id in ranked)
    recall.pick(index, query, now=NOW, context=context)
    recall.explain(query, {"id": "x", "text": "cache"}, now=NOW, context=context)


class Stored:
    """A source that holds its postings as a cache on disk would: packed, and read term by term."""

    def __init__(self, index: recall.Index) -> None:
        self.rows = {term: b"".join(b"%d,%d;" % pair for pair in pairs) for term, pairs in index.table.items()}
        self.index = index
        self.read: list[str] = []
        self.count, self.average = index.count, index.average
        self.lengths, self.times, self.strengths = index.lengths, index.times, index.strengths
        self.places = index.places

    def holders(self, term: str) -> int:
        return self.rows.get(term, b"").count(b";")

    def postings(self, term: str) -> list[tuple[int, int]]:
        self.read.append(term)
        pairs = [row.split(b",") for row in self.rows.get(term, b"").split(b";") if row]
        return [(int(number), int(count)) for number, count in pairs]

    def document(self, number: int) -> recall.Document:
        return self.index.document(number)


def test_any_source_of_postings_ranks_the_same() -> None:
    index = recall.build(SESSIONS)
    stored = Stored(index)
    query = "panic in the login cookie"
    assert recall.rank(stored, query, now=NOW) == recall.rank(index, query, now=NOW)
    assert set(stored.read) <= {"panic", "login", "cooki"} | {recall.path_term(p) for s in SESSIONS for p in s["files"]}


def test_explains_itself() -> None:
    index = recall.build(SESSIONS)
    query = "safari cookie loops"
    parts = recall.explain(query, SESSIONS[1], index=index, number=1, now=NOW)
    assert parts["score"] == pytest.approx(recall.rank(index, query, now=NOW)[0][0])
    steps = ("words", "pairs", "newness", "files")
    assert sum(parts[step] for step in steps) == pytest.approx(parts["score"])
    assert set(parts["terms"]) == {"safari", "cooki", "loop"}
    assert recall.explain("unheard of", SESSIONS[1])["score"] == 0


# Handing over ----------------------------------------------------------------------------------


def test_hands_over_what_is_called_for_and_nothing_else() -> None:
    index = recall.build(SESSIONS)
    assert [id for _, id in recall.pick(index, "customers charged twice, is it the idempotency key?")] == ["pay"]
    assert recall.pick(index, "customers charged twice, is it the idempotency key?", skip={"pay"}) == []
    for prompt in ("yes", "go on", "fix it", "write a haiku about the map of the sea", "what is a good cookie recipe?"):
        assert recall.pick(index, prompt) == [], prompt
    many = recall.build([{"id": str(n), "text": "nil map panic in the planner"} for n in range(9)] + SESSIONS)
    assert len(recall.pick(many, "nil map panic in the planner")) == 3


def test_the_measurement_has_help() -> None:
    command = [sys.executable, str(LIB.parent / "bench" / "recall" / "measure.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout[:6]) == (0, "usage:")
    assert "nDCG@10" in done.stdout


def test_the_development_set() -> None:
    projects = load()
    prompts = [prompt for project in projects for prompt in project.prompts]
    assert len(prompts) >= 200
    known = {document["id"] for project in projects for document in project.documents}
    assert all(set(prompt.relevant) <= known for prompt in prompts)
    results = measure.measure(projects)
    for kind, by_name in results.items():
        ours, plain = (measure.mean([a for a, _ in by_name[name]]) for name in ("recall", "plain BM25"))
        assert ours > plain, kind
    assert measure.mean([a for by_name in results.values() for a, _ in by_name["recall"]]) > 0.8
    quiet, right = measure.injection(projects)
    assert quiet >= 0.95
    assert right >= 0.60


def test_loads_nothing_slow() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from harness_memory import recall\n"
        "recall.pick(recall.build([{'id': 'a', 'text': 'größe cache'}]), 'größe cache')\n"
        "print(sorted({'re', 'json', 'datetime', 'typing', 'collections', 'functools'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-I", "-S", "-c", code, str(LIB)], stdout=subprocess.PIPE, check=True)
    assert run.stdout.strip() == b"[]"
