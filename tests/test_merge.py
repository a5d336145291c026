"""Merging is commutative, associative and idempotent: no order of syncs matters, and none harms when it is repeated."""

from __future__ import annotations

import json
import random
from typing import Any

from harness_memory.base.text import hexdigest
from harness_memory.memory import merge
from harness_memory.memory.merge import Tree

HOME = "shop-2adf9f1e26ea"
EPISODE = HOME + "/episodes/session-2026-10-01T000000Z-%s.json"
CAPTURE = HOME + "/WORK/2026-10-01/%s/capture.json"


class Play:
    """A store of contents, a clock, and what chance does to a tree."""

    def __init__(self, seed: int) -> None:
        self.chance, self.seconds = random.Random(seed), 0
        self.contents: dict[str, bytes] = {}
        self.empty = {"versions.json": self.put({"schema": 1, "files": {}})}

    def put(self, value: Any) -> str:
        data = value if isinstance(value, bytes) else json.dumps(value, indent=2).encode()
        self.contents[merge.blob_id(data)] = data
        return merge.blob_id(data)

    def get(self, tree: Tree, path: str, missing: Any) -> Any:
        return json.loads(self.contents[tree[path]]) if path in tree else missing

    def change(self, before: Tree) -> Tree:
        tree, versions = dict(before), self.get(before, "versions.json", None)
        for _ in range(self.chance.randrange(1, 6)):
            self.seconds += 1
            at, kind = "2026-11-01T00:%02d:%02d" % divmod(self.seconds, 60), self.chance.randrange(5)
            note = "%s/LEARNING/topics/%s.md" % (HOME, self.chance.choice("ab"))
            id, marks = self.chance.choice(("aaaaaaa1", "aaaaaaa2")), HOME + "/STATE/forgotten.json"
            log = HOME + "/LEARNING/SIGNALS/ratings.jsonl"
            if kind == 0:
                tree[note] = self.put(b"note %f" % self.chance.random())
                versions["files"][note] = [at + ".000Z", tree[note]]
            elif kind == 1 and tree.pop(note, None):
                versions["files"][hexdigest(note)[:16]] = [at + ".000Z", ""]
                del versions["files"][note]
            elif kind == 2:
                tree[CAPTURE % id] = self.put({"ended": at + "Z", "n": self.chance.random()})
                tree[EPISODE % id] = self.put({"session_id": id + "-0", "ended": at + "Z", "n": self.chance.random()})
            elif kind == 3:
                line = b'{"at": "%sZ", "n": %f}\n' % (at.encode(), self.chance.random())
                tree[log] = self.put((self.contents[tree[log]] if log in tree else b"") + line)
            elif kind == 4:
                forgotten = self.get(tree, marks, {"schema": 1, "sessions": {}, "transcripts": {}})
                forgotten["sessions"][id + "-0"] = at + "Z"
                tree = {path: sha for path, sha in tree.items() if id not in path}
                tree[marks] = self.put(forgotten)
        return {**tree, "versions.json": self.put(versions)}

    def merge(self, base: Tree, ours: Tree, theirs: Tree) -> Tree:
        merged = merge.Merged(base, ours, theirs, self.contents.__getitem__)
        self.contents.update(merged.made)
        return merged.tree


def test_no_order_matters_and_repeating_changes_nothing() -> None:
    for seed in range(400):
        play = Play(seed)
        base = play.change(play.empty)
        one, two, three = (play.change(base) for _ in range(3))
        both = play.merge(base, one, two)
        assert both == play.merge(base, two, one), seed
        assert both == play.merge(base, both, two) == play.merge(two, both, two), seed
        all_three = play.merge(base, both, three)
        assert all_three == play.merge(base, one, play.merge(base, two, three)), seed
        assert all_three == play.merge(base, play.merge(base, three, one), two), seed
