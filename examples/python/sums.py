"""A task that a CPU can learn: sums, step by step. The policy is the sample checkpoint, a Qwen3 of 1.6 M
parameters; nothing is downloaded. Shared by the examples and the package's tests."""

import random
from pathlib import Path

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig

MODEL = Path(__file__).resolve().parents[2] / "notebooks-data/model"


def problems(count, seed):
    """Sums of three or four numbers, a token a digit: `<bos> 8 6 9 + 6 0 6 + 1 9 6 = ?`"""
    rng = random.Random(seed)
    for _ in range(count):
        numbers = [rng.randint(100, 999) for _ in range(rng.choice([3, 3, 4]))]
        prompt = " + ".join(" ".join(str(n)) for n in numbers)
        yield {"prompt": f"<bos> {prompt} = ?", "answer": str(sum(numbers))}


def exact_answer(completions, answer, **_):
    """1 where the text ends with `the answer is` and the right digits."""
    said = [text.rpartition("answer is")[2].replace(" ", "") for text in completions]
    return [float(s == a) for s, a in zip(said, answer)]


def well_formed(completions, **_):
    """1 where the text ends with `the answer is` and digits, right or wrong."""
    return [float(text.rpartition("answer is")[2].replace(" ", "").isdigit()) for text in completions]


def tokenizer(model=MODEL):
    """The sample checkpoint's, as GRPOTrainer wants it."""
    return PreTrainedTokenizerFast(
        tokenizer_file=str(Path(model) / "tokenizer.json"), bos_token="<bos>", eos_token="<eos>", pad_token="<pad>",
        padding_side="left", clean_up_tokenization_spaces=False,
    )  # fmt: skip


def trainer(trainer_class, folder, steps, seed=0, model=MODEL, reward_funcs=exact_answer, extra=None, **settings):
    """A trainer of this class for `steps` optimizer steps; settings are GRPOConfig's, `extra` the class's own."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # the matrices are tiny: more threads only wait for each other
    arguments = {
        "output_dir": str(Path(folder) / "trainer"), "max_steps": steps, "per_device_train_batch_size": 64,
        "num_generations": 8, "max_completion_length": 200, "temperature": 1.0, "learning_rate": 1.5e-4,
        "lr_scheduler_type": "constant", "loss_type": "dapo", "epsilon_high": 0.28, "beta": 0.0, "seed": seed,
        "logging_steps": 1, "save_strategy": "no", "report_to": "none", "use_cpu": True, "bf16": False,
    } | settings  # fmt: skip
    return trainer_class(
        model=AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32), processing_class=tokenizer(model),
        reward_funcs=reward_funcs, args=GRPOConfig(**arguments),
        train_dataset=Dataset.from_list(list(problems(2000, seed))), **(extra or {}),
    )  # fmt: skip
