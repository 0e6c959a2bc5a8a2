#!/bin/bash
# Train on several machines of a Slurm cluster, all of their GPUs:
#   sbatch scripts/slurm_train.sh configs/cnndm/bart-large.yaml run=/shared/runs/bart
#   sbatch scripts/slurm_train.sh --resume /shared/runs/bart
# Run folder, data and this environment lie where every machine sees them. Five minutes before the job's time is over,
# the run saves its state and the job goes back to the queue, where it continues from that update.
#SBATCH --job-name=rlsum
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=32
#SBATCH --time=24:00:00
#SBATCH --signal=B:USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -euo pipefail

export MAIN=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export GPUS=${SLURM_GPUS_ON_NODE:-4}

requeue=
stop() { requeue=yes; scancel --signal=USR1 "$SLURM_JOB_ID"; } # to the machines, not to this script
trap stop USR1

# One launcher a machine. It starts a process for each GPU, and ends them all when one of them ends. The signal is for
# those processes: their launcher ignores it, and bash passes it on where Slurm gives it to bash alone.
srun --kill-on-bad-exit=1 bash -c '
  trap "pkill -USR1 -P \$launcher || true" USR1
  (trap "" USR1; exec accelerate launch \
    --config_file configs/accelerate/several_machines.yaml \
    --num_machines "$SLURM_NNODES" --num_processes $((SLURM_NNODES * GPUS)) \
    --machine_rank "$SLURM_NODEID" --main_process_ip "$MAIN" \
    -m rlsum train --auto-resume "$@") & launcher=$!
  code=0; wait $launcher || code=$?
  while kill -0 $launcher 2> /dev/null; do code=0; wait $launcher || code=$?; done # a signal ended the wait
  exit $code' rlsum "$@" &

code=0; wait $! || code=$?
while kill -0 $! 2> /dev/null; do code=0; wait $! || code=$?; done
if [ -n "$requeue" ]; then
  scontrol requeue "$SLURM_JOB_ID"
else
  exit $code
fi
