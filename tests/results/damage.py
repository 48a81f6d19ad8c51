"""Damage to the bytes of a file."""

import numpy as np


def damaged(data, seed):
    """Some bytes flipped, or a piece cut out, or the end."""
    rng, data = np.random.default_rng(seed), bytearray(data)
    how = rng.integers(3)
    if how == 0:
        for _ in range(rng.integers(1, 20)):
            data[rng.integers(len(data))] = int(rng.integers(256))
    elif how == 1:
        at = rng.integers(len(data))
        del data[at : at + rng.integers(1, 200)]
    else:
        del data[rng.integers(len(data)) :]
    return bytes(data)
