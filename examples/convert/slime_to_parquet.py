#!/usr/bin/env python3
"""slime and miles dumps (--dump-details DIR) to canonical Parquet.

    python slime_to_parquet.py DIR -o run.parquet

DIR holds rollout_data/ID.pt (the samples) and train_data/ID.pt or, in miles and older slime,
train_data/ID_RANK.pt (the trainer's log-probabilities, entropies and advantages). Both are
joined by the sample's index; rollout_data alone works too, with the sampler's log-probabilities
only. Run slime with --use-rollout-entropy to have entropies. Evaluation dumps (eval_*) are left
out. Needs torch, numpy, pyarrow. Checked by test_converters.py on dumps with these fields.
"""

import re
import sys
from collections import defaultdict

from canonical import ConvertError, Stub, array, files, load, main, number

STREAMS = {
    "logprob": "log_probs",
    "logprob_rollout": "rollout_log_probs",
    "logprob_ref": "ref_log_probs",
    "entropy": "entropy",
    "advantage": "advantages",
    "return": "returns",
    "value": "values",
    "kl": "kl",
}


def train_samples(dump):
    """The samples of a train dump: a list of them (v2), or a dict of columns (v1)."""
    if "samples" in dump:
        raw = dump.get("raw_reward")
        for sample in dump["samples"]:
            at = sample.get("rollout_position")
            if raw is not None and at is not None and int(at) < len(raw):
                sample.setdefault("raw_reward", raw[int(at)])
        return list(dump["samples"])
    columns = dump["rollout_data"]
    count = len(columns["tokens"])
    same = {k: v for k, v in columns.items() if hasattr(v, "__len__") and not isinstance(v, str) and len(v) == count}
    if "sample_indices" in same:
        same["sample_index"] = same.pop("sample_indices")
    return [{name: values[i] for name, values in same.items()} for i in range(count)]


def is_train(dump):
    return "rollout_data" in dump or "format_version" in dump or "dp_shards" in dump


def reward_of(sample, train, key):
    """The raw reward; in train dumps `rewards` are already normalised within the group."""
    reward = sample.get("reward")
    parts = {}
    if isinstance(reward, dict):
        parts = {f"reward/{k}": number(v) for k, v in reward.items() if number(v) is not None}
        reward = next((reward[k] for k in (key, "reward", "score", "acc") if k in reward), None)
    for other in ("raw_reward", "rewards"):
        if number(reward) is None:
            reward = train.get(other)
    return number(reward), parts


def row(step, sample, train, key):
    tokens = array(train.get("tokens", sample.get("tokens")))
    length = train.get("response_lengths", sample.get("response_length"))
    mask = array(train.get("loss_masks", sample.get("loss_mask")))
    if length is None and mask is None:
        raise ConvertError(f"rollout {step}: a sample without response length")
    length = int(length if length is not None else len(mask))
    start = len(tokens) - length
    reward, parts = reward_of(sample, train, key)
    versions = [v for v in (sample.get("weight_versions") or []) if str(v).isdigit()]
    status = sample.get("status")
    if isinstance(status, Stub) and status.args:  # an enum of slime's
        status = status.args[0]
    index = train.get("sample_index", sample.get("index"))
    result = {
        "step": int(step),
        "group_id": None if sample.get("group_index") is None else str(sample["group_index"]),
        "sample_id": None if index is None else str(int(index)),
        "policy_version": int(versions[-1]) if versions else None,
        "reward": reward,
        "finish_reason": status if isinstance(status, str) else None,
        "prompt_ids": tokens[:start],
        "prompt_text": sample.get("prompt") if isinstance(sample.get("prompt"), str) else None,
        "response_text": sample.get("response") if isinstance(sample.get("response"), str) else None,
        "token_id": tokens[start:],
        "mask": None if mask is None else mask[len(mask) - length :] != 0,
    } | parts
    for name, raw in STREAMS.items():
        values = array(train.get(raw, sample.get(raw)))
        # All streams cover the response; some versions write the whole sequence.
        whole = values is not None and len(values) == len(tokens) != length
        result[name] = values[start:] if whole else values
    if result["logprob_ref"] is None:
        result["logprob_ref"] = array(sample.get("teacher_log_probs"))
    return result


def steps(arguments):
    """The rows of each rollout, samples and trainer joined."""
    paths = defaultdict(list)
    for path in files(arguments.inputs, "rollout_data/*.pt", "train_data/*.pt"):
        name = re.search(r"(\d+)(?:_\d+)?$", path.stem)
        if name is None or path.stem.startswith("eval"):
            print(f"left out: {path}", file=sys.stderr)
        else:
            paths[int(name[1])].append(path)
    for step in sorted(paths):
        samples, trains = {}, []
        for path in paths[step]:
            dump = load(path)
            if not isinstance(dump, dict) or not dump.keys() & {"samples", "rollout_data"}:
                raise ConvertError(f"{path}: neither a rollout nor a train dump")
            if is_train(dump):
                trains += train_samples(dump)
            else:
                samples |= {s.get("index"): s for s in dump["samples"]}
        seen, rows = set(), []
        for train in trains:
            index = train.get("sample_index")
            index = None if index is None else int(index)
            if index is not None and index in seen:
                continue  # tensor-parallel ranks write the same samples
            seen.add(index)
            rows.append(row(step, samples.get(index, {}), train, arguments.reward_key))
        untrained = [s for i, s in samples.items() if i not in seen]
        if rows and untrained:
            print(f"rollout {step}: {len(untrained)} samples were not trained on", file=sys.stderr)
        yield rows or [row(step, s, {}, arguments.reward_key) for s in untrained]


if __name__ == "__main__":
    main(
        __doc__,
        "slime",
        steps,
        lambda p: p.add_argument("--reward-key", help="the entry to take when the reward is a dict"),
    )
