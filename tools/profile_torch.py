#!/usr/bin/env python3
"""Trains a small transformer for a few steps under torch.profiler, on CPU cores, and writes what `auspex diff` takes.

  python3 tools/profile_torch.py --out build/profile                      one rank, dense
  python3 tools/profile_torch.py --out build/profile --ranks 2 --experts 8 --top-k 2      two ranks, OLMoE's block

In the folder: a trace of each rank (rank0.pt.trace.json.gz, ...), and the inputs of the prediction: workload.json and
plan.json as the model was built, machine.json with the rates that PyTorch reached here for a large product and for a copy,
and stack.json with the kernels that eager PyTorch runs for each operation. Then:

  auspex diff build/profile/plan.json build/profile/traces --machine build/profile/machine.json \
      --stack build/profile/stack.json --workload build/profile/workload.json --out build/run

Where PyTorch was built with Kineto its own export is written as it is. Debian's python3-torch was built without: there the
profiler's events are written by this script under Kineto's keys (cat, External id, Input Dims, Sequence number,
distributedInfo), with group size and type of gloo's collectives as newer PyTorch tells them of its own.
"""
import argparse
import gzip
import json
import os
import socket
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule


WAITED = 3  # steps before those that are recorded


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="folder for traces and inputs")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="of each rank")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--kv-heads", type=int, default=4)
    parser.add_argument("--intermediate", type=int, default=704, help="of a dense layer, or of one expert")
    parser.add_argument("--experts", type=int, default=0, help="0: dense")
    parser.add_argument("--top-k", type=int, default=2)
    parser.add_argument("--vocabulary", type=int, default=1024)
    parser.add_argument("--sequence", type=int, default=256)
    parser.add_argument("--micro-batches", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3, help="that are recorded")
    return parser.parse_args()


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


def rotate(x, cosine, sine):
    half = x.shape[-1] // 2
    return x * cosine + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sine


class Attention(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.heads, self.kv_heads, self.size = a.heads, a.kv_heads, a.hidden // a.heads
        self.query = nn.Linear(a.hidden, a.heads * self.size, bias=False)
        self.key = nn.Linear(a.hidden, a.kv_heads * self.size, bias=False)
        self.value = nn.Linear(a.hidden, a.kv_heads * self.size, bias=False)
        self.output = nn.Linear(a.heads * self.size, a.hidden, bias=False)
        angles = torch.arange(a.sequence)[:, None] / 10000 ** (torch.arange(0, self.size, 2) / self.size)
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())
        self.register_buffer("mask", torch.full((a.sequence, a.sequence), float("-inf")).triu(1))

    def forward(self, x):
        batch, length, _ = x.shape
        query = self.query(x).view(batch, length, self.heads, self.size).transpose(1, 2)
        key = self.key(x).view(batch, length, self.kv_heads, self.size).transpose(1, 2)
        value = self.value(x).view(batch, length, self.kv_heads, self.size).transpose(1, 2)
        query, key = rotate(query, self.cosine, self.sine), rotate(key, self.cosine, self.sine)
        repeat = self.heads // self.kv_heads
        if repeat > 1:
            key, value = key.repeat_interleave(repeat, dim=1), value.repeat_interleave(repeat, dim=1)
        scores = query @ key.transpose(-1, -2) / self.size ** 0.5 + self.mask
        mixed = torch.softmax(scores, dim=-1) @ value
        return self.output(mixed.transpose(1, 2).reshape(batch, length, self.heads * self.size))


