"""What is embedded: passages of mixed length and short queries, made of the sample collections. Pure but for the files.

The same arguments give the same texts, and no two queries of a run are equal, so that no cache answers one.
"""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "services" / "local" / "samples"
# Shorter lines, tables, headings and lists of a lesson are no prose.
_PARAGRAPH = 60
_NO_PROSE = "|#-*0123456789"
# Words of a passage: from a dictionary entry to a full page.
_WORDS = (12, 25, 50, 80, 120, 160)


def passages(count: int, seed: int) -> list[str]:
    """Runs of sentences from the samples, 12 to 160 words long."""
    chance = random.Random(seed)
    sentences = _sentences()
    made = []
    for number in range(count):
        words: list[str] = []
        while len(words) < _WORDS[number % len(_WORDS)]:
            words += chance.choice(sentences).split()
        made.append(" ".join(words[: _WORDS[number % len(_WORDS)]]))
    chance.shuffle(made)
    return made


def queries(seed: int) -> Iterator[str]:
    """Questions about the samples without end, each with a number of its own: some 12 word pieces."""
    chance = random.Random(seed)
    questions = [entry["question"] for entry in _lines("english_at_work/judged.jsonl")]
    for number in range(10**9):
        yield f"{chance.choice(questions)} {seed}-{number}"


def facts() -> list[tuple[str, str]]:
    """(question, fact) for each entry of the dictionary; a learner quotes the sentence and asks for the word in it."""
    return [
        (
            f"{entry['example']} What does {entry['headword']} mean?",
            f"{entry['headword']}: {entry['meaning']} {entry['example']}",
        )
        for entry in _lines("english_at_work/entries.jsonl")
    ]


def filler_words() -> list[str]:
    """The words of the English lessons' paragraphs, in order; they say nothing of the dictionary."""
    lessons = [lesson["markdown"] for lesson in _lines("first_steps/lessons.jsonl") if lesson["locale"] == "en"]
    lines = [line for lesson in lessons for line in lesson.splitlines()]
    return " ".join(line for line in lines if len(line) > _PARAGRAPH and line[0] not in _NO_PROSE).split()


def _sentences() -> list[str]:
    texts = [f"{entry['meaning']} {entry['example']}" for entry in _lines("english_at_work/entries.jsonl")]
    return [sentence for text in texts for sentence in re.split(r"(?<=[.!?])\s+", text) if len(sentence) > 10]


def _lines(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (SAMPLES / name).read_text().splitlines()]
