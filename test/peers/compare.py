"""Each reference block of packages/model/src/blocks against plain functions of PyTorch, in double precision.

    python3 test/peers/compare.py FOLDER

reads FOLDER/blocks.json as export.mjs writes it. One idea: every block is written a second time in another form
(matrix products and library functions instead of loops, the state update as one matrix, attention with keys and
values in full, Newton-Schulz on singular values), so that the two can only agree if both are right.
Prints the largest error of each output over its largest value; exit code 1 where one is above TOLERANCE.
"""

import json
import math
import sys

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)

# Inputs and stored steps of the blocks are in single precision, whose rounding is 6e-8.
TOLERANCE = 1e-6
NORM_EPS = 1e-5


def rms_norm(x, weight):
    return F.rms_norm(x, (x.shape[-1],), weight, NORM_EPS)


def situ(gate, up, gate_bound=4.0, up_bound=25.0):
    bounded = gate_bound * torch.tanh(gate / gate_bound) * torch.sigmoid(gate)
    return bounded * up_bound * torch.tanh(up / up_bound)


def block_rms_norm(s, i):
    return {"output": rms_norm(i["x"].view(-1, s["width"]), i["weight"])}


def block_situ_glu(s, i):
    gate, up = i["gate"].requires_grad_(), i["up"].requires_grad_()
    output = situ(gate, up, s["gateBound"], s["upBound"])
    by_gate, by_up = torch.autograd.grad(output.sum(), (gate, up))
    return {"output": output, "byGate": by_gate, "byUp": by_up}


def block_latent_moe(s, i):
    """All experts on all tokens, then a matrix of gate weights that is zero where an expert was not chosen."""
    hidden, width, inner, experts = s["hidden"], s["width"], s["inner"], s["experts"]
    x = i["x"].view(-1, hidden)
    scores = torch.sigmoid(x @ i["router"].view(hidden, experts))
    chosen = torch.topk(scores + i["selectionBias"], s["topK"]).indices
    mask = torch.zeros_like(scores).scatter(1, chosen, 1.0)
    gates = scores * mask / (scores * mask).sum(-1, keepdim=True)
    z = x @ i["down"].view(hidden, width)
    wide = {name: i[name].view(experts, width, inner) for name in ("expertGate", "expertUp")}
    act = situ(*(torch.einsum("tw,ewi->tei", z, wide[name]) for name in ("expertGate", "expertUp")))
    each = torch.einsum("tei,eiw->tew", act, i["expertDown"].view(experts, inner, width))
    latent = torch.einsum("te,tew->tw", gates, each)
    shared = situ(x @ i["sharedGate"].view(hidden, -1), x @ i["sharedUp"].view(hidden, -1))
    output = rms_norm(latent, i["norm"]) @ i["up"].view(width, hidden)
    return {"scores": scores, "output": output + shared @ i["sharedDown"].view(-1, hidden)}


def delta_rule(query, key, value, log_decay, beta, state):
    """S <- (I - beta k k^T) Diag(alpha) S + beta k v^T for all heads at once; x [tokens, heads, dim]."""
    eye = torch.eye(key.shape[-1])
    reads = []
    for q, k, v, g, b in zip(query, key, value, log_decay, beta):
        erase = eye - b[:, None, None] * k[:, :, None] * k[:, None, :]
        state = erase @ (torch.diag_embed(g.exp()) @ state) + b[:, None, None] * k[:, :, None] * v[:, None, :]
        reads.append((q[:, None, :] @ state)[:, 0])
    return torch.stack(reads), state


def block_delta_rule(s, i):
    heads, dim = s["headCount"], s["headDim"]
    rows = [i[name].view(-1, heads, dim) for name in ("query", "key", "value", "logDecay")]
    out, state = delta_rule(*rows, i["beta"].view(-1, heads), i["memory"].view(heads, dim, dim))
    return {"recurrent": out, "chunkwise": out, "memory": state, "memoryChunkwise": state}


def causal_conv(x, taps, inner, size):
    """Depthwise convolution [tokens, channels] that sees no later token, then SiLU."""
    padded = F.pad(x.T[None], (size - 1, 0))
    return F.silu(F.conv1d(padded, taps.view(inner, 1, size), groups=inner))[0].T