class SwiGlu(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.gate = nn.Linear(a.hidden, a.intermediate, bias=False)
        self.up = nn.Linear(a.hidden, a.intermediate, bias=False)
        self.down = nn.Linear(a.intermediate, a.hidden, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """The loop over experts of Hugging Face's OlmoeSparseMoeBlock."""

    def __init__(self, a):
        super().__init__()
        self.count, self.top_k = a.experts, a.top_k
        self.router = nn.Linear(a.hidden, a.experts, bias=False)
        self.experts = nn.ModuleList(SwiGlu(a) for _ in range(a.experts))

    def forward(self, x):
        rows = x.view(-1, x.shape[-1])
        weights, chosen = torch.topk(F.softmax(self.router(rows), dim=-1), self.top_k, dim=-1)
        mask = F.one_hot(chosen, num_classes=self.count).permute(2, 1, 0)
        out = torch.zeros_like(rows)
        for index in range(self.count):
            slot, token = torch.where(mask[index])
            out.index_add_(0, token, self.experts[index](rows[None, token].reshape(-1, rows.shape[-1])) *
                           weights[token, slot, None])
        return out.view(x.shape)


class Layer(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.attention_norm, self.attention = RmsNorm(a.hidden), Attention(a)
        self.feed_forward_norm = RmsNorm(a.hidden)
        self.feed_forward = Experts(a) if a.experts else SwiGlu(a)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.feed_forward(self.feed_forward_norm(x))


class Model(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.embedding = nn.Embedding(a.vocabulary, a.hidden)
        self.layers = nn.ModuleList(Layer(a) for _ in range(a.layers))
        self.norm, self.head = RmsNorm(a.hidden), nn.Linear(a.hidden, a.vocabulary, bias=False)

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return F.cross_entropy(self.head(self.norm(x)).flatten(0, 1), targets.flatten())


def kineto_event(event, step, a):
    """An event of the older profiler, as Kineto writes it. `step`: its number if it is a step, whose number is lost."""
    name = "ProfilerStep#%d" % step if event.name == "ProfilerStep*" else event.name
    arguments = {"External id": event.id}
    if event.input_shapes:
        arguments["Input Dims"] = event.input_shapes
        arguments["Input type"] = ["float" if shape else "Scalar" for shape in event.input_shapes]
    if event.sequence_nr >= 0:
        arguments["Sequence number"] = event.sequence_nr
    if event.name.startswith("gloo:"):
        elements = 1
        for size in (event.input_shapes or [[0]])[0]:
            elements *= size
        arguments.update({"Collective name": event.name[5:], "dtype": "Float", "Group size": a.ranks,
                          "In msg nelems": elements, "Out msg nelems": elements, "Process Group Name": "0"})
    is_annotation = name.startswith(("ProfilerStep#", "Optimizer.", "gloo:"))
    return {"ph": "X", "cat": "user_annotation" if is_annotation else "cpu_op", "name": name, "pid": os.getpid(),
            "tid": event.thread, "ts": event.time_range.start,
            "dur": event.time_range.end - event.time_range.start, "args": arguments}


def export(profiler, rank, a):
    file = os.path.join(a.out, "traces", "rank%d.pt.trace.json.gz" % rank)
    if torch.autograd.kineto_available():
        with tempfile.NamedTemporaryFile(suffix=".json") as plain:
            profiler.export_chrome_trace(plain.name)
            text = open(plain.name, "rb").read()
    else:
        events, step = [], WAITED - 1
        for event in profiler.profiler.function_events:
            step += event.name == "ProfilerStep*"
            events.append(kineto_event(event, step, a))
        trace = {"schemaVersion": 1, "record_shapes": 1,
                 "distributedInfo": {"backend": "gloo", "rank": rank, "world_size": a.ranks},
                 "traceEvents": events}
        text = json.dumps(trace).encode()
    with gzip.GzipFile(file, "wb", compresslevel=9, mtime=0) as packed:
        packed.write(text)


def train(rank, a, port):
    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    model = Model(a)
    if a.ranks > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        dist.init_process_group("gloo", rank=rank, world_size=a.ranks)
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=False)
    torch.manual_seed(100 + rank)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True,
                 schedule=schedule(wait=1, warmup=WAITED - 1, active=a.steps)) as profiler:
        for _ in range(WAITED + a.steps):
            optimizer.zero_grad(set_to_none=True)
            for micro_batch in range(a.micro_batches):
                tokens = torch.randint(a.vocabulary, (2, 1, a.sequence))
                waits = a.ranks > 1 and micro_batch + 1 < a.micro_batches
                if waits:
                    with model.no_sync():
                        (model(tokens[0], tokens[1]) / a.micro_batches).backward()
                else:
                    (model(tokens[0], tokens[1]) / a.micro_batches).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            profiler.step()
    export(profiler, rank, a)
    if a.ranks > 1:
        dist.destroy_process_group()


def best_of(call, times=5):
    call()
    best = float("inf")
    for _ in range(times):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best


def constant(value, source, kind="measured"):
    return {"value": value, "source": source, "kind": kind}


def machine_of(a):
    """A tile is a rank's threads."""
    torch.set_num_threads(a.threads)
    left, right = torch.randn(1024, 1024), torch.randn(1024, 1024)
    flop_per_s = 2 * 1024 ** 3 / best_of(lambda: left @ right)
    source, target = torch.randn(1 << 24), torch.empty(1 << 24)
    bytes_per_s = 2 * 4 * (1 << 24) / best_of(lambda: target.copy_(source))
    here = "tools/profile_torch.py, %d thread%s" % (a.threads, "" if a.threads == 1 else "s")
    rate = constant("%.4g GF/s" % (flop_per_s / 1e9), here + ": 1024 x 1024 x 1024 in fp32")
    guess = lambda value: constant(value, "made up: nothing was measured for it", "assumed")
    return {
        "name": "torch-cpu", "description": "The cores of one rank as PyTorch uses them, taken for an accelerator.",
        "tile": {"name": "%d CPU thread%s" % (a.threads, "" if a.threads == 1 else "s"), "peak_bf16": rate,
                 "gemm_bf16": rate, "gemm_fp32": rate, "vector_fp32": guess("100 GF/s"),
                 "hbm_bandwidth": constant("%.4g GB/s" % (bytes_per_s / 1e9), here + ": a copy of 64 MiB"),
                 "hbm_capacity": guess("8 GB"), "reserved": guess("0 B"), "cores": 1, "gemm_tile_m": 16,
                 "gemm_tile_n": 16, "gemm_half_depth": guess(8), "gemm_small_block": guess(0.9),
                 "gemm_ceiling": guess(1), "attention_efficiency": guess(0.3), "memory_efficiency": guess(1),
                 "kernel_launch": guess("0 us"), "speed_sigma": guess(0), "speed_worst": guess(1),
                 "collective_compute_share": guess(0)},
        "node": {"tiles": max(a.ranks, 1), "tiles_per_card": 1, "sockets": 1, "scale_up": "switch",
                 "switch_bandwidth": guess("2 GB/s"), "scale_up_latency": guess("20 us"),
                 "pcie_bandwidth": guess("10 GB/s"), "socket_bandwidth_out": guess("10 GB/s"),
                 "socket_bandwidth_in": guess("10 GB/s"),
                 "nic": {"count": 1, "bandwidth": guess("1 GB/s"), "attachment": "device", "latency": guess("20 us")}},
        "fabric": {"kind": "fat-tree", "levels": 2, "link_bandwidth": guess("1 GB/s"), "switch_latency": guess("1 us"),
                   "nodes_per_leaf": 1, "taper": guess(1), "max_nodes": 1, "routing": "adaptive"},
        "noise": {"os_event_rate": guess("0 Hz"), "os_event_length": guess("1 us"), "network_jitter": guess(0)},
        "storage": {"write_bandwidth": guess("1 GB/s"), "read_bandwidth": guess("1 GB/s")},
        "reliability": {"node_mtbf": guess("1000 h"), "restart": guess("1 min")}}


def stack_of():
    guess = lambda value: constant(value, "made up: nothing was measured for it", "assumed")
    eager = "operations of the model in tools/profile_torch.py, counted in its source"
    return {
        "name": "torch-eager", "description": "Eager PyTorch on CPU cores, DistributedDataParallel over gloo. " + eager,
        "kernels": {"launch": guess("5 us"), "host_sync": guess("0 us"), "backward_launch_ratio": guess(2),
                    "gemm_efficiency": guess(1), "step_host": guess("1 ms"),
                    "counts": {"norm": 6, "qk_norm": 6, "rope": 8, "residual": 1, "activation": 2, "router_topk": 2,
                               "cross_entropy": 2, "embedding": 1, "gradient_accumulation": 1, "attention": 5,
                               "optimizer": 9}},
        "pipeline": {"blocking_sends": False, "sync_after_pass": False, "router_logits_travel": False},
        "optimizer": {"reduction": "bucketed",
                      "bucket": constant("25 MiB", "DistributedDataParallel: bucket_cap_mb = 25", "specified"),
                      "barriers_per_step": 0, "world_all_reduces_per_step": 0, "per_parameter_ep_all_reduce": False},
        "transport": {"use": "gloo", "entries": {"gloo": {
            "date": "2026-01", "staging": "pipelined", "rank_bandwidth": guess("1 GB/s"),
            "scale_up_efficiency": guess(0.5), "scale_out_efficiency": guess(0.5), "scale_up_message": guess("50 us"),
            "scale_out_message": guess("50 us"), "eager_message": guess("10 us"), "eager": guess("4 KiB"),
            "reduction_step": guess("0 us"), "host_reduction": guess("0 B"), "collective_launch": guess("50 us")}}},
        "collectives": {"all_reduce": [{"algorithm": "ring"}], "reduce_scatter": [{"algorithm": "ring"}],
                        "all_gather": [{"algorithm": "ring"}], "all_to_all": [{"algorithm": "direct"}],
                        "broadcast": [{"algorithm": "ring"}]},
        "can_overlap": ["dp"], "measured_on": "torch-cpu",
        "offers": {"expert_kernels": ["loop"], "optimizers": ["replicated"], "dispatches": ["alltoall"]}}


def workload_of(a):
    workload = {"source": "the model of tools/profile_torch.py", "layers": a.layers, "hidden_size": a.hidden,
                "heads": a.heads, "kv_heads": a.kv_heads, "head_size": a.hidden // a.heads, "attention": "multi-head",
                "norm": "rms", "qk_norm": False, "feed_forward": "swiglu", "biases": False,
                "vocab_size": a.vocabulary, "tied_embeddings": False, "learned_positions": False,
                "sequence_length": a.sequence}
    if a.experts:
        workload.update(num_experts=a.experts, top_k=a.top_k, expert_size=a.intermediate, shared_experts=0,
                        first_dense_layers=0, global_aux_loss=False)
    else:
        workload["intermediate_size"] = a.intermediate
    return workload


def plan_of(a):
    return {"source": "the run of tools/profile_torch.py", "dp": a.ranks, "ep": 1, "tp": 1, "pp": 1, "cp": 1,
            "micro_batch_size": 1, "micro_batches": a.micro_batches, "schedule": "1f1b",
            "recompute": [], "precision": "fp32", "gradient_dtype": "fp32", "optimizer": "replicated",
            "dispatch": "alltoall", "expert_kernels": "loop", "routing": "learned", "overlap": ["dp"],
            "rank_order": ["dp", "pp", "ep", "tp"], "placement": "contiguous"}


def main():
    a = parse_arguments()
    os.makedirs(os.path.join(a.out, "traces"), exist_ok=True)
    for name, content in (("workload", workload_of(a)), ("plan", plan_of(a)), ("machine", machine_of(a)),
                          ("stack", stack_of())):
        with open(os.path.join(a.out, name + ".json"), "w") as file:
            json.dump(content, file, indent=2)
            file.write("\n")
    if a.ranks == 1:
        train(0, a, 0)
    else:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        multiprocessing.spawn(train, args=(a, port), nprocs=a.ranks)
    print("traces and inputs are in " + a.out)


if __name__ == "__main__":
    main()
