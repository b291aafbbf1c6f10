"""Writes the corpus: small logs of every kind that the program reads (needs pyarrow and numpy)."""
import gzip
import json
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CORPUS = pathlib.Path(__file__).parent / "corpus"


def nested(rows=4, tokens=5):
    lists = lambda value, kind: pa.array([[value(r, t) for t in range(tokens - r % 2)] for r in range(rows)], kind)
    return pa.table(dict(
        step=np.zeros(rows, np.int64), group_id=np.arange(rows) // 2, sample_id=np.arange(rows),
        reward=np.ones(rows, np.float32), advantage=np.linspace(-1, 1, rows).astype(np.float32),
        prompt_ids=pa.array([[7, 8, 9]] * rows, pa.list_(pa.int32())),
        token_ids=lists(lambda r, t: r + t, pa.list_(pa.int32())),
        mask=lists(lambda r, t: 1, pa.list_(pa.int8())),
        logprob=lists(lambda r, t: -0.1 * (t + 1), pa.list_(pa.float32())),
        entropy=lists(lambda r, t: 0.2 * (t + 1), pa.list_(pa.float32()))))


def long(rows=24, tokens=6):
    at = np.arange(rows)
    return pa.table(dict(
        step=np.zeros(rows, np.int64), group_id=at // (2 * tokens), sample_id=at // tokens,
        position=(at % tokens).astype(np.int32), token_id=(at % 7).astype(np.int32),
        token_text=[f"w{i % 7}" for i in at], reward=np.ones(rows, np.float32),
        advantage=np.where(at // tokens % 2, 1, -1).astype(np.float32),
        logprob=(-0.01 * (at + 1)).astype(np.float32), entropy=(0.01 * (at + 1)).astype(np.float32)))


def main():
    for kind in ["parquet", "run_length", "json", "json_gz", "json_document", "csv", "tokenizer", "config", "safetensors"]:
        (CORPUS / kind).mkdir(parents=True, exist_ok=True)
    out = CORPUS / "parquet"
    small = dict(store_schema=False)
    pq.write_table(nested(), out / "nested_v1", compression="none", **small)
    pq.write_table(nested(), out / "nested_v2", compression="zstd", data_page_version="2.0", **small)
    pq.write_table(nested(), out / "nested_split", compression="none", use_dictionary=False,
                   use_byte_stream_split=["logprob.list.element", "entropy.list.element"], **small)
    pq.write_table(nested().replace_schema_metadata({"schema_version": "1"}).drop_columns("mask"), out / "canonical",
                   compression="snappy", **small)
    pq.write_table(long(), out / "long_v1", compression="none", row_group_size=10, **small)
    pq.write_table(long(), out / "long_v2", compression="gzip", data_page_version="2.0", data_page_size=32, **small)
    prompts = pa.array([[7, 8, 9], None] * 2, pa.list_(pa.int32()))
    sparse = nested().set_column(5, "prompt_ids", prompts)
    pq.write_table(sparse, out / "nested_sparse", compression="none", row_group_size=3, **small)
    # Widths, then runs and packed values.
    (CORPUS / "run_length" / "run").write_bytes(bytes([3, 0xC8, 0x01, 5]))
    (CORPUS / "run_length" / "packed").write_bytes(bytes([3, 0x03, 0x88, 0xC6, 0xFA]))
    (CORPUS / "run_length" / "both").write_bytes(bytes([9, 0x06, 0x2C, 0x01, 0x05, *range(18)]))
    (CORPUS / "run_length" / "wide").write_bytes(bytes([32, 0x05, *range(64), 0x04, 1, 2, 3, 4]))
    four = dict(entropy=[1, 1, 1, 1])
    rows = dict(
        canonical=dict(step=0, group_id=0, sample_id=1, token_id=[1, 2, 3, 4], logprob=[-1, -2, -3, -4], advantage=1.0, **four),
        shifted=dict(step=0, input_ids=[9, 1, 2, 3, 4], loss_mask=[0, 1, 1, 1, 1], old_log_probs=[-1, -2, -3, -4]),
        open_instruct=dict(prompt_tokens=[9], prompt_idx=0, finish_reason="stop", step=0, response_tokens=[1, 2, 3, 4],
                           logprobs=[-1, -2, -3, -4], **four),
        board=dict(step=0, response_tokens=["a", "b", "c", "d"], logprobs=[-1, -2, -3, -4], ref_logprobs=[-1] * 4),
        roll=dict(step=0, response_tokens=["a", "b"], logprobs=[-1, -2, 0], new_response_mask=[1, 1, 0],
                  old_log_probs2_entropy=[1, 1, 0], token_rewards=[0, 1, 0], values=[0, 1, 0]),
        tinker=dict(prompt_tokens=[9], iteration=0, sampled_tokens=[1, 2], logprobs=[-1, -2], policy_version="7", group_idx=1),
        miles=dict(sample_index=0, response_length=2, total_length=3, tokens=[9, 1, 2], loss_mask=[1, 1],
                   rollout_log_probs=[-1, -2]),
        prime=dict(schema_version=1, step=0, rank=0, export_sequence_idx=3, token_ids=[9, 1, 2], position_ids=[0, 1, 2],
                   trainer_logprobs=[-9, -1, -2], inference_logprobs=[-9, -1, -2], entropy=[5, 1, 1], loss_mask=[False, True, True]),
        nemo=dict(token_ids=[[9, 1, 2, 0]], input_lengths=[3], token_loss_mask=[[0, 1, 1, 0]], prev_logprobs=[[0, -1, -2, 0]],
                  generation_logprobs=[[0, -1, -2, 0]], rewards=[1.0], advantages=[[0, 1, 1, 0]], sample_loss_mask=[1]),
        atropos=dict(tokens=[[9, 1, 2], [9, 3]], masks=[[-100, 1, 2], [-100, 3]], scores=[1.0, 0.0],
                     inference_logprobs=[[1, -1, -2], [1, -1]], advantages=[1.0, -1.0]),
        traces=dict(id="e", task={"key": "t"}, run={"id": "r", "work": {"step": 1, "policy": {"start": 0}}},
                    traces=[{"id": "a", "rewards": {"x": {"score": 1.0, "weight": 0.5}}, "nodes": [
                        {"token_ids": [9, 8], "mask": [0, 0]},
                        {"parent": 0, "token_ids": [1, 2], "mask": [1, 1], "logprobs": [-1, -2], "entropies": [1, 1],
                         "advantages": [1, 1], "finish_reason": "stop"},
                        {"parent": 0, "token_ids": [3], "mask": [1], "logprobs": [-3], "entropies": [1], "advantages": [-1],
                         "semantic_parents": [{"node": 1, "type": "compaction"}]}]}]),
        trajectory=dict(trajectory_id="t", example_id=3, reward=1.0, trajectory=[
            {"tokens": {"prompt_ids": [9], "completion_ids": [1, 2], "completion_mask": [1, 1],
                        "completion_logprobs": [-1, -2]}, "advantage": 0.5}]),
        verl=dict(input="a", output="b", gts="c", score=1.0, step=0, uid="u_0_1", responses=[1, 2], response_mask=[1, 1],
                  old_log_probs=[-1, -2]),
        swift=dict(step=["0"], prompt=["a"], completion=["b"], advantages=[1.0]),
        nan=dict(step=0, token_id=[1, 2], logprob=[float("nan"), -1], entropy=[None, 1]),
    )
    for name, row in rows.items():
        text = "\n".join([json.dumps(row)] * 2).encode() + b"\n"
        (CORPUS / "json" / name).write_bytes(text)
    (CORPUS / "json_gz" / "canonical").write_bytes(gzip.compress((CORPUS / "json" / "canonical").read_bytes(), mtime=0))
    (CORPUS / "json_document" / "list").write_bytes(json.dumps([rows["canonical"]] * 2, indent=1).encode())
    (CORPUS / "json_document" / "one").write_bytes(json.dumps(rows["traces"]).encode())
    (CORPUS / "csv" / "metrics").write_bytes(b"run,step,reward,kl\na,0,0.5,0.1\na,1,0.6,\nb,0,0.4,x\n")
    (CORPUS / "csv" / "quoted").write_bytes(b'run,step,"re""ward"\n"a,b",0,"1"\n"c\nd",1,2\n')
    pieces = {"<s>": 0, "\u0120a": 1, "b": 2}
    (CORPUS / "tokenizer" / "bytes").write_bytes(json.dumps(dict(
        model=dict(type="BPE", vocab=pieces, merges=["a b"]), added_tokens=[dict(id=3, content="<pad>")],
        decoder=dict(type="ByteLevel"), pre_tokenizer=None)).encode())
    (CORPUS / "tokenizer" / "unigram").write_bytes(json.dumps(dict(
        model=dict(type="Unigram", vocab=[["<unk>", 0.0], ["\u2581a", -1.5], ["<0x0A>", -2]]),
        decoder=dict(type="Sequence", decoders=[dict(type="ByteFallback")]))).encode())
    replay = CORPUS.parent.parent / "tests" / "data" / "replay"
    for model in ["llama", "qwen2", "qwen3"]:
        (CORPUS / "config" / model).write_bytes((replay / model / "config.json").read_bytes())
    (CORPUS / "safetensors" / "llama").write_bytes((replay / "llama" / "model.safetensors").read_bytes())


main()
