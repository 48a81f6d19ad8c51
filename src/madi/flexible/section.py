"""Cross sections of beams: area, second moments, torsion constant."""

from __future__ import annotations

import math
from dataclasses import dataclass

from madi.errors import InputError, positive_number


@dataclass(frozen=True)
class Section:
    """Area (m²), second moments for bending in the x-y plane (iz) and in the x-z plane (iy), torsion constant (m⁴)."""

    area: float
    iz: float
    iy: float
    torsion: float

    @property
    def polar(self) -> float:
        """What turns about the beam's axis, m⁴."""
        return self.iy + self.iz


def tube(outer: float, inner: float) -> Section:
    """A round tube by its diameters."""
    positive_number(outer, "tube: outer")
    positive_number(inner, "tube: inner")
    if not inner < outer:
        raise InputError(f"tube: inner={inner!r} must be less than outer={outer!r}")
    second = math.pi * (outer**4 - inner**4) / 64
    return Section(math.pi * (outer**2 - inner**2) / 4, second, second, 2 * second)


def round_bar(diameter: float) -> Section:
    """A solid round bar."""
    positive_number(diameter, "round_bar: diameter")
    second = math.pi * diameter**4 / 64
    return Section(math.pi * diameter**2 / 4, second, second, 2 * second)


def rectangle(width: float, height: float) -> Section:
    """A solid rectangle, `width` along y and `height` along z; torsion constant by the usual series' first terms."""
    positive_number(width, "rectangle: width")
    positive_number(height, "rectangle: height")
    a, b = max(width, height), min(width, height)
    torsion = a * b**3 * (1 / 3 - 0.21 * b / a * (1 - (b / a) ** 4 / 12))
    return Section(width * height, height * width**3 / 12, width * height**3 / 12, torsion)
