"""Dormand-Prince 5(4), adaptive, with its dense output of fourth order.

Coefficients: Dormand & Prince, J. Comp. Appl. Math. 6 (1980); dense output and step control as in Hairer, Norsett,
Wanner: Solving ODEs I, II.4-II.6.

docs/references.md: [Dormand, Prince 1980], [Hairer, Nørsett, Wanner 1993].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from madi.integrate.embedded import embedded_pair
from madi.integrate.method import Adaptive

A = np.array(
    [
        [0, 0, 0, 0, 0, 0],
        [1 / 5, 0, 0, 0, 0, 0],
        [3 / 40, 9 / 40, 0, 0, 0, 0],
        [44 / 45, -56 / 15, 32 / 9, 0, 0, 0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0, 0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0],
    ]
)
B = np.array([35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84])
C = np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1])
E = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])  # the error, with the end's x'
DENSE = np.array(
    [-12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072,
     701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423]
)  # fmt: skip


@dataclass(frozen=True)
class DormandPrince(Adaptive):
    """Dormand and Prince's pair of fifth and fourth order: rtol, atol, max_step choose the steps. `first_step`: s, None: by
    the size of the first derivatives."""

    name = "dopri"
    order = 5
    adaptive = embedded_pair("dopri", A, B, C, E, DENSE)
