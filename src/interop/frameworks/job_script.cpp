/// @file PBS and Slurm.
#include "interop/frameworks/job_script.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <vector>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/shell_word.hpp"
#include "interop/frameworks/emission_text.hpp"

namespace auspex::interop {
namespace {

using models::BatchSystem;
using models::LaunchSettings;
using models::Platform;

/// HH:MM:SS, rounded up to a minute.
std::string clock_text(double seconds) {
    const auto minutes = static_cast<long>(std::ceil(seconds / 60));
    char text[32];
    std::snprintf(text, sizeof text, "%02ld:%02ld:00", minutes / 60, minutes % 60);
    return text;
}

/// For a comment: control characters would end its line.
std::string one_line(const std::string& text) { return printable(text, text.size()); }

/// "0x7e00" of cores 9 to 14.
std::string mask_of(const std::vector<int>& cores) {
    constexpr int kBitsOfDigit = 4;
    std::vector<int> digits(static_cast<std::size_t>(std::ranges::max(cores) / kBitsOfDigit + 1), 0);
    for (const int core : cores) {
        digits[static_cast<std::size_t>(core / kBitsOfDigit)] |= 1 << (core % kBitsOfDigit);
    }
    std::string text = "0x";
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
        text += "0123456789abcdef"[*digit];
    }
    return text;
}

/// Cores of the first ranks of a node, as mpiexec lists them, or as masks.
std::string cores_text(const Job& job, bool as_masks) {
    std::string text;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(job.ranks_per_node); ++rank) {
        const std::string& cores = job.launch.cores.at(rank);
        text += (text.empty() ? ""
                 : as_masks   ? ","
                              : ":") +
                (as_masks ? mask_of(models::core_numbers(cores, "cores")) : cores);
    }
    return text;
}

std::string filled_in(std::string text, const Job& job) {
    const auto replace = [&text](const std::string& what, const auto& value_of) {
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
            text.replace(at, what.size(), value_of());
        }
    };
    replace("{ranks}", [&] { return std::to_string(job.ranks); });
    replace("{nodes}", [&] { return std::to_string(job.nodes); });
    replace("{ranks_per_node}", [&] { return std::to_string(job.ranks_per_node); });
    replace("{cores}", [&] { return cores_text(job, false); });
    replace("{core_masks}", [&] { return cores_text(job, true); });
    return text;
}

const char* default_launcher(BatchSystem system) {
    return system == BatchSystem::kPbs ? "mpiexec -n {ranks} --ppn {ranks_per_node}"
                                       : "srun --ntasks={ranks} --ntasks-per-node={ranks_per_node} --cpu-bind=none";
}

/// The machine's own, else what the batch system has.
std::string own_or(const models::SourcedText& own, const char* other) { return own.value.empty() ? other : own.value; }

void write_time(std::ostream& out, const Job& job, const char* directive) {
    out << "# " << job.walltime_says << ", " << one_line(job.predicted_with) << "\n"
        << (job.in_one_job.empty() ? "" : "# " + one_line(job.in_one_job) + "\n") << directive
        << clock_text(job.walltime_s) << "\n";
}

void write_directives(std::ostream& out, const Job& job, const char* prefix) {
    for (const models::SourcedText& directive : job.launch.directives) {
        out << prefix << directive.value << "\n";
    }
}

void write_pbs_head(std::ostream& out, const Job& job) {
    out << "#!/bin/bash -l\n#PBS -N " << job.name << "\n#PBS -l select=" << job.nodes << "\n";
    write_directives(out, job, "#PBS ");
    write_time(out, job, "#PBS -l walltime=");
    out << "# " << one_line(job.repeat) << "\n# " << own_or(job.launch.submit, "qsub -A PROJECT -q QUEUE")
        << " THIS_FILE\nset -euo pipefail\ncd \"$PBS_O_WORKDIR\"\n";
}

void write_slurm_head(std::ostream& out, const Job& job) {
    out << "#!/bin/bash\n#SBATCH --job-name=" << job.name << "\n#SBATCH --nodes=" << job.nodes
        << "\n#SBATCH --ntasks-per-node=" << job.ranks_per_node << "\n";
    if (!job.launch.is_known) {
        out << "#SBATCH --gpus-per-node=" << job.ranks_per_node << "\n#SBATCH --exclusive\n";
    }
    write_directives(out, job, "#SBATCH ");
    write_time(out, job, "#SBATCH --time=");
    out << "# " << one_line(job.repeat) << "\n# "
        << own_or(job.launch.submit, "sbatch --account=PROJECT --partition=PARTITION")
        << " THIS_FILE\nset -euo pipefail\n";
}

