"""Reports as pages for people who were not there: with date, versions and machine."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from madi.files import whole_file

PACKAGES = ("madi", "numpy", "scipy", "numba", "casadi", "pin", "mujoco", "exudyn")


def write_book(path: Path, title: str, command: str, reports: Sequence[dict[str, Any]]) -> None:
    """A page of reports; `command` is what made it."""
    lines = [f"# {title}", "", f"Written by `{command} --book ...` on {today()}. {machine()}", ""]
    for report in reports:
        lines += [f"## {report['title']}", ""]
        lines += [f"- {name}: {_shown(value)}" for name, value in report.get("values", {}).items()] + [""]
        for name, rows in report.get("tables", {}).items():
            lines += [f"### {name}", "", *table(rows), ""]
        lines += [*report.get("notes", []), ""]
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as part:
        part.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Rows as Markdown."""
    head = list(rows[0])
    cells = ["| " + " | ".join(_shown(row.get(name, "")) for name in head) + " |" for row in rows]
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *cells]


def today() -> str:
    """The date."""
    return datetime.date.today().isoformat()


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "–" if value != value else f"{value:.4g}"
    return str(value).replace("|", "/").replace("\n", " ")


def machine() -> str:
    """The processor and the versions that matter."""
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"{_processor()}, {os.cpu_count()} cores; Python {platform.python_version()}, {_compiler()}{', '.join(found)}."


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def _compiler() -> str:
    from madi.engines.compiler import compiler

    words = compiler()
    if words is None:
        return "no C compiler, "
    try:
        told = subprocess.run([*words, "--version"], capture_output=True, text=True, timeout=10).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return ""
    return f"{told[0].split('(')[0].strip()} {told[0].split()[-1]}, " if told else ""
