"""What bodies read of a model and write of an evaluation (see joints/fields.py)."""

from __future__ import annotations

from madi.joints.fields import Arrays as JointArrays
from madi.joints.fields import Work as JointWork
from madi.kernel.fields import Ints, Reals, ints, reals, size


class Arrays(JointArrays):
    """Inertias; unit motions and their paths; what is kept of flexible bodies."""

    n_other: int = size()  # bodies that are not rigid
    n_held: int = size()  # held values (forces/modes.py)
    nh: int = size()  # flexible bodies
    nz: int = size()  # entries of modal mass blocks
    ny: int = size()  # parts of modes and functions of foreshortening (bending.py)
    n_slopes: int = size()  # places whose slopes make the foreshortening
    nw: int = size()  # bending parts times those places
    n_growth: int = size()  # bending parts times orthonormal functions of foreshortening
    n_separate: int = size()  # kernels that are compiled by themselves
    separate: Ints = ints("n_separate")  # their addresses (kernel.SEPARATE), where the model needs them
    column_body: Ints = ints("nv")
    tip_motion: Ints = ints("n")  # last unit motion on the path to the body, -1 if nothing moves it
    motion_column: Ints = ints("nb")
    motion_body: Ints = ints("nb")
    motion_parent: Ints = ints("nb")  # previous unit motion on the path to the base, -1 at its end
    axisymmetric: Ints = ints("n")  # 1: inertia does not depend on the turn about the frame's z axis
    modal: Ints = ints("n")  # its place among flexible bodies, -1 if it is none
    mode_v: Ints = ints("n")  # first column of the modes
    integral_at: Ints = ints("n", 8)  # first of its inertia integrals, kind by kind (bending.py)
    block_at: Ints = ints("n")  # first entry of its modal mass block
    eta_at: Ints = ints("n")  # first of its parts
    part_end: Ints = ints("n", 3)  # one past its last part along y, along z, along x
    part_mode: Ints = ints("ny")  # of a part: its mode; the first place whose slope it has, and one past the last
    part_first: Ints = ints("ny")
    part_last: Ints = ints("ny")
    slopes: Ints = ints("n")  # how many places of slopes its foreshortening takes
    slope_at: Ints = ints("n")
    shortening_at: Ints = ints("n")
    shortenings: Ints = ints("n")  # how many orthonormal functions it takes
    growth_at: Ints = ints("n")
    motion_at: Ints = ints("n")  # first unit motion of a modal joint
    copy_at: Ints = ints("n")  # of a flexible body: the unit motions of its points
    copy_end: Ints = ints("n")
    mass: Reals = reals("n")
    com: Reals = reals("n", 3)  # in the body's internal frame
    J: Reals = reals("n", 6)  # about the centre of mass: xx xy xz yy yz zz
    armature: Reals = reals("nv")  # rotor inertia that turns (or slides) with the column


class Work(JointWork):
    """Inertias and forces of bodies and of what they carry; columns as their bodies feel them."""

    tau: Reals = reals("nv")  # generalised force of every column
    acceleration: Reals = reals("nv")  # qdd (on entry: of the driven columns)
    P: Reals = reals(
        "nv"
    )  # right-hand side of M qdd = P; u of the articulated recursion; an impulse, where loops are closed
    M: Reals = reals("nv*nv")  # by rows
    hold: Reals = reals("nv")  # where a column is held: added to the diagonal of M (forces/modes.py)
    Q: Reals = reals("n", 6)  # force vector: applied and gyroscopic
    inertia: Reals = reals("n", 10)  # of the body alone
    K: Reals = reals("n", 10)  # composite
    W: Reals = reals("n", 6)  # force of a subtree: P1's L - K sum(D), -p of the articulated one; inverse: M Ydot - Q
    articulated: Reals = reals("n", 21)  # upper triangle
    d_inverse: Reals = reals("nv")  # 1/d of a column of the articulated recursion
    a: Reals = reals("n", 6)  # state acceleration (relative to A)
    U: Reals = reals("nb", 6)  # K_c B_c, of composite or articulated inertia
    T: Reals = reals("nb", 6)  # columns of the velocity transformation of one body
    h: Reals = reals("nv", 6)  # of a mode: momentum of its own body per unit of its rate
    xi: Reals = reals("nv")  # of a mode: its coordinate and its rate
    xi_rate: Reals = reals("nv")
    eta: Reals = reals("ny")  # of flexible bodies: what multiplies each function; its rate
    eta_rate: Reals = reals("ny")
    moment: Reals = reals("4*ny")  # p_a, all x of a body before all y before all z; then sigma_a
    momenta: Reals = reals("3*ny")  # q_a likewise
    slope: Reals = reals("n_slopes")  # w' at the places
    pull: Reals = reals("n_slopes")  # scratch, of the places
    push: Reals = reals("n_slopes")
    shortening: Reals = reals("nw")  # E_pc: how zeta_p grows with each bending part
    growth: Reals = reals("n_growth")  # g_rc of the bending parts
    products: Reals = reals("ny")  # scratch
    slides: Reals = reals("nv", 6)  # S_c and N_c in the body's axes
    turns: Reals = reals("nv", 6)  # dJ/dxi_c, likewise
    own: Reals = reals("nv")  # of a mode: what its own body adds to its equation
    bent: Reals = reals("nh", 9)  # of a flexible body: S and J in its axes
    block: Reals = reals("nz")  # modal mass blocks
    own_mass: Reals = reals("nz")  # of the body alone
    modal_momentum: Reals = reals("nv")  # m_cd x_d of the body alone
    bow: Reals = reals("nb")  # of a unit motion: sum X_cd xi_d
    # derivatives of inverse dynamics (rigid_slopes.py, modal_slopes.py): of subtrees, then of unit motions
    momentum: Reals = reals("n", 3)  # p
    coriolis: Reals = reals("n", 9)  # N, by rows
    moved_by: Reals = reals("nb", 6)  # D
    psi_q: Reals = reals("nb", 6)  # psi: as what the base seems to move when the column's coordinate does
    psi_rate: Reals = reals("nb", 6)  # psi', its acceleration
    kappa: Reals = reals("nb", 6)
    E: Reals = reals("nb", 3)
    F: Reals = reals("nb", 6)
    G: Reals = reals("nb", 6)
    # of flexible bodies (bending_slopes.py)
    frame_W: Reals = reals("nh", 6)  # of the body alone, without its points: W, p and N
    frame_p: Reals = reals("nh", 3)
    frame_N: Reals = reals("nh", 9)
    spin: Reals = reals("9")  # e~ + w~ w~ and 2 w~ of the body at hand, by rows
    gyre: Reals = reals("9")
    eta_second: Reals = reals("ny")  # eta''
    pushes: Reals = reals("3*ny")  # Q_a, as momenta
    slope_rate: Reals = reals("n_slopes")  # of w', its rates
    slope_second: Reals = reals("n_slopes")
    place_q: Reals = reals("6*n_slopes")  # how the force changes by the slope at a place, by its rate
    place_v: Reals = reals("6*n_slopes")
    wrench: Reals = reals("6")  # scratch
    growth_rate: Reals = reals("n_growth")  # as growth, of xi', and of what xi'' and turning make of xi
    growth_second: Reals = reals("n_growth")
    more_products: Reals = reals("ny")  # scratch
    block_q: Reals = reals("nz")  # derivatives of the modes' equations by the modes of the same body
    block_v: Reals = reals("nz")