void write_variables(std::ostream& out, const models::Environment& environment, const char* of) {
    Settings settings;
    for (const models::EnvironmentVariable& variable : environment) {
        settings.push_back({variable.name, variable.text.value,
                            std::string(of) + ", " + to_string(variable.text.kind) + ": " + variable.text.source});
    }
    out << variables_text(settings);
}

void write_environment(std::ostream& out, const Job& job) {
    write_variables(out, job.launch.environment, "machine.launch");
    write_variables(out, job.environment, "stack.environment");
    if (!job.left_out.empty()) {
        out << "# " << one_line(job.left_out) << "\n";
    }
    const Settings& cuda = job.emission.cuda_environment;
    if (job.launch.platform == Platform::kCuda) {
        out << variables_text(cuda);
    } else if (job.launch.platform == Platform::kUnknown) {
        for (const Setting& one : cuda) {
            out << "# On NVIDIA's GPUs: export " << one.name << "=" << one.value << "  # " << one.from << "\n";
        }
    }
    out << "# Load here what the program needs: modules, a virtual environment.\n";
    for (const std::string& note : job.emission.notes) {
        out << "# " << one_line(note) << "\n";
    }
    for (const std::string& line : job.emission.setup) {
        out << line << "\n";
    }
}

/// Settings, and those that its user replaces apart.
void write_settings(std::ostream& out, const Job& job) {
    const Emission& emission = job.emission;
    Settings settings = emission.settings, trial = emission.trial;
    std::erase_if(settings, [&](const Setting& setting) {
        const bool is_forced = !emission.forced_routing.empty() && setting.name == emission.forced_routing;
        if (is_forced) {
            trial.push_back({setting.name, setting.value, setting.from + "; the router chooses nothing with it"});
        }
        return is_forced;
    });
    out << "\n" << (emission.file ? file_text(*emission.file) + "\n" : "");
    const char* const of_trial =
        "# To try the layout. For a real run: your own tokenizer, data and checkpoints, and nothing that forces "
        "routing.\n";
    if (emission.form == SettingsForm::kArguments) {
        out << arguments_text("ARGUMENTS", settings) << of_trial << arguments_text("TRIAL", trial) << "\n";
    } else if (emission.form == SettingsForm::kVariables) {
        out << variables_text(settings) << (trial.empty() ? "" : of_trial) << variables_text(trial) << "\n";
    }
}

void write_launch(std::ostream& out, const Job& job, BatchSystem system) {
    const bool is_pbs = system == BatchSystem::kPbs, knows_cores = !job.launch.cores.empty();
    const Emission& emission = job.emission;
    if (emission.starts_ranks) {
        if (knows_cores) {
            out << "# Cores for the ranks of a node, for what starts them: " << cores_text(job, false) << "\n";
        }
        out << emission.program << "\n";
        return;
    }
    const std::string launcher = own_or(job.launch.launcher, default_launcher(system));
    if (launcher.find("{core") == std::string::npos && launcher.find("bind=closest") == std::string::npos) {
        out << "# Which cores are near which tile is not known: ranks are not bound.\n";
    }
    const std::string rank = own_or(job.launch.rank, is_pbs ? "PALS_RANKID" : "SLURM_PROCID");
    const std::string local = own_or(job.launch.local_rank, is_pbs ? "PALS_LOCAL_RANKID" : "SLURM_LOCALID");
    out << filled_in(launcher, job) << " bash -uc 'export RANK=$" << rank
        << " LOCAL_RANK=" << (job.launch.sees_own_tile_only ? "0" : "$" + local) << "; exec \"$@\"' - \\\n    "
        << emission.program << (emission.form == SettingsForm::kArguments ? " \"${ARGUMENTS[@]}\" \"${TRIAL[@]}\"" : "")
        << "\n";
}

}  // namespace

std::string job_script(const Job& job, BatchSystem system) {
    std::ostringstream out;
    (system == BatchSystem::kPbs ? write_pbs_head : write_slurm_head)(out, job);
    if (!job.emission.starts_ranks) {
        out << (system == BatchSystem::kPbs
                    ? "read -r MASTER_ADDR <\"$PBS_NODEFILE\"\n"
                    : "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed -n 1p)\n")
            << "export MASTER_ADDR MASTER_PORT=29500 WORLD_SIZE=" << job.ranks << "\n";
    }
    write_environment(out, job);
    write_settings(out, job);
    write_launch(out, job, system);
    return out.str();
}

}  // namespace auspex::interop
