/// @file PBS and Slurm.
#include "interop/job_script.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace auspex::interop {
namespace {

/// HH:MM:SS, rounded up to a minute.
std::string clock_text(double seconds) {
    const auto minutes = static_cast<long>(std::ceil(seconds / 60));
    char text[32];
    std::snprintf(text, sizeof text, "%02ld:%02ld:00", minutes / 60, minutes % 60);
    return text;
}

/// Two Xeon Max 9470C of 52 cores: ALCF user guides, Aurora.
constexpr int kSocketsOfAurora = 2, kCoresOfAuroraSocket = 52;

/// "list:0-7:8-15:…": the cores of each rank of a node, none over two sockets.
std::string aurora_cores(int ranks) {
    std::string text = "list";
    const int on_first = (ranks + 1) / kSocketsOfAurora, each = kCoresOfAuroraSocket / std::max(1, on_first);
    for (int rank = 0; rank < ranks; ++rank) {
        const int first = rank < on_first ? rank * each : kCoresOfAuroraSocket + (rank - on_first) * each;
        text += ":" + std::to_string(first) + "-" + std::to_string(first + each - 1);
    }
    return text;
}

/// For a comment: control characters would end its line.
std::string one_line(std::string text) {
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < ' '; }, ' ');
    return text;
}

void write_aurora(std::ostream& out) {
    out << "# Every tile is a device, and a rank takes that of its number on the node.\n"
           "export ZE_FLAT_DEVICE_HIERARCHY=FLAT\n"
           "# As ALCF recommends (user guides, Aurora, oneCCL), and as the prediction takes them.\n"
           "export CCL_ALLREDUCE_SCALEOUT=\"direct:0-1048576;rabenseifner:1048577-max\"\n"
           "export CCL_BCAST=double_tree\nexport CCL_OP_SYNC=1\n";
}

void write_pbs_head(std::ostream& out, const Job& job) {
    out << "#!/bin/bash -l\n#PBS -N " << job.name << "\n#PBS -l select=" << job.nodes << "\n#PBS -l place=scatter\n"
        << "# " << job.walltime_says << ", " << job.predicted_with
        << "\n#PBS -l walltime=" << clock_text(job.walltime_s) << "\n"
        << "# " << one_line(job.repeat) << "\n# qsub -A PROJECT -q QUEUE -l filesystems=home:flare THIS_FILE\n"
        << "set -euo pipefail\ncd \"$PBS_O_WORKDIR\"\n"
        << "read -r MASTER_ADDR <\"$PBS_NODEFILE\"\nexport MASTER_ADDR MASTER_PORT=29500 WORLD_SIZE=" << job.ranks
        << "\n";
}

void write_slurm_head(std::ostream& out, const Job& job) {
    out << "#!/bin/bash\n#SBATCH --job-name=" << job.name << "\n#SBATCH --nodes=" << job.nodes
        << "\n#SBATCH --ntasks-per-node=" << job.ranks_per_node << "\n#SBATCH --gpus-per-node=" << job.ranks_per_node
        << "\n#SBATCH --exclusive\n# " << job.walltime_says << ", " << job.predicted_with
        << "\n#SBATCH --time=" << clock_text(job.walltime_s) << "\n# " << one_line(job.repeat)
        << "\n# sbatch --account=PROJECT --partition=PARTITION THIS_FILE\nset -euo pipefail\n"
        << "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed -n 1p)\n"
        << "export MASTER_ADDR MASTER_PORT=29500 WORLD_SIZE=" << job.ranks << "\n";
}

}  // namespace

std::string arguments_text(const std::string& name, const Settings& settings) {
    constexpr std::size_t kWidest = 56;
    std::ostringstream out;
    std::size_t width = 0;
    for (const Setting& setting : settings) {
        width = std::max(width, std::min(kWidest, setting.name.size() + 1 + setting.value.size()));
    }
    out << name << "=(\n";
    for (const Setting& setting : settings) {
        const std::string text = setting.name + (setting.value.empty() ? "" : " " + setting.value);
        out << "    " << text << std::string(std::max(width, text.size()) - text.size() + 2, ' ') << "# "
            << setting.from << "\n";
    }
    out << ")\n";
    return out.str();
}

std::string job_script(const Job& job, BatchSystem system, const models::Machine& machine) {
    std::ostringstream out;
    const bool is_pbs = system == BatchSystem::kPbs, is_aurora = machine.name == "aurora";
    (is_pbs ? write_pbs_head : write_slurm_head)(out, job);
    if (is_aurora) {
        write_aurora(out);
    } else {
        out << "export CUDA_DEVICE_MAX_CONNECTIONS=1  # tensor and context parallelism ask for it on NVIDIA's\n";
    }
    out << "# Load here what the program needs: modules, a virtual environment.\n";
    out << "\n"
        << arguments_text("ARGUMENTS", job.settings)
        << "# To try the layout. For a real run: your own tokenizer, data and checkpoints, and nothing that forces "
           "routing.\n"
        << arguments_text("TRIAL", job.trial) << "\n";
    if (is_pbs) {
        out << "mpiexec -n " << job.ranks << " --ppn " << job.ranks_per_node;
        if (is_aurora) {
            out << " --cpu-bind " << aurora_cores(job.ranks_per_node);
        }
        out << " bash -uc 'export RANK=$PALS_RANKID LOCAL_RANK=$PALS_LOCAL_RANKID; exec \"$@\"' -";
    } else {
        out << "srun --ntasks=" << job.ranks << " --ntasks-per-node=" << job.ranks_per_node
            << " --cpu-bind=none bash -uc 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID; exec \"$@\"' -";
    }
    out << " \\\n    python " << job.program << " \"${ARGUMENTS[@]}\" \"${TRIAL[@]}\"\n";
    return out.str();
}

}  // namespace auspex::interop
