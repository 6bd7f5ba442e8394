#!/usr/bin/env python3
"""Measures an accelerator machine with PyTorch, a process a tile, and writes rows for `auspex calibrate --from`.

  mpiexec -n 24 --ppn 12 python3 tools/measure_torch.py --ranks-per-node 12 --tiles-per-card 2 --out aurora-new.csv \
      --source "Aurora, 2 nodes, 2026-11-21"

Every rank does the same at the same time, so that rates are those of a full node. Rank and number of ranks come from the
launcher (PALS, PMI, Open MPI, Slurm, torchrun). On one node there are no rows of the NIC. --quick takes small sizes:
`--device cpu --quick` tries the script anywhere. docs/calibration.md says what becomes of the rows.
"""
import argparse
import csv
import os
import statistics
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F

COLUMNS = ("kind,name,precision,where,rows,columns,depth,groups,active,ranks,nodes,bytes,seconds,spread,count,source").split(",")


def from_launcher(*names):
    for name in names:
        if name in os.environ:
            return int(os.environ[name])
    return None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["xpu", "cuda", "cpu"], default="xpu")
    parser.add_argument("--ranks-per-node", type=int, required=True)
    parser.add_argument("--tiles-per-card", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=4096, help="of the model whose products are measured")
    parser.add_argument("--inner", type=int, default=1024, help="feed-forward size of one expert")
    parser.add_argument("--tokens", type=int, default=4096, help="of a micro-batch")
    parser.add_argument("--skip-compute", action="store_true", help="collectives only: for many nodes")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", required=True)
    parser.add_argument("--source", required=True, help="what the rows say of themselves: machine, date, software")
    return parser.parse_args()


