"""Vehicles from hard points: suspensions, steering, wheels, manoeuvres, a rig for kinematics and compliance."""

from madi.forces.tir import Tir, read_tir
from madi.vehicle.car import Axle, Car, Corner, Start, example_tire
from madi.vehicle.manoeuvres import double_lane_change, sine, step
from madi.vehicle.points import read_points
from madi.vehicle.rig import Kinematics, kinematics
from madi.vehicle.steering import Rack
from madi.vehicle.tire_signals import tire_signals

__all__ = [
    "Axle",
    "Car",
    "Corner",
    "Kinematics",
    "Rack",
    "Start",
    "Tir",
    "double_lane_change",
    "example_tire",
    "kinematics",
    "read_points",
    "read_tir",
    "sine",
    "step",
    "tire_signals",
]
