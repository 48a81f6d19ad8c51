"""Contacts as force elements, one for each pair of shapes; the masses of shapes that weigh something."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import Finding
from madi.forces.contact_law import bounce
from madi.model.elements import Force, body_name
from madi.model.shapes import Contact, Shape, geometry, pairs, ways, weighed

if TYPE_CHECKING:
    from madi.model.model import Model

G = 9.81  # m/s2, where the model has less: what things weigh for default stiffnesses
SUNK = 1e-4  # of the size: how far the weight sinks in
CREEPING = 0.01  # of the speed of a fall by that depth: what is slower may stick
USUAL = 0.5  # restitution
MOST_PAIRS = 3000  # as elements of their own


def with_contacts(model: Model) -> tuple[Model, list[Finding]]:
    """The model with a force element for each pair of shapes in contact (the same object if there is none)."""
    if not model.contacts and not any(shape.density is not None for shape in model.shapes):
        return model, []
    made = copy.copy(model)
    made.bodies = [weighed(model, body) for body in model.bodies]
    masses = {"ground": math.inf, **{body.name: float(body.mass) for body in made.bodies}}
    made.forces = list(model.forces)
    findings = []
    for contact in model.contacts:
        met = [(a, b) for a, b in pairs(model, contact)]
        if len(met) > MOST_PAIRS:
            findings.append(Finding(f"contact {contact.name!r}", f"{len(met)} pairs of shapes", "Make groups smaller"))
            continue
        findings += [f for a, b in met for f in _on_flexible(model, contact, a, b)]
        for a, b in met:
            made.forces += elements(model, contact, a, b, masses, alone=len(met) == 1)
    return made, findings


def _on_flexible(model: Model, contact: Contact, a: Shape, b: Shape) -> list[Finding]:
    flexible = {body.name for body in model.bodies if body.flexible is not None}
    return [
        Finding(f"contact {contact.name!r}", f"shape {shape.name!r} is on a flexible body",
                f"Fix a body to a point of it, {body_name(shape.body)}@point, and put the shape there")
        for shape in (a, b) if body_name(shape.body) in flexible
    ]  # fmt: skip


def elements(model: Model, contact: Contact, a: Shape, b: Shape, masses: dict[str, float], alone: bool) -> list[Force]:
    """The elements of a pair: one for each way in which they feel each other."""
    found = ways(a, b)
    name = contact.name if alone else f"{contact.name}:{a.name}-{b.name}"
    numbers = law(contact, a, b, masses)
    turning = any(float(contact.parameters[what]) > 0 for what in ("rolling", "spinning"))
    overlap, made = bool(contact.parameters["overlap"]), []
    for k, (x, y, way) in enumerate(found):
        shares = "" if k == 0 else "'"
        made.append(Force(f"{name}{shares}", "contact", body_name(x.body), body_name(y.body), parameters={
            "law": numbers, "geometry": geometry(model, x, y, way, turning, overlap)}))  # fmt: skip
    return made


def law(contact: Contact, a: Shape, b: Shape, masses: dict[str, float]) -> tuple[float, ...]:
    """The numbers of contact_law.py, what was left out from masses and sizes."""
    given: dict[str, Any] = contact.parameters
    one, other = (masses[body_name(shape.body)] for shape in (a, b))
    mass = 1.0 / (1.0 / one + 1.0 / other) if one > 0 and other > 0 else max(one, other)
    mass = mass if 0 < mass < math.inf else 1.0
    n = float(given["exponent"])
    if given["stiffness"] is None:
        size = min(size for shape in (a, b) if (size := _size(shape)) > 0)
        stiffness = mass * G / (SUNK * size) ** n
    else:
        stiffness = float(given["stiffness"])
    depth = (mass * G / stiffness) ** (1.0 / n)  # at rest under its weight
    damping, bounces = given["damping"], 0.0
    if damping is None:
        e = USUAL if given["restitution"] is None else float(given["restitution"])
        damping, bounces = 0.0, bounce(e)
    hard = given["restitution"] if given["restitution"] is not None else USUAL if given["damping"] is None else 0.0
    mu = float(given["mu"])
    static = mu if given["static"] is None else float(given["static"])
    time = math.sqrt(depth / G)
    return (
        stiffness, n, float(damping), bounces, float(given["slowest"]), mu, static, float(given["stribeck"]),
        float(given["shear"]), time, CREEPING * G * time, float(given["rolling"]), float(given["spinning"]), float(hard),
        min(a.reach(), b.reach()),
    )  # fmt: skip


def _size(shape: Shape) -> float:
    """What default stiffnesses go by: the least of its sizes; infinite of a plane."""
    if shape.kind == "plane":
        return math.inf
    if shape.kind in ("points", "mesh"):
        return float(np.max(np.ptp(shape.corners(), axis=0)))
    sizes = shape.numbers()
    return min(sizes) if shape.kind == "box" else sizes[0]
