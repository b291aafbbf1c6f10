"""Does Hugging Face transformers load what `replay --save DIR` wrote, and how far is it from the start?

    pip install torch transformers          # and peft for an adapter
    python examples/replay/check_saved.py DIR [FOLDER_IT_WAS_LOADED_FROM]

An adapter needs the folder of its model; its weights are merged into the model's for the comparison.

Fails where a tensor is missing, not expected or misshapen, or where the model does not give finite logits.
"""

import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM


def load(folder):
    model, report = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    problems = {kind: found for kind, found in report.items() if found}
    assert not problems, f"{folder}: {problems}"
    return model.eval()


def load_adapter(folder, model):
    from peft import PeftModel

    return PeftModel.from_pretrained(load(model), folder).merge_and_unload().eval()


def main():
    is_adapter = (Path(sys.argv[1]) / "adapter_config.json").exists()
    saved = load_adapter(sys.argv[1], sys.argv[2]) if is_adapter else load(sys.argv[1])
    ids = torch.arange(12)[None] % saved.config.vocab_size
    with torch.no_grad():
        logits = saved(ids).logits
    assert torch.isfinite(logits).all(), "logits are not finite"
    print(f"{sys.argv[1]}: loads, {sum(p.numel() for p in saved.parameters()):,} parameters")
    if len(sys.argv) > 2:
        start = load(sys.argv[2])
        pairs = zip(saved.parameters(), start.parameters(), strict=True)
        largest = max((a - b).abs().max().item() for a, b in pairs)
        with torch.no_grad():
            shift = (start(ids).logits - logits).abs().max().item()
        print(f"largest change of a weight {largest:.3g}, of a logit {shift:.3g}")


if __name__ == "__main__":
    main()
