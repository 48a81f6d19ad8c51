"""Andrews' squeezing mechanism: seven bodies, ten revolutes, one degree of freedom, fast (IVP Test Set "andrews"; IFToMM
A03).

Data: Test Set for IVP Solvers, problem "andrews"; Hairer & Wanner, Solving ODEs II, VII.7; Schiehlen (ed.), Multibody
Systems Handbook, 1990. Drawn in the consistent initial position of the test set, so that all joint coordinates start at 0.
The reference state at 0.03 s is recomputed from the seven-angle equations to far more digits than the published one; the
two agree to 1e-10 in the angles.
"""

from __future__ import annotations

import numpy as np

from madi.model.model import Model
from madi.results.run import Run

DRIVE = 0.033  # N m
STIFFNESS, FREE_LENGTH = 4530.0, 0.07785
GROUND = {"O": (0.0, 0.0), "A": (-0.06934, -0.00227), "B": (-0.03635, 0.03273), "C": (0.014, 0.072)}
START = {
    "beta": -0.0617138900142764496358948458001, "Theta": 0.0, "gamma": 0.455279819163070380255912382449,
    "phi": 0.222668390165885884674473185609, "delta": 0.487364979543842550225598953530,
    "Omega": -0.222668390165885884674473185609, "epsilon": 1.23054744454982119249735015568,
}  # fmt: skip
# at 0.03 s
ANGLES = {
    "beta": 15.8107711951537070971194, "Theta": -15.7563710584118394697278, "gamma": 0.0408222401196458048582823,
    "phi": -0.534730116342079593770185, "delta": 0.524409965879954069371656, "Omega": 0.534730116342079593770185,
    "epsilon": 1.04808074104193787306852,
}  # fmt: skip
RATES = {
    "beta": 1139.9203022591060641981, "Theta": -1424.37929517754007319603, "gamma": 11.0329119106185937453273,
    "phi": 19.2933741050320408316276, "delta": 0.573569914829502453817688, "Omega": -19.2933741050320408316276,
    "epsilon": 0.323179149249130874990748,
}  # fmt: skip
# body: mass, inertia, centre of mass and the frame's turn as a sum of test-set angles
BODIES: dict[str, tuple[float, float, tuple[float, float], tuple[str, ...]]] = {
    "K1": (0.04325, 2.194e-6, (0.00092, 0.0), ("beta",)),
    "K2": (0.00365, 4.410e-7, (-0.0115, 0.0), ("beta", "Theta")),
    "K3": (0.02373, 5.255e-6, (0.01043, -0.01874), ("gamma",)),
    "K4": (0.00706, 5.667e-7, (0.0, -0.00579), ("phi", "delta")),
    "K5": (0.07050, 1.169e-5, (0.02308, 0.00916), ("delta",)),
    "K6": (0.00706, 5.667e-7, (0.00579, 0.0), ("Omega", "epsilon")),
    "K7": (0.05498, 1.912e-5, (-0.00449, -0.01228), ("epsilon",)),
}


def model() -> Model:
    """The mechanism in the plane z = 0, no gravity."""
    m = Model("Andrews' squeezer", gravity=(0.0, 0.0, 0.0))
    turn = {name: sum(START[part] for part in parts) for name, (_, _, _, parts) in BODIES.items()}

    def at(origin: np.ndarray, body: str, point: tuple[float, float]) -> np.ndarray:
        c, s = np.cos(turn[body]), np.sin(turn[body])
        return origin + np.array([c * point[0] - s * point[1], s * point[0] + c * point[1], 0.0])

    O, A, B, C = (np.array([*GROUND[name], 0.0]) for name in "OABC")
    F = at(O, "K1", (0.007, 0.0))
    E = at(F, "K2", (-0.028, 0.0))
    G, H = at(A, "K5", (0.04, 0.0)), at(A, "K7", (0.0, -0.04))
    origin = {"K1": O, "K2": F, "K3": B, "K4": G, "K5": A, "K6": H, "K7": A}
    body = {}
    for name, (mass, inertia, com, _) in BODIES.items():
        c, s = np.cos(turn[name]), np.sin(turn[name])
        body[name] = m.body(
            name, mass, com=(*com, 0.0), inertia=(inertia, inertia, inertia), position=origin[name],
            orientation=np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]),
        )  # fmt: skip
    z = (0.0, 0.0, 1.0)
    m.revolute("O", m.ground, body["K1"], at=O, axis=z)
    m.revolute("F", body["K1"], body["K2"], at=F, axis=z)
    m.revolute("B", m.ground, body["K3"], at=B, axis=z)
    m.revolute("A5", m.ground, body["K5"], at=A, axis=z)
    m.revolute("A7", m.ground, body["K7"], at=A, axis=z)
    m.revolute("G", body["K5"], body["K4"], at=G, axis=z)
    m.revolute("H", body["K7"], body["K6"], at=H, axis=z)
    for name in ("K2", "K4", "K6"):
        m.revolute(f"E{name[1]}", body["K3"], body[name], at=E, axis=z, cut=True)
    m.joint_torque("drive", "O", DRIVE)
    D = at(B, "K3", (0.02, -0.018))
    m.spring_damper("spring", m.ground, body["K3"], at=(C, D), stiffness=STIFFNESS, free_length=FREE_LENGTH)
    return m


JOINT = {"beta": "O", "Theta": "F", "gamma": "B", "phi": "G", "delta": "A5", "Omega": "H", "epsilon": "A7"}


def angles(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """The test set's seven angles and their rates at the last output, in its order."""
    q = np.array([START[name] + run[joint][-1] for name, joint in JOINT.items()])
    return q, np.array([run[f"{joint}.v"][-1] for joint in JOINT.values()])
