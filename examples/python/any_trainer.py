#!/usr/bin/env python3
"""A token log from a training loop of one's own: `python any_trainer.py token_log && stapo-analyze token_log`.

REINFORCE on the sample checkpoint, with prompts and answers of the sample run instead of fresh ones, so that
it is over in seconds. The lines with `log` are all that any framework needs.
"""

import sys
from pathlib import Path

import pyarrow.parquet as pq
import torch
from transformers import AutoModelForCausalLM

from stapo_analyze import TokenLog, logit_stats

DATA = Path(__file__).resolve().parents[2] / "notebooks-data"

torch.set_num_threads(1)
model = AutoModelForCausalLM.from_pretrained(DATA / "model", dtype=torch.float32)
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
batch = pq.read_table(DATA / "grpo.parquet").slice(0, 96).to_pylist()
log = TokenLog(sys.argv[1], vocab_size=model.config.vocab_size, temperature=1.0, algorithm="reinforce", every=2,
               tokenizer=DATA / "model")  # fmt: skip

for step in range(4):
    loss = 0.0
    for row in batch[step * 24 : step * 24 + 24]:
        prompt, response = torch.tensor(row["prompt_ids"]), torch.tensor(row["token_ids"])
        logits = model(torch.cat([prompt, response])[None]).logits[0, len(prompt) - 1 : -1]
        logprob = logits.log_softmax(-1).gather(-1, response[:, None])[:, 0]
        loss = loss - row["advantage"] * logprob.sum() / 2400
        if log.wants(step):
            stats = logit_stats(logits, response)
            log.add(
                step, group_id=row["group_id"], sample_id=row["sample_id"], reward=row["reward"], policy_version=step,
                advantage=row["advantage"], prompt_ids=prompt, token_id=response, logprob=stats.logprob,
                entropy=stats.entropy, sum_pi_sq=stats.sum_pi_sq, sum_pi_sq_log_pi=stats.sum_pi_sq_log_pi,
            )  # fmt: skip
    log.finish(step)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
