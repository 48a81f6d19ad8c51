"""Universal (Cardan, Hooke): a turn about z, fixed to the parent, then about x, fixed to the child."""

from madi.joints.kind import JointKind
from madi.kernel import kernel, sincos

KIND = JointKind(
    "universal",
    code=5,
    weight=2.1,
    coordinates=("angle1", "angle2"),
    speeds=("angle1", "angle2"),
    units=("rad", "rad"),
    axes=2,
    cut="tx ty tz cross",
    parts="turn second",
    absolute="x y z zx",
)


@kernel
def pose(q, k, R, p):
    """Rz(angle1) Rx(angle2)."""
    s, c = sincos(q[k])
    e, d = sincos(q[k + 1])
    R[0, 0], R[0, 1], R[0, 2] = c, -s * d, s * e
    R[1, 0], R[1, 1], R[1, 2] = s, c * d, -c * e
    R[2, 0], R[2, 1], R[2, 2] = 0.0, e, d
    p[0], p[1], p[2] = 0.0, 0.0, 0.0


@kernel
def subspace(q, k, R, p, S):
    """z, and x turned by angle1."""
    S[0, 5] = 1.0
    S[1, 3] = R[0, 0]
    S[1, 4] = R[1, 0]


@kernel
def bias(q, k, v, l, b):
    """The second axis turns with the first: z x (x turned)."""
    s, c = sincos(q[k])
    rate = v[l] * v[l + 1]
    b[3] = -s * rate
    b[4] = c * rate
