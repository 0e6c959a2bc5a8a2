#!/bin/bash
# Train on several machines of a Slurm cluster, all of their GPUs:
#   sbatch scripts/slurm_train.sh configs/cnndm/bart-large.yaml run=/shared/runs/bart
#   sbatch scripts/slurm_train.sh --resume /shared/runs/bart
# Run folder, data and this environment lie where every machine sees them.
#SBATCH --job-name=rlsum
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=32
#SBATCH --time=24:00:00
#SBATCH --output=%x-%j.log
set -euo pipefail

export MAIN=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export GPUS=${SLURM_GPUS_ON_NODE:-4}
# one launcher a machine; it starts a process for each GPU, and ends them all when one of them ends
srun --kill-on-bad-exit=1 bash -c 'accelerate launch \
  --config_file configs/accelerate/several_machines.yaml \
  --num_machines "$SLURM_NNODES" --num_processes $((SLURM_NNODES * GPUS)) \
  --machine_rank "$SLURM_NODEID" --main_process_ip "$MAIN" \
  -m rlsum train "$@"' rlsum "$@"
