"""GRPO on a small Llama (SmolLM2-135M-Instruct), healthy or with one fault on purpose: logs to judge an analyzer by.

usage:  train.py CHECKPOINT_DIR OUT --tasks bullets,largest,reverse [options]     train one run, write OUT (a .pt)
        train.py pack FILE.pt ...                                                 turn them into Parquet (needs pyarrow)
        train.py --help                                                           every option

CHECKPOINT_DIR holds *.safetensors with Hugging Face's names and tokenizer.json. Needs torch, safetensors, tokenizers.

The trainer has float32 weights and bfloat16 products; the sampler is an implementation of its own: bfloat16 throughout
(weights, residual stream, cache), left-padded prompts, its own attention, its own log-probabilities (`logprob_rollout`).
So a healthy gap between the two is neither 0 nor 0 at the first token, as with the engines people use; and since
micro-batches differ between the pass for pi_old and the loss, update 0 agrees with pi_old up to rounding, not exactly.

Logged steps hold a row a response: step, group_id, sample_id, update (mini-batch within the step), policy_version (the one
the sampler is said to have), task, reward and parts, advantage, truncated, finish_reason, prompt_ids, token_ids, mask (trained
tokens), logprob_rollout, logprob (pi_old, by the trainer), entropy, sum_pi_sq, logprob_new (when its loss was computed),
logprob_ref, and with two turns `turn`.

Faults: --sampler-temperature, --top-p, --dropout, --position-gap, --send-only, --corrupt-from, --coin, --verifier-coin,
--pay-length, --flip, --positive-only, and too large a --lr, --kl or too small a --max-tokens.
"""

import argparse
import collections
import math
import pathlib
import random
import re
import sys
import time

import torch
import torch.nn.functional as F

LAYERS, HEADS, KV, DIM, WIDTH, VOCAB, EOS = 30, 9, 3, 64, 576, 49152, 2
LINEARS = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"]
HALF = torch.bfloat16 if torch.cuda.is_available() else torch.float32  # on a CPU, to try things out, float32

# ---------------------------------------------------------------- tasks: rng -> (prompt, text -> (correct, format))
TOPICS = "the moon,coffee,bridges,winter,the sea,bicycles,honey,chess,volcanoes,bread,libraries,rain,trains,cats,mountains,music".split(",")
WORDS = "apple river stone cloud tiger lemon window garden pencil ocean yellow candle forest silver rabbit butter market dragon".split()
DEEDS = "make tea,plant a tree,wash a car,paint a wall,clean a window,bake a cake,pack a bag,learn a song,fix a bike,feed a cat".split(",")
WHO = "a fox,a sailor,an old king,a baker,a robot,a little girl,a farmer,a teacher".split(",")
NUMBER = re.compile(r"Answer: *(-?\d+)\.?\s*$")
sentences = lambda t: len(re.findall(r"[.!?](?:\s|$)", t))
key = lambda topic: topic.split()[-1].rstrip("s").lower()
both = lambda f, c: (bool(f and c), bool(f))  # correct counts only in the right format


def ends_with_number(t, want):
    m = NUMBER.search(t)
    return both(m, m and int(m[1]) == want)


def bullets(g):
    n, topic = g.randint(2, 5), g.choice(TOPICS)
    lines = lambda t: [x for x in t.split("\n") if x.strip()]
    check = lambda t: both(lines(t) and all(x.startswith("- ") for x in lines(t)), len(lines(t)) == n)
    return f"Write exactly {n} very short bullet points about {topic}. Start every line with '- '.", check


def largest(g):
    v = g.sample(range(2, 100), 3)
    ask = f"Which number is the largest: {v[0]}, {v[1]} or {v[2]}? Explain briefly, then end with 'Answer: ' and the number."
    return ask, lambda t: ends_with_number(t, max(v))


def in_order(g, ask, want):
    w = g.sample(WORDS, g.choice([2, 3, 3]))
    got = lambda t: [x.strip().lower() for x in t.strip().rstrip(".").split(",")]
    check = lambda t: both(len(got(t)) == len(w) and all(x.isalpha() for x in got(t)), got(t) == want(w))
    return f"{ask}: {', '.join(w)}. Reply with only the words, separated by commas.", check


