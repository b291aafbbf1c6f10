"""A small Qwen3 policy, many of them at once: weights are stacked, one slice for each run."""
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

HEADS, KEY_HEADS, HEAD, LAYERS, WIDTH = 6, 2, 32, 4, 192


def stacked(path, runs, device):
    """The checkpoint once for each run, with noise where a run asks for another one."""
    weights = {name: value.float() for name, value in load_file(path).items() if name != "lm_head.weight"}
    stack = {}
    for place, (name, value) in enumerate(sorted(weights.items())):
        copies = torch.stack([value] * len(runs))
        for copy, run in zip(copies, runs):
            if run["perturb"]:
                random = torch.Generator().manual_seed(1000 * run["seed"] + place)
                copy += torch.randn(value.shape, generator=random) * value.std() * run["perturb"]
        stack[name] = copies.to(device)
    return stack


def normed(x, weight):
    return x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6).to(x.dtype) * weight


def linear(x, weight):
    return torch.bmm(x, weight.transpose(1, 2))


def angles(positions):
    frequencies = 10000.0 ** -(torch.arange(0, HEAD, 2, device=positions.device).float() / HEAD)
    angle = positions.float()[..., None] * frequencies
    return torch.cat([angle, angle], -1)


def rotated(x, cos, sin):
    return x * cos + torch.cat([-x[..., HEAD // 2 :], x[..., : HEAD // 2]], -1) * sin


def logits(weights, tokens, positions, visible, cache=None, at=0):
    """Logits (runs, rows, tokens, vocabulary); `visible` (runs × rows, 1, tokens, keys) says who sees whom."""
    runs, rows, length = tokens.shape
    kind = weights["model.norm.weight"].dtype
    pick = torch.arange(runs, device=tokens.device)[:, None, None]
    x = weights["model.embed_tokens.weight"][pick, tokens].reshape(runs, rows * length, WIDTH)
    turn = angles(positions).reshape(runs * rows, 1, length, HEAD)
    cos, sin = turn.cos().to(kind), turn.sin().to(kind)
    for layer in range(LAYERS):
        of = lambda name: weights[f"model.layers.{layer}.{name}.weight"]
        h = normed(x, of("input_layernorm")[:, None])
        q = linear(h, of("self_attn.q_proj")).view(runs, rows * length, HEADS, HEAD)
        k = linear(h, of("self_attn.k_proj")).view(runs, rows * length, KEY_HEADS, HEAD)
        v = linear(h, of("self_attn.v_proj")).view(runs * rows, length, KEY_HEADS, HEAD).transpose(1, 2)
        q = normed(q, of("self_attn.q_norm")[:, None, None]).view(runs * rows, length, HEADS, HEAD).transpose(1, 2)
        k = normed(k, of("self_attn.k_norm")[:, None, None]).view(runs * rows, length, KEY_HEADS, HEAD).transpose(1, 2)
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        if cache is not None:
            for held, new in zip(cache[layer], (k, v)):
                held[:, :, at : at + length] = new
            k, v = (held[:, :, : at + length] for held in cache[layer])
        k, v = (each.repeat_interleave(HEADS // KEY_HEADS, 1) for each in (k, v))
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
        x = x + linear(out.transpose(1, 2).reshape(runs, rows * length, HEADS * HEAD), of("self_attn.o_proj"))
        h = normed(x, of("post_attention_layernorm")[:, None])
        x = x + linear(F.silu(linear(h, of("mlp.gate_proj"))) * linear(h, of("mlp.up_proj")), of("mlp.down_proj"))
    x = normed(x, weights["model.norm.weight"][:, None])
    return linear(x, weights["model.embed_tokens.weight"]).float().view(runs, rows, length, -1)


def statistics(weights, tokens, positions, visible):
    """ln p of each next token, entropy and Σπ², 64 rows at a time."""
    parts = []
    for at in range(0, tokens.shape[1], 64):
        rows = slice(at, at + 64)
        seen = visible[:, rows].flatten(0, 1).unsqueeze(1)
        log = logits(weights, tokens[:, rows], positions[:, rows], seen)[:, :, :-1].log_softmax(-1)
        p = log.exp()
        chosen = log.gather(-1, tokens[:, rows, 1:, None])[..., 0]
        parts.append((chosen, -(p * log).sum(-1), p.pow(2).sum(-1)))
    return [torch.cat(part, 1) for part in zip(*parts)]
