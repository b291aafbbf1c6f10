#!/usr/bin/env bash
# Runs every Python command that the README here shows, in a virtual environment of its own.
#
#   examples/python/run_all.sh [--venv DIR] [--stapo-analyze PROGRAM] [--verl]
#
# The environment is made if it is not there (several GB, most of it torch); a ready one is used as it is.
# --verl runs the verl tests too: the environment must then have verl 0.9 and TransferQueue.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
venv=${TMPDIR:-/tmp}/stapo-examples
program=$(command -v stapo-analyze || true)
verl=
while [ $# -gt 0 ]; do
    case $1 in
        --venv) venv=$2; shift 2 ;;
        --stapo-analyze) program=$2; shift 2 ;;
        --verl) verl=1; shift ;;
        *) echo "error: unknown argument $1" >&2; exit 2 ;;
    esac
done
[ -x "$program" ] || { echo "error: stapo-analyze is not on the PATH; say where it is with --stapo-analyze" >&2; exit 2; }
program=$(realpath "$program")
export STAPO_ANALYZE=$program CUDA_VISIBLE_DEVICES= TOKENIZERS_PARALLELISM=false

if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet -r "$here/requirements.txt"
fi
python=$venv/bin/python
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

run() {
    printf '\n== %s\n' "$*"
    "$@"
}

"$program" --version
"$python" - <<'PY'
import importlib.metadata, platform
print("python", platform.python_version())
for name in ("numpy", "pyarrow", "torch", "transformers", "trl", "accelerate", "datasets", "polars", "matplotlib", "verl"):
    try:
        print(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        print(name, "not installed")
PY

cd "$here"
run "$python" test_logit_stats.py
run "$python" test_stapo_log.py
run "$python" test_s2t_mask.py
if [ -n "$verl" ]; then
    run "$python" test_verl_logger.py
    exit
fi
run "$python" test_trl_logger.py
run "$python" trl_demo.py --folder "$out/trl" --stapo-analyze "$program"
run "$python" any_trainer.py "$out/any"
run "$program" "$out/any" --report "$out/any-report" -q
run "$venv/bin/jupyter" nbconvert --to notebook --execute "$here/../notebook/analysis.ipynb" --output-dir "$out"
