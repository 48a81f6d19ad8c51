"""What the road does to tires at a state."""

from __future__ import annotations

from madi.dynamics.kinematics import positions, velocities
from madi.equations.fields import Arrays, Work
from madi.equations.motion import apply_drives
from madi.equations.row import Row
from madi.forces.dispatch import apply_element
from madi.forces.tire_contact import ARM, AXIS, CENTRE, NORMAL, SIDE, WAY, touch
from madi.kernel import kernel
from madi.signals.tape import apply_forces
from madi.spatial.vector import at, put_at

# of a tire: its force vector, slips, the axes of the contact, the wheel's axis and centre, the arm from there
CONTACT = Row(force="3", moment="3", slip="2", way="3", side="3", normal="3", axis="3", centre="3", arm="3")
CONTACT_NUMBERS = CONTACT.length({})
AXES = CONTACT.offsets()["way"]


@kernel
def tires(model: Arrays, work: Work, t, q, v, x, out):
    """x: how many tires, their places among the force elements. out: CONTACT of each, in the axes of its reference frame."""
    apply_drives(model, work, t, q, v)
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    for c in range(model.nv):
        work.P[c] = 0.0
    apply_forces(model, work, t, work.P)
    for k in range(int(x[0])):
        e, n = int(x[1 + k]), CONTACT_NUMBERS * k
        i = model.force_a[e]
        for j in range(6):
            work.Q[i, j] = 0.0
        apply_element(model, work, e)
        for j in range(6):
            out[n + j] = work.Q[i, j]
        _, slip = touch(model, work, e)
        out[n + 6], out[n + 7] = slip
        put_at(out, n + AXES, at(work.tire_contact, WAY))
        put_at(out, n + AXES + 3, at(work.tire_contact, SIDE))
        put_at(out, n + AXES + 6, at(work.tire_contact, NORMAL))
        put_at(out, n + AXES + 9, at(work.tire_contact, AXIS))
        put_at(out, n + AXES + 12, at(work.tire_contact, CENTRE))
        put_at(out, n + AXES + 15, at(work.tire_contact, ARM))
