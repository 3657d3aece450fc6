import json
from pathlib import Path

from loadtests.quality.own_stack import events


def test_events_are_found_in_a_log_with_other_lines(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    lines = [{"event": "used", "ready": 1}, {"event": "other"}, {"no": "event"}, {"event": "used", "ready": 2}]
    text = "a warning\n" + "".join(f"{json.dumps(line)}\n" for line in lines)
    (tmp_path / "logs" / "embedding.log").write_text(text)
    assert [event["ready"] for event in events(tmp_path, "embedding", "used")] == [1, 2]