class Bench:
    def __init__(self, options):
        self.options = options
        self.rank = from_launcher("PALS_RANKID", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "RANK") or 0
        self.world = from_launcher("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "WORLD_SIZE") or 1
        self.per_node = min(options.ranks_per_node, self.world)
        self.nodes = self.world // self.per_node
        self.repeats = 5 if options.quick else 20
        self.rows = []
        local = self.rank % options.ranks_per_node
        self.device = torch.device("cpu") if options.device == "cpu" else torch.device(options.device, local)
        if options.device != "cpu":
            getattr(torch, options.device).set_device(self.device)
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29511")
        backend = {"xpu": "xccl", "cuda": "nccl", "cpu": "gloo"}[options.device]
        dist.init_process_group(backend, rank=self.rank, world_size=self.world)

    def sync(self):
        if self.options.device != "cpu":
            getattr(torch, self.options.device).synchronize()

    def of_this_rank(self, work, inner=1):
        """Seconds of one call: median and relative spread over the repeats, each of `inner` calls."""
        samples = []
        for repeat in range(self.repeats + 2):
            dist.barrier()
            self.sync()
            begin = time.perf_counter()
            for _ in range(inner):
                work()
            self.sync()
            if repeat >= 2:
                samples.append((time.perf_counter() - begin) / inner)
        quarters = statistics.quantiles(samples, n=4)
        return quarters[1], (quarters[2] - quarters[0]) / 1.349 / quarters[1]

    def time(self, work, inner=1):
        """The same, median over ranks."""
        own = torch.tensor(self.of_this_rank(work, inner), device=self.device)
        every = [torch.zeros_like(own) for _ in range(self.world)]
        dist.all_gather(every, own)
        return [statistics.median(float(one[i]) for one in every) for i in (0, 1)]

    def add(self, kind, name, timed, **sizes):
        row = dict.fromkeys(COLUMNS, "")
        row.update(kind=kind, name=name, active=1, ranks=1, nodes=1, count=self.repeats, source=self.options.source)
        row.update(sizes, seconds="%.9g" % timed[0], spread="%.3g" % timed[1])
        self.rows.append(row)

    def random(self, *shape):
        return torch.randn(*shape, device=self.device).to(torch.bfloat16)

    def products(self):
        options, sides = self.options, [512] if self.options.quick else [8192]
        shapes = [("sustained", side, side, side) for side in sides]
        for out, depth in ((3 * options.hidden, options.hidden), (options.hidden, options.hidden),
                           (2 * options.inner, options.hidden), (options.hidden, options.inner),
                           (options.hidden, 256)):
            shapes.append(("shape", options.tokens, out, depth))
        for name, m, n, k in shapes:
            left, right, result = self.random(m, k), self.random(k, n), self.random(m, n)
            timed = self.time(lambda: torch.matmul(left, right, out=result), inner=4)
            self.add("gemm", name, timed, precision="bf16", rows=m, columns=n, depth=k, active=self.per_node)

    def memory(self):
        for count in [2**18, 2**20] if self.options.quick else [2**24, 2**26, 2**28]:
            a, b, c = (torch.ones(count, device=self.device) for _ in range(3))
            timed = self.time(lambda: torch.add(a, b, alpha=3, out=c), inner=4)
            self.add("memory", "triad", timed, bytes=12 * count, active=self.per_node)
            x, y, z = a.bfloat16(), b.bfloat16(), c.bfloat16()
            timed = self.time(lambda: torch.mul(x, y, out=z), inner=4)
            self.add("memory", "elementwise", timed, bytes=6 * count, active=self.per_node)

    def attention(self):
        if not hasattr(F, "scaled_dot_product_attention"):  # before PyTorch 2.0
            return
        heads, size, sequence = (2, 64, 128) if self.options.quick else (32, 128, 4096)
        q, k, v = (self.random(1, heads, sequence, size).requires_grad_() for _ in range(3))
        sizes = {"precision": "bf16", "rows": sequence, "depth": size, "groups": heads, "active": self.per_node}
        with torch.no_grad():
            self.add("attention", "forward", self.time(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)), **sizes)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        gradient = torch.ones_like(out)
        backward = self.time(lambda: torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True))
        self.add("attention", "backward", backward, **sizes)

    def sizes(self):
        return [2**n for n in ((10, 14, 18) if self.options.quick else range(12, 31, 3))]

    def host_copies(self):
        """Of rank 0 alone: the others wait, so that no socket is shared."""
        for size in self.sizes():
            there = torch.zeros(size, dtype=torch.uint8, device=self.device)
            here = torch.zeros(size, dtype=torch.uint8)
            try:
                here = here.pin_memory()
            except RuntimeError:  # this PyTorch pins nothing for this device
                pass
            for to, origin in ((there, here), (here, there)):
                timed = self.of_this_rank(lambda: to.copy_(origin) if self.rank == 0 else None)
                self.add("link", "pcie", timed, bytes=size)

    def messages(self):
        """Half of a round trip between rank 0 and another: on its card, on another card, on another node."""
        card, node = self.options.tiles_per_card, self.per_node
        peers = [("pair", 1)] if card > 1 and node > 1 else []
        peers += [("mesh" if card > 1 else "switch", card)] if node > card else []
        peers += [("nic", node)] if self.nodes > 1 else []
        for name, peer in peers:
            for size in self.sizes():
                data = torch.zeros(size, dtype=torch.uint8, device=self.device)

                def ping_pong():
                    if self.rank == 0:
                        dist.send(data, peer)
                        dist.recv(data, peer)
                    elif self.rank == peer:
                        dist.recv(data, 0)
                        dist.send(data, 0)

                median, spread = self.of_this_rank(ping_pong)
                self.add("link", name, (median / 2, spread), bytes=size)

    def collectives(self):
        for size in self.sizes():
            count = size // 2 // self.world * self.world  # bf16
            if count == 0:
                continue
            whole, part = self.random(count), self.random(count // self.world)
            if self.options.device == "cpu":  # gloo knows no bf16
                whole = torch.ones(count // 2, device=self.device)
            answer = torch.empty_like(whole)
            works = {"all-reduce": lambda: dist.all_reduce(whole)}
            if self.options.device != "cpu":
                works["all-gather"] = lambda: dist.all_gather_into_tensor(answer, part)
                works["reduce-scatter"] = lambda: dist.reduce_scatter_tensor(part, whole)
                works["all-to-all"] = lambda: dist.all_to_all_single(answer, whole)
            for name, work in works.items():
                self.add("collective", name, self.time(work), precision="bf16", ranks=self.world, nodes=self.nodes, bytes=2 * count)

    def write(self):
        if self.rank == 0:
            with open(self.options.out, "w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(self.rows)


def main():
    bench = Bench(arguments())
    parts = []
    if not bench.options.skip_compute:
        parts += [bench.products, bench.memory, bench.attention, bench.messages]
        parts += [bench.host_copies] if bench.options.device != "cpu" else []
    parts += [bench.collectives] if bench.world > 1 else []
    for part in parts:
        part()
        bench.write()  # what fails later leaves the rows so far
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
