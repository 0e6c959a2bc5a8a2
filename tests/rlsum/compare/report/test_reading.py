from __future__ import annotations

from rlsum.compare.report.reading import side_by_side
from rlsum.records import Output

SOURCE = "a fire broke out in Velmora ."


def outputs(name: str, text: str, ids) -> dict[str, Output]:
    return {str(number): Output(str(number), SOURCE, ("a *fire* <b>",), text, name) for number in ids}


def test_chosen_articles_are_side_by_side_with_whoever_has_them():
    systems = {"lead": outputs("lead", "a fire", range(3)), "model [1]": outputs("model", "a flood", range(2))}
    two, one = side_by_side(systems, ["1", "2"])
    assert (two.id, list(two.summaries), list(one.summaries)) == ("1", ["lead", "model [1]"], ["lead"])
    assert two.summaries["model [1]"] == "a flood"
