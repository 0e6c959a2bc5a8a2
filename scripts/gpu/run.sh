# What a GPU machine without a network runs, in the folder that prepare.py made. Results go to $OUT.
#
#   bash FOLDER/run.sh first     tests marked `gpu`, a start, then CPU and GPU compared: numbers, speed, memory
#   bash FOLDER/run.sh second    a training of 600 updates, one on ROUGE-L, summaries
#
# Both calls end within ten minutes, and neither needs the other. SMALL=1 shows on a CPU that all of it runs,
# LONGER=5 gives that five times as long.
set -o pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
OUT=${OUT:-$HERE/out} WORK=${WORK:-/tmp/rlsum-gpu}
mkdir -p "$OUT" "$WORK/code" "$WORK/site"
tar -xzf "$HERE/code.tar.gz" -C "$WORK/code"
python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir --upgrade --target "$WORK/site" "$HERE"/wheels/*.whl || exit 3
export PYTHONPATH=$WORK/site:$WORK/code PYTHONUNBUFFERED=1 HF_HUB_OFFLINE=1 RLSUM_SHARED=$WORK/none
cd "$WORK/code" || exit 3
data="data.train=$HERE/train.jsonl.gz data.valid=$HERE/valid.jsonl.gz"
if [ -n "$SMALL" ]; then
    steps="training.steps=4 training.validate_every=4 training.validate_decoded=4 data.train_limit=200 data.valid_limit=20"
    sizes="--layers 2 --samples 2" steps2=$steps long= texts=20
else
    steps= sizes= steps2= texts=800 long="training.steps=600 training.validate_every=300"
fi

step() { # seconds, name, command: its last lines, and all of them in $OUT
    echo "== $2" && begun=$SECONDS
    timeout $(($1 * ${LONGER:-1})) "${@:3}" >"$OUT/$2.txt" 2>&1
    code=$?
    tail -n 30 "$OUT/$2.txt"
    echo "-- $2: exit status $code after $((SECONDS - begun)) s"
    [ $code = 0 ] || failed="$failed $2"
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
python3 -c "
import sys
from importlib.metadata import version
print('python', sys.version.split()[0], *(f'{name} {version(name)}' for name in ('torch', 'transformers', 'accelerate', 'peft', 'numpy', 'datasets')))"
if [ "${1:-first}" = first ]; then
    step 150 tests python3 -m pytest -q -p no:cacheprovider -rs -m gpu tests/rlsum/models
    step 120 start python3 -m rlsum train "$HERE/start.yaml" run="$WORK/start" $data $steps
    step 300 compare python3 scripts/gpu/compare_devices.py "$WORK/start" $sizes
    cp "$WORK/start/metrics.jsonl" "$OUT/start.jsonl"
else
    gzip -dc "$HERE/test.jsonl.gz" | head -n "$texts" >"$WORK/test.jsonl"
    step 180 long python3 -m rlsum train "$HERE/start.yaml" run="$WORK/long" $data $steps2 $long
    step 180 reward python3 -m rlsum train "$HERE/reward.yaml" run="$WORK/reward" --init "$WORK/long" $data $steps2
    step 90 generate python3 -m rlsum generate "$WORK/reward" "$WORK/test.jsonl" -o "$OUT/outputs.jsonl"
    for run in long reward; do cp "$WORK/$run/metrics.jsonl" "$OUT/$run.jsonl"; done
fi
if [ -n "$failed" ]; then echo "failed:$failed" && exit 1; fi
echo "all passed"
