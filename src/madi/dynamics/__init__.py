"""Kinematics and equations of motion of the tree, each formulation in a file of its own."""