def letter(g):
    c, topic = g.choice("ABCDEFGHILMNOPRSTW"), g.choice(TOPICS)
    check = lambda t: both(sentences(t) == 1 and t.rstrip().endswith((".", "!", "?")), t.lstrip()[:1] == c)
    return f"Write one sentence about {topic}. Its first word must begin with the letter {c}.", check


def count(g):
    w = g.choice(WORDS + "sun egg tree book elephant umbrella".split())
    ask = f"How many letters does the word '{w}' have? Spell it, then end with 'Answer: ' and the number."
    return ask, lambda t: ends_with_number(t, len(w))


def story(g):
    a, b = g.choice(WHO), g.choice(WORDS)
    right = lambda t: 4 <= sentences(t) <= 7 and a.split()[-1] in t.lower() and b in t.lower()
    check = lambda t: both(t.rstrip().endswith((".", "!", "?", '"')), right(t))
    return f"Tell a story of four to seven sentences about {a} and the word '{b}'.", check


def steps(g):
    n, deed = g.randint(3, 6), g.choice(DEEDS)
    k = lambda t: [int(x) for x in re.findall(r"^(\d+)\. \S", t, re.M)]
    ask = f"How do you {deed}? List exactly {n} steps, one a line, numbered from 1. to {n}."
    return ask, lambda t: both(k(t)[:1] == [1], k(t) == list(range(1, n + 1)))


def compare(g):
    a, b = g.sample(TOPICS, 2)
    right = lambda t: len([x for x in t.split("\n\n") if x.strip()]) == 2 and t.rstrip().endswith(".")
    return f"Compare {a} and {b} in exactly two short paragraphs.", lambda t: both(key(a) in t.lower() and key(b) in t.lower(), right(t))


def short(g, ask, of, right):
    x = g.choice(of)
    return ask.format(x), lambda t: both(True, right(t, x) and len(t.split()) <= 20)


TASKS = {f.__name__: f for f in (bullets, largest, letter, count, story, steps, compare)} | dict(
    reverse=lambda g: in_order(g, "Reverse the order of these words", lambda w: w[::-1]),
    alphabet=lambda g: in_order(g, "Put these words in alphabetical order", sorted),
    brief=lambda g: short(g, "Describe {} in one sentence of at most 20 words.", TOPICS, lambda t, x: sentences(t) == 1),
    contain=lambda g: short(g, "Write one short sentence with the word '{}'.", WORDS, lambda t, x: x in t.lower() and sentences(t) == 1),
    question=lambda g: short(g, "Ask one short question about {}.", TOPICS, lambda t, x: t.rstrip().endswith("?")),
)


# ---------------------------------------------------------------- the trainer's model
def rope_table(device):
    inv = 1.0 / 100000.0 ** (torch.arange(0, DIM, 2, device=device).float() / DIM)
    a = torch.arange(4096, device=device).float()[:, None] * inv
    return torch.cat([a.cos(), a.cos()], 1), torch.cat([a.sin(), a.sin()], 1)


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


