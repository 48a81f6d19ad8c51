"""Modes: what an element does between two events.

An element that slides or sticks, is open or closed, has a *held value*, which stays as it is until an event changes it; so
between events all equations are smooth. Held values are neither coordinates nor parameters: they follow the generalised
forces in what entries are given (equations/motion.py), an integrator keeps them, results record them.

A held value of HOLDS or more *holds* its column: its acceleration is zero, whatever acts. It is solved for with all others,
HELD added to the diagonal of M; what it is held with is -HELD times the acceleration
that is left. In every mode the element
tells how far it is from the end of its validity (work.margin), or, holding, the forces it can bear (work.low, work.high);
where a margin comes to zero, an event ends the step (integrate/events.py), and `switch` (equations/modes.py) chooses the
modes that go on.

*Memory* has its place among the held values, too: what an element remembers from step to step (bristles, the speed with
which a contact began). It ends nothing, holds nothing, and changes at the end of every step: `apply` leaves what would be
remembered if the step ended there in work.kept, and `keep` (equations/modes.py) takes it. Under a time-stepping method no
mode switches: it tells the forces, in memory and in TOLD (equations/impulses.py).

docs/references.md: [Pfeiffer, Glocker 1996].
"""

from __future__ import annotations

BY_STATE = 0.0  # outside runs: the mode is what the state tells
FORWARD, BACKWARD = 1.0, -1.0  # sliding; of an event: which side of zero its signal is on
STUCK = 2.0  # friction holds
AT_LOWER, AT_UPPER = 2.0, 3.0  # a hard stop holds
OPEN = 1.0
HOLDS = 1.5
HELD = 1e40  # kg, kg m2: what is held moves less in the age of the universe than rounding
UNBOUNDED = 1e30  # N, N m: a stop's push has no largest value
BY_METHOD = 1.2  # a time-stepping method has told the force: the element's next held value, TOLD
FRICTION, STOP, EVENT, MEMORY, TOLD = range(5)  # kinds: `switch` treats each in its own way, but for the last two
