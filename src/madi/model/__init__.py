"""What a user says: bodies, joints, forces, drives; names and SI units; and the checks on it."""
