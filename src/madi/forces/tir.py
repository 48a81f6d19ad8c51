"""Tire property files (`.tir`): Magic Formula 5.2 and 6.1, 6.2, read to SI units. Files are data: numbers and words only.

A file is sections `[NAME]`, lines `KEY = value`, comments after `$` or `!`, words in quotes; tables and sections of other
models are passed over. [UNITS] holds for numbers that have a dimension; coefficients of the formula have none (their
angles are radians). What a key means is in the MF-Tyre manuals; the formula is forces/magic_formula.py.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from madi.errors import InputError, closest
from madi.files import read_small

UNITS: dict[str, dict[str, float]] = {
    "LENGTH": {"meter": 1.0, "metre": 1.0, "m": 1.0, "mm": 1e-3, "millimeter": 1e-3, "cm": 1e-2, "centimeter": 1e-2,
               "inch": 0.0254, "in": 0.0254, "foot": 0.3048, "feet": 0.3048, "ft": 0.3048, "km": 1e3},
    "FORCE": {"newton": 1.0, "n": 1.0, "kilonewton": 1e3, "knewton": 1e3, "kn": 1e3, "kg_force": 9.80665, "kgf": 9.80665,
              "pound_force": 4.4482216152605, "lbf": 4.4482216152605, "dyne": 1e-5},
    "ANGLE": {"radian": 1.0, "radians": 1.0, "rad": 1.0, "degree": math.pi / 180, "degrees": math.pi / 180,
              "deg": math.pi / 180},
    "MASS": {"kg": 1.0, "kilogram": 1.0, "gram": 1e-3, "g": 1e-3, "tonne": 1e3, "pound_mass": 0.45359237, "lbm": 0.45359237,
             "slug": 14.593902937},
    "TIME": {"second": 1.0, "sec": 1.0, "s": 1.0, "millisecond": 1e-3, "ms": 1e-3, "minute": 60.0, "hour": 3600.0},
    "PRESSURE": {"pascal": 1.0, "pa": 1.0, "kpascal": 1e3, "kpa": 1e3, "mpa": 1e6, "bar": 1e5, "psi": 6894.757293168},
}  # fmt: skip
# dimension of a number as powers of (length, force, angle, mass, time)
DIMENSIONS: dict[str, tuple[int, int, int, int, int]] = {
    **dict.fromkeys(("UNLOADED_RADIUS", "WIDTH", "RIM_RADIUS", "RIM_WIDTH", "BOTTOM_OFFST"), (1, 0, 0, 0, 0)),
    **dict.fromkeys(("FNOMIN", "FZMIN", "FZMAX"), (0, 1, 0, 0, 0)),
    **dict.fromkeys(("VERTICAL_STIFFNESS", "LONGITUDINAL_STIFFNESS", "LATERAL_STIFFNESS", "BOTTOM_STIFF"), (-1, 1, 0, 0, 0)),
    "VERTICAL_DAMPING": (-1, 1, 0, 0, 1),
    **dict.fromkeys(("LONGVL", "VXLOW"), (1, 0, 0, 0, -1)),
    **dict.fromkeys(("ALPMIN", "ALPMAX", "CAMMIN", "CAMMAX"), (0, 0, 1, 0, 0)),
    "MASS": (0, 0, 0, 1, 0),
    **dict.fromkeys(("IXX", "IYY"), (2, 0, 0, 1, 0)),
}
PRESSURES = ("INFLPRES", "NOMPRES", "PRESMIN", "PRESMAX", "IP", "IP_NOM")
NEEDED = ("UNLOADED_RADIUS", "FNOMIN", "VERTICAL_STIFFNESS", "PCX1", "PDX1", "PKX1", "PCY1", "PDY1", "PKY1", "PKY2")
POSITIVE = (
    "UNLOADED_RADIUS", "FNOMIN", "VERTICAL_STIFFNESS", "PCX1", "PDX1", "PKX1", "PCY1", "PDY1", "LONGVL", "LFZO", "LMUX",
    "LMUY", "LCX", "LCY", "LKX", "LKY", "LCZ", "NOMPRES",
)  # fmt: skip
RANGES = (
    ("FZMIN", "FZMAX"),
    ("KPUMIN", "KPUMAX"),
    ("ALPMIN", "ALPMAX"),
    ("CAMMIN", "CAMMAX"),
    ("RIM_RADIUS", "UNLOADED_RADIUS"),
)
SLIP_STEP = 1e-4  # slip each way, rad or 1: far within the straight part of every tire, and still with eight digits
OLD, NEW = (6, 21), (61, 62)
OTHERS = {
    5: "Magic Formula 5.0 or 5.1", 51: "a motorcycle's Magic Formula", 52: "a motorcycle's Magic Formula",
    60: "Magic Formula 6.0",
}  # fmt: skip


@dataclass(frozen=True)
class Tir:
    """A tire's numbers in SI units, by their names in the file. `version` is 5.2 or 6.1."""

    name: str
    version: float
    values: dict[str, float]
    side: str = ""  # "left", "right": which side of a car it was measured for

    def __repr__(self) -> str:
        size = f"radius {self.radius:g} m, nominal load {self.values['FNOMIN']:g} N"
        return f"<tire {self.name!r}: Magic Formula {self.version:g}, {size}, {len(self.values)} numbers>"

    def __getitem__(self, key: str) -> float:
        return self.values[key]

    def get(self, key: str, default: float = 0.0) -> float:
        """A number of the file, or the default where it says nothing."""
        return self.values.get(key, default)

    @property
    def radius(self) -> float:
        """Unloaded radius, m."""
        return self.values["UNLOADED_RADIUS"]

    def scaled(self, **factors: float) -> Tir:
        """The same tire with scaling factors or other numbers changed: tir.scaled(LMUY=0.8)."""
        from madi.forces.magic_formula import NAMES as COEFFICIENTS
        from madi.forces.magic_formula import PRESSURE_TERMS, SCALES

        known = {*self.values, *SCALES, *COEFFICIENTS, *PRESSURE_TERMS, "LMUV", "LCZ"}
        for key, value in factors.items():
            if key.upper() not in known:
                near = closest(key.upper(), sorted(known), 4)
                raise InputError(f"tire {self.name!r}: there is no number {key!r}; near it: {', '.join(near) or 'nothing'}")
            if not isinstance(value, int | float) or not math.isfinite(value):
                raise InputError(f"tire {self.name!r}: {key}={value!r} must be a finite number")
        values = normalised({**self.values, **{k.upper(): float(v) for k, v in factors.items()}})
        changed = replace(self, values=values)
        _judge(changed.values, {}, f"tire {self.name!r}")
        return changed

    def forces(
        self, fz: Any, kappa: Any = 0.0, alpha: Any = 0.0, gamma: Any = 0.0, speed: Any = None,
        pressure: float | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Steady forces and moments at the contact, ISO axes (x forward, y left, z up), angles in rad: fx, fy, mx, my, mz.
        Numbers, or arrays.

        kappa > 0 drives; tan(alpha) = velocity to the left / |forward|, so fy < 0 for alpha > 0; gamma > 0 leans the top to
        the right. `speed`: the wheel's, m/s (default: the one the tire was measured at).
        """
        from madi.forces.magic_formula import evaluate

        return evaluate(self, fz, kappa, alpha, gamma, speed, pressure)


def read_tir(path: str | Path) -> Tir:
    """Read a `.tir` file. Errors name the line and the cause."""
    text = read_small(path, "tire property file")
    try:
        return parse_tir(text, str(path))
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from None


def judged(name: str, version: float, values: dict[str, float], side: str = "") -> Tir:
    """A tire from numbers in SI units, if they can be a tire's."""
    if version not in (5.2, 6.1, 6.2):
        raise InputError(f"tire {name!r}: version {version!r} is none of 5.2, 6.1, 6.2")
    missing = [key for key in NEEDED if key not in values]
    if missing:
        raise InputError(f"tire {name!r}: {', '.join(missing)} missing; a Magic Formula tire needs them")
    tir = Tir(name, version, normalised(values), side)
    _judge(tir.values, {}, f"tire {name!r}")
    _judge_slopes(tir, {}, f"tire {name!r}")
    return tir


def parse_tir(text: str, name: str = "tire") -> Tir:
    """The same from text."""
    words, values, lines = _entries(text, name)
    fit = values.pop("FITTYP", None)
    version = _version(fit, words, lines, name)
    _to_si(values, words, lines, name)
    for old, new in (("IP", "INFLPRES"), ("IP_NOM", "NOMPRES")):
        if old in values:
            values.setdefault(new, values[old])
    missing = [key for key in NEEDED if key not in values]
    if missing:
        raise InputError(f"{name}: {', '.join(missing)} missing; a Magic Formula tire needs them")
    values = normalised(values)
    _judge(values, lines, name)
    _judge_slopes(Tir(Path(name).stem, version, values), lines, name)
    side = words.get("TYRESIDE", ("", 0))[0].lower()
    if side not in ("left", "right", "symmetric", ""):
        raise InputError(f"{name}, line {words['TYRESIDE'][1]}: TYRESIDE {side!r}: write LEFT, RIGHT or SYMMETRIC")
    return Tir(Path(name).stem, version, values, side if side in ("left", "right") else "")


def _entries(text: str, name: str) -> tuple[dict[str, tuple[str, int]], dict[str, float], dict[str, int]]:
    """Words (with their lines) and numbers; a key that is given twice with two values is reported."""
    words: dict[str, tuple[str, int]] = {}
    values: dict[str, float] = {}
    lines: dict[str, int] = {}
    section = ""
    for k, raw in enumerate(text.splitlines(), 1):
        line = re.split(r"[$!]", raw, maxsplit=1)[0].strip()
        if line.startswith("["):
            section = line.strip("[] \t").upper()
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        key = key.upper()
        if not equals or not key or (section == "UNITS") != (key in UNITS and value[:1] in "'\""):
            if equals and section == "UNITS" and key in UNITS:
                raise InputError(f"{name}, line {k}: {key} = {value}: write the unit in quotes, such as 'meter'")
            if not equals or not key or section == "UNITS":
                continue  # tables, headings, prose
        if value[:1] in ("'", '"'):
            word = value[1:].partition(value[0])[0].strip()
            place = f"UNITS.{key}" if section == "UNITS" else key
            words.setdefault(place, (word, k))
            continue
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*", key):
            continue
        if not value:
            continue  # left blank: as if it were not there
        try:
            number = float("no number" if "_" in value else re.sub(r"(?<=[\d.])[dD](?=[-+\d])", "e", value[:60]))
        except ValueError:
            raise InputError(f"{name}, line {k}: {key} = {value[:40]!r} is not a number") from None
        if not math.isfinite(number):
            raise InputError(f"{name}, line {k}: {key} = {value[:40]} is not a finite number")
        if key in values and values[key] != number and key not in ("MASS", "IXX", "IYY"):
            raise InputError(f"{name}, line {k}: {key} = {number:g}, but line {lines[key]} says {values[key]:g}; keep one")
        if key not in values:
            values[key], lines[key] = number, k
    return words, values, lines


def _version(fit: float | None, words: dict[str, tuple[str, int]], lines: dict[str, int], name: str) -> float:
    kind, line = words.get("PROPERTY_FILE_FORMAT", ("", 0))
    if fit is None:
        if kind.upper() in ("PAC2002", "MF-TYRE", "MF_05", "MF05"):
            return 5.2
        told = f"line {line}: PROPERTY_FILE_FORMAT {kind!r} is not read" if kind else "FITTYP missing"
        raise InputError(f"{name}: {told}; madi reads the Magic Formula 5.2 (FITTYP 6, or PAC2002) and 6.1, 6.2 (61, 62)")
    if kind and kind.upper() in ("FIALA", "UA", "FTIRE", "5.2.1", "PAC89", "PAC94", "SWIFT"):
        raise InputError(
            f"{name}, line {line}: PROPERTY_FILE_FORMAT {kind!r} contradicts FITTYP {fit:g} (line {lines['FITTYP']})"
        )
    if fit in OLD:
        return 5.2
    if fit in NEW:
        return 6.1
    what = OTHERS.get(int(fit), "unknown")
    raise InputError(
        f"{name}, line {lines['FITTYP']}: FITTYP {fit:g} is {what}; madi reads 6 (Magic Formula 5.2), 61 and 62"
    )


def _to_si(values: dict[str, float], words: dict[str, tuple[str, int]], lines: dict[str, int], name: str) -> None:
    factors = {}
    for what, known in UNITS.items():
        word, line = words.get(f"UNITS.{what}", ("", 0))
        if word and word.lower() not in known:
            raise InputError(
                f"{name}, line {line}: {what} {word!r} is not a unit madi knows; write one of {', '.join(known)}"
            )
        factors[what] = known[word.lower()] if word else None
    sizes = [factors[what] or 1.0 for what in ("LENGTH", "FORCE", "ANGLE", "MASS", "TIME")]
    for key, powers in DIMENSIONS.items():
        if key in values:
            values[key] *= math.prod(size**power for size, power in zip(sizes, powers, strict=True))
    pressure = factors["PRESSURE"] or sizes[1] / sizes[0] ** 2
    for key in PRESSURES:
        if key in values:
            values[key] *= pressure


def normalised(values: dict[str, float]) -> dict[str, float]:
    """The same tire with positive friction. D sin(C atan(B ...)) with B = K / (C D) does not change with the sign of D; what
    else is proportional to D or B changes its sign with it."""
    found = dict(values)
    for peak, with_it in (("PDX1", ("PDX2",)), ("PDY1", ("PDY2", "RVY1", "RVY2", "RVY3", "QBZ10"))):
        if found.get(peak, 0.0) < 0:
            found |= {key: -found[key] for key in (peak, *with_it) if key in found}
    return found


def _judge(values: dict[str, float], lines: dict[str, int], name: str) -> None:
    """Numbers no tire has, or that contradict each other."""

    def at(key: str) -> str:
        return f"{name}, line {lines[key]}" if key in lines else name

    for key in POSITIVE:
        if key in values and not values[key] > 0:
            raise InputError(f"{at(key)}: {key} = {values[key]:g} must be > 0")
    for key in ("PKY1", "PKY2"):
        if values[key] == 0:
            raise InputError(f"{at(key)}: {key} = 0: the tire would have no cornering stiffness")
    for low, high in RANGES:
        if low in values and high in values and not values[low] < values[high]:
            raise InputError(f"{at(low)}: {low} = {values[low]:g} is not below {high} = {values[high]:g}")
    radius = values["UNLOADED_RADIUS"]
    if not 0.02 < radius < 5.0:
        raise InputError(f"{at('UNLOADED_RADIUS')}: a radius of {radius:g} m; look at LENGTH in [UNITS]")
    for key in ("VERTICAL_DAMPING", "VXLOW"):
        if values.get(key, 0.0) < 0:
            raise InputError(f"{at(key)}: {key} = {values[key]:g} must be >= 0")
    if values["FNOMIN"] / values["VERTICAL_STIFFNESS"] > radius:
        raise InputError(
            f"{at('VERTICAL_STIFFNESS')}: {values['VERTICAL_STIFFNESS']:g} N/m: FNOMIN ({values['FNOMIN']:g} N) would press "
            "the tire flat; look at [UNITS]"
        )


def _judge_slopes(tir: Tir, lines: dict[str, int], name: str) -> None:
    """Driving slip must push forward, sliding to the left push to the right (ISO's signs), with finite numbers."""
    load, h = tir["FNOMIN"] * tir.get("LFZO", 1.0), SLIP_STEP
    try:
        along = tir.forces(load, kappa=h)["fx"] - tir.forces(load, kappa=-h)["fx"]
        across = tir.forces(load, alpha=h)["fy"] - tir.forces(load, alpha=-h)["fy"]
    except (OverflowError, ZeroDivisionError):
        along = across = math.nan
    if not (math.isfinite(along) and math.isfinite(across)):
        raise InputError(f"{name}: at its nominal load the formula gives no finite forces; look at its coefficients")
    if along <= 0:
        raise InputError(f"{name}, line {lines.get('PKX1', 0)}: driving slip pulls the wheel back; look at PKX1, LKX")
    if across >= 0:
        raise InputError(
            f"{name}, line {lines.get('PKY1', 0)}: sliding to the left pushes further left; PKY1 and PKY2 must make the "
            "cornering stiffness negative (ISO's signs)"
        )
