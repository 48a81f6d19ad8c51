"""A straight beam (Euler-Bernoulli, Saint-Venant torsion) with assumed modes: bending in two planes, torsion, stretch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from madi.errors import InputError, a_number, positive_number
from madi.flexible.field import Field, Station, damping_matrix
from madi.flexible.modes import Shape, clamped_loaded, loaded_rod
from madi.flexible.section import Section

FAMILIES = ("y", "z", "twist", "axial")
USUAL = {"y": 3, "z": 3}  # shapes, where none are given
SAME_PLACE = 1e-9  # of the length: rounding of where a point is given
ROUNDING = 1e-13  # of a shape, whose largest value is about 1
NO_STRAIN = 1e-6  # of the largest along the beam: well above what the roots of shapes are found to
PANELS, ORDER = 48, 8  # quadrature along the beam: exact to rounding for the first dozens of shapes


@dataclass(frozen=True)
class Beam:
    """x along the beam from 0 to `length`; y and z are the axes of its section."""

    name: str
    length: float
    section: Section
    E: float
    rho: float
    G: float | None = None
    modes: Mapping[str, Any] = field(default_factory=lambda: dict(USUAL))
    damping: Any = 0.0
    proportional: Any = (0.0, 0.0)
    stiffening: bool = True
    rotary: bool | None = None  # None: where it matters
    points: Mapping[str, float] = field(default_factory=dict)
    strict: bool = True

    @cached_property
    def shapes(self) -> list[tuple[str, str, Shape]]:
        """(name, family, shape) of every mode."""
        what = f"beam {self.name!r}"
        positive_number(self.length, f"{what}: its length")
        unknown = [key for key in self.modes if key not in FAMILIES] if isinstance(self.modes, Mapping) else [self.modes]
        if unknown:
            raise InputError(
                f"{what}: modes={self.modes!r}: give a dict of {', '.join(map(repr, FAMILIES))}, e.g. {{'y': 2}}"
            )
        found = []
        for family in FAMILIES:
            for k, shape in enumerate(self._family(family), start=1):
                if not isinstance(shape, Shape):
                    raise InputError(
                        f"{what}: modes[{family!r}]: {shape!r} is not a shape (madi.flexible.clamped_free(...))"
                    )
                if abs(shape.length - self.length) > SAME_PLACE * self.length:
                    raise InputError(
                        f"{what}: shape {shape.name!r} is for a length of {shape.length:g} m, not for {self.length:g} m"
                    )
                found.append((f"{family}{k}", family, shape))
        if not found:
            raise InputError(f"{what}: it has no modes; for a rigid beam use m.body(...)")
        return found

    def _family(self, family: str) -> Sequence[Shape]:
        given = self.modes.get(family, 0)
        if isinstance(given, Shape):
            return [given]
        if isinstance(given, int | np.integer) and not isinstance(given, bool):
            if given == 0:
                return []
            return (clamped_loaded if family in "yz" else loaded_rod)(self.length, int(given))
        if isinstance(given, Sequence) and not isinstance(given, str):
            return given
        raise InputError(f"beam {self.name!r}: modes[{family!r}]={given!r}: give how many, or a list of shapes")

    @cached_property
    def field(self) -> Field:
        """Shapes at the points of quadrature, stiffness and damping."""
        what = f"beam {self.name!r}"
        shapes, s = self.shapes, self.section
        self._check_points(what)
        if not isinstance(s, Section):
            raise InputError(f"{what}: section={s!r}: give madi.flexible.tube(...), rectangle(...) or Section(...)")
        rho, E = positive_number(self.rho, f"{what}: rho"), positive_number(self.E, f"{what}: E")
        G = E / 2.6 if self.G is None else positive_number(self.G, f"{what}: G")
        x, w = quadrature(self.length)
        rigidity = {"y": E * s.iz, "z": E * s.iy, "twist": G * s.torsion, "axial": E * s.area}
        strains = np.array([shape(x, 2 if a in "yz" else 1) for _, a, shape in shapes])
        K = (np.array([rigidity[a] for _, a, _ in shapes])[:, None] * self._together) * ((strains * w) @ strains.T)
        psi, theta = self._rows(x)
        slopes = self._slopes(x)
        tilting = w[:, None, None] * np.diag([0.0, s.iy, s.iz])
        sections = w[:, None, None] * np.diag([s.polar, 0.0, 0.0])
        if self._tilts(np.einsum("cni,nij,cnj->c", theta, tilting, theta), s.area * np.einsum("n,cni,cni->c", w, psi, psi)):
            sections = sections + tilting
        sections = rho * sections
        chi = np.zeros((*K.shape, *x.shape, 3))
        chi[..., 0] = -running_integral(self._products(slopes), self.length)
        points = np.stack([x, 0 * x, 0 * x], axis=1)
        found = Field(
            tuple(name for name, _, _ in shapes), tuple("rad" if a == "twist" else "m" for _, a, _ in shapes), points,
            rho * s.area * w, sections, psi, theta, chi, K, np.zeros_like(K), bends=slopes,
        )  # fmt: skip
        found.check(what)
        D = damping_matrix(K, found.modal_mass, self.damping, self.proportional, what)
        return replace(found, damping=D)

    def _tilts(self, turning: np.ndarray, sliding: np.ndarray) -> bool:
        """Whether sections resist being tilted: as given, or where that changes the frequency of a mode by a thousandth."""
        if self.rotary is None:
            return bool(np.any(turning > 2e-3 * sliding))
        return bool(self.rotary)

    def _check_points(self, what: str) -> None:
        if not isinstance(self.points, Mapping):
            raise InputError(f"{what}: points={self.points!r}; give names and places along it, {{'tip': {self.length:g}}}")
        places: dict[float, str] = {}
        for name, x in self.points.items():
            a_number(x, f"{what}: point {name!r} at x =")
            if not isinstance(name, str) or not name.strip() or "@" in name or name == "frame":
                raise InputError(f"{what}: a point cannot be called {name!r}; name it with a word")
            if round(float(x), 9) in places:
                raise InputError(f"{what}: points {places[round(float(x), 9)]!r} and {name!r} are at one place; keep one")
            places[round(float(x), 9)] = name

    def _rows(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Psi and Theta of all modes at places x: (modes, places, 3)."""
        psi, theta = np.zeros((2, len(self.shapes), len(x), 3))
        for c, (_, family, shape) in enumerate(self.shapes):
            if family == "y":
                psi[c, :, 1], theta[c, :, 2] = shape(x), shape(x, 1)
            elif family == "z":
                psi[c, :, 2], theta[c, :, 1] = shape(x), -shape(x, 1)
            elif family == "twist":
                theta[c, :, 0] = shape(x)
            else:
                psi[c, :, 0] = shape(x)
        scale = self.length
        return np.where(np.abs(psi) < ROUNDING, 0.0, psi), np.where(np.abs(theta) * scale < ROUNDING, 0.0, theta)

    def _slopes(self, x: np.ndarray) -> np.ndarray:
        """psi' of bending modes (modes, places), zero of others; all zero where stiffening is off."""
        bends = [self.stiffening and family in "yz" for _, family, _ in self.shapes]
        return np.array([s(x, 1) if yes else 0 * x for yes, (_, _, s) in zip(bends, self.shapes, strict=True)])

    @property
    def _together(self) -> np.ndarray:
        """Whether two modes are of one family: 1 or 0."""
        families = np.array([family for _, family, _ in self.shapes])
        return (families[:, None] == families[None, :]).astype(float)

    def _products(self, slopes: np.ndarray) -> np.ndarray:
        """psi_c' psi_d' of modes in one plane (modes, modes, places)."""
        products: np.ndarray = self._together[:, :, None] * slopes[:, None] * slopes[None, :]
        return products

    def station(self, point: np.ndarray) -> Station:
        """The section at a point's x; the point is carried by it."""
        x, L = float(point[0]), self.length
        if not -SAME_PLACE * L <= x <= (1 + SAME_PLACE) * L:
            raise InputError(f"x = {x:.6g} m is outside the beam, 0 to {L:g} m")
        x = min(max(x, 0.0), L)
        named = next((str(name) for name, at in self.points.items() if abs(at - x) < SAME_PLACE * L), None)
        label = f"{x:.9g}" if named is None else named
        if named is None and label in self.points:  # a name that is another place's number
            label += " m"
        psi, theta = (rows[:, 0] for rows in self._rows(np.array([x])))
        chi = np.zeros((len(psi), len(psi), 3))
        if x > 0:
            u, w = quadrature(x)
            chi[..., 0] = -self._products(self._slopes(u)) @ w
        return Station(label, x, np.array([x, 0.0, 0.0]), psi, theta, chi)

    def named(self) -> dict[str, np.ndarray]:
        """Points that have a name, in the beam's axes."""
        return {str(name): np.array([float(x), 0.0, 0.0]) for name, x in self.points.items()}

    def line(self, points: int) -> tuple[np.ndarray, np.ndarray]:
        """So many points along it, and Psi there."""
        stations = [self.station(np.array([x, 0.0, 0.0])) for x in np.linspace(0, self.length, points)]
        return np.array([s.position for s in stations]), np.stack([s.psi for s in stations], axis=1)

    def ends(self) -> list[tuple[str, float, str]]:
        """(family, x, how its shapes end there) of each plane it bends in: "clamped", "pinned", "free" or "other"."""
        found = []
        for family in ("y", "z"):
            for x in (0.0, self.length) if self._of(family) else ():
                value, slope, curve, shear = (self._vanishes(family, x, order) for order in range(4))
                kind = (
                    "clamped" if value and slope else "pinned" if value and curve else "free" if curve and shear else "other"
                )
                found.append((family, x, kind))
        return found

    def unstrained(self) -> list[tuple[str, float]]:
        """(family, x) of the ends where no shape bends (twists, stretches) the beam: they carry no moment (no force)."""
        return [
            (family, x) for family in FAMILIES if self._of(family) for x in (0.0, self.length)
            if self._vanishes(family, x, 2 if family in "yz" else 1)
        ]  # fmt: skip

    def _of(self, family: str) -> list[Shape]:
        return [shape for _, kind, shape in self.shapes if kind == family]

    def _vanishes(self, family: str, x: float, order: int) -> bool:
        """Whether this derivative of all the shapes of a family is zero at x."""
        grid = np.linspace(0.0, self.length, 101)
        return all(abs(s(x, order)) < NO_STRAIN * np.max(np.abs(s(grid, order))) for s in self._of(family))


def quadrature(length: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights from 0 to `length`: Gauss in equal panels."""
    u, w = np.polynomial.legendre.leggauss(ORDER)
    h = length / PANELS
    start = h * np.arange(PANELS)[:, None]
    return (start + 0.5 * h * (u + 1)).reshape(-1), np.tile(0.5 * h * w, PANELS)


def running_integral(values: np.ndarray, length: float) -> np.ndarray:
    """int_0^x of functions known at the points of quadrature (the last axis), at the same points."""
    u, w = np.polynomial.legendre.leggauss(ORDER)
    basis = np.polynomial.legendre.legvander(u, ORDER - 1)
    primitive = np.array([
        np.polynomial.legendre.legval(u, np.polynomial.legendre.legint(row, lbnd=-1)) for row in np.eye(ORDER)
    ]).T  # fmt: skip
    inside = primitive @ np.linalg.inv(basis)
    panels = values.reshape(*values.shape[:-1], PANELS, ORDER) * (0.5 * length / PANELS)
    whole = panels @ w
    before = np.zeros_like(whole)
    before[..., 1:] = np.cumsum(whole[..., :-1], axis=-1)
    return (before[..., None] + panels @ inside.T).reshape(values.shape)
