"""The package as such: light import, import direction, keys of compiled code, dispatch of joint types."""

import ast
import re
import subprocess
import sys

from tools.path import PICTURE, folders, picture

from tests.package.places import ROOT, SOURCE

PATH = folders()  # in their order, from docs/architecture.md: a folder imports only from folders before it

# imports inside functions that reach ahead: a user's object answers with what comes later; casadi is loaded when needed
AHEAD = {
    "model": {"topology", "system", "schema", "run", "integrate"}, "system": {"assembly"}, "results": {"schema", "view"},
    "run": {"schema"},
    "signals": {"symbolic"}, "flexible": {"symbolic"},
    "papers": {"bench"}, "bench": {"cli"},  # an experiment's timing, a benchmark's model by name
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


def test_the_page_lists_every_folder():
    folders = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.rglob("*.py")}
    assert folders - {"__init__", "__main__"} == set(PATH)
    assert len(PATH) == len(set(PATH))


def test_the_picture_of_the_path_is_that_of_the_imports():
    assert PICTURE.read_text() == picture(), "make docs draws it anew"


def test_imports_point_backwards():
    wrong = []
    for path in SOURCE.rglob("*.py"):
        part = path.relative_to(SOURCE).parts
        here = part[0].removesuffix(".py")
        if here in ("__init__", "__main__"):
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
    """A changed kernel must never meet old machine code: kernels, and the names they use, are of folders in the key."""
    from madi.engines.cache import KERNELS

    kernels = 0
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        found = [
            f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and "kernel" in map(ast.unparse, f.decorator_list)
        ]
        kernels += len(found)
        assert not found or path.relative_to(SOURCE).parts[0] in KERNELS, path
        others = {
            alias.asname or alias.name
            for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("madi.")
            for alias in node.names if (node.module or "").split(".")[1] not in KERNELS
        }  # fmt: skip
        used = {node.id for f in found for node in ast.walk(f) if isinstance(node, ast.Name)}
        assert not used & others, path
    assert kernels > 100


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


# literals of kernels that are no tolerances: coefficients of the series for small rotations
SERIES = {"spatial/rotation.py": {120960.0, 362880.0, 645120.0, 1209600.0}}


def test_kernels_name_their_tolerances():
    """A tolerance, a guard, a limit is a constant with its reason: kernels have no very small or large numbers inside."""
    looked, found = 0, []
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(path.read_text())):
            marks = {ast.unparse(mark) for mark in node.decorator_list} if isinstance(node, ast.FunctionDef) else set()
            if not marks & {"kernel", "inline", "separate"}:
                continue
            looked += 1
            numbers = (inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant))
            odd = {x for x in numbers if type(x) is float and x and not 1e-3 < abs(x) < 1e5} - SERIES.get(name, set())
            found += [f"{name}: {node.name}: {x!r}" for x in sorted(odd)]
    assert looked > 300
    assert not found


def test_no_kernel_asks_for_a_joint_type():
    """`joints/ladder.py` is made from the registry: no kernel names a type that a user can draw."""
    from madi.joints import KINDS, MODULES

    names = rf"\b({'|'.join(name.upper() for name in KINDS if name != 'modal')})\b"
    looked = 0
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        if "@kernel" in text and path.name != "dispatch.py":
            looked += 1
            assert not re.search(names, text), path
    assert looked > 40
    for module in MODULES:
        assert module.KIND.one_axis == hasattr(module, "motion"), module
    assert len({code for kind in KINDS.values() for code in kind.codes}) == len(KINDS) + 1  # and the base


def test_no_element_is_asked_for_its_kind_by_name():
    """What the rest of the package must know of a kind is a flag in its file. (Files and imports translate names.)"""
    from madi.constraints import CONSTRAINTS
    from madi.forces import KINDS as FORCES
    from madi.joints import KINDS

    asked = re.compile(rf"\.kind (==|!=|in|not in) [(\"]+({'|'.join((*KINDS, *FORCES, *CONSTRAINTS))})\"")
    translate = ("imports", "schema", "verify", "bench", "papers", "vehicle")
    found = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] not in translate
        for line in path.read_text().splitlines()
        if asked.search(line)
    ]
    assert not found, found
