"""Rotations, quaternions, motion and force vectors, inertias: the algebra below the joints."""
