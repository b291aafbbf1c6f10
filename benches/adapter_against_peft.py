"""Updates of a LoRA adapter of the sample model: this program beside PEFT, number by number.

    pip install torch transformers peft pyarrow
    cargo build --release && python benches/adapter_against_peft.py target/release/stapo-analyze [--device cuda:0]
                                                                   [--bf16] [--keep FOLDER]

PEFT makes an adapter (rank 8, alpha 16, all linear layers, B not zero) of notebooks-data/model and trains it on the
first 64 responses of notebooks-data/grpo.parquet in four mini-batches with the `dapo` loss, the global clip and AdamW,
in float32 on the processor. Then the program does the same from the same adapter, and PEFT loads what it saved. Fails
where loss, gradient norm or weights are further apart than the tolerances below. With --keep, what PEFT made and
computed stays in FOLDER, and is taken from there the next time: for machines without PEFT.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

ROOT = Path(__file__).resolve().parent.parent
MODEL, LOG = ROOT / "notebooks-data/model", ROOT / "notebooks-data/grpo.parquet"
MINIBATCH, MINIBATCHES, RATE = 16, 4, 3e-4
# Loss; gradient norm, relative; weights, in learning rates (an AdamW step is about one of them).
TOLERANCES = {"cpu": (1e-6, 1e-5, 0.02), "cuda": (5e-6, 1e-4, 0.2), "bf16": (2e-3, 2e-2, None)}


def peft_reference(folder):
    from peft import LoraConfig, get_peft_model, get_peft_model_state_dict
    from replay_against_pytorch import read
    from transformers import AutoModelForCausalLM

    layers = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    torch.manual_seed(19)
    model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32)
    model = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, target_modules=layers, task_type="CAUSAL_LM"))
    model.train()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.copy_(0.02 * torch.randn(parameter.shape))
    model.save_pretrained(folder)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=RATE, weight_decay=0.0)
    updates = []
    for ids, attention, mask, old, advantage in read()[:MINIBATCHES]:
        optimizer.zero_grad(set_to_none=True)
        logits = model(ids, attention_mask=attention).logits[:, :-1]
        chosen = torch.log_softmax(logits, -1).gather(-1, ids[:, 1:, None])[..., 0]
        ratio = ((chosen - old) * mask).exp()
        loss = -(torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.28) * advantage) * mask).sum() / mask.sum()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        updates.append({"loss": loss.item(), "grad_norm": norm.item()})
    save_file({k: v.contiguous() for k, v in get_peft_model_state_dict(model).items()}, folder / "after.safetensors")
    (folder / "updates.json").write_text(json.dumps(updates))


def ours(arguments, adapter, work):
    command = [arguments.program, "replay", LOG, "--model", MODEL, "--adapter", adapter, "--objective", "dapo"]
    command += ["--responses", MINIBATCH * MINIBATCHES, "--minibatch", MINIBATCH, "--lr", RATE, "--old", "log"]
    command += ["--holdout", 0, "--no-shuffle", "-q", "--device", arguments.device, "--report", work / "out"]
    command += ["--save", work / "saved"] + (["--bf16"] if arguments.bf16 else [])
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return json.loads((work / "out/replay.json").read_text())["arms"][0]["updates"], work / "saved/dapo"


def loads_in_peft(saved):
    try:
        from peft import PeftModel
        from transformers import AutoModelForCausalLM
    except ImportError:
        return "not tried, there is no PEFT"
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(MODEL), saved)
    assert torch.isfinite(model(torch.arange(12)[None]).logits).all()
    return "yes"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    work = Path(tempfile.mkdtemp())
    reference = arguments.keep or work / "peft"
    if not (reference / "updates.json").exists():
        peft_reference(reference)
    updates, saved = ours(arguments, reference, work)
    theirs = json.loads((reference / "updates.json").read_text())
    assert len(updates) == len(theirs)
    loss = max(abs(a["loss"] - b["loss"]) for a, b in zip(updates, theirs))
    norm = max(abs(a["grad_norm"] - b["grad_norm"]) / max(b["grad_norm"], 1e-6) for a, b in zip(updates, theirs))
    before, after = load_file(reference / "adapter_model.safetensors"), load_file(reference / "after.safetensors")
    mine = load_file(saved / "adapter_model.safetensors")
    assert mine.keys() == after.keys()
    weights = max((mine[k] - after[k]).abs().max().item() for k in after) / RATE
    moved = max((after[k] - before[k]).abs().max().item() for k in after) / RATE
    print(f"{arguments.device}{' --bf16' if arguments.bf16 else ''}: {len(updates)} updates; largest differences: "
          f"loss {loss:.2g}, gradient norm {norm:.2g} of it, weights {weights:.2g} learning rates (moved by {moved:.3g}); "
          f"PEFT loads what was saved: {loads_in_peft(saved)}")
    kind = "bf16" if arguments.bf16 else arguments.device.split(":")[0]
    for name, found, allowed in zip(("loss", "gradient norm", "weights"), (loss, norm, weights), TOLERANCES[kind]):
        assert allowed is None or found <= allowed, f"{name}: {found} is more than {allowed}"


if __name__ == "__main__":
    main()
