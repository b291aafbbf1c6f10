"""Tiny random checkpoints with the values that PyTorch and transformers compute from them.

The tests of the replay's model compare with them. Run once; what it writes is kept in the repository:

    pip install torch transformers safetensors
    python examples/replay/reference_values.py tests/data/replay

For every architecture: the checkpoint (some in shards, in float16 or bfloat16) and `values.json` with
log-probabilities, entropies, Σπ² and ‖onehot − π‖² of two responses, the norm of every parameter's gradient
of Σ c ln π with given c, some of its elements, and the log-probabilities after three AdamW steps with decay.
"""

import json
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config

SMALL = dict(
    vocab_size=96,
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    max_position_embeddings=512,
    use_cache=False,
)
LLAMA3 = dict(
    rope_type="llama3",
    rope_theta=500.0,
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=64,
)
MODELS = {
    # Biases on queries, keys and values; tied; two key heads.
    "qwen2": (Qwen2Config(**SMALL, num_key_value_heads=2, tie_word_embeddings=True), torch.float32, False),
    # Its own output matrix, per-head norms, a head wider than its share, in shards.
    "qwen3": (
        Qwen3Config(**SMALL, num_key_value_heads=2, head_dim=16, tie_word_embeddings=False),
        torch.bfloat16,
        True,
    ),
    # All biases, stretched positions, one key head.
    "llama": (
        LlamaConfig(
            **SMALL,
            num_key_value_heads=1,
            attention_bias=True,
            mlp_bias=True,
            rope_parameters=LLAMA3,
            tie_word_embeddings=False,
            rms_norm_eps=1e-5,
        ),
        torch.float16,
        False,
    ),
}
# The second response crosses the length of a block of queries.
LENGTHS = [(5, 9), (11, 140)]
STEPS, LR, DECAY = 3, 1e-3, 0.1


def statistics(model, tokens, start):
    logits = model(torch.tensor([tokens[:-1]])).logits[0, start - 1 :]
    log_pi = torch.log_softmax(logits.double(), dim=-1)
    target = torch.tensor(tokens[start:])
    chosen = log_pi.gather(1, target[:, None])[:, 0]
    pi = log_pi.exp()
    difference = torch.nn.functional.one_hot(target, pi.shape[1]) - pi
    return chosen, {
        "logprob": chosen,
        "entropy": -(pi * log_pi).sum(1),
        "sum_pi_sq": pi.square().sum(1),
        "sum_pi_sq_log_pi": (pi.square() * log_pi).sum(1),
        "logit_grad_sq": difference.square().sum(1),
    }


def numbers(tensor):
    return [float(f"{x:.9g}") for x in tensor.detach().double().flatten().tolist()]


def main(folder):
    for name, (config, dtype, sharded) in MODELS.items():
        generator = torch.Generator().manual_seed(sum(map(ord, name)))
        torch.manual_seed(sum(map(ord, name)))
        model = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
        with torch.no_grad():
            for parameter in model.parameters():
                scale, shift = (0.15, 1.0) if parameter.dim() == 1 else (0.25, 0.0)
                parameter.copy_(shift * (parameter.dim() == 1) + scale * torch.randn(parameter.shape, generator=generator))
        model = model.to(dtype)
        target = folder / name
        model.save_pretrained(target, max_shard_size="40KB" if sharded else "1GB")
        (target / "generation_config.json").unlink(missing_ok=True)
        model = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32, attn_implementation="eager")
        model.train()
        sequences, weights, values = [], [], []
        for prompt, response in LENGTHS:
            tokens = torch.randint(0, config.vocab_size, (prompt + response,), generator=generator).tolist()
            sequences.append({"tokens": tokens, "response_start": prompt})
            weights.append(torch.randn(response, generator=generator))
        optimizer = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=DECAY)
        gradients = {}
        for step in range(STEPS):
            optimizer.zero_grad()
            total = 0
            for sequence, weight in zip(sequences, weights):
                chosen, stats = statistics(model, sequence["tokens"], sequence["response_start"])
                total = total + (chosen * weight).sum()
                if step == 0:
                    values.append({k: numbers(v) for k, v in stats.items()})
            total.backward()
            if step == 0:
                for key, parameter in model.named_parameters():
                    g = parameter.grad
                    gradients[key] = {"norm": g.norm().item(), "first": numbers(g.flatten()[:4])}
            optimizer.step()
        after = [numbers(statistics(model, s["tokens"], s["response_start"])[0]) for s in sequences]
        (target / "values.json").write_text(
            json.dumps(
                {
                    "sequences": sequences,
                    "weights": [numbers(w) for w in weights],
                    "values": values,
                    "gradients": gradients,
                    "adamw": {"steps": STEPS, "lr": LR, "weight_decay": DECAY, "logprob_after": after},
                }
            )
            + "\n"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
