"""Tables of random truths: axes, sizes, scaling, caps, overheads and noise are drawn."""

from __future__ import annotations

import numpy as np

from wattline.physics.configurations import ConfigurationTable

FORMS = ("cores and a cap", "GPUs and their cap", "cores and a clock", "four settings")
_AXES = {
    "nodes": (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64), "cores": (2, 4, 8, 12, 16, 24, 32),
    "cap_w": (51, 60, 65, 70, 80, 95, 105, 115), "gpus": (1, 2, 4),
    "gpu_cap_w": (200, 250, 300, 400, 500, 600, 700), "frequency_ghz": (1.2, 1.6, 2.0, 2.4, 2.8),
    "tiles": (1, 2, 4),
}
_OF_FORM = (("nodes", "cores", "cap_w"), ("nodes", "gpus", "gpu_cap_w"),
            ("nodes", "cores", "frequency_ghz"), ("nodes", "cores", "cap_w", "tiles"))


def drawn_table(seed: int) -> ConfigurationTable:
    """The form goes round with the seed; all else is drawn with it."""
    draw = np.random.default_rng([99, seed])
    names = _OF_FORM[seed % len(FORMS)]
    most = 4 if len(names) > 3 else 8
    axes = [np.sort(draw.choice(_AXES[name], int(draw.integers(3, min(most, len(_AXES[name])) + 1)),
                                replace=False)) for name in names]
    points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    points = points.astype(np.float64)
    logs = np.log(points / points.max(axis=0))
    # Which setting limits power: a cap, or a clock.
    limit = 2
    capped = names[limit].endswith("cap_w")
    top = logs[:, limit] == 0.0

    # Time: nearly in proportion to nodes and devices, bent a little, slowed where a cap is felt.
    scaling = np.array([draw.uniform(0.5, 1.1), draw.uniform(0.5, 1.1), 0.0, 0.0][:len(names)])
    work = -logs @ scaling
    work += sum(draw.normal(0.0, 0.06) * logs[:, i] * logs[:, j]
                for i in range(len(names)) for j in range(i + 1))
    demand = np.log(draw.uniform(0.5, 1.1)) + draw.uniform(0.2, 0.6) * logs[:, 1]
    over = np.maximum(0.0, demand - logs[:, limit])
    work += draw.uniform(0.3, 0.9) * over if capped else -draw.uniform(0.3, 1.0) * logs[:, limit]
    work -= draw.choice([0.0, 0.1]) * top
    time_s = np.exp(work) * draw.uniform(10.0, 1000.0)
    if draw.random() < 0.6:  # an overhead, that grows with the nodes
        time_s = time_s + (np.median(time_s) * draw.uniform(0.02, 1.0)
                           * np.exp(draw.uniform(0.0, 1.3) * logs[:, 0])
                           * np.where(top, draw.choice([1.0, 3.0, 8.0]), 1.0))
    if draw.random() < 0.4:  # what only these nodes with these cores have
        cell = np.unique(points[:, :2], axis=0, return_inverse=True)[1].ravel()
        wobble = draw.normal(0.0, draw.uniform(0.03, 0.15), cell.max() + 1)
        time_s = time_s * np.exp(wobble[cell])

    level = demand if capped else 2.0 * logs[:, limit] + 0.5 * logs[:, 1]
    device = np.exp(np.minimum(level, logs[:, limit]) if capped else level)
    power_w = points[:, 0] * (draw.uniform(30.0, 100.0) + draw.uniform(100.0, 300.0) * device)

    noise = draw.choice([0.003, 0.01, 0.03])
    return ConfigurationTable.of(
        f"drawn {seed}", points[:, 0], {name: points[:, at] for at, name in enumerate(names) if at},
        time_s * np.exp(draw.normal(0.0, noise, len(points))),
        power_w * np.exp(draw.normal(0.0, noise / 2.0, len(points))))


def waiting_table() -> ConfigurationTable:
    """Uncapped runs on full nodes wait; every pair of nodes and cores has a time of its own."""
    draw = np.random.default_rng(3)
    rows = []
    for nodes in range(8, 34, 2):
        for cores in range(4, 18, 2):
            own = draw.normal(0.0, 0.1)
            for cap in (51, 65, 80, 95, 115):
                demand = 28.0 + 4.8 * cores if cap == 115 else 25.0 + 4.2 * cores
                socket = min(demand, cap)
                speed = (socket / demand) ** 0.4 * (1.1 if cap == 115 else 1.0)
                work = 300.0 / (nodes * cores**0.6) / speed * (1.0 + 0.01 * max(0, cores - 8) ** 2)
                wait = 0.02 * nodes**1.2 * (5.0 if cap == 115 and cores == 16 else 1.0)
                rows.append((nodes, cores, cap, (work + wait) * np.exp(own + draw.normal(0, 0.01)),
                             nodes * (2.0 * socket + 18.0) * np.exp(draw.normal(0, 0.01))))
    return ConfigurationTable.build("waits", *np.array(rows).T)
