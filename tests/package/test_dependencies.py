"""What the package imports is what it declares, and the other way round."""

import ast
import re
import sys
import tomllib

from tests.package.places import ROOT, SOURCE

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CALLED = {"yaml": "pyyaml", "pinocchio": "pin", "sksundae": "scikit-sundae"}  # where the distribution has another name
BEHIND = {"h5netcdf"}  # what xarray writes netCDF by
NOT_OURS = {"docs", "test"}  # extras for the repository
TOOLS = {"ziglang"}  # a linker, asked for by hatch_build.py
MEASURED = {"pydrake"}  # beside madi, where it is installed
HOSTS = {"IPython"}  # a notebook that madi runs in; nothing is imported where none is


def distribution(requirement):
    return re.match(r"[\w.-]+", requirement).group().lower().replace("_", "-")


def declared():
    """Distributions by where they are declared."""
    extras = {name: set(map(distribution, of)) for name, of in PROJECT["optional-dependencies"].items()}
    return {"": set(map(distribution, PROJECT["dependencies"]))} | extras


def imported(tree):
    """Names of modules, those given to import_module included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "find_spec")):
            yield from (word.value for word in node.args if isinstance(word, ast.Constant))


def third_parties():
    """Distribution: files that import it."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for name in imported(ast.parse(path.read_text(encoding="utf-8"))):
            top = name.partition(".")[0]
            if top != "madi" and top not in sys.stdlib_module_names:
                found.setdefault(CALLED.get(top, top), []).append(path.relative_to(SOURCE).as_posix())
    return found


def test_every_import_is_declared():
    known = set().union(*(names for extra, names in declared().items() if extra not in NOT_OURS)) | TOOLS | HOSTS | MEASURED
    lost = {name: files for name, files in third_parties().items() if name not in known}
    assert not lost


def test_everything_declared_is_imported():
    used = set(third_parties()) | BEHIND
    for extra, names in declared().items():
        assert extra in NOT_OURS or names <= used, (extra, names - used)


def test_the_notice_lists_every_dependency():
    text = (
        (ROOT / "NOTICE")
        .read_text(encoding="utf-8")
        .lower()
        .replace("pinocchio", "pin")
        .replace("scikit-sundae", "scikit-sundae")
    )
    for extra, names in declared().items():
        assert extra in NOT_OURS or not [name for name in names if name not in text]


def test_no_address_is_of_one_machine():
    for address in PROJECT["urls"].values():
        assert re.match(r"https://(github\.com/madi-dynamics/madi|madi-dynamics\.github\.io/madi)\b", address)
