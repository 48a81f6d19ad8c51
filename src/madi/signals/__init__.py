"""Functions of time and state that a user hands in: drives, forces, torques. Traced once, run as a tape."""
