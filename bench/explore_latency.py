"""Times from input to picture on a page of auspex explore. usage: explore_latency.py ADDRESS        (with tests/browser in PYTHONPATH)"""

import math
import sys

from chromium import Chromium

LIMIT_MS = 50
SLIDERS = ("machine.tile.gemm_bf16", "machine.fabric.background_load", "machine.node.nic.bandwidth", "stack.kernels.launch")


def settled(page):
    page.wait_for("(({asked, drawn, curved}) => asked !== undefined && asked === drawn && asked === curved)(document.body.dataset)", 120)


def quantile(times, share):
    return sorted(times)[math.ceil(share * len(times)) - 1]


slow = False
with Chromium() as page:
    page.open(sys.argv[1])
    page.wait_for("document.body && document.body.dataset.drawn", 120)
    settled(page)
    page.ask("document.querySelectorAll('details.group').forEach(one => { one.open = true; })")
    for slider in SLIDERS:
        for way, pause in (("dragged without a pause", 0.016), ("in single moves", 0.3)):
            page.ask("auspexExplore.times = {step: [], curve: []}, 0")
            page.drag(f'[data-field="{slider}"] input[type=range]', [0.3 + 0.01 * i for i in range(40 if pause < 0.1 else 10)], pause)
            settled(page)
            times = page.ask("auspexExplore.times")
            for what in ("step", "curve"):
                if not times[what]:
                    continue
                median, most = quantile(times[what], 0.5), quantile(times[what], 0.95)
                slow |= median >= LIMIT_MS
                print(f"{slider}, {way}, {what}: {len(times[what])} pictures, median {median:.1f} ms, 95 % within {most:.1f} ms")
sys.exit(1 if slow else 0)
