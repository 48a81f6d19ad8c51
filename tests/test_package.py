"""The package as such: light import, import direction, notation, README and documentation that run."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "madi"

# the path data takes; a folder imports only from folders before it
PATH = ["errors", "files", "kernel", "spatial", "joints", "bodies", "constraints", "road", "tir", "flexible", "dynamics",
        "forces", "model", "signals", "schema", "topology", "loops", "cartesian", "engines", "symbolic", "integrate",
        "observation", "system", "export", "results", "checkpoint", "solver", "solver_cartesian", "pipeline", "pace",
        "batch", "equilibrium", "linearization", "comparison", "doctor", "view", "imports", "vehicle", "verify", "papers",
        "bench", "cli", "__main__"]  # fmt: skip


# folders whose functions reach ahead when they are called: they answer with what comes later on the path
AHEAD = {
    "model": {"signals", "topology", "system", "schema", "pipeline", "integrate"}, "loops": {"topology"},
    "flexible": {"symbolic"}, "system": {"loops", "engines", "symbolic", "integrate", "topology"}, "engines": {"symbolic"},
    "signals": {"symbolic"}, "schema": {"signals", "symbolic", "view"}, "topology": {"symbolic"},
    "results": {"schema", "view"}, "solver": {"results"}, "forces": {"model"}, "tir": {"forces"}, "papers": {"bench"},
    "bench": {"cli"},
}  # fmt: skip


def imports(path, inside=False):
    """Imports at the top; `inside`: of functions, which run later."""
    tree = ast.parse(path.read_text())
    tested = [t for t in ast.walk(tree) if isinstance(t, ast.If) and "TYPE_CHECKING" in ast.dump(t.test)]
    typed = {id(node) for test in tested for node in ast.walk(test)}
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree) if inside else tree.body:
        if id(node) in typed or (inside and id(node) in top):
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("madi."):
            yield node.module.split(".")[1]
        if isinstance(node, ast.Import):
            for name in node.names:
                if name.name.startswith("madi."):
                    yield name.name.split(".")[1]


def test_imports_point_backwards():
    wrong = []
    for path in SOURCE.rglob("*.py"):
        part = path.relative_to(SOURCE).parts
        here = part[0].removesuffix(".py")
        if here == "__init__":
            continue
        for there in imports(path):
            if PATH.index(there) > PATH.index(here):
                wrong.append(f"{path.relative_to(ROOT)} imports madi.{there}")
    assert not wrong, wrong


def test_functions_reach_ahead_only_where_that_is_known():
    """Imports inside functions may point forward, but a new pair of folders that does so is a decision."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        here = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if here in PATH:
            for there in imports(path, inside=True):
                if there in PATH and PATH.index(there) > PATH.index(here):
                    found.setdefault(here, set()).add(there)
    new = {here: sorted(there - AHEAD.get(here, set())) for here, there in found.items() if there - AHEAD.get(here, set())}
    assert not new


def test_compiled_code_is_keyed_by_every_kernel():
    """A changed kernel must never meet old machine code: no kernel lives in a folder that the key leaves out."""
    from madi.engines.cache import NOT_COMPILED

    for folder in NOT_COMPILED:
        files = [SOURCE / folder] if folder.endswith(".py") else (SOURCE / folder).rglob("*.py")
        for path in files:
            assert path.exists(), path
            assert "@kernel" not in path.read_text(), path


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_is_light():
    out = run_python("import sys, madi; print(sorted({m.split('.')[0] for m in sys.modules}))")
    for heavy in ("numba", "casadi", "sympy", "matplotlib", "xarray", "pandas", "scipy", "typer", "networkx"):
        assert f"'{heavy}'" not in out, heavy


def test_import_takes_little_more_than_numpy():
    code = "import time, numpy; t = time.perf_counter(); import madi; print(time.perf_counter() - t)"
    assert min(float(run_python(code)) for _ in range(3)) < 0.3


def test_every_name_of_the_face_is_there():
    import madi

    for name in madi.__all__:
        assert getattr(madi, name) is not None


def test_notation_table_names_things_that_exist():
    """docs/notation.md: the last column is the name in the code, a field of `work` or `model` or a function."""
    from madi.topology.layout import Arrays, Work

    text = "\n".join(p.read_text() for p in SOURCE.rglob("*.py"))
    rows = [line for line in (ROOT / "docs" / "notation.md").read_text().splitlines() if line.startswith("| `")]
    assert len(rows) > 15
    for row in rows:
        for name in re.findall(r"`([^`]+)`", row.split("|")[-2]):
            owner, _, field = name.rpartition(".")
            if owner:
                assert field in {"work": Work, "model": Arrays}[owner]._fields, name
            else:
                assert f"def {name}(" in text, name


def blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), flags=re.S)


DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", [p for p in DOCUMENTS if blocks(p)], ids=lambda p: p.relative_to(ROOT).as_posix())
def test_code_in_documents_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space = {"__name__": "document"}
    for block in blocks(path):
        exec(compile(block, str(path), "exec"), space)


def test_no_kernel_asks_for_a_joint_type():
    """`joints/ladder.py` is made from the registry: no kernel names a type that a user can draw."""
    from madi.joints import KINDS, MODULES

    names = rf"\b({'|'.join(name.upper() for name in KINDS if name != 'modal')})\b"
    looked = 0
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        if "@kernel" in text and path.name != "dispatch.py" and "cartesian" not in path.parts:  # which shares nothing
            looked += 1
            assert not re.search(names, text), path
    assert looked > 40
    for module in MODULES:
        assert module.KIND.one_axis == hasattr(module, "motion"), module
    assert len({code for kind in KINDS.values() for code in kind.codes}) == len(KINDS) + 1  # and the base


def test_references_in_file_heads_are_in_the_list():
    """Heads of files cite by keys: each is an entry of docs/references.md."""
    known = set(re.findall(r"\*\*\[([^\]]+)\]\*\*", (ROOT / "docs" / "references.md").read_text()))
    cited = 0
    for path in sorted(SOURCE.rglob("*.py")):
        head = ast.get_docstring(ast.parse(path.read_text())) or ""
        _, _, listed = head.partition("docs/references.md: ")
        for key in re.findall(r"\[([^\]]+)\]", listed.replace("\n", " ")):
            assert key in known, (path.name, key)
            cited += 1
    assert cited > 50
