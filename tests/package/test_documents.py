"""Documents: their code runs, and notation and references are those of the source."""

import ast
import re

import pytest

from tests.package.places import ROOT, SOURCE


def test_notation_table_names_things_that_exist():
    """docs/notation.md: the last column is the name in the code, a field of `work` or `model` or a function."""
    from madi.equations.fields import Arrays, Work

    text = "\n".join(p.read_text() for p in SOURCE.rglob("*.py"))
    rows = [line for line in (ROOT / "docs" / "notation.md").read_text().splitlines() if line.startswith("| `")]
    assert len(rows) > 15
    for row in rows:
        for name in re.findall(r"`([^`]+)`", row.split("|")[-2]):
            owner, _, field = name.rpartition(".")
            if owner:
                assert field in {"work": Work, "model": Arrays}[owner].fields, name
            else:
                assert f"def {name}(" in text, name


def test_files_that_are_named_are_there():
    """Of docs, docstrings and comments: "loops/kkt.py", "tests/mechanisms.py"; in a folder's own files, "(kkt.py)"."""
    known = {path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")}
    known |= {path.relative_to(ROOT).as_posix() for path in ROOT.glob("t*/**/*.py")} | {"src/madi/__init__.py"}
    pages = [*SOURCE.rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    lost = []
    for page in pages:
        text = page.read_text()
        for name in re.findall(r"(?<![\w/.])(?:src/madi/)?((?:\w+/)+\w+\.py)\b", text):
            if name not in known and not name.endswith("/NAME.py"):
                lost.append((page.name, name))
        for name in re.findall(r"\(([a-z_]+\.py)\)", text) if page.suffix == ".py" else ():
            if not any((folder / name).exists() for folder in (page.parent, ROOT)) and not any(
                path.endswith(f"/{name}") for path in known
            ):
                lost.append((page.name, name))
    assert not lost


def blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), flags=re.S)


DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", [p for p in DOCUMENTS if blocks(p)], ids=lambda p: p.relative_to(ROOT).as_posix())
def test_code_in_documents_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space = {"__name__": "document"}
    for block in blocks(path):
        exec(compile(block, str(path), "exec"), space)


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
