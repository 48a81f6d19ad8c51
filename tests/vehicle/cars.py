"""Hard points and cars that several tests use."""

from madi import vehicle
from madi.papers import lane_change

WISHBONE = {
    "uca_front": (0.12, 0.45, 0.50), "uca_rear": (-0.15, 0.46, 0.49), "uca_ball": (-0.02, 0.68, 0.52),
    "lca_front": (0.15, 0.35, 0.20), "lca_rear": (-0.20, 0.36, 0.21), "lca_ball": (0.01, 0.72, 0.18),
    "spring_top": (0.0, 0.50, 0.65), "spring_bottom": (0.0, 0.58, 0.22), "wheel_centre": (0.0, 0.76, 0.31),
    "tie_inner": (-0.14, 0.36, 0.26), "tie_outer": (-0.13, 0.70, 0.25),
}  # fmt: skip
TRAILING = {
    "pivot_inner": (0.4, 0.4, 0.3), "pivot_outer": (0.4, 0.6, 0.3), "wheel_centre": (0.0, 0.7, 0.3),
    "spring_top": (0.1, 0.5, 0.7), "spring_bottom": (0.1, 0.5, 0.3),
}  # fmt: skip
BAR = {"bar": (0.3, 0.3, 0.25), "link_top": (0.1, 0.45, 0.25), "link_bottom": (0.1, 0.5, 0.2)}


def chassis():
    return vehicle.Car("rig", mass=1000.0, inertia=(400.0, 1500.0, 1600.0), com=(-1.2, 0.0, 0.5))


def wishbones(points=None, bar=None):
    c = chassis()
    points = WISHBONE | (points or {})
    c.double_wishbone("front", points, stiffness=25e3, damping=1500.0, preload=3000.0)
    c.rack("rack", "front", points, travel=0.07)
    if bar:
        c.anti_roll_bar("bar", "front", BAR, bar)
    c.wheels("front", 18.0, (0.6, 1.0, 0.6), {"radius": 0.31, "stiffness": 2e5})
    return c


def struts():
    c = chassis()
    c.mcpherson("front", lane_change.FRONT, stiffness=20e3, damping=1500.0, preload=2500.0)
    c.rack("rack", "front", lane_change.FRONT)
    c.wheels("front", 15.0, (0.5, 0.8, 0.5), lane_change.TIRE)
    return c
