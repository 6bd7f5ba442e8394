#!/usr/bin/env python3
"""Loss and gradients of tiny models of every kind that the trainer runs, by automatic differentiation in PyTorch.

Writes the reference that tests/exec/run/torch_reference_test.cpp compares the trainer with:

  python3 tests/torch/tiny_models.py --output tests/torch/tiny_models.json

Needs PyTorch alone, on a CPU, and takes seconds. Nothing is drawn: weights and tokens are functions of names and indices,
with m the splitmix64 finaliser of src/base/mix64.hpp, hash the 64-bit FNV-1a of a tensor's name, and
u(name, i) = 2 (m(hash(name) + i) >> 11) / 2^53 - 1 in [-1, 1):

  weights of two dimensions   0.4 u(name, i), rounded to fp32     norms' weights   1 + 0.3 u(name, i), rounded to fp32
  biases                      0.2 u(name, i), rounded to fp32     tokens of sequence s   m(hash("tokens") + 1009 s + i) mod V

Of each model the file has its workload (the keys of workloads/*.json), the sequences of its batch, and in fp64 and fp32:
the parts of the loss, the norm of all gradients, of each tensor its gradient's norm and up to 6 elements, those
numbered i * (size - 1) / 5, rounded down, and of a mixture of experts the margin: by how much the least probable expert
that a token chose is more probable than the first that it did not, at least.
"""
import argparse
import json
import math

import torch
import torch.nn.functional as F

MASK = (1 << 64) - 1
SEQUENCES = 4
SAMPLES = 6


def mix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def hash_of(name):
    value = 0xCBF29CE484222325
    for letter in name.encode():
        value = ((value ^ letter) * 0x100000001B3) & MASK
    return value


def weight(name, shape):
    first, size = hash_of(name), math.prod(shape)
    u = [2.0 * (mix64((first + i) & MASK) >> 11) * 2.0**-53 - 1.0 for i in range(size)]
    if name.endswith(".bias"):
        values = [0.2 * x for x in u]
    elif len(shape) == 1:
        values = [1.0 + 0.3 * x for x in u]
    else:
        values = [0.4 * x for x in u]
    return torch.tensor(values, dtype=torch.float64).to(torch.float32).reshape(shape)


def tokens(workload):
    first, length = hash_of("tokens"), workload["sequence_length"]
    rows = [[mix64((first + 1009 * s + i) & MASK) % workload["vocab_size"] for i in range(length + 1)]
            for s in range(SEQUENCES)]
    return torch.tensor(rows)


def dense(**more):
    base = dict(layers=2, hidden_size=8, heads=4, kv_heads=2, head_size=4, intermediate_size=12, vocab_size=20,
                sequence_length=8, norm="rms", feed_forward="swiglu", attention="multi-head",
                training=dict(rope_theta=10000.0, norm_epsilon=1e-5))
    return base | more


def mixture(**more):
    base = dense(num_experts=4, top_k=2, expert_size=6, training=dict(
        rope_theta=10000.0, norm_epsilon=1e-5, auxiliary_loss=0.05, z_loss=0.01, normalize_top_k=False))
    del base["intermediate_size"]
    return base | more


def latent(workload, **more):
    return workload | dict(attention="latent", kv_heads=4, head_size=4, q_rank=6, kv_rank=5, rope_head_size=2,
                           value_head_size=3) | more


MODELS = {
    "gqa": dense(qk_norm=True),
    "gqa-experts": mixture(),
    "shared-experts": mixture(shared_experts=2, layers=3, first_dense_layers=1, intermediate_size=12),
    "shared-experts-top-k-one": mixture(shared_experts=1, training=dict(
        rope_theta=500.0, norm_epsilon=1e-5, auxiliary_loss=0.05, z_loss=0.01, normalize_top_k=True)),
    "mla": latent(dense()),
    "mla-queries-whole": latent(dense(), q_rank=0),
    "mla-shared-experts": latent(mixture(shared_experts=1, layers=3, first_dense_layers=1, intermediate_size=12)),
    "gpt": dense(kv_heads=4, norm="layer", feed_forward="gelu", biases=True, learned_positions=True,
                 tied_embeddings=True),
    "layer-norm": dense(norm="layer"),
    "biases": dense(biases=True),
}


