#!/usr/bin/env python3
"""Checks one training step of the executor against automatic differentiation in PyTorch.

Takes the weights that a run began with, the tokens of its first global batch and the gradients that it exported; computes
loss and gradients of the same model in float64, and prints the largest relative difference of each tensor.

  auspex train -n 4 --workload toy-moe --plan toy-ep2-dp2 --set plan.precision=fp32 --set plan.gradient_dtype=fp32 \
      --data DIR --steps 0 --export-weights w0.safetensors
  auspex train -n 4 --workload toy-moe --plan toy-ep2-dp2 --set plan.precision=fp32 --set plan.gradient_dtype=fp32 \
      --data DIR --steps 1 --export-gradients g.safetensors --json > run.json
  python3 tests/torch/one_step.py --workload workloads/toy-moe.json --weights w0.safetensors --gradients g.safetensors \
      --data DIR --sequences 8 --report run.json

Debian: apt-get install python3-torch. Exit code 1 if a difference exceeds --tolerance.
"""
import argparse
import json
import math
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F


def read_tensors(path):
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(length))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            values = np.frombuffer(data[begin:end], dtype="<f4").astype(np.float64).reshape(entry["shape"])
            tensors[name] = torch.from_numpy(values)
    return tensors


def read_rows(folder, count):
    with open(f"{folder}/dataset.json") as file:
        dataset = json.load(file)
    width = dataset["sequence_length"] + 1
    kind = {2: "<u2", 4: "<u4"}[dataset["token_bytes"]]
    rows = []
    for shard in dataset["shards"]:
        rows.append(np.fromfile(f"{folder}/{shard['file']}", dtype=kind).reshape(-1, width))
    return torch.from_numpy(np.concatenate(rows)[:count].astype(np.int64))


def rms_norm(x, weight, epsilon):
    if weight is None:  # OLMo's norm has no parameters
        return F.layer_norm(x, x.shape[-1:], eps=epsilon)
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * weight