def block_kda(s, i):
    hidden, heads, dim, size = s["hidden"], s["headCount"], s["headDim"], s["convSize"]
    inner = heads * dim
    x = i["x"].view(-1, hidden)
    conv = {
        name: causal_conv(x @ i[name].view(hidden, inner), i[name + "Conv"], inner, size).view(-1, heads, dim)
        for name in ("query", "key", "value")
    }
    unit = {name: conv[name] / (conv[name].square().sum(-1, keepdim=True) + 1e-6).sqrt() for name in ("query", "key")}
    low = x @ i["decayDown"].view(hidden, -1) @ i["decayUp"].view(-1, inner)
    rate = i["decayLog"].exp()[None, :, None]
    log_decay = s["logDecayBound"] * torch.sigmoid(rate * (low + i["decayShift"]).view(-1, heads, dim))
    beta = torch.sigmoid(x @ i["beta"].view(hidden, heads))
    start = torch.zeros(heads, dim, dim)
    read, state = delta_rule(unit["query"] / math.sqrt(dim), unit["key"], conv["value"], log_decay, beta, start)
    gated = rms_norm(read, i["norm"]).reshape(-1, inner) * torch.sigmoid(x @ i["gate"].view(hidden, inner))
    output = gated @ i["out"].view(inner, hidden)
    return {"output": output, "chunkwise": output, "memory": state, "memoryChunkwise": state}


def block_gated_mla(s, i):
    """Keys and values of all heads in full, the library's causal attention."""
    hidden, heads, nope, rope, dim = s["hidden"], s["headCount"], s["nopeHeadDim"], s["ropeHeadDim"], s["valueHeadDim"]
    rank = s["kvLoraRank"]
    x = i["x"].view(-1, hidden)
    low = rms_norm(x @ i["queryDown"].view(hidden, -1), i["queryNorm"])
    query = (low @ i["queryUp"].view(-1, heads * (nope + rope))).view(-1, heads, nope + rope)
    kept = x @ i["latentDown"].view(hidden, rank + rope)
    latent = rms_norm(kept[:, :rank], i["latentNorm"])
    key = (latent @ i["keyUp"].view(rank, -1)).view(-1, heads, nope)
    key = torch.cat([key, kept[:, None, rank:].expand(-1, heads, rope)], -1)
    value = (latent @ i["valueUp"].view(rank, -1)).view(-1, heads, dim)
    turned = [part.transpose(0, 1)[None] for part in (query, key, value)]
    read = F.scaled_dot_product_attention(*turned, is_causal=True)[0].transpose(0, 1).reshape(-1, heads * dim)
    gated = read * torch.sigmoid(x @ i["gate"].view(hidden, -1))
    return {"output": gated @ i["out"].view(-1, hidden)}


def block_attention_residual(s, i):
    sources = i["sources"].view(s["sources"], -1, s["hidden"])
    logits = torch.einsum("sth,h->ts", rms_norm(sources, i["gain"]), i["query"])
    weights = logits.softmax(-1)
    return {"weights": weights, "mixed": torch.einsum("ts,sth->th", weights, sources)}


