"""Models and runs by name, for commands that take one: a file, the papers', known mechanisms; or what lies here."""

from __future__ import annotations

import runpy
import sys
import traceback
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from madi.errors import InputError, MadiError
from madi.model.model import Model

NAMED: dict[str, tuple[Any, ...]] = {  # module, function, its arguments
    "6x6": ("papers.six_by_six", "experiment"), "tracked": ("papers.tracked", "model"), "rrc": ("papers.rrc", "first"),
    "five-dof": ("papers.five_dof", "model"), "rssr": ("papers.rssr", "model"), "andrews": ("verify.andrews", "model"),
    "four-bars": ("verify.four_bars", "model", 2), "bricard": ("verify.bricard", "model"),
    "car": ("papers.lane_change", "model"), "ralf": ("papers.ralf", "driven"),
}  # fmt: skip
FILES = (".yaml", ".yml")


def find_model(word: str | None, parameters: dict[str, str] | None = None) -> Model:
    """The model of that file (.yaml, or .py that defines `model`) or name; without a word, of the model file here."""
    word = chosen_model(word)
    path = Path(word)
    if path.suffix.lower() in FILES:
        from madi.schema.read import load

        return load(path, **(parameters or {}))
    if path.suffix.lower() in (".urdf", ".xml") and path.exists():
        return imported(path)
    if parameters:
        raise InputError(f"{word}: only model files (.yaml) have parameters that --set can change")
    if word in NAMED and not path.exists():
        module, name, *arguments = NAMED[word]
        drawn: Model = getattr(import_module(f"madi.{module}"), name)(*arguments)
        return drawn
    if path.suffix != ".py":
        raise InputError(
            f"there is no model {word!r}: give a model file (.yaml), a Python file that defines `model`, or one of "
            f"{', '.join(NAMED)}"
        )
    if not path.exists():
        raise InputError(f"there is no file {word!r}")
    return _python(path)


def chosen_model(word: str | None) -> str:
    """What was named, or the model file that is here."""
    return str(_newest("model file", FILES, "madi new four-bar")) if word is None else word


def imported(path: Path, limits: bool = False, base: str = "fixed", friction: bool = False) -> Model:
    """A robot of another program's file, URDF or MJCF by its root element."""
    from madi.imports.mjcf import load_mjcf
    from madi.imports.urdf import load_urdf
    from madi.imports.xml import read_xml

    if read_xml(path).tag == "mujoco":
        return load_mjcf(path, limits, friction)
    return load_urdf(path, base, limits, friction=friction)


def _python(path: Path) -> Model:
    """The `model` of a user's Python file."""
    try:
        sys.path.insert(0, str(path.resolve().parent))  # as for a script: it may import what lies beside it
        found = runpy.run_path(str(path)).get("model")
        found = found() if callable(found) else found
    except MadiError:
        raise
    except Exception as error:  # the user's file: its own mistakes, told in one line
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        line = getattr(error, "lineno", None) or (lines[-1] if lines else "?")
        raise InputError(f"{path}, line {line}: {type(error).__name__}: {error}") from None
    if not isinstance(found, Model):
        raise InputError(f"{path}: the file defines no `model`, a madi.Model")
    return found


def _newest(what: str, suffixes: tuple[str, ...], cure: str) -> Path:
    """The one file of that kind in the folder, or the newest of several."""
    found = [path for path in Path().iterdir() if path.suffix.lower() in suffixes and path.is_file()]
    if not found:
        raise InputError(f"there is no {what} in this folder; name one, or make one: {cure}")
    chosen = max(found, key=lambda path: path.stat().st_mtime)
    if len(found) > 1:
        print(f"madi: {chosen} (the newest of {len(found)} {what}s here)", file=sys.stderr)
    return chosen


def find_run(word: str | None) -> tuple[Any, Path]:
    """The run of that file; without a word, of the newest one here."""
    from madi.results.run import load_run

    path = Path(word) if word is not None else _newest("run", (".nc",), "madi run")
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}; `madi run` makes one")
    return load_run(path), path


def templates() -> dict[str, str]:
    """Names and first lines of the example models."""
    folder = resources.files("madi") / "templates"
    texts = {entry.name: entry.read_text(encoding="utf-8") for entry in folder.iterdir() if entry.name.endswith(".yaml")}
    return {name.removesuffix(".yaml"): texts[name].splitlines()[0].lstrip("# ") for name in sorted(texts)}


def template(name: str) -> str:
    """The text of an example model."""
    known = templates()
    if name not in known:
        listed = "\n".join(f"  {word:14} {told}" for word, told in known.items())
        raise InputError(f"there is no template {name!r}. There are:\n{listed}")
    return (resources.files("madi") / "templates" / f"{name}.yaml").read_text(encoding="utf-8")


def seconds(text: str) -> float:
    """ "1ms", "0.5 s", "20us", "0.001": a time in seconds."""
    word = text.strip().replace(" ", "").removeprefix("every")
    for unit, size in (("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("s", 1.0), ("min", 60.0), ("", 1.0)):
        if word.endswith(unit):
            try:
                value = float(word[: len(word) - len(unit)] if unit else word) * size
            except ValueError:
                continue
            if value > 0:
                return value
    raise InputError(f"{text!r} is not a time: write for example 1ms, 20us or 0.01")
