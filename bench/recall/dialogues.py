"""Long dialogues with questions: pairs of people talk in dated sessions, and what answers a question is known.

`dialogues.json` holds fragments of talk with slots and questions about them, most in other words than the answer. The
same fragment told twice, by either speaker, is what makes it hard. Nothing is random but for a fixed seed.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

START = 1_675_000_000  # 2023-01-29
DAY = 86_400


class Question(NamedTuple):
    text: str
    answers: dict[int, list[str]]  # session → utterances that answer


class Dialogue(NamedTuple):
    sessions: list[list[str]]  # utterances, each with the name of the speaker
    times: list[float]
    questions: list[Question]


def load(sessions: int = 20) -> list[Dialogue]:
    data = json.loads(Path(__file__).with_name("dialogues.json").read_text(encoding="utf-8"))
    chance = random.Random(1)
    return [_dialogue(data, chance, pair, sessions) for pair in data["names"]]


def _dialogue(data: dict[str, Any], chance: random.Random, pair: list[str], count: int) -> Dialogue:
    made = Dialogue([], [], [])
    asked: dict[str, dict[int, list[str]]] = {}
    for number in range(count):
        said = _lines(chance.choice(data["greetings"]), pair, {})
        for topic in chance.choices(data["topics"], k=chance.randint(2, 4)):
            slots = {key: chance.choice(values) for key, values in data["slots"].items()}
            slots["thing2"] = slots["thing"].partition(" ")[2]
            speakers = pair if chance.random() < 0.5 else pair[::-1]
            lines = _lines(topic["lines"], speakers, slots)
            for text, place in topic["questions"]:
                text = text.format(A=speakers[0], B=speakers[1], **slots)
                asked.setdefault(text, {}).setdefault(number, []).append(lines[place])
            said += lines
            for text in chance.choices(data["chat"], k=chance.randint(1, 4)):
                said += _lines([["A", text]], chance.sample(pair, 2), {})
        made.sessions.append(said + _lines(data["farewell"], pair, {}))
        made.times.append((made.times[-1] if made.times else START) + chance.randint(4, 12) * DAY)
    made.questions.extend(Question(text, answers) for text, answers in asked.items())
    return made


def _lines(lines: list[list[str]], speakers: list[str], slots: dict[str, str]) -> list[str]:
    names = dict(zip("AB", speakers))
    return ["%s: %s" % (names[who], text.format(**names, **slots)) for who, text in lines]
