"""Mutates files and loads them, in a process of its own: an audit hook notes every file, process and connection it touches.

    python -m tests.imports.fuzz_worker KIND FIRST COUNT     KIND: model, urdf, mjcf, tir

Prints one JSON object: how many loaded, how many gave a madi error, and everything that must not happen.
"""

from __future__ import annotations

import json
import os
import random
import sys
import sysconfig
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import madi
from madi.cli.models import template, templates
from madi.forces.tir import read_tir
from madi.imports.mjcf import load_mjcf
from madi.imports.urdf import load_urdf
from tests.imports.robots import ARM, LOOP, random_mjcf, random_urdf

SLOW = 20.0  # s: what takes longer hangs
WORDS = [
    "1e999", "-1e400", ".nan", ".inf", "-.inf", "nan", "0", "-1", "1e-320", "9" * 400, "null", "true", "~", "[]", "{}", "''",
    '""',     "[[[[[[[[]]]]]]]]", "{a: {a: {a: {a: 1}}}}", "&a", "*a", "!!binary aGk=",
    "!!python/object/apply:os.system ['touch /tmp/hacked']",
    "<<: *x", "../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "\x00", "\ufeff", "\u2028", "é" * 50, "%s%s%n", "1 kg m s",
    "__import__('os').system('touch /tmp/hacked')", "(" * 200, "9**9**9**9", "1/0", "sqrt(-1)", "t", "q(A)", "q()", "sin", "3 m + 2 kg",
    "include: four-bar.yaml", "include: [fuzz.yaml]", "- ", "? ", ": ", "| ", "> ", "---", "...", "#", "\t", "a" * 3000,
]  # fmt: skip
XML_WORDS = [
    "<!DOCTYPE a [<!ENTITY x 'y'>]>", "&x;", "&lt;", "&#0;", "<![CDATA[x]]>", "<!-- -->", "<?xml version='9'?>", "</robot>", "</body>",
    "<body>", "<include file='/etc/passwd'/>", "<include file='fuzz.xml'/>", "nan", "inf", "1e999", "", "0 0 0", "1 2", "x", "-1",
    "<link name='base'/>", "package://../../etc/passwd", "\x00", "<" * 50, "'", '"', "=", "<a" + " b='c'" * 500 + "/>",
]  # fmt: skip


def seeds(kind):
    if kind == "model":
        return [template(name) for name in templates()]
    if kind == "tir":
        return [
            path.read_text(errors="replace") for path in sorted((Path(__file__).parents[1] / "data/tires").glob("*.tir"))
        ]
    import numpy as np

    rng = np.random.default_rng(0)
    if kind == "urdf":
        return [ARM, *(random_urdf(rng, 4).replace("><", ">\n<") for _ in range(3))]
    return [LOOP, *(random_mjcf(rng, 2, bool(k)).replace("><", ">\n<") for k in range(2))]


def mutated(text, rng, words):
    """One to six small accidents; half of the files keep their form and have one or two wrong values."""
    mild = rng.random() < 0.5
    for _ in range(rng.randint(1, 2 if mild else 6)):
        lines = text.split("\n")
        k, at = rng.randrange(len(lines)), rng.randrange(len(text) + 1)
        kind = rng.choice([5, 5, 5, 3, 4, 6]) if mild else rng.randrange(9)
        if kind == 0:
            text = text[:at] + text[at + rng.randint(1, 20) :]
        elif kind == 1:
            text = text[:at] + rng.choice(words) + text[at:]
        elif kind == 2:
            text = text[:at] + chr(rng.choice([rng.randrange(32, 127), rng.randrange(0x20, 0x3000), 10])) + text[at + 1 :]
        elif kind == 3:
            lines.insert(rng.randrange(len(lines)), lines[k])
            text = "\n".join(lines)
        elif kind == 4:
            del lines[k]
            text = "\n".join(lines) or " "
        elif kind == 5:  # a number becomes another word
            spots = [i for i, c in enumerate(text) if c.isdigit()]
            if spots:
                start = rng.choice(spots)
                end = start
                while end < len(text) and (text[end].isalnum() or text[end] in ".-+"):
                    end += 1
                plain = rng.choice(["0", "-1", "1e9", "1e-9", "3 kg", "2 m", "L", "-0.5", "x", "1e400"])
                text = text[:start] + (plain if mild else rng.choice(words)) + text[end:]
        elif kind == 6:
            j = rng.randrange(len(lines))
            lines[k], lines[j] = lines[j], lines[k]
            text = "\n".join(lines)
        elif kind == 7:
            lines[k] = " " * rng.randint(0, 6) + lines[k].strip()
            text = "\n".join(lines)
        else:
            text = text[:at]
        text = text or " "
    return text


ALLOWED = tuple({os.path.realpath(path) for path in [
    sys.prefix, sys.base_prefix, sysconfig.get_paths()["stdlib"], str(Path(madi.__file__).parents[1]), str(Path(__file__).parents[1]),
    "/dev/null", "/dev/urandom", "/proc", "/sys", "/etc/localtime", "/usr/lib", "/usr/share/zoneinfo", "/lib",
]})  # fmt: skip


def watch(folder):
    """Note what is touched outside of the folder and of Python itself."""
    touched = []

    def hook(event, arguments):
        if event in (
            "os.system",
            "subprocess.Popen",
            "socket.connect",
            "socket.getaddrinfo",
            "os.exec",
            "shutil.rmtree",
            "os.remove",
        ):
            touched.append(f"{event} {arguments!r}"[:200])
        if event == "open" and isinstance(arguments[0], str | bytes):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if not path.startswith((*ALLOWED, folder)):
                touched.append(f"open {path}")

    sys.addaudithook(hook)
    return touched


def main():
    kind, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    folder = os.path.realpath(tempfile.mkdtemp())
    names = {"model": "fuzz.yaml", "urdf": "fuzz.urdf", "mjcf": "fuzz.xml", "tir": "fuzz.tir"}
    load = {"model": madi.load, "urdf": load_urdf, "mjcf": load_mjcf, "tir": read_tir}[kind]
    path = Path(folder) / names[kind]
    known = seeds(kind)
    for text in known:  # everything is imported before anybody watches
        path.write_text(text)
        found = load(path)
        if kind != "tir":
            found.check()
    touched = watch(folder)
    warnings.simplefilter("ignore")
    report = {"loaded": 0, "errors": 0, "bad": [], "touched": touched, "slowest": 0.0}
    for seed in range(first, first + count):
        rng = random.Random(f"{kind} {seed}")
        text = mutated(rng.choice(known), rng, WORDS if kind in ("model", "tir") else XML_WORDS)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        began = time.perf_counter()
        try:
            found = load(path)
            if kind != "tir":
                found.check()  # defects are findings, not exceptions
            report["loaded"] += 1
        except madi.MadiError as error:
            report["errors"] += 1
            if names[kind] not in str(error):
                report["bad"].append({"seed": seed, "error": f"names no place: {str(error)[:200]}"})
        except BaseException as error:  # the whole point
            frames = "".join(traceback.format_exception(error)[-3:])
            report["bad"].append({"seed": seed, "error": f"{type(error).__name__}: {error}"[:200], "where": frames[-600:]})
        took = time.perf_counter() - began
        report["slowest"] = max(report["slowest"], took)
        if took > SLOW:
            report["bad"].append({"seed": seed, "error": f"took {took:.0f} s"})
    print(json.dumps(report))


if __name__ == "__main__":
    main()
