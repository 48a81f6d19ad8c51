"""Models from other programs' files: URDF and MJCF. What is not carried over is reported in `model.notes`."""
