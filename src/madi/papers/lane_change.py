"""car"""
from __future__ import annotations
import numpy as np
from madi.vehicle import Car, sine
from madi.road import Road

FRONT = {
    "lca_front": (0.10, 0.36, 0.230), "lca_rear": (-0.22, 0.36, 0.235), "lca_ball": (0.005, 0.665, 0.200),
    "strut_top": (-0.035, 0.575, 0.800), "strut_bottom": (-0.008, 0.655, 0.340), "wheel_centre": (0.0, 0.71, 0.275),
    "tie_inner": (-0.13, 0.33, 0.285), "tie_outer": (-0.13, 0.64, 0.280),
}
REAR = {
    "pivot": (-2.00, 0.56, 0.300), "beam": (-2.12, 0.0, 0.290), "wheel_centre": (-2.40, 0.70, 0.275),
    "spring_top": (-2.33, 0.52, 0.560), "spring_bottom": (-2.33, 0.52, 0.300), "damper_top": (-2.42, 0.58, 0.750),
    "damper_bottom": (-2.46, 0.60, 0.280),
}
TIRE = {"radius": 0.29, "stiffness": 180e3, "damping": 500.0, "slip_stiffness": 60e3, "cornering_stiffness": 45e3, "friction": 0.9}
def car():
    c = Car("small car", mass=850.0, inertia=(300.0, 1100.0, 1250.0), com=(-1.0, 0.0, 0.55))
    c.mcpherson("front", FRONT, stiffness=20e3, damping=1500.0, preload=2500.0)
    c.rack("rack", "front", FRONT, travel=0.07)
    c.twist_beam("rear", REAR, stiffness=25e3, damping=1600.0, torsion=800.0, preload=2000.0)
    c.wheels("front", 15.0, (0.5, 0.8, 0.5), TIRE)
    c.wheels("rear", 15.0, (0.5, 0.8, 0.5), TIRE)
    return c
