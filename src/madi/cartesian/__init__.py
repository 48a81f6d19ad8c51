"""The same model in absolute coordinates: seven a body, every joint as constraints. The papers' DADS.

An independent check of the tree, and the baseline it has to beat. From the tree it takes nothing: bodies, joints, drives
and constraints are read from the drawn model, and the equations are written straight down from their absolute form
(Haug: Computer Aided Kinematics and Dynamics of Mechanical Systems, 1989, chs. 9 and 11). Two things are common because
they are not the tree's: force elements, which belong to the model and only ask where two bodies are, and the sparse
factorisation of a symmetric pattern. It is written to be fast: compiled kernels, a fixed sparse elimination found once,
one factored matrix for position, velocity and acceleration, refactored when convergence asks for it.
"""
