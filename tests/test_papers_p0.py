"""P0's experiments: the five-dof vehicle against Lagrange's equations, all of them against the Cartesian solver."""

import casadi as ca
import numpy as np
import pytest

import madi
from madi.papers import five_dof, rssr, tracked
from madi.papers.compare import apart


def lagrange():
    """The five-dof vehicle's equations from its energies alone: accelerations as a function of (t, q, v).

    Unknowns: heave and pitch of the chassis, slides of seat, front and rear wheel along the chassis' own vertical. The
    chassis moves along x with the given speed. Positions are written down in the plane; M, and the forces from kinetic
    and potential energy and Rayleigh's function, are derivatives taken by CasADi.
    """
    t, q, v = ca.SX.sym("t"), ca.SX.sym("q", 5), ca.SX.sym("v", 5)
    heave, pitch = q[0], q[1]
    load = five_dof.static()
    across, up = ca.vertcat(ca.cos(pitch), ca.sin(pitch)), ca.vertcat(-ca.sin(pitch), ca.cos(pitch))
    origin = ca.vertcat(five_dof.SPEED * t, five_dof.HEIGHT + heave)

    def moving(point):
        return ca.jacobian(point, ca.vertcat(t, q)) @ ca.vertcat(1, v)

    kinetic = 0.5 * five_dof.CHASSIS * ca.sumsqr(moving(origin)) + 0.5 * five_dof.PITCH * v[1] ** 2
    potential = five_dof.CHASSIS * five_dof.G * origin[1]
    lost, applied = 0, ca.SX.zeros(5)
    heights = {
        "seat": 12 * five_dof.INCH,
        "front": five_dof.RADIUS - five_dof.HEIGHT,
        "rear": five_dof.RADIUS - five_dof.HEIGHT,
    }
    for k, (name, mass) in enumerate((("seat", five_dof.SEAT), ("front", five_dof.WHEEL), ("rear", five_dof.WHEEL))):
        slide, rate = q[2 + k], v[2 + k]
        place = origin + five_dof.PLACE[name] * across + (heights[name] + slide) * up
        kinetic += 0.5 * mass * ca.sumsqr(moving(place)) + 0.5 * 1.0 * v[1] ** 2  # its own moment of inertia is 1
        potential += mass * five_dof.G * place[1]
        stretch = slide if name == "seat" else -slide  # a spring under the seat, above the wheels
        k0, c0 = five_dof.STIFFNESS[name], five_dof.DAMPING[name]
        potential += 0.5 * k0 * (stretch - load[name] / k0) ** 2
        lost += 0.5 * c0 * rate**2
        if name != "seat":
            x, inch = place[0], five_dof.INCH
            road = 0
            for height, wave, start in ((5 * inch, 360 * inch, 200 * inch), (2 * inch, 60 * inch, 760 * inch)):
                on = ca.logic_and(x > start, x < start + wave)
                road += ca.if_else(on, height * (1 - ca.cos(2 * ca.pi * (x - start) / wave)) / 2, 0)
            kt, ct = five_dof.STIFFNESS["tire"], five_dof.DAMPING["tire"]
            depth = road + five_dof.RADIUS + load[f"{name} tire"] / kt - place[1]
            force = kt * depth + ct * moving(depth)
            applied += ca.jacobian(place[1], q).T * force  # the tire pushes the wheel straight up
    momentum = ca.jacobian(kinetic, v).T
    mass_matrix = ca.jacobian(momentum, v)
    rest = ca.jacobian(momentum, ca.vertcat(t, q)) @ ca.vertcat(1, v)
    forces = ca.jacobian(kinetic, q).T - ca.jacobian(potential, q).T - ca.jacobian(lost, v).T + applied - rest
    return ca.Function("a", [t, q, v], [ca.solve(mass_matrix, forces)])


def test_five_dof_against_lagrange():
    from scipy.integrate import solve_ivp

    acceleration = lagrange()
    times = np.linspace(0, five_dof.DURATION, 251)
    solved = solve_ivp(
        lambda t, y: np.concatenate([y[5:], np.array(acceleration(t, y[:5], y[5:])).ravel()]), (0, five_dof.DURATION),
        np.zeros(10), method="DOP853", rtol=1e-11, atol=1e-13, t_eval=times, max_step=0.01,
    )  # fmt: skip
    run = madi.simulate(
        five_dof.model(), five_dof.DURATION, method="dopri", rtol=1e-11, times=times, max_step=0.01, engine="jit"
    )
    for k, name in enumerate(("chassis.y.q", "chassis.angle", "seat", "front", "rear")):
        assert apart(solved.y[k], run[name]) < 1e-6, name
    tires = run.data["force_value"].sel(force=["front tire", "rear tire"]).values
    assert np.min(tires) > 0  # so the one-sided tire of the model is the two-sided one above


@pytest.mark.parametrize("coupler", ["body", "distance"])
def test_rssr_against_cartesian(coupler):
    m = rssr.model(coupler)
    options = {"method": "abm", "rtol": 1e-10, "engine": "jit", "times": np.linspace(0, 2, 201)}
    run, other = madi.simulate(m, 2.0, **options), madi.simulate(m, 2.0, formulation="cartesian", **options)
    assert apart(run["body1.az"], other["body1.az"]) < 1e-6
    assert float(run.data["violation"].max()) < 1e-10
    s = m.build()
    assert (s.nv, s.n_constraints) == ((5, 3) if coupler == "body" else (2, 1))
    assert other.statistics["coordinates"] == (21 if coupler == "body" else 14)
    assert np.ptp(run["energy"]) < 1e-8


def test_tracked_vehicle_counts_and_agreement():
    m = tracked.model()
    s = m.build()
    assert (s.nq, s.nv, s.n_constraints) == (19, 18, 0)
    options = {"step": 5e-4, "engine": "jit", "times": np.linspace(0, 2.2, 221)}
    run, other = madi.simulate(m, 2.2, **options), madi.simulate(m, 2.2, formulation="cartesian", **options)
    assert (other.statistics["coordinates"], other.statistics["constraints"]) == (91, 60)
    assert apart(tracked.seat(run), tracked.seat(other)) < 1e-6
    assert apart(run["hull.z"], other["hull.z"]) < 1e-6
    # at rest on level ground before the bump, and lifted by it
    before = run.data["time"].values < 1.5
    assert np.max(np.abs(tracked.seat(run)[before])) < 5.0
    assert np.max(tracked.seat(run)) > 15.0