def shapes_of(w):
    """Tensors by name; linear weights are [out, in]."""
    h, heads, size = w["hidden_size"], w["heads"], w["head_size"]
    shapes = {"model.embed_tokens.weight": (w["vocab_size"], h)}
    biases = w.get("biases", False)

    def linear(name, out, inner):
        shapes[name + ".weight"] = (out, inner)
        if biases:
            shapes[name + ".bias"] = (out,)

    def norm(name, width):
        shapes[name + ".weight"] = (width,)
        if w["norm"] == "layer":
            shapes[name + ".bias"] = (width,)

    def feed_forward(prefix, width):
        if w["feed_forward"] == "swiglu":
            linear(prefix + "gate_proj", width, h)
        linear(prefix + "up_proj", width, h)
        linear(prefix + "down_proj", h, width)

    if w.get("learned_positions", False):
        shapes["model.embed_positions.weight"] = (w["sequence_length"], h)
    for layer in range(w["layers"]):
        prefix = f"model.layers.{layer}."
        attention, mlp = prefix + "self_attn.", prefix + "mlp."
        norm(prefix + "input_layernorm", h)
        norm(prefix + "post_attention_layernorm", h)
        if w["attention"] == "latent":
            rope, value, rank = w["rope_head_size"], w["value_head_size"], w["q_rank"]
            if rank > 0:
                linear(attention + "q_a_proj", rank, h)
                norm(attention + "q_a_layernorm", rank)
            linear(attention + ("q_b_proj" if rank > 0 else "q_proj"), heads * (size + rope), rank if rank > 0 else h)
            linear(attention + "kv_a_proj_with_mqa", w["kv_rank"] + rope, h)
            norm(attention + "kv_a_layernorm", w["kv_rank"])
            linear(attention + "kv_b_proj", heads * (size + value), w["kv_rank"])
            linear(attention + "o_proj", h, heads * value)
        else:
            linear(attention + "q_proj", heads * size, h)
            linear(attention + "k_proj", w["kv_heads"] * size, h)
            linear(attention + "v_proj", w["kv_heads"] * size, h)
            linear(attention + "o_proj", h, heads * size)
            if w.get("qk_norm", False):
                norm(attention + "q_norm", heads * size)
                norm(attention + "k_norm", w["kv_heads"] * size)
        if w.get("num_experts", 0) == 0 or layer < w.get("first_dense_layers", 0):
            feed_forward(mlp, w["intermediate_size"])
            continue
        linear(mlp + "gate", w["num_experts"], h)
        for expert in range(w["num_experts"]):
            feed_forward(f"{mlp}experts.{expert}.", w["expert_size"])
        if w.get("shared_experts", 0) > 0:
            feed_forward(mlp + "shared_experts.", w["shared_experts"] * w["expert_size"])
    norm("model.norm", h)
    if not w.get("tied_embeddings", False):
        shapes["lm_head.weight"] = (w["vocab_size"], h)
    return shapes


def rotate(x, theta):
    """x [..., sequence, size]: the two halves of a head are turned by position * theta^(-2 i / size)."""
    sequence, size = x.shape[-2:]
    frequency = theta ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angle = torch.outer(torch.arange(sequence, dtype=torch.float64), frequency)
    cos, sin = (torch.cat([f, f], -1).to(x.dtype) for f in (angle.cos(), angle.sin()))
    half = size // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


