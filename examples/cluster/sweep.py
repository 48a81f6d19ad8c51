"""How high a driven pendulum swings, over its damping and the frequency of its pivot: 4,096 runs on a cluster."""

import sys

import madi


def swing() -> madi.Model:
    """A pendulum on a pivot that moves to and fro."""
    m = madi.Model("swing")
    slide = m.body("slide", mass=0.5, inertia=(0.01, 0.01, 0.01))
    bob = m.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, -1))
    m.prismatic("track", m.ground, slide, at=(0, 0, 0), axis=(1, 0, 0))
    m.revolute("pin", slide, bob, at=(0, 0, 0), axis=(0, 1, 0), q0=0.1)
    m.joint_spring("bearing", "pin", stiffness=0.0, damping=0.1)
    m.drive("track", lambda t: 0.05 * madi.sin(3.0 * t))
    return m


def main(address: str | None = None) -> None:
    """Start two workers here, or use the cluster at this address."""
    from distributed import Client, LocalCluster

    cluster = address or LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        runs = madi.design({"bearing.damping": (0.02, 0.5), "bob.mass": (0.5, 2.0)}, 4096, "sobol", seed=1)
        keep = {"highest": "max(abs(pin))", "loss": "integral(dissipated)"}
        found = madi.simulate_many(
            swing(), runs, 20.0, step=5e-3, engine="jit", on=client, keep=keep, out="swing.nc", progress=True
        )
        print(found)


if __name__ == "__main__":
    main(*sys.argv[1:])
