"""P0's third experiment: a vehicle of five degrees of freedom over a road profile at 450 in/s, 2.5 s.

Chassis (heave, pitch), driver's seat, front and rear wheel on translational joints with spring-damper-actuators; drawn
beside separately derived equations (`analytic`, from the energies alone), as in the paper's Figs. 8-12. The captions say
vertical displacement, the text relative displacement: both are drawn. The paper prints no data. Ours are those of the
five-degree-of-freedom vehicle that the literature on optimal design uses, which is the paper's ref. 9 (Haug
and Arora: Applied Optimal Design, 1979): weights 290, 4500, 96.6 and 96.6 lb, pitch inertia 41000 lb in s², stiffness 100,
300, 300, 1500, 1500 lb/in, damping 10, 25, 25, 5, 5 lb s/in, length 120 in, the seat 10 in before the centre of mass, the
wheels 40 before and 80 in behind it. Assumed: actuators passive; a road of one long wave, 5 in high on 30 ft, and one short
bump. The chassis is on a planar joint, its forward motion driven.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from madi.forces.road import Road, flat
from madi.model.model import Model
from madi.papers.compare import BOTH, apart, claim, counts, holds, in_turn, plot, ratio
from madi.run.simulate import simulate

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


def analytic() -> Any:
    """The vehicle's equations from its energies alone, apart from everything above: (t, q, v) -> accelerations.

    Unknowns: heave and pitch of the chassis, slides of seat, front and rear wheel along the chassis' own vertical. The
    chassis moves along x with the given speed. Positions are written down in the plane; M, and the forces from kinetic and
    potential energy and Rayleigh's function, are derivatives taken by CasADi. Tires push along the gradient of the distance
    from the road's tangent; they may pull (they never lift off here).
    """
    import casadi as ca

    t, q, v = ca.SX.sym("t"), ca.SX.sym("q", 5), ca.SX.sym("v", 5)
    heave, pitch, load = q[0], q[1], static()
    across, up = ca.vertcat(ca.cos(pitch), ca.sin(pitch)), ca.vertcat(-ca.sin(pitch), ca.cos(pitch))
    origin = ca.vertcat(SPEED * t, HEIGHT + heave)

    def moving(point: Any) -> Any:
        return ca.jacobian(point, ca.vertcat(t, q)) @ ca.vertcat(1, v)

    kinetic = 0.5 * CHASSIS * ca.sumsqr(moving(origin)) + 0.5 * PITCH * v[1] ** 2
    potential, lost, applied = CHASSIS * G * origin[1], ca.SX(0), ca.SX.zeros(5)
    places = (("seat", SEAT, 12 * INCH), ("front", WHEEL, RADIUS - HEIGHT), ("rear", WHEEL, RADIUS - HEIGHT))
    for k, (name, mass, height) in enumerate(places):
        slide, rate = q[2 + k], v[2 + k]
        place = origin + PLACE[name] * across + (height + slide) * up
        kinetic += 0.5 * mass * ca.sumsqr(moving(place)) + 0.5 * 1.0 * v[1] ** 2  # its own moment of inertia is 1
        potential += mass * G * place[1]
        stretch = slide if name == "seat" else -slide  # a spring under the seat, above the wheels
        potential += 0.5 * STIFFNESS[name] * (stretch - load[name] / STIFFNESS[name]) ** 2
        lost += 0.5 * DAMPING[name] * rate**2
        if name != "seat":
            x, ground = ca.SX.sym("x"), ca.SX(0)
            for lift, wave, start in ((5 * INCH, 360 * INCH, 200 * INCH), (2 * INCH, 60 * INCH, 760 * INCH)):
                turn = 2 * ca.pi / wave

                def twice(y: Any, lift: float = lift, wave: float = wave, turn: float = turn) -> Any:
                    """The wave, integrated twice."""
                    on = lift / 2 * (y**2 / 2 + (ca.cos(turn * y) - 1) / turn**2)
                    return ca.if_else(y < 0, 0, ca.if_else(y < wave, on, lift / 2 * (wave**2 / 2 + wave * (y - wave))))

                # averaged over a tent of a tenth of the radius each way
                foot = 0.1 * (RADIUS + load[f"{name} tire"] / STIFFNESS["tire"])
                ground += (twice(x - start + foot) - 2 * twice(x - start) + twice(x - start - foot)) / foot**2
            tangent = ca.substitute(ca.vertcat(ground, ca.jacobian(ground, x)), x, place[0])
            far = (place[1] - tangent[0]) / ca.sqrt(1 + tangent[1] ** 2)  # from the road's tangent below
            radius = RADIUS + load[f"{name} tire"] / STIFFNESS["tire"]
            depth = radius - far
            onset = ca.fmin(1, depth / (0.02 * radius))  # of the damper
            force = STIFFNESS["tire"] * depth + DAMPING["tire"] * onset * moving(depth)
            applied -= ca.jacobian(depth, q).T * force
    momentum = ca.jacobian(kinetic, v).T
    rest = ca.jacobian(momentum, ca.vertcat(t, q)) @ ca.vertcat(1, v)
    forces = ca.jacobian(kinetic, q).T - ca.jacobian(potential, q).T - ca.jacobian(lost, v).T + applied - rest
    return ca.Function("a", [t, q, v], [ca.solve(ca.jacobian(momentum, v), forces)])


def analytic_motion(times: np.ndarray) -> dict[str, np.ndarray]:
    """Heave, pitch and slides by these equations, and the vertical displacements that follow."""
    from scipy.integrate import solve_ivp

    a = analytic()
    y = solve_ivp(
        lambda t, y: np.concatenate([y[5:], np.array(a(t, y[:5], y[5:])).ravel()]), (0, times[-1]), np.zeros(10),
        method="DOP853", rtol=1e-11, atol=1e-13, t_eval=times, max_step=0.01,
    ).y  # fmt: skip
    found = dict(zip(("heave", "pitch", *SIGNALS), y[:5], strict=True))
    for name, height in (("seat", 12 * INCH), ("front", RADIUS - HEIGHT), ("rear", RADIUS - HEIGHT)):
        lift = PLACE[name] * np.sin(found["pitch"]) + (height + found[name]) * np.cos(found["pitch"]) - height
        found[f"{name} vertical"] = found["heave"] + lift
    return found


def report(out: Path) -> dict[str, Any]:
    """Figs. 7-12: the road, and displacements by the analytic equations and in relative coordinates."""
    drawn = model()
    times = np.linspace(0, DURATION, 501)
    run, other = (simulate(drawn, DURATION, method="abm", rtol=1e-10, times=times, engine="jit", **way) for way in BOTH)
    exact = analytic_motion(times)
    found = {"heave": run["chassis.y.q"], "pitch": run["chassis.angle"], **{name: run[name] for name in SIGNALS}}
    found |= {f"{name} vertical": run[f"{name}.z"] - run[f"{name}.z"][0] for name in SIGNALS}
    cartesian = {"heave": other["chassis.y.q"], "pitch": other["chassis.angle"], **{name: other[name] for name in SIGNALS}}
    titles = {
        "seat vertical": "Fig. 8: seat, in", "heave": "Fig. 9: chassis, in", "pitch": "Fig. 10: pitch, rad",
        "front vertical": "Fig. 11: front wheel, in", "rear vertical": "Fig. 12: rear wheel, in",
        "seat": "seat from chassis, in", "front": "front wheel from chassis, in", "rear": "rear wheel from chassis, in",
    }  # fmt: skip
    panels = []
    for name, title in titles.items():
        unit = 1.0 if name == "pitch" else INCH
        panels.append((title, times, {"analytic": exact[name] / unit, "relative": found[name] / unit}))
    far = np.linspace(0, SPEED * DURATION, 1001)
    way = np.array([road().height(x) for x in far]) / INCH
    forces = run.data["force_value"].sel(force=["front tire", "rear tire"])
    worst = max(apart(exact[name], found[name]) for name in titles)
    runs, times_ = in_turn({
        "relative": lambda: simulate(drawn, DURATION, method="abm", rtol=1e-8, times=[DURATION], engine="jit"),
        "cartesian": lambda: simulate(drawn, DURATION, method="abm", rtol=1e-8, times=[DURATION], engine="jit",
                                      formulation="cartesian"),
    }, 7)  # fmt: skip
    return {
        "title": "P0: vehicle of five degrees of freedom, analytic equations against relative coordinates",
        "values": {
            "largest difference, analytic against relative (of a signal's range)": worst,
            "largest difference, Cartesian against relative": max(apart(found[n], cartesian[n]) for n in cartesian),
            "least tire force (0 would be lift-off), N": float(np.min(forces.values)),
            "CPU time of 2.5 s, relative, Adams at 1e-8, ms (printed: 5.18 s)": 1e3 * float(np.median(times_["relative"])),
            "CPU time Cartesian / relative, the same tolerance": ratio(times_, "cartesian", "relative"),
            **{f"largest displacement from the chassis, {n}, in": float(np.max(np.abs(run[n])) / INCH) for n in SIGNALS},
        },
        "tables": {"Counts": counts(drawn, runs["cartesian"], {"coordinates": "not printed", "constraints": "not printed"})},
        "claims": [claim(
            "Analytic and relative solutions were compared (Figs. 8-12); both tendencies agree (section 8)",
            holds(worst < 1e-4), f"eight displacements agree to {worst:.1e} of their ranges")],
        "pages": [str(run.view(out / "five-dof.html", signals=[list(SIGNALS), "chassis.y.q"]))],
        "figures": [
            plot(out / "five-dof.png", "5-DOF vehicle: vertical and relative displacements (P0, Figs. 8-12)", panels),
            plot(out / "five-dof-road.png", "Road of the 5-DOF vehicle (P0, Fig. 7)", [("height, in", far / INCH,
                 {"road": way})], x="along the way, in"),
        ],
    }  # fmt: skip
