#!/usr/bin/env bash
# The package's tests that need torch, and every Python command that the README here shows, with pinned versions.
#
#   examples/python/run_all.sh [--venv DIR] [--wheel FILE | --stapo-analyze PROGRAM] [--verl]
#
# The environment is made if it is not there (several GB, most of it torch); a ready one is used as it is.
# --wheel installs the package from a wheel; else it is taken from the repository, with the program given.
# --verl runs the verl tests only: the environment must then have verl 0.9 and TransferQueue.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
venv=${TMPDIR:-/tmp}/stapo-examples
program=$(command -v stapo-analyze || true)
wheel=
verl=
while [ $# -gt 0 ]; do
    case $1 in
        --venv) venv=$2; shift 2 ;;
        --wheel) wheel=$(realpath "$2"); shift 2 ;;
        --stapo-analyze) program=$2; shift 2 ;;
        --verl) verl=1; shift ;;
        *) echo "error: unknown argument $1" >&2; exit 2 ;;
    esac
done
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet -r "$here/requirements.txt"
fi
python=$venv/bin/python
if [ -n "$wheel" ]; then
    "$venv/bin/pip" install --quiet --force-reinstall --no-deps "$wheel"
    program=$venv/bin/stapo-analyze
else
    [ -x "$program" ] || { echo "error: give --wheel FILE or --stapo-analyze PROGRAM" >&2; exit 2; }
    export PYTHONPATH=$root/python
fi
program=$(realpath "$program")
export STAPO_ANALYZE=$program CUDA_VISIBLE_DEVICES='' TOKENIZERS_PARALLELISM=false OMP_NUM_THREADS=1
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
for name in ("numpy", "pyarrow", "torch", "transformers", "trl", "accelerate", "datasets", "tensorboard", "trackio",
             "polars", "matplotlib", "verl"):
    try:
        print(name, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        print(name, "not installed")
PY

cd "$here"
if [ -n "$verl" ]; then
    run "$python" -m pytest "$root/python/tests/test_verl.py"
    exit
fi
run "$python" -m pytest "$root/python/tests"
run "$python" "$root/examples/convert/test_converters.py"
run "$python" trl_demo.py "$out/trl"
run "$python" trl_s2t.py "$out/s2t"
run "$python" trl_faults.py hot "$out/hot" --generations 4
run "$program" "$out/hot/token_log" -q
run "$python" any_trainer.py "$out/any"
run "$program" "$out/any" -q
run "$venv/bin/jupyter" nbconvert --to notebook --execute "$here/../notebook/analysis.ipynb" --output-dir "$out"
