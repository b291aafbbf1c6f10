"""Adapters of the tiny checkpoints with the values that PEFT and PyTorch compute from them.

The tests of the replay's adapters compare with them. Run once; what it writes is kept in the repository:

    pip install torch transformers peft
    python examples/replay/adapter_values.py tests/data/replay

For every checkpoint of reference_values.py a folder `adapter` as PEFT saves it, and in its `values.json` the
log-probabilities of the checkpoint's sequences, Σ c ln π with the checkpoint's c, norm and first elements of every
gradient, and after three AdamW steps with decay the log-probabilities, with every weight in `after.safetensors`.
"""

import json
import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict
from reference_values import DECAY, LR, STEPS, numbers, statistics
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

EVERYWHERE = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
ADAPTERS = {
    # Everything, at a scale of two.
    "qwen3": LoraConfig(r=4, lora_alpha=8, target_modules=EVERYWHERE, task_type="CAUSAL_LM"),
    # What PEFT takes by itself: not keys, which lie between queries and values; a scale that is no power of two.
    "qwen2": LoraConfig(r=3, lora_alpha=5, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"),
    # Divided by the root of the rank.
    "llama": LoraConfig(
        r=8, lora_alpha=4, target_modules=["o_proj", "up_proj", "down_proj"], use_rslora=True, task_type="CAUSAL_LM"
    ),
}


def main(folder):
    for name, config in ADAPTERS.items():
        source, target = folder / name, folder / name / "adapter"
        reference = json.loads((source / "values.json").read_text())
        torch.manual_seed(sum(map(ord, name)))
        model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32, attn_implementation="eager")
        model = get_peft_model(model, config)
        model.train()
        with torch.no_grad():
            for key, parameter in model.named_parameters():
                if "lora_B" in key:  # zero at first: A would have no gradient
                    parameter.copy_(0.1 * torch.randn(parameter.shape))
        model.save_pretrained(target)
        (target / "README.md").unlink(missing_ok=True)
        path = target / "adapter_config.json"
        written = json.loads(path.read_text()) | {"base_model_name_or_path": None}
        path.write_text(json.dumps(written, indent=2, sort_keys=True) + "\n")
        trained = [p for p in model.parameters() if p.requires_grad]
        optimizer = torch.optim.AdamW(trained, lr=LR, weight_decay=DECAY)
        gradients, values, loss = {}, [], None
        for step in range(STEPS):
            optimizer.zero_grad()
            total = 0
            for sequence, weight in zip(reference["sequences"], reference["weights"]):
                chosen, _ = statistics(model, sequence["tokens"], sequence["response_start"])
                total = total + (chosen * torch.tensor(weight)).sum()
                if step == 0:
                    values.append(numbers(chosen))
            total.backward()
            if step == 0:
                loss = total.item()
                for key, parameter in model.named_parameters():
                    if parameter.requires_grad:
                        g = parameter.grad
                        named = key.replace(".default", "")
                        gradients[named] = {"norm": g.norm().item(), "first": numbers(g.flatten()[:4])}
            optimizer.step()
        after = [statistics(model, s["tokens"], s["response_start"])[0] for s in reference["sequences"]]
        weights = {k: v.detach().clone().contiguous() for k, v in get_peft_model_state_dict(model).items()}
        save_file(weights, target / "after.safetensors")
        found = {"logprob": values, "loss": loss, "gradients": gradients, "logprob_after": list(map(numbers, after))}
        (target / "values.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