class Model:
    """Weights by their published names; with LoRA only the adapters are trained."""

    def __init__(self, weights, device, rank=0, dropout=0.0):
        self.w = {k: v.to(device, torch.float32) for k, v in weights.items()}
        self.rope, self.dropout, self.scale, self.lora = rope_table(device), dropout, 2.0, {}
        if rank:
            for k in [f"model.layers.{i}.{n}.weight" for i in range(LAYERS) for n in LINEARS]:
                o, i = self.w[k].shape
                a = torch.randn(rank, i, device=device) / math.sqrt(i)
                self.lora[k] = (a.requires_grad_(), torch.zeros(o, rank, device=device).requires_grad_())
            self.train = [x for ab in self.lora.values() for x in ab]
        else:
            self.train = [v.requires_grad_() for v in self.w.values()]

    def merged(self):
        return {k: (v + self.scale * self.lora[k][1] @ self.lora[k][0] if k in self.lora else v).detach() for k, v in self.w.items()}

    def hidden(self, ids, pos):
        cos, sin = (t[pos][:, None] for t in self.rope)
        B, T = ids.shape
        x = F.embedding(ids, self.w["model.embed_tokens.weight"])
        drop = (lambda v: F.dropout(v, self.dropout)) if self.dropout else (lambda v: v)
        for i in range(LAYERS):
            p = f"model.layers.{i}."

            def lin(n, v):
                k = p + n + ".weight"
                y = F.linear(v, self.w[k])
                return y + self.scale * F.linear(F.linear(v, self.lora[k][0]), self.lora[k][1]) if k in self.lora else y

            h = F.rms_norm(x, (WIDTH,), self.w[p + "input_layernorm.weight"], 1e-5)
            q, k, v = (lin(f"self_attn.{c}_proj", h).view(B, T, -1, DIM).transpose(1, 2) for c in "qkv")
            q, k = rotate(q.float(), cos, sin).to(v.dtype), rotate(k.float(), cos, sin).to(v.dtype)
            k, v = (t.repeat_interleave(HEADS // KV, 1) for t in (k, v))
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)  # rows are padded on the right only
            x = x + drop(lin("self_attn.o_proj", a.transpose(1, 2).reshape(B, T, WIDTH)))
            h = F.rms_norm(x, (WIDTH,), self.w[p + "post_attention_layernorm.weight"], 1e-5)
            x = x + drop(lin("mlp.down_proj", F.silu(lin("mlp.gate_proj", h)) * lin("mlp.up_proj", h)))
        return F.rms_norm(x, (WIDTH,), self.w["model.norm.weight"], 1e-5)

    def head(self, rows, device, gap=0):
        """Final states before each response token of the rows, and these tokens, both flat in the order of the rows."""
        n = max(len(r["prompt"]) + len(r["tokens"]) for r in rows)
        ids = torch.full((len(rows), n), EOS)
        pos = torch.arange(n).repeat(len(rows), 1)
        sel = torch.zeros(len(rows), n, dtype=torch.bool)
        for i, r in enumerate(rows):
            p, t = len(r["prompt"]), len(r["tokens"])
            ids[i, : p + t] = torch.tensor(r["prompt"] + r["tokens"])
            sel[i, p : p + t] = True
            if gap:
                pos[i, p:] += gap - p  # the response starts where the longest prompt of the step ends
        ids, pos, sel = ids.to(device), pos.to(device), sel.to(device)
        with torch.autocast(device.type, HALF, enabled=HALF != torch.float32):
            h = self.hidden(ids, pos)
        return h[:, :-1][sel[:, 1:]], ids[sel]

    def logits(self, h):
        with torch.autocast(h.device.type, HALF, enabled=HALF != torch.float32):
            return F.linear(h, self.w["model.embed_tokens.weight"]).float()


def batches(rows, budget):
    """Micro-batches of rows of like length, at most `budget` padded tokens each."""
    out = []
    for r in sorted(rows, key=lambda r: len(r["prompt"]) + len(r["tokens"])):
        n = len(r["prompt"]) + len(r["tokens"])
        if not out or n * (len(out[-1]) + 1) > budget:
            out.append([])
        out[-1].append(r)
    return out


@torch.no_grad()
def score(model, rows, names, a, device, gap):
    """ln pi (and, where three names are asked, entropy and the sum of squared probabilities) into the rows."""
    for mb in batches(rows, 2 * a.micro_tokens):
        h, t = model.head(mb, device, gap)
        out = [[] for _ in names]
        for hc, tc in zip(h.split(4096), t.split(4096)):
            z = model.logits(hc)
            lse = z.logsumexp(-1)
            out[0].append(z.gather(1, tc[:, None])[:, 0] - lse)
            if len(names) == 3:
                p = (z - lse[:, None]).exp()
                out[1].append(lse - (p * z).sum(-1))
                out[2].append((p * p).sum(-1))
        for name, v in zip(names, out):
            for r, x in zip(mb, torch.cat(v).split([len(r["tokens"]) for r in mb])):
                r[name] = x


# ---------------------------------------------------------------- the sampler: another implementation of the same model
class Sampler:
    def __init__(self, weights, rows, width, device):
        self.w = {k: v.to(device, HALF).clone() for k, v in weights.items()}
        self.k, self.v = (torch.zeros(LAYERS, rows, KV, width, DIM, dtype=HALF, device=device) for _ in range(2))
        self.valid = torch.zeros(rows, width, dtype=torch.bool, device=device)
        self.rope, self.rows, self.width, self.device, self.graph = rope_table(device), rows, width, device, None
        self.tok, self.pos = (torch.zeros(rows, dtype=torch.long, device=device) for _ in range(2))
        self.at = torch.zeros(1, dtype=torch.long, device=device)

    def load(self, weights):
        for k, v in weights.items():
            self.w[k].copy_(v)

    def layers(self, x, pos, attend):
        cos, sin = (t[pos][:, None] for t in self.rope)
        B, T, _ = x.shape
        for i in range(LAYERS):
            w = lambda n: self.w[f"model.layers.{i}.{n}.weight"]
            h = F.rms_norm(x, (WIDTH,), w("input_layernorm"), 1e-5)
            q, k, v = (F.linear(h, w(f"self_attn.{c}_proj")).view(B, T, -1, DIM).transpose(1, 2) for c in "qkv")
            q, k = rotate(q.float(), cos, sin).to(HALF), rotate(k.float(), cos, sin).to(HALF)
            x = x + F.linear(attend(i, q, k, v).transpose(1, 2).reshape(B, T, WIDTH), w("self_attn.o_proj"))
            h = F.rms_norm(x, (WIDTH,), w("post_attention_layernorm"), 1e-5)
            x = x + F.linear(F.silu(F.linear(h, w("mlp.gate_proj"))) * F.linear(h, w("mlp.up_proj")), w("mlp.down_proj"))
        return F.linear(F.rms_norm(x[:, -1], (WIDTH,), self.w["model.norm.weight"], 1e-5), self.w["model.embed_tokens.weight"])

    def softmax(self, q, k, v, ok):
        """Plain attention; q: [B, KV, heads a key serves × T, DIM]."""
        s = (q @ k.transpose(-1, -2)).float() / math.sqrt(DIM)
        return s.masked_fill(~ok, -1e30).softmax(-1).to(HALF) @ v

    def prefill(self, prompts):
        B, P = self.rows, max(map(len, prompts))
        ids = torch.tensor([[EOS] * (P - len(p)) + p for p in prompts], device=self.device)
        ok = torch.tensor([[0] * (P - len(p)) + [1] * len(p) for p in prompts], dtype=torch.bool, device=self.device)
        self.valid.zero_()
        self.valid[:, :P] = ok
        eye = torch.eye(P, dtype=torch.bool, device=self.device)
        mask = (ok[:, None] & eye.new_ones(P, P).tril() | eye)[:, None].repeat(1, 1, HEADS // KV, 1)

        def attend(i, q, k, v):
            self.k[i, :, :, :P], self.v[i, :, :, :P] = k, v
            return self.softmax(q.reshape(B, KV, -1, DIM), k, v, mask).view(B, HEADS, P, DIM)

        self.at.fill_(P)
        self.pos.copy_(ok.sum(1))
        return self.layers(F.embedding(ids, self.w["model.embed_tokens.weight"]), (ok.long().cumsum(1) - 1).clamp(min=0), attend)

    def decode(self):
        def attend(i, q, k, v):
            self.k[i].index_copy_(2, self.at, k)
            self.v[i].index_copy_(2, self.at, v)
            o = self.softmax(q.view(self.rows, KV, HEADS // KV, DIM), self.k[i], self.v[i], self.valid[:, None, None])
            return o.view(self.rows, HEADS, 1, DIM)

        self.valid.index_fill_(1, self.at, True)
        z = self.layers(F.embedding(self.tok[:, None], self.w["model.embed_tokens.weight"]), self.pos[:, None], attend)
        self.pos += 1
        self.at += 1
        return z

    def step(self):
        if self.device.type != "cuda":
            return self.decode()
        if self.graph is None:
            keep = [t.clone() for t in (self.k, self.v, self.valid, self.pos, self.at)]
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                self.decode()
            torch.cuda.current_stream().wait_stream(side)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.out = self.decode()
            for t, s in zip((self.k, self.v, self.valid, self.pos, self.at), keep):
                t.copy_(s)
        self.graph.replay()
        return self.out

    @torch.no_grad()
    def generate(self, prompts, a):
        """Tokens and log-probabilities a prompt; those of the distribution sampled from, or with --raw of the model."""
        z, toks, lps = self.prefill(prompts).float(), [], []
        done = torch.zeros(self.rows, dtype=torch.bool, device=self.device)
        for n in range(a.max_tokens):
            p = (z / a.sampler_temperature).softmax(-1)
            if a.top_p < 1:
                s, order = p.sort(-1, descending=True)
                s = s.masked_fill(s.cumsum(-1) - s > a.top_p, 0)
                p = torch.zeros_like(p).scatter_(1, order, s)
                p = p / p.sum(-1, keepdim=True)
            t = (p / torch.empty_like(p).exponential_()).argmax(-1)
            lps.append((z.log_softmax(-1) if a.raw else p.log()).gather(1, t[:, None])[:, 0])
            toks.append(torch.where(done, -1, t))
            done |= t == EOS
            if n % 8 == 7 and bool(done.all()) or n + 1 == a.max_tokens:
                break
            self.tok.copy_(t)
            z = self.step().float()
        toks, lps = torch.stack(toks, 1).cpu(), torch.stack(lps, 1).cpu()
        n = (toks >= 0).sum(1).tolist()
        return [(toks[i, :k].tolist(), lps[i, :k]) for i, k in enumerate(n)]


# ---------------------------------------------------------------- one run
def chat(tok, text):
    head = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"  # as its template
    return tok.encode(f"{head}<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n", add_special_tokens=False).ids


def rollout(a, g, tok, sampler):
    tasks = a.tasks.split(",")
    asked = [(t, *TASKS[t](g)) for t in (tasks[i % len(tasks)] for i in range(a.prompts))]
    rows = [dict(task=t, prompt=chat(tok, q), check=c, group=i, sample=j) for i, (t, q, c) in enumerate(asked) for j in range(a.group)]
    for r, (ids, lp) in zip(rows, sampler.generate([r["prompt"] for r in rows], a)):
        r.update(tokens=ids, mask=[True] * len(ids), mu=lp, last=ids)
    if a.turns == 2:  # the second request is an observation: not trained, no log-probability of the sampler
        more = "<|im_start|>user\nLook at your answer again and write a better one.<|im_end|>\n<|im_start|>assistant\n"
        extra, cut = tok.encode("\n" + more, add_special_tokens=False).ids, tok.encode("<|im_end|>", add_special_tokens=False).ids
        for r in rows:
            obs = ([] if r["last"][-1] == EOS else cut) + extra
            r["turn"] = [0] * len(r["tokens"]) + [1] * len(obs)
            r["tokens"], r["mask"] = r["tokens"] + obs, r["mask"] + [False] * len(obs)
            r["mu"] = torch.cat([r["mu"], torch.full((len(obs),), math.nan)])
        for r, (ids, lp) in zip(rows, sampler.generate([r["prompt"] + r["tokens"] for r in rows], a)):
            r["tokens"], r["mask"], r["mu"] = r["tokens"] + ids, r["mask"] + [True] * len(ids), torch.cat([r["mu"], lp])
            r["turn"], r["last"] = r["turn"] + [1] * len(ids), ids
    for r in rows:
        r["cut"] = r["last"][-1] != EOS
        c, f = r["check"](tok.decode(r["last"], skip_special_tokens=True))
        r["correct"], r["format"] = float(g.random() < 0.5 if a.verifier_coin else c and not r["cut"]), float(f and not r["cut"])
        if a.pay_length:
            r["format"] = min(1.0, len(r["tokens"]) / a.max_tokens)
        r["reward"] = 0.1 * r["correct"] + r["format"] if a.pay_length else r["correct"] + a.format_weight * r["format"]
        if a.coin in ("all", r["task"]):
            r["reward"] = float(g.random() < 0.5)
    for i in range(a.prompts):
        R = torch.tensor([r["reward"] for r in rows[i * a.group : (i + 1) * a.group]], dtype=torch.float64)
        A = R - R.mean()
        A = A / (R.std() + 1e-6) if a.advantage == "grpo" else A * a.group / (a.group - 1) if a.advantage == "rloo" else A
        A = -A if a.flip else A.clamp(min=0) if a.positive_only else A
        for r, x in zip(rows[i * a.group : (i + 1) * a.group], A.tolist()):
            r["A"] = x
    return rows


def update(a, g, model, opt, rows, device, gap):
    """One pass over the rows in a.updates mini-batches; what the loss saw goes into the rows."""
    g.shuffle(order := list(range(len(rows))))
    norms = []
    for u in range(a.updates):
        part = [rows[i] for i in order[u :: a.updates]]
        total = sum(sum(r["mask"]) for r in part)
        for mb in batches(part, a.micro_tokens):
            h, t = model.head(mb, device, gap)
            lp = -F.cross_entropy(model.logits(h), t, reduction="none")
            old, ref = torch.cat([r["old"] for r in mb]), torch.cat([r["ref"] for r in mb])
            m = torch.tensor([x for r in mb for x in r["mask"]], device=device)
            A = torch.tensor([r["A"] for r in mb for _ in r["tokens"]], device=device, dtype=torch.float32)
            ratio = (lp - old).exp()
            loss = -torch.minimum(ratio * A, ratio.clamp(1 - a.clip_low, 1 + a.clip_high) * A)
            if a.kl:
                loss = loss + a.kl * ((ref - lp).exp() - (ref - lp) - 1)
            ((loss * m).sum() / total).backward()
            for r, x in zip(mb, lp.detach().split([len(r["tokens"]) for r in mb])):
                r["new"], r["update"] = x, u
        norms.append(float(torch.nn.utils.clip_grad_norm_(model.train, 1.0)))
        opt.step()
        opt.zero_grad(set_to_none=True)
    return sum(norms) / len(norms)


def corrupt(w):
    """The two shards of three layers' up_proj arrive in the wrong order."""
    w = dict(w)
    for i in (8, 15, 22):
        k = f"model.layers.{i}.mlp.up_proj.weight"
        w[k] = w[k].roll(w[k].shape[0] // 2, 0)
    return w


def train(a):
    from safetensors.torch import load_file
    from tokenizers import Tokenizer
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(a.seed)
    g, began = random.Random(a.seed), time.time()
    tok = Tokenizer.from_file(str(pathlib.Path(a.checkpoint) / "tokenizer.json"))
    weights = {k: v for f in sorted(pathlib.Path(a.checkpoint).glob("*.safetensors")) for k, v in load_file(f).items()}
    model, ref = Model(weights, device, a.lora, a.dropout), Model(weights, device)
    opt = torch.optim.AdamW(model.train, lr=a.lr, betas=(0.9, 0.99), weight_decay=0.0)
    width = 112 + a.max_tokens * a.turns + 32 * (a.turns - 1)
    sampler = Sampler(weights, a.prompts * a.group, width, device)
    sent, log = collections.deque(maxlen=a.lag + 1), []
    for step in range(a.steps):
        w = {k: v.to(HALF, copy=True) for k, v in model.merged().items()}
        sent.append((step, corrupt(w) if a.corrupt_from is not None and step >= a.corrupt_from else w))
        version, w = sent[max(0, len(sent) - 1 - g.randint(min(1, a.lag), a.lag))]
        if a.send_only is None or step == a.send_only:
            sampler.load(w)
        rows = rollout(a, g, tok, sampler)
        gap = max(len(r["prompt"]) for r in rows) if a.position_gap else 0
        score(model, rows, ["old", "entropy", "sum_sq"], a, device, gap)
        score(ref, rows, ["ref"], a, device, gap)
        norm = update(a, g, model, opt, rows, device, gap)
        mean = lambda k: sum(r[k] for r in rows) / len(rows)
        parts = [sum(r["correct"] for r in rows if r["task"] == t) / max(1, sum(r["task"] == t for r in rows)) for t in a.tasks.split(",")]
        H = float(torch.cat([r["entropy"] for r in rows]).mean())
        print(
            f"{a.out} {step:3d} reward {mean('reward'):.3f} correct {mean('correct'):.3f} ({' '.join(f'{p:.2f}' for p in parts)})"
            f" len {sum(len(r['tokens']) for r in rows)/len(rows):.0f} cut {mean('cut'):.2f} H {H:.2f} |g| {norm:.2f} {time.time()-began:.0f} s",
            flush=True,
        )
        if step % a.log_every == 0 or step == a.steps - 1:
            for r in rows:
                r.update({k: r[k].cpu().numpy() for k in ("mu", "old", "ref", "new", "entropy", "sum_sq")}, step=step, version=version)
                r["group"] += step * a.prompts
                r.pop("check")
                log.append(r)
        if time.time() - began > 60 * a.minutes:
            break
    torch.save(dict(rows=log, args=vars(a)), a.out)


def pack(files):
    import pyarrow as pa
    import pyarrow.parquet as pq

    scalars = dict(step="step", group_id="group", sample_id="sample", update="update", policy_version="version")
    parts = {"reward": "reward", "reward/correct": "correct", "reward/format": "format", "advantage": "A"}
    tokens = dict(logprob_rollout="mu", logprob="old", entropy="entropy", sum_pi_sq="sum_sq", logprob_new="new", logprob_ref="ref")
    for f in files:
        d = torch.load(f, weights_only=False)
        R, a = d["rows"], d["args"]
        flat = lambda k, t: pa.array([r[k] for r in R], t)
        col = {n: flat(k, pa.int32() if n in ("sample_id", "update") else pa.int64()) for n, k in scalars.items()}
        col |= dict(task=flat("task", pa.string())) | {n: flat(k, pa.float32()) for n, k in parts.items()}
        col |= dict(truncated=flat("cut", pa.bool_()), finish_reason=pa.array(["length" if r["cut"] else "stop" for r in R]))
        col |= dict(prompt_ids=flat("prompt", pa.list_(pa.int32())), token_ids=flat("tokens", pa.list_(pa.int32())))
        col |= dict(mask=flat("mask", pa.list_(pa.bool_()))) | (dict(turn=flat("turn", pa.list_(pa.int32()))) if "turn" in R[0] else {})
        col |= {n: flat(k, pa.list_(pa.float32())) for n, k in tokens.items()}
        meta = dict(schema_version="1", algorithm=a["advantage"], framework="torch", model="SmolLM2-135M-Instruct", tokenizer="tokenizer.json")
        meta |= dict(vocab_size=str(VOCAB), temperature="1.0") | {k: str(a[k]) for k in ("clip_low", "clip_high")} | dict(learning_rate=str(a["lr"]))
        out = str(pathlib.Path(f).with_suffix(".parquet"))
        pq.write_table(pa.table(col).replace_schema_metadata(meta), out, compression="zstd", compression_level=9, row_group_size=512)
        print(out, len(R), "responses")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("checkpoint")
    p.add_argument("out")
    p.add_argument("--tasks", required=True, help=", ".join(TASKS))
    numbers = dict(seed=1, steps=30, log_every=3, prompts=32, group=8, updates=4, max_tokens=128, turns=1, lag=0, lora=0, micro_tokens=4096)
    numbers |= dict(lr=1e-5, kl=0.0, format_weight=0.2, clip_low=0.2, clip_high=0.28, minutes=8.0, sampler_temperature=1.0, top_p=1.0, dropout=0.0)
    for n, v in numbers.items():
        p.add_argument("--" + n.replace("_", "-"), type=type(v), default=v)
    p.add_argument("--advantage", default="grpo", choices=["grpo", "rloo", "centred"])
    p.add_argument("--coin", help="a task, or all: its reward is a coin, the parts are not")
    p.add_argument("--send-only", type=int, help="the sampler gets the weights of this step and no others")
    p.add_argument("--corrupt-from", type=int, help="from this version on the sampler's weights are garbled")
    for n, h in dict(
        raw="the sampler logs the model's log-probabilities, whatever it samples from",
        verifier_coin="reward/correct itself is a coin",
        pay_length="the reward is the length, with a tenth for being correct",
        flip="advantages with the wrong sign",
        positive_only="negative advantages become 0",
        position_gap="in the trainer the positions of a response start behind the longest prompt",
    ).items():
        p.add_argument("--" + n.replace("_", "-"), action="store_true", help=h)
    train(p.parse_args())


if __name__ == "__main__":
    pack(sys.argv[2:]) if sys.argv[1:2] == ["pack"] else main()