def rotary(x, rows, columns, frames):
    """Pairs of channels as complex numbers, turned by column and row in alternation; x [patches, heads, dim]."""
    dim = x.shape[-1]
    freqs = 10000.0 ** (-torch.arange(0, dim, 4) / dim)
    place = torch.arange(rows * columns).repeat(frames)
    angles = torch.stack([torch.outer(place % columns, freqs), torch.outer(place // columns, freqs)], -1).flatten(1)
    turned = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2)) * torch.polar(torch.ones_like(angles), angles)[:, None]
    return torch.view_as_real(turned).flatten(-2)


def frame_positions(frames, hidden):
    omega = 10000.0 ** (-torch.arange(hidden // 2) / (hidden / 2))
    angles = torch.outer(torch.arange(frames), omega)
    return torch.cat([angles.sin(), angles.cos()], 1)


def block_vision(s, i):
    own, heads, dim, grid = s["hiddenSize"], s["headCount"], s["headDim"], s["positionGrid"]
    frames, rows, columns, merge = s["frames"], s["rows"], s["columns"], s["mergeSize"]
    table = i["positions"].view(grid, grid, own).permute(2, 0, 1)[None]
    plane = F.interpolate(table, (rows, columns), mode="bilinear")[0].permute(1, 2, 0).reshape(1, -1, own)
    place = plane if frames == 1 else plane + frame_positions(frames, own)[:, None]
    x = i["patches"].view(frames * rows * columns, -1) @ i["patch"].view(-1, own) + place.reshape(-1, own)
    for layer in range(s["layerCount"]):
        w = {name.split(".")[1]: value for name, value in i.items() if name.startswith(f"{layer}.")}
        y = rms_norm(x, w["attentionNorm"])
        query, key, value = ((y @ w[name].view(own, -1)).view(-1, heads, dim) for name in ("query", "key", "value"))
        query, key = (rotary(part, rows, columns, frames) for part in (query, key))
        turned = [part.transpose(0, 1)[None] for part in (query, key, value)]
        read = F.scaled_dot_product_attention(*turned)[0].transpose(0, 1).reshape(-1, heads * dim)
        x = x + read @ w["out"].view(-1, own)
        inner = F.gelu(rms_norm(x, w["mlpNorm"]) @ w["up"].view(own, -1), approximate="tanh")
        x = x + inner @ w["down"].view(-1, own)
    squares = rms_norm(x, i["norm"]).view(frames, rows // merge, merge, columns // merge, merge, own)
    merged = squares.permute(0, 1, 3, 2, 4, 5).mean(0).reshape(-1, merge * merge * own)
    inner = F.gelu(merged @ i["projectorIn"].view(merge * merge * own, -1))
    return {"output": rms_norm(inner @ i["projectorOut"].view(-1, s["modelWidth"]), i["projectorNorm"])}


def newton_schulz(matrix):
    """Five steps act on each singular value alone: s <- a s + b s^3 + c s^5, from s over their length."""
    u, values, v = torch.linalg.svd(matrix, full_matrices=False)
    values = values / (values.norm() + 1e-7)
    for _ in range(5):
        values = 3.4445 * values - 4.7750 * values**3 + 2.0315 * values**5
    return u @ torch.diag(values) @ v


def block_newton_schulz(s, i):
    packed = i["packed"].view(s["rows"], s["columns"])
    heads = [newton_schulz(block) for block in packed.split(s["blockRows"])]
    return {"whole": newton_schulz(packed), "perHead": torch.cat(heads)}


BLOCKS = {
    "rms-norm": block_rms_norm,
    "situ-glu": block_situ_glu,
    "latent-moe": block_latent_moe,
    "delta-rule": block_delta_rule,
    "kda": block_kda,
    "gated-mla": block_gated_mla,
    "attention-residual": block_attention_residual,
    "vision-image": block_vision,
    "vision-video": block_vision,
    "newton-schulz": block_newton_schulz,
}


def error(ours, theirs):
    ours, theirs = torch.tensor(ours), theirs.detach().flatten()
    if ours.shape != theirs.shape:
        return math.inf
    worst = ((ours - theirs).abs().max() / theirs.abs().max()).item()
    return worst if math.isfinite(worst) else math.inf


def main(folder):
    with open(f"{folder}/blocks.json", encoding="utf8") as file:
        blocks = json.load(file)
    if blocks.keys() != BLOCKS.keys():
        sys.exit(f"blocks differ: {sorted(blocks.keys() ^ BLOCKS.keys())}")
    worst = 0.0
    for name, block in blocks.items():
        inputs = {key: torch.tensor(values) for key, values in block["inputs"].items()}
        theirs = BLOCKS[name](block["sizes"], inputs)
        if theirs.keys() != block["outputs"].keys():
            sys.exit(f"{name}: outputs differ: {sorted(theirs.keys() ^ block['outputs'].keys())}")
        errors = {key: error(values, theirs[key]) for key, values in block["outputs"].items()}
        worst = max(worst, *errors.values())
        print(f"{name:20}" + "  ".join(f"{key} {value:.1e}" for key, value in errors.items()))
    print(f"worst {worst:.1e}, tolerance {TOLERANCE:.0e}, torch {torch.__version__}")
    sys.exit(1 if worst > TOLERANCE else 0)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("write python3 test/peers/compare.py FOLDER")
    main(sys.argv[1])