def rotate(x, theta):
    sequence, size = x.shape[-2:]
    frequency = theta ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angle = torch.outer(torch.arange(sequence, dtype=torch.float64), frequency)
    cos, sin = torch.cat([angle, angle], -1).cos(), torch.cat([angle, angle], -1).sin()
    half = size // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class Model:
    def __init__(self, workload, weights, forced):
        self.w, self.p, self.forced = workload, weights, forced
        self.t = {"rope_theta": 10000, "norm_epsilon": 1e-5, "auxiliary_loss": 0.01, "z_loss": 0.001, "normalize_top_k": False}
        self.t.update(workload.get("training", {}))

    def norm(self, x, name):
        return rms_norm(x, self.p.get(name), self.t["norm_epsilon"])

    def attention(self, x, layer):
        w, prefix = self.w, f"model.layers.{layer}.self_attn."
        heads, kv_heads, size = w["heads"], w["kv_heads"], w["head_size"]
        q, k, v = (x @ self.p[prefix + n + "_proj.weight"].T for n in "qkv")
        if w["qk_norm"]:
            q, k = self.norm(q, prefix + "q_norm.weight"), self.norm(k, prefix + "k_norm.weight")
        batch, sequence = x.shape[:2]
        q = rotate(q.view(batch, sequence, heads, size).transpose(1, 2), self.t["rope_theta"])
        k = rotate(k.view(batch, sequence, kv_heads, size).transpose(1, 2), self.t["rope_theta"])
        v = v.view(batch, sequence, kv_heads, size).transpose(1, 2)
        k, v = (y.repeat_interleave(heads // kv_heads, dim=1) for y in (k, v))
        scores = q @ k.transpose(-1, -2) / math.sqrt(size)
        scores = scores.masked_fill(torch.triu(torch.ones(sequence, sequence, dtype=torch.bool), 1), -math.inf)
        out = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, sequence, heads * size)
        return out @ self.p[prefix + "o_proj.weight"].T

    def swiglu(self, x, prefix):
        gate, up = x @ self.p[prefix + "gate_proj.weight"].T, x @ self.p[prefix + "up_proj.weight"].T
        return (F.silu(gate) * up) @ self.p[prefix + "down_proj.weight"].T

    def experts(self, x, layer):
        w, prefix = self.w, f"model.layers.{layer}.mlp."
        batch, sequence, hidden = x.shape
        logits = x @ self.p[prefix + "gate.weight"].T
        probabilities = logits.softmax(-1)
        number, top_k = w["num_experts"], w["top_k"]
        if self.forced:
            token = torch.arange(batch * sequence).view(batch, sequence, 1)
            choices = (token * top_k + torch.arange(top_k)) % number
        else:
            choices = probabilities.topk(top_k, dim=-1).indices
        chosen = probabilities.gather(-1, choices)
        if self.t["normalize_top_k"]:
            chosen = chosen / chosen.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for expert in range(number):
            share = (chosen * (choices == expert)).sum(-1, keepdim=True)
            rows = (choices == expert).any(-1)
            out[rows] = out[rows] + share[rows] * self.swiglu(x[rows], f"{prefix}experts.{expert}.")
        self.routing.append((logits, probabilities, F.one_hot(choices, number).sum(-2).double()))
        return out

    def loss(self, rows):
        w = self.w
        self.routing = []
        x = self.p["model.embed_tokens.weight"][rows[:, :-1]]
        for layer in range(w["layers"]):
            prefix = f"model.layers.{layer}."
            x = x + self.attention(self.norm(x, prefix + "input_layernorm.weight"), layer)
            h = self.norm(x, prefix + "post_attention_layernorm.weight")
            moe = w.get("num_experts", 0) > 0 and layer >= w.get("first_dense_layers", 0)
            x = x + (self.experts(h, layer) if moe else self.swiglu(h, prefix + "mlp."))
        x = self.norm(x, "model.norm.weight")
        head = self.p.get("lm_head.weight", self.p["model.embed_tokens.weight"])
        parts = {"cross_entropy": F.cross_entropy((x @ head.T).flatten(0, 1), rows[:, 1:].flatten())}
        if self.routing:
            number = w["num_experts"]
            z = torch.stack([logits.logsumexp(-1).pow(2).mean() for logits, _, _ in self.routing]).mean()
            f = torch.stack([c.mean(1) for _, _, c in self.routing])  # [layers, sequences, experts]
            p = torch.stack([q.mean(1) for _, q, _ in self.routing])
            if w.get("global_aux_loss", False):
                f, p = f.mean(0), p.mean(0)
            parts["z"] = self.t["z_loss"] * z
            parts["auxiliary"] = self.t["auxiliary_loss"] * number * (f * p).sum(-1).mean()
        return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("workload", "weights", "data"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--gradients", help="what --export-gradients wrote")
    parser.add_argument("--report", help="what auspex train --json printed")
    parser.add_argument("--sequences", type=int, required=True, help="of the global batch")
    parser.add_argument("--forced-uniform", action="store_true", help="plan.routing is uniform")
    parser.add_argument("--tolerance", type=float, default=1e-3)
    given = parser.parse_args()

    with open(given.workload) as file:
        workload = json.load(file)
    weights = {name: tensor.requires_grad_() for name, tensor in read_tensors(given.weights).items()}
    parts = Model(workload, weights, given.forced_uniform).loss(read_rows(given.data, given.sequences))
    loss = sum(parts.values())
    loss.backward()
    print("loss", loss.item(), {name: part.item() for name, part in parts.items()})
    worst = 0.0
    if given.report:
        with open(given.report) as file:
            step = json.load(file)["steps"][0]
        difference = abs(step["loss"] - loss.item()) / abs(loss.item())
        print(f"loss of the run {step['loss']}, relative difference {difference:.2e}")
        worst = max(worst, difference)
    if given.gradients:
        for name, gradient in sorted(read_tensors(given.gradients).items()):
            expected = weights[name].grad
            scale = expected.abs().max().item() or 1.0
            difference = (gradient - expected).abs().max().item() / scale
            worst = max(worst, difference)
            print(f"{difference:10.2e}  {name}")
    print(f"largest relative difference {worst:.2e}, allowed {given.tolerance:.0e}")
    sys.exit(0 if worst <= given.tolerance else 1)


if __name__ == "__main__":
    main()