class Model:
    def __init__(self, workload, weights):
        self.w, self.p, self.t = workload, weights, workload["training"]
        self.margin = math.inf  # between the last expert that is chosen and the first that is not

    def linear(self, x, name):
        return F.linear(x, self.p[name + ".weight"], self.p.get(name + ".bias"))

    def norm(self, x, name):
        weight, epsilon = self.p[name + ".weight"], self.t["norm_epsilon"]
        if self.w["norm"] == "layer":
            return F.layer_norm(x, x.shape[-1:], weight, self.p[name + ".bias"], epsilon)
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * weight

    def attend(self, q, k, v):
        """[batch, heads, sequence, size] each; scaled by the width of queries and keys."""
        sequence = q.shape[-2]
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(torch.triu(torch.ones(sequence, sequence, dtype=torch.bool), 1), -math.inf)
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)

    def heads(self, x, number):
        return x.unflatten(-1, (number, -1)).transpose(1, 2)

    def multi_head(self, x, prefix):
        w = self.w
        q, k, v = (self.linear(x, prefix + n + "_proj") for n in "qkv")
        if w.get("qk_norm", False):
            q, k = self.norm(q, prefix + "q_norm"), self.norm(k, prefix + "k_norm")
        q, k, v = self.heads(q, w["heads"]), self.heads(k, w["kv_heads"]), self.heads(v, w["kv_heads"])
        if not w.get("learned_positions", False):
            q, k = rotate(q, self.t["rope_theta"]), rotate(k, self.t["rope_theta"])
        k, v = (y.repeat_interleave(w["heads"] // w["kv_heads"], dim=1) for y in (k, v))
        return self.linear(self.attend(q, k, v), prefix + "o_proj")

    def multi_head_latent(self, x, prefix):
        """DeepSeek-V2 (arXiv:2405.04434), section 2.1: of a head's queries and keys [plain, rotated], the rotated part
        of keys shared by all heads; of kv_b's rows for a head [key, value]."""
        w, theta = self.w, self.t["rope_theta"]
        size, rope = w["head_size"], w["rope_head_size"]
        if w["q_rank"] > 0:
            latent = self.norm(self.linear(x, prefix + "q_a_proj"), prefix + "q_a_layernorm")
            q = self.linear(latent, prefix + "q_b_proj")
        else:
            q = self.linear(x, prefix + "q_proj")
        q = self.heads(q, w["heads"])
        q = torch.cat([q[..., :size], rotate(q[..., size:], theta)], -1)
        latent, shared = self.linear(x, prefix + "kv_a_proj_with_mqa").split([w["kv_rank"], rope], -1)
        shared = rotate(shared, theta).unsqueeze(1).expand(-1, w["heads"], -1, -1)
        kv = self.heads(self.linear(self.norm(latent, prefix + "kv_a_layernorm"), prefix + "kv_b_proj"), w["heads"])
        k = torch.cat([kv[..., :size], shared], -1)
        return self.linear(self.attend(q, k, kv[..., size:]), prefix + "o_proj")

    def feed_forward(self, x, prefix):
        up = self.linear(x, prefix + "up_proj")
        inner = (F.silu(self.linear(x, prefix + "gate_proj")) * up if self.w["feed_forward"] == "swiglu" else
                 F.gelu(up, approximate="tanh"))
        return self.linear(inner, prefix + "down_proj")

    def experts(self, x, prefix):
        w = self.w
        number, top_k = w["num_experts"], w["top_k"]
        logits = self.linear(x, prefix + "gate")
        probabilities = logits.softmax(-1)
        ranked = probabilities.detach().sort(-1, descending=True).values
        self.margin = min(self.margin, (ranked[..., top_k - 1] - ranked[..., top_k]).min().item())
        chosen, choices = probabilities.topk(top_k, dim=-1)
        if self.t["normalize_top_k"]:
            chosen = chosen / chosen.sum(-1, keepdim=True)
        out = sum((chosen * (choices == e)).sum(-1, keepdim=True) * self.feed_forward(x, f"{prefix}experts.{e}.")
                  for e in range(number))
        counts = F.one_hot(choices, number).sum(-2).to(x.dtype)
        self.routing.append((logits, probabilities, counts))
        return out + self.feed_forward(x, prefix + "shared_experts.") if w.get("shared_experts", 0) > 0 else out

    def loss(self, rows):
        w, self.routing = self.w, []
        x = F.embedding(rows[:, :-1], self.p["model.embed_tokens.weight"])
        if w.get("learned_positions", False):
            x = x + self.p["model.embed_positions.weight"]
        attention = self.multi_head_latent if w["attention"] == "latent" else self.multi_head
        for layer in range(w["layers"]):
            prefix = f"model.layers.{layer}."
            x = x + attention(self.norm(x, prefix + "input_layernorm"), prefix + "self_attn.")
            inner = self.norm(x, prefix + "post_attention_layernorm")
            is_mixture = w.get("num_experts", 0) > 0 and layer >= w.get("first_dense_layers", 0)
            x = x + (self.experts if is_mixture else self.feed_forward)(inner, prefix + "mlp.")
        head = self.p.get("lm_head.weight", self.p["model.embed_tokens.weight"])
        logits = F.linear(self.norm(x, "model.norm"), head)
        parts = {"cross_entropy": F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())}
        if self.routing:
            balance = [w["num_experts"] * (c.mean(1) * p.mean(1)).sum(-1).mean() for _, p, c in self.routing]
            parts["auxiliary"] = self.t["auxiliary_loss"] * torch.stack(balance).mean()
            squares = [logits.logsumexp(-1).pow(2).mean() for logits, _, _ in self.routing]
            parts["z"] = self.t["z_loss"] * torch.stack(squares).mean()
        return parts


def one_step(workload, dtype):
    weights = {name: weight(name, shape).to(dtype).requires_grad_() for name, shape in shapes_of(workload).items()}
    model = Model(workload, weights)
    parts = model.loss(tokens(workload))
    sum(parts.values()).backward()
    gradients = {}
    for name, tensor in weights.items():
        flat = tensor.grad.flatten()
        count = min(SAMPLES, len(flat))
        places = [i * (len(flat) - 1) // max(count - 1, 1) for i in range(count)]
        gradients[name] = {"shape": list(tensor.shape), "norm": tensor.grad.double().norm().item(),
                           "elements": [flat[i].item() for i in places]}
    norm = math.sqrt(sum(tensor.grad.double().pow(2).sum().item() for tensor in weights.values()))
    return {"loss": {name: part.item() for name, part in parts.items()},
            "margin": model.margin if model.routing else None, "gradient_norm": norm, "gradients": gradients}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True, help="the JSON file to write")
    given = parser.parse_args()
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    models = {}
    for name, workload in MODELS.items():
        source = {"source": "made up: tests/torch/tiny_models.py"}
        models[name] = {"workload": source | workload, "sequences": SEQUENCES,
                        "fp64": one_step(workload, torch.float64), "fp32": one_step(workload, torch.float32)}
        print(name, models[name]["fp64"]["loss"], "gradient norm", models[name]["fp64"]["gradient_norm"])
    document = {"torch": torch.__version__.split("+")[0], "models": models}
    with open(given.output, "w") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
