#!/usr/bin/env python3
"""Measures an accelerator machine with PyTorch, a process a tile, and writes rows for `auspex calibrate --from`.

  mpiexec -n 24 --ppn 12 python3 tools/measure_torch.py --ranks-per-node 12 --tiles-per-card 2 --out aurora-new.csv \
      --source "Aurora, 2 nodes, 2026-11-21"

Every rank does the same at the same time, so that rates are those of a full node. Rank and number of ranks come from the
launcher (torchrun, PALS, PMI, Open MPI, Slurm); one that tells no number needs --ranks. Messages between nodes are rows of
what one rank moves; the NIC itself is measured host to host, by other programs. --quick takes small sizes:
`--device cpu --quick` tries the script anywhere. docs/calibration.md says what becomes of the rows.
"""
import argparse
import csv
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F

COLUMNS = ("kind,name,precision,where,rows,columns,depth,groups,active,ranks,nodes,bytes,seconds,spread,count,source").split(",")

# What launchers tell: rank, number of ranks, rank on its node. The first that tells both of the first two is believed.
LAUNCHERS = (("RANK", "WORLD_SIZE", "LOCAL_RANK"),
             ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
             ("PALS_RANKID", "PMI_SIZE", "PALS_LOCAL_RANKID"),
             ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
             ("PMIX_RANK", "PMIX_SIZE", "PMIX_LOCAL_RANK"),
             ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"))

ROW_SECONDS = 2e-3  # of calls between two looks at the clock: Python and synchronize() take some 10 us of them
MOST_CALLS = 1000


def refuse(text):
    sys.exit("measure_torch.py: error: " + text)


def number(environment, name):
    try:
        return int(environment[name])
    except ValueError:
        refuse('found %s="%s"; expected a whole number' % (name, environment[name]))


def ranks_of(environment, asked):
    """Rank, number of ranks, and rank on its node or None. `asked`: --ranks or None."""
    told = [names for names in LAUNCHERS if names[0] in environment]
    whole = [names for names in told if names[1] in environment]
    sizes = sorted({names[1] for names in LAUNCHERS if names[1] in environment and number(environment, names[1]) > 1})
    if not told:
        if sizes or (asked or 1) > 1:
            refuse("found %s but no rank; expected one of %s from the launcher" % (
                "--ranks" if not sizes else sizes[0], ", ".join(names[0] for names in LAUNCHERS)))
        return 0, 1, None
    if not whole and asked is None:
        refuse("found the rank, %s, but not how many ranks there are; expected %s from the launcher, or --ranks N" % (
            told[0][0], told[0][1]))
    rank_name, size_name, local_name = (whole or told)[0]
    rank = number(environment, rank_name)
    size = number(environment, size_name) if whole else asked
    if asked not in (None, size):
        refuse("found --ranks %d and %s=%d; expected the same" % (asked, size_name, size))
    if not 0 <= rank < size:
        refuse("found rank %d of %d" % (rank, size))
    return rank, size, number(environment, local_name) if local_name in environment else None


def nodes_of(rank, local, size, per_node, per_card):
    """How many nodes `size` ranks fill; refuses layouts that the rows could not tell from this one."""
    if per_node < 1 or per_card < 1 or per_node % per_card:
        refuse("found --ranks-per-node %d and --tiles-per-card %d; expected whole cards" % (per_node, per_card))
    if size > per_node and size % per_node:
        refuse("found %d ranks, %d on a node; expected equally many on each" % (size, per_node))
    if local is not None and local != rank % per_node:
        refuse("found rank %d to be number %d on its node; expected %d: nodes filled one after another, %d ranks each" % (
            rank, local, rank % per_node, per_node))
    return max(1, size // per_node)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["xpu", "cuda", "cpu"], default="xpu")
    parser.add_argument("--ranks", type=int, help="of all nodes, where the launcher does not tell")
    parser.add_argument("--ranks-per-node", type=int, required=True)
    parser.add_argument("--tiles-per-card", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=4096, help="of the model whose products are measured")
    parser.add_argument("--inner", type=int, default=1024, help="feed-forward size of one expert")
    parser.add_argument("--tokens", type=int, default=4096, help="of a micro-batch, one sequence")
    parser.add_argument("--attention-kernel", default="",
                        help="what scaled_dot_product_attention runs, as cudnn or flash-attention-2: the name in the machine file")
    parser.add_argument("--skip-compute", action="store_true", help="collectives only: for many nodes")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", required=True)
    parser.add_argument("--source", required=True, help="what the rows say of themselves: machine, date, software")
    options = parser.parse_args()
    options.source = " ".join(options.source.split())  # a row has one line
    if not options.source:
        refuse("found an empty --source; expected machine, date, software")
    if options.quick:
        options.hidden, options.inner, options.tokens = 1024, 512, 256
    return options


class Bench:
    def __init__(self, options):
        self.options = options
        self.rank, self.world, on_node = ranks_of(os.environ, options.ranks)
        self.nodes = nodes_of(self.rank, on_node, self.world, options.ranks_per_node, options.tiles_per_card)
        self.per_node = min(options.ranks_per_node, self.world)
        self.repeats = 5 if options.quick else 20
        self.rows = []
        local = self.rank % options.ranks_per_node
        self.device = torch.device("cpu") if options.device == "cpu" else torch.device(options.device, local)
        if options.device != "cpu":
            getattr(torch, options.device).set_device(self.device)
        if self.nodes > 1 and "MASTER_ADDR" not in os.environ:
            refuse("found %d nodes and no MASTER_ADDR; expected the name of the first" % self.nodes)
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29511")
        backend = {"xpu": "xccl", "cuda": "nccl", "cpu": "gloo"}[options.device]
        dist.init_process_group(backend, rank=self.rank, world_size=self.world)

    def sync(self):
        if self.options.device != "cpu":
            getattr(torch, self.options.device).synchronize()

    def of_every_rank(self, values):
        own = torch.tensor(values, device=self.device)
        every = [torch.zeros_like(own) for _ in range(self.world)]
        dist.all_gather(every, own)
        return [[float(value) for value in one] for one in every]

    def seconds_a_call(self, work, calls):
        dist.barrier()
        self.sync()
        begin = time.perf_counter()
        for _ in range(calls):
            work()
        self.sync()
        return (time.perf_counter() - begin) / calls

    def calls_of(self, work):
        """Calls of a sample, the same on every rank: ROW_SECONDS of the slowest."""
        work()  # the first makes kernels, communicators, plans
        calls = 1
        for _ in range(2):
            slowest = max(one[0] for one in self.of_every_rank([self.seconds_a_call(work, calls)]))
            calls = max(1, min(MOST_CALLS, round(ROW_SECONDS / slowest)))
        return calls

    def of_this_rank(self, work, least_calls=1):
        """Seconds of one call: median and relative spread of the samples."""
        calls = max(least_calls, self.calls_of(work))
        samples = [self.seconds_a_call(work, calls) for _ in range(self.repeats + 1)][1:]
        quarters = statistics.quantiles(samples, n=4)
        return quarters[1], (quarters[2] - quarters[0]) / 1.349 / quarters[1]

    def time(self, work, least_calls=1):
        """The same, median over ranks."""
        every = self.of_every_rank(self.of_this_rank(work, least_calls))
        return [statistics.median(one[i] for one in every) for i in (0, 1)]

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
            timed = self.time(lambda: torch.matmul(left, right, out=result), least_calls=4)
            self.add("gemm", name, timed, precision="bf16", rows=m, columns=n, depth=k, active=self.per_node)

    def memory(self):
        for count in [2**18, 2**20] if self.options.quick else [2**27, 2**28, 2**29]:  # far beyond caches of 200 MB
            a, b, c = (torch.ones(count, device=self.device) for _ in range(3))
            timed = self.time(lambda: torch.add(a, b, alpha=3, out=c), least_calls=4)
            self.add("memory", "triad", timed, bytes=12 * count, active=self.per_node)
            x, y, z = a.bfloat16(), b.bfloat16(), c.bfloat16()
            timed = self.time(lambda: torch.mul(x, y, out=z), least_calls=4)
            self.add("memory", "elementwise", timed, bytes=6 * count, active=self.per_node)

    def attention(self):
        if not hasattr(F, "scaled_dot_product_attention"):  # before PyTorch 2.0
            return
        heads, size, sequence = max(1, self.options.hidden // 128), 128, self.options.tokens
        if self.options.quick:
            heads, size, sequence = 2, 64, 128
        q, k, v = (self.random(1, heads, sequence, size).requires_grad_() for _ in range(3))
        sizes = {"precision": "bf16", "rows": sequence, "depth": size, "groups": heads, "active": self.per_node,
                 "where": self.options.attention_kernel}
        with torch.no_grad():
            self.add("attention", "forward", self.time(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)), **sizes)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        gradient = torch.ones_like(out)
        backward = self.time(lambda: torch.autograd.grad(out, (q, k, v), gradient, retain_graph=True))
        self.add("attention", "backward", backward, **sizes)

    def sizes(self):
        return [2**n for n in ((10, 14, 18) if self.options.quick else range(12, 31, 3))]

    def pinned(self, size):
        """Host memory from which the device copies by itself, or None where this PyTorch has none for it."""
        plain = torch.zeros(size, dtype=torch.uint8)
        for how in ((), (self.options.device,)):  # older ones want the device's name
            try:
                memory = plain.pin_memory(*how)
                if memory.is_pinned(*how):
                    return memory
            except (RuntimeError, TypeError, AssertionError):
                pass
        return None

    def host_copies(self):
        """Of rank 0 alone: the others wait, so that no socket is shared."""
        for size in self.sizes():
            here = self.pinned(size) if self.rank == 0 else None
            if not self.of_every_rank([float(here is not None)])[0][0]:
                if self.rank == 0:
                    sys.stderr.write("measure_torch.py: no pinned host memory for %s: no rows of pcie from %d bytes on; "
                                     "copies from pageable memory do not show what the link can do\n" %
                                     (self.options.device, size))
                return
            there = torch.zeros(size, dtype=torch.uint8, device=self.device)
            for to, origin in ((there, here), (here, there)):
                timed = self.of_this_rank(lambda: to.copy_(origin) if self.rank == 0 else None)
                self.add("link", "pcie", timed, bytes=size)

    def messages(self):
        """Half of a round trip between rank 0 and another: on its card, on another card, on another node. The last is
        what one rank's transport moves, not the NIC."""
        card, node = self.options.tiles_per_card, self.per_node
        peers = [("pair", 1)] if card > 1 and node > 1 else []
        peers += [("mesh" if card > 1 else "switch", card)] if node > card else []
        peers += [("rank", node)] if self.nodes > 1 else []
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
                self.add("link", name, (median / 2, spread), ranks=2, nodes=1 + (name == "rank"), bytes=size)

    def collectives(self):
        on_cpu = self.options.device == "cpu"  # gloo knows no bf16, and not all collectives
        for size in self.sizes():
            count = size // (4 if on_cpu else 2) // self.world * self.world
            if count == 0:
                continue
            whole, part = (torch.ones(n, device=self.device, dtype=torch.float32 if on_cpu else torch.bfloat16)
                           for n in (count, count // self.world))
            answer = torch.empty_like(whole)
            works = {"all-reduce": lambda: dist.all_reduce(whole)}
            if not on_cpu:
                works["all-gather"] = lambda: dist.all_gather_into_tensor(answer, part)
                works["reduce-scatter"] = lambda: dist.reduce_scatter_tensor(part, whole)
                works["all-to-all"] = lambda: dist.all_to_all_single(answer, whole)
            for name, work in works.items():
                self.add("collective", name, self.time(work), precision="fp32" if on_cpu else "bf16", ranks=self.world,
                         nodes=self.nodes, bytes=count * (4 if on_cpu else 2))

    def write(self):
        if self.rank == 0:
            with open(self.options.out, "w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(self.rows)


def main():
    bench = Bench(arguments())
    bench.write()  # where it cannot, now
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
