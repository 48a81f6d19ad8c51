"""CONTRIBUTING.md does what it says: a joint, a force, a kind of body, an integrator and a loop method are added to a copy
of the package, each in files the guide names and no others, and give the answers of what madi has already."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.package.places import ROOT, SOURCE

TOYS = Path(__file__).parent / "toys"
JOINT, BODY, FORCE, METHOD, LOOPS = "A joint", "A kind of body", "A force", "An integrator", "A loop method"
NEW = {
    JOINT: "joints/slot.py", FORCE: "forces/cubic_spring.py", BODY: "bodies/gyrostat.py", METHOD: "integrate/heun.py",
    LOOPS: "loops/penalty.py",
}  # fmt: skip
SLOT = '''    def slot(self, name: str, parent: Any, child: Any, at: Vector, axis: Vector, x_axis: Vector = None,
             q0: Vector = None, v0: Vector = None, cut: bool | None = None, armature: Vector = 0.0) -> Joint:
        """A pin in a slot along `x_axis`, `axis` along the pin."""
        given = {"at": at, "axes": (axis,), "x_axis": x_axis, "q0": q0, "v0": v0, "cut": cut, "armature": armature}
        return self._joint("slot", name, parent, child, **given)

'''
SLOT_IN_FILES = """    "slot": {
        **_ENDS, **_AXIS, "x_axis": (AXIS, "along the slot"), **_start("slot"), **_CUT, **_rotor("slot"),
    },
"""
SPRING = '''    def cubic_spring(self, name: str, joint: Any, stiffness: float) -> Force:
        """A spring that grows with the cube of a joint coordinate."""
        return self._force("cubic_spring", name, joint, stiffness=stiffness)

'''
SPRING_IN_FILES = """    "cubic_spring": {"joint": (JOINT, "what it holds"), "stiffness": (Number("any"), "of the cube")},
"""
GYROSTAT = '''    def gyrostat(self, name: str, mass: float, inertia: Any, rotor: Any, position: Vector = None) -> Body:
        """A rigid body with a rotor of constant momentum in it."""
        body = self.body(name, mass, inertia=inertia, position=position or (0, 0, 0))
        body.rotor = rotor
        return body

'''
GYROSTAT_IN_FILES = """    "gyrostat": {
        "mass": (Number("kg"), "its mass"), "inertia": (Inertia(), "about its centre"),
        "rotor": (Vector("1"), "momentum of the rotor"), "position": (PLACE, "its centre"),
    },
"""
PENALTY = '''@dataclass(frozen=True)
class Penalty(LoopMethod):
    """Springs in place of constraints."""

    stiffness: float = 1e6
    damping: float = 1e3
    name = "penalty"
    forward = "penalty"
    close = None
    formulations = ("recursive",)

    def put(self, options: LoopOptions) -> None:
        options.feedback_position, options.feedback_rate = self.stiffness, self.damping


'''
# section of the guide, file, where in it (at the ^), what is put there
EDITS = [
    (JOINT, "joints/__init__.py", "universal^\n", ", slot"),
    (JOINT, "joints/__init__.py", "free, modal^)", ", slot"),
    (JOINT, "model/model.py", "^    def revolute(self", SLOT),
    (JOINT, "schema/kinds.py", '^    "planar": {\n', SLOT_IN_FILES),
    (FORCE, "forces/__init__.py", "^    elastic,\n", "    cubic_spring,\n"),
    (FORCE, "forces/__init__.py", "joint_characteristic, state^,\n)", ", cubic_spring"),
    (FORCE, "model/model.py", "^    def joint_spring(self", SPRING),
    (FORCE, "schema/kinds.py", '^    "joint_spring": {', SPRING_IN_FILES),
    (BODY, "bodies/__init__.py", "import ^modal, modal_slopes", "gyrostat, "),
    (BODY, "bodies/__init__.py", "= (modal,^)", " gyrostat"),
    (BODY, "bodies/fields.py", "^    mass: Reals", '    rotor: Reals = reals("n", 3)  # of a gyrostat\n'),
    (BODY, "model/elements.py", "    flexible: Any = None\n^", "    rotor: Any = None\n"),
    (BODY, "model/model.py", "^    def beam(\n", GYROSTAT),
    (BODY, "schema/kinds.py", '^    "beam": {\n', GYROSTAT_IN_FILES),
    (METHOD, "integrate/__init__.py", "^from madi.integrate.method", "from madi.integrate.heun import Heun\n"),
    (METHOD, "integrate/__init__.py", "Radau, IDA, CVODE^", ", Heun"),
    (METHOD, "__init__.py", "Newmark GeneralizedAlpha Radau ^", "Heun "),
    (METHOD, "__init__.py", '^    "IDA",\n', '    "Heun",\n'),
    (LOOPS, "__init__.py", "Augmented Baumgarte^", " Penalty"),
    (LOOPS, "__init__.py", '^    "Projection",\n', '    "Penalty",\n'),
    (LOOPS, "loops/methods.py", "^LOOP_METHODS: dict", PENALTY),
    (LOOPS, "loops/methods.py", "Augmented, Baumgarte^)", ", Penalty"),
    (LOOPS, "equations/__init__.py", "^from madi.kernel import", "from madi.loops.penalty import forward_penalty\n"),
    (LOOPS, "equations/__init__.py", '^    "multipliers":', '    "penalty": Entry(forward_penalty),\n'),
]


def sections():
    """The guide's parts by their titles, and the files each names."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    parts = dict(part.split("\n", 1) for part in text.split("\n## ")[1:])
    return {title: set(re.findall(r"`(?:src/madi/)?(\w+/\w+\.py|__init__\.py)`", text)) for title, text in parts.items()}


def test_the_guide_names_the_files_that_a_new_thing_takes():
    named = sections()
    for title, path in NEW.items():
        assert re.sub(r"\w+\.py$", "NAME.py", path) in named[title], (title, path)
    for title, path, _, _ in EDITS:
        assert path in named[title], (title, path)


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A copy of the package with all of it."""
    place = tmp_path_factory.mktemp("contributed")
    shutil.copytree(SOURCE, place / "madi", ignore=shutil.ignore_patterns("__pycache__"))
    for path in NEW.values():
        shutil.copy(TOYS / Path(path).name, place / "madi" / path)
    for _, path, where, added in EDITS:
        text, (before, after) = (place / "madi" / path).read_text(), where.split("^")
        assert text.count(before + after) == 1, (path, where)
        (place / "madi" / path).write_text(text.replace(before + after, before + added + after))
    return place


def run(extended, *words):
    env = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(extended),
        "MADI_CACHE_DIR": str(extended / "cache"),
        "HOME": str(extended),
    }
    done = subprocess.run(
        [sys.executable, TOYS / "answers.py", *words], env=env, capture_output=True, text=True, cwd=extended
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("toy", ["joint", "force", "body", "integrator", "loops", "files"])
def test_what_is_added_gives_known_answers(extended, toy):
    assert run(extended, toy, "plain").strip().endswith(f"{toy}: as it should be")


@pytest.mark.slow
def test_what_is_added_is_compiled_too(extended):
    """Joint, force, kind of body and integrator in one model, as machine code and as Python."""
    assert "one motion" in run(extended, "machine", "jit")


@pytest.mark.slow
@pytest.mark.parametrize("toy", ["joint", "force", "body", "integrator", "loops"])
def test_what_is_added_gives_known_answers_as_machine_code(extended, toy):
    assert run(extended, toy, "jit").strip().endswith(f"{toy}: as it should be")
