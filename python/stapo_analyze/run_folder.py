"""The folder of a token log: whose run it holds, and what an earlier one left there.

`.run_id` names the run. Nothing is ever deleted: what does not belong to the run that writes now is
moved beside the folder, to `token_log.aside-RUN_ID`.
"""

import re
import shutil
import uuid
import warnings
from pathlib import Path

NAME = ".run_id"
TOKENIZER = "tokenizer.json"


def step_folder(folder, step):
    """Where a step's files are."""
    return folder / f"step_{step:08}"


def claim(folder, step, run_id=None):
    """Makes `folder` ready for a training that begins at `step`; the id of the run it then holds.

    Steps before `step` belong to the training that goes on (resumed from a checkpoint), unless another
    `run_id` is asked for. All others are stale.
    """
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / NAME
    there = mark.read_text().strip() if mark.exists() else ""
    steps = {int(p.name[5:]): p for p in folder.glob("step_*") if p.name[5:].isdigit()}
    goes_on = any(s < step for s in steps) and run_id in (None, there)
    stale = [path for s, path in sorted(steps.items()) if not goes_on or s >= step]
    if stale:
        _set_aside(folder, stale, there or "unnamed")
    run_id = (there if goes_on else None) or run_id or uuid.uuid4().hex[:16]
    mark.write_text(run_id + "\n")
    return run_id


def _set_aside(folder, stale, run_id):
    run_id = re.sub(r"[^\w-]", "_", run_id)[:64]  # becomes a name
    aside = folder.with_name(f"{folder.name}.aside-{run_id}")
    number = 1
    while aside.exists():
        number += 1
        aside = folder.with_name(f"{folder.name}.aside-{run_id}-{number}")
    aside.mkdir()
    for path in stale:
        shutil.move(str(path), str(aside / path.name))
    warnings.warn(f"{folder}: {len(stale)} steps of an earlier run moved to {aside}", stacklevel=4)


def save_tokenizer(folder, tokenizer):
    """tokenizer.json beside the log, so that a report shows texts; from a file or a transformers tokenizer."""
    if tokenizer is None:
        return
    target = folder / TOKENIZER
    if isinstance(tokenizer, (str, Path)):
        source = Path(tokenizer)
        shutil.copyfile(source / TOKENIZER if source.is_dir() else source, target)
        return
    backend = getattr(tokenizer, "tokenizer", tokenizer)  # a processor has one
    backend = getattr(backend, "backend_tokenizer", None)
    if backend is not None:  # a slow tokenizer has no such file
        backend.save(str(target))
