"""The papers' experiments as model files (`madi new tracked`, ...): written from the Python models, each with the run of its
experiment. `python -m madi.papers.files` writes them anew; a test holds them against the Python models.

(The vehicle of five degrees of freedom, templates/five-dof.yaml, is written by hand, in the paper's inches and pounds.)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from madi.model.model import Model
from madi.papers import lane_change, ralf, rrc, rssr, six_by_six, tracked
from madi.schema.write import document, to_yaml

FOLDER = Path(__file__).parents[1] / "templates"
FILES: dict[str, tuple[Callable[[], Model], str, dict[str, Any]]] = {
    "tracked": (
        tracked.model, "A tracked vehicle over a half-round bump at 11 m/s (P0)",
        {"duration": tracked.DURATION, "method": "rk4", "step": 2e-4, "every": 5e-3},
    ),
    "rssr": (
        rssr.model, "The RSSR mechanism, its coupler a body (P0)",
        {"duration": rssr.DURATION, "method": "abm", "rtol": 1e-10, "reactions": ["S1", "S2"]},
    ),
    "rssr-distance": (
        lambda: rssr.model("distance"), "The RSSR mechanism, its coupler a massless rod (P0)",
        {"duration": rssr.DURATION, "method": "abm", "rtol": 1e-10},
    ),
    "rrc": (
        rrc.first, "The RRC robot arm: joint 2 driven, its load wanted, rolls locked, 4 and 6 free (P1)",
        {"duration": 5.0, "method": "ab3", "step": 1e-3, "reactions": ["2"], "every": 1e-2},
    ),
    "rrc-spring": (
        rrc.second, "The RRC robot arm, its tool tied to the ground by a stiff spring, joint 4 driven (P1)",
        {"duration": 1.0, "method": "ab3", "step": 1e-5, "reactions": ["4"], "every": 1e-3},
    ),
    "lane-change": (
        lane_change.model, "A car with McPherson struts and a twist beam changes lanes at 40 km/h (P2)",
        {"duration": lane_change.DURATION, "every": 0.01, "loops": "pseudo-inverse", **lane_change.TIGHT},
    ),
    "ralf": (
        ralf.driven, "RALF, a large arm with flexible links and a parallelogram (P3)",
        {"duration": ralf.DURATION, "loops": "svd", "rtol": 1e-8, "every": 5e-3},
    ),
    "6x6": (
        six_by_six.experiment, "A 6x6 vehicle over bumps that differ on its two sides, in real time (P4)",
        {"duration": six_by_six.DURATION, "method": {"newmark": {"iterations": 2, "jacobian": "step"}}, "step": 0.01},
    ),
}  # fmt: skip


def text(name: str) -> str:
    """The file of an experiment."""
    draw, told, run = FILES[name]
    model = draw()
    model.run = dict(run)
    return f"# {told}\n{to_yaml(document(model))}"


if __name__ == "__main__":
    for name in FILES:
        (FOLDER / f"{name}.yaml").write_text(text(name), encoding="utf-8")
