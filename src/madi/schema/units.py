"""Units at the file's edge: a factor to SI and a dimension. Angles have none (rad = 1), so N m and N m/rad are one."""

from __future__ import annotations

import math

Dimension = tuple[int, int, int]  # powers of m, kg, s
NONE: Dimension = (0, 0, 0)
LENGTH, MASS, TIME = (1, 0, 0), (0, 1, 0), (0, 0, 1)
FORCE, PRESSURE = (1, 1, -2), (-1, 1, -2)

POUND, INCH, G0 = 0.45359237, 0.0254, 9.80665
UNITS: dict[str, tuple[float, Dimension]] = {
    **{name: (size, LENGTH) for name, size in {
        "m": 1.0, "mm": 1e-3, "cm": 1e-2, "km": 1e3, "um": 1e-6, "µm": 1e-6, "in": INCH, "inch": INCH, "ft": 0.3048,
        "yd": 0.9144, "mile": 1609.344, "mi": 1609.344}.items()},
    **{name: (size, MASS) for name, size in {
        "kg": 1.0, "g": 1e-3, "mg": 1e-6, "tonne": 1e3, "lb": POUND, "lbm": POUND, "oz": POUND / 16,
        "slug": POUND * G0 / 0.3048}.items()},
    **{name: (size, TIME) for name, size in {
        "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0, "h": 3600.0}.items()},
    **{name: (size, FORCE) for name, size in {
        "N": 1.0, "kN": 1e3, "MN": 1e6, "mN": 1e-3, "lbf": POUND * G0, "kgf": G0}.items()},
    **{name: (size, PRESSURE) for name, size in {
        "Pa": 1.0, "kPa": 1e3, "MPa": 1e6, "GPa": 1e9, "bar": 1e5, "psi": POUND * G0 / INCH**2}.items()},
    **{name: (size, NONE) for name, size in {
        "rad": 1.0, "mrad": 1e-3, "deg": math.pi / 180, "°": math.pi / 180, "rev": 2 * math.pi, "%": 0.01}.items()},
    **{name: (size, (0, 0, -1)) for name, size in {"Hz": 1.0, "rpm": math.pi / 30}.items()},
    **{name: (size, (1, 0, -1)) for name, size in {"mph": 1609.344 / 3600, "kph": 1 / 3.6}.items()},
    "Nm": (1.0, (2, 1, -2)), "kNm": (1e3, (2, 1, -2)),
    "J": (1.0, (2, 1, -2)), "kJ": (1e3, (2, 1, -2)), "W": (1.0, (2, 1, -3)), "kW": (1e3, (2, 1, -3)),
    "l": (1e-3, (3, 0, 0)),
}  # fmt: skip
_KNOWN: dict[Dimension, str] = {
    NONE: "no unit", LENGTH: "m", MASS: "kg", TIME: "s", FORCE: "N", PRESSURE: "Pa", (1, 0, -1): "m/s", (1, 0, -2): "m/s2",
    (0, 0, -1): "1/s", (0, 1, -2): "N/m", (0, 1, -1): "N s/m", (2, 1, -2): "N m", (2, 1, -1): "N m s", (2, 1, 0): "kg m2",
    (-3, 1, 0): "kg/m3", (2, 0, 0): "m2", (3, 0, 0): "m3", (2, 1, -3): "W",
}  # fmt: skip


def unit(name: str) -> tuple[float, Dimension] | None:
    """Factor and dimension of one unit; "m2", "mm3", "s2" are powers. None if there is no such unit."""
    if name in UNITS:
        return UNITS[name]
    if len(name) > 1 and name[-1] in "234" and name[:-1] in UNITS:
        factor, dimension = UNITS[name[:-1]]
        return power(factor, dimension, int(name[-1]))
    return None


def power(factor: float, dimension: Dimension, n: int) -> tuple[float, Dimension]:
    """A unit to a whole power."""
    m, kg, s = dimension
    return factor**n, (m * n, kg * n, s * n)


def times(a: Dimension, b: Dimension, sign: int = 1) -> Dimension:
    """Dimension of a product (sign 1) or a quotient (-1)."""
    return (a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2])


def text(dimension: Dimension) -> str:
    """A dimension as people write it: "N/m"."""
    if dimension in _KNOWN:
        return _KNOWN[dimension]
    parts = [f"{name}{'' if n == 1 else n}" for name, n in zip(("m", "kg", "s"), dimension, strict=True) if n]
    return " ".join(parts)


def dimension_of(words: str) -> Dimension:
    """The dimension of a unit such as "N s/m", as the schema's own table writes it."""
    top, *below = words.split("/")
    found = NONE
    for part, sign in [(top, 1), *((part, -1) for part in below)]:
        for word in part.split():
            if word != "1":
                known = unit(word)
                assert known is not None, words
                found = times(found, known[1], sign)
    return found
