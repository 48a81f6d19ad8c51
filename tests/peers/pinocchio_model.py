"""The same mechanism in Pinocchio, straight from the drawing; joints of several axes as chains of elementary ones."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from madi.model.elements import inertia_matrix
from madi.spatial.rotation import as_rotation, frame_with_z

AXIS_JOINTS = {
    "revolute": ("RZ",), "prismatic": ("PZ",), "cylindrical": ("PZ", "RZ"), "universal": ("RZ", "RX"),
    "planar": ("PX", "PY", "RZ"), "fixed": (),
}  # fmt: skip


class Peer:
    """Forward and inverse dynamics and mass matrix in madi's order of coordinates (bodies in the order of `s`)."""

    def __init__(self, m, s):
        self.model = pin.Model()
        self.model.gravity.linear = np.asarray(m.gravity, float)
        drawn = {b.name: b for b in m.bodies}
        place = {"ground": (0, pin.SE3.Identity())}  # body -> (joint that carries it, its joint frame in the ground)
        self.q_map, self.v_map = [], []
        joints = {j.name: j for j in m.joints}
        for body, parent, name in s.tree:
            joint = joints[name]
            frame = self._frame(joint, drawn[joint.child.name])
            carrier, parent_frame = place[parent]
            offset = parent_frame.inverse() * frame
            for model in self._elementary(joint):
                carrier = self.model.addJoint(carrier, model, offset, f"{name}{self.model.njoints}")
                offset = pin.SE3.Identity()
                self._map(joint.kind, carrier)
            b = drawn[body]
            R = as_rotation(b.orientation, "")
            com = np.asarray(b.position) + R @ np.asarray(b.com)
            inertia = pin.Inertia(b.mass, com, R @ inertia_matrix(b) @ R.T)
            own = parent_frame if joint.kind == "fixed" else frame  # frame of the joint that carries the body
            self.model.appendBodyToJoint(carrier, inertia, own.inverse())
            place[body] = (carrier, own)
        self.data = self.model.createData()

    @staticmethod
    def _frame(joint, child):
        at = np.asarray(child.position if joint.at is None else joint.at, float)
        if joint.kind in ("spherical", "free", "fixed"):
            return pin.SE3(as_rotation(child.orientation, ""), at)
        x = joint.axes[1] if joint.kind == "universal" else joint.x_axis
        return pin.SE3(frame_with_z(np.asarray(joint.axes[0], float), x), at)

    @staticmethod
    def _elementary(joint):
        if joint.kind == "spherical":
            return [pin.JointModelSpherical()]
        if joint.kind == "free":
            return [pin.JointModelFreeFlyer()]
        if joint.kind == "screw":
            return [pin.JointModelHZ(joint.pitch / (2 * np.pi))]
        return [getattr(pin, f"JointModel{axis}")() for axis in AXIS_JOINTS[joint.kind]]

    def _map(self, kind, number):
        joint = self.model.joints[number]
        q, v = joint.idx_q, joint.idx_v
        if kind == "spherical":
            self.q_map += [q + 3, q, q + 1, q + 2]
        elif kind == "free":
            self.q_map += [q, q + 1, q + 2, q + 6, q + 3, q + 4, q + 5]
        else:
            self.q_map += [q]
        self.v_map += list(range(v, v + joint.nv))

    def _in(self, q, *vectors):
        theirs = np.zeros(self.model.nq)
        theirs[self.q_map] = q
        out = [theirs]
        for vector in vectors:
            their = np.zeros(self.model.nv)
            their[self.v_map] = vector
            out.append(their)
        return out

    def forward_dynamics(self, q, v, tau):
        return pin.aba(self.model, self.data, *self._in(q, v, tau))[self.v_map]

    def inverse_dynamics(self, q, v, a):
        return pin.rnea(self.model, self.data, *self._in(q, v, a))[self.v_map]

    def mass_matrix(self, q):
        M = pin.crba(self.model, self.data, *self._in(q))
        M = np.triu(M) + np.triu(M, 1).T
        return M[np.ix_(self.v_map, self.v_map)]
