"""Files from strangers: mutated ones load or give a madi error that names the file; nothing else happens."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def fuzz(kind, first, count):
    command = [sys.executable, "-m", "tests.imports.fuzz_worker", kind, str(first), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=3000)
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout.strip().splitlines()[-1])
    assert report["bad"] == [], json.dumps(report["bad"][:5], indent=2)
    assert report["touched"] == []
    assert report["loaded"] + report["errors"] == count
    assert report["errors"] > 0.3 * count, "the mutations do something"
    assert not Path("/tmp/hacked").exists()
    return report


@pytest.mark.parametrize(("kind", "count"), [("model", 400), ("urdf", 150), ("mjcf", 150), ("tir", 100)])
def test_mutated_files_load_or_are_told(kind, count):
    fuzz(kind, 0, count)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "first", "count"), [
    *(("model", 10_000 + 1250 * k, 1250) for k in range(4)), ("urdf", 10_000, 800), ("mjcf", 10_000, 800),
    ("tir", 10_000, 400),
])  # fmt: skip
def test_many_mutated_files_load_or_are_told(kind, first, count):
    fuzz(kind, first, count)
