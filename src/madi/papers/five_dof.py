"""P0's third experiment: a vehicle of five degrees of freedom over a road profile at 450 in/s, 2.5 s.

Chassis (heave, pitch), driver's seat, front and rear wheel on translational joints with spring-damper-actuators; the
relative displacements are compared with separately derived equations (in the tests; here with the Cartesian solver). The
paper prints no data. Ours are those of the five-degree-of-freedom vehicle that the literature on optimal design uses (Haug
and Arora: Applied Optimal Design, 1979): weights 290, 4500, 96.6 and 96.6 lb, pitch inertia 41000 lb in s², stiffness 100,
300, 300, 1500, 1500 lb/in, damping 10, 25, 25, 5, 5 lb s/in, length 120 in, the seat 10 in before the centre of mass, the
wheels 40 before and 80 in behind it. Assumed: actuators passive; a road of one long wave, 5 in high on 30 ft, and one short
bump. The chassis is on a planar joint, its forward motion driven.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from madi.model.model import Model
from madi.papers.compare import apart, both, counts, plot
from madi.road import Road, flat

INCH, POUND, G = 0.0254, 0.45359237, 9.80665
LB_IN = POUND * G / INCH  # lb/in in N/m; the same factor for lb s/in
SPEED, DURATION = 450 * INCH, 2.5
SEAT, CHASSIS, WHEEL = (weight * POUND for weight in (290.0, 4500.0, 96.6))
PITCH = 41000.0 * POUND * G * INCH
STIFFNESS = {"seat": 100 * LB_IN, "front": 300 * LB_IN, "rear": 300 * LB_IN, "tire": 1500 * LB_IN}
DAMPING = {"seat": 10 * LB_IN, "front": 25 * LB_IN, "rear": 25 * LB_IN, "tire": 5 * LB_IN}
PLACE = {"seat": 10 * INCH, "front": 40 * INCH, "rear": -80 * INCH}  # before the centre of mass
HEIGHT, RADIUS = 30 * INCH, 14 * INCH  # of the chassis' centre of mass above the road as drawn; of the wheels
SIGNALS = ("seat", "front", "rear")


def road() -> Road:
    """A wave and a bump, both smooth where they begin and end."""
    return flat().sine(5 * INCH, 360 * INCH, start=200 * INCH, end=560 * INCH).sine(
        2 * INCH, 60 * INCH, start=760 * INCH, end=820 * INCH)  # fmt: skip


def static() -> dict[str, float]:
    """Loads in the springs at rest as drawn, N: seat, front, rear, and the tires."""
    seat = SEAT * G
    moment = seat * PLACE["seat"]
    span = PLACE["front"] - PLACE["rear"]
    front = ((CHASSIS + SEAT) * G * -PLACE["rear"] + moment) / span
    rear = (CHASSIS + SEAT) * G - front
    return {"seat": seat, "front": front, "rear": rear, "front tire": front + WHEEL * G, "rear tire": rear + WHEEL * G}


def model() -> Model:
    """At rest on level ground as drawn, moving forward along x."""
    m = Model("5-DOF vehicle", gravity=(0.0, 0.0, -G))
    load = static()
    chassis = m.body("chassis", CHASSIS, inertia=(0.3 * PITCH, PITCH, PITCH), position=(0, 0, HEIGHT))
    # axis -y: then the joint's y points up, and its angle lifts the front
    m.planar("chassis", m.ground, chassis, at=(0, 0, HEIGHT), axis=(0, -1, 0), x_axis=(1, 0, 0))
    m.drive("chassis.x", lambda t: SPEED * t)
    for name, mass, low in (("seat", SEAT, HEIGHT + 12 * INCH), ("front", WHEEL, RADIUS), ("rear", WHEEL, RADIUS)):
        x = PLACE[name]
        body = m.body(name, mass, inertia=(1.0, 1.0, 1.0), position=(x, 0, low))
        m.prismatic(name, chassis, body, at=(x, 0, low), axis=(0, 0, 1))
        below, above = (HEIGHT, low) if name == "seat" else (low, HEIGHT + 10 * INCH)
        a, b = (chassis, body) if name == "seat" else (body, chassis)
        m.spring_damper(f"{name} spring", a, b, at=((x, 0, below), (x, 0, above)), stiffness=STIFFNESS[name],
                        damping=DAMPING[name], free_length=above - below + load[name] / STIFFNESS[name])  # fmt: skip
        if name != "seat":
            m.wheel(f"{name} tire", body, at=(x, 0, low), radius=RADIUS + load[f"{name} tire"] / STIFFNESS["tire"],
                    stiffness=STIFFNESS["tire"], damping=DAMPING["tire"], road=road())  # fmt: skip
    return m


def report(out: Path) -> dict[str, Any]:
    """Relative displacements, as Figs. 8-12, against the Cartesian solver."""
    drawn = model()
    run, other, ratio = both(drawn, DURATION, method="abm", rtol=1e-10)
    panels = [
        (f"{name}, in", run.data["time"].values, {"relative": run[name] / INCH, "Cartesian": other[name] / INCH})
        for name in SIGNALS
    ]
    panels.append(("heave, in", run.data["time"].values, {
        "relative": run["chassis.y.q"] / INCH, "Cartesian": other["chassis.y.q"] / INCH}))  # fmt: skip
    panels.append(("pitch, rad", run.data["time"].values, {
        "relative": run["chassis.angle"], "Cartesian": other["chassis.angle"]}))  # fmt: skip
    names = (*SIGNALS, "chassis.y.q", "chassis.angle")
    forces = run.data["force_value"].sel(force=["front tire", "rear tire"])
    return {
        "title": "P0: vehicle of five degrees of freedom, relative coordinates against Cartesian ones",
        "values": {
            "largest difference of the five displacements (of their range)": max(apart(run[n], other[n]) for n in names),
            "least tire force (0 would be lift-off), N": float(np.min(forces.values)),
            **{f"largest relative displacement, {name}, in": float(np.max(np.abs(run[name])) / INCH) for name in SIGNALS},
        },
        "tables": {
            "Counts and times": counts(
                drawn, run, other, ratio, {"coordinates": "-", "constraints": "-", "time": "5.18", "ratio": "-"}
            )
        },
        "pages": [str(run.view(out / "five-dof.html", signals=[list(SIGNALS), "chassis.y.q"]))],
        "figures": [plot(out / "five-dof.png", "5-DOF vehicle: relative displacements (P0, Figs. 8-12)", panels)],
    }
