/// @file auspex emit --job: scripts that bash takes, run with stand-ins for the batch system's commands and for what
/// trains.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/units.hpp"
#include "cli_fixture.hpp"

namespace auspex::cli {
namespace {

using testing_cli::Outcome;
using testing_cli::text_of;

/// Both launchers: the command behind their flags, from "bash" on, once for the first and once for the last rank.
constexpr const char* kLauncher = R"(#!/bin/bash
line="$*"
[[ $line =~ (-n\ |--ntasks=)([0-9]+) ]] && n=${BASH_REMATCH[2]}
[[ $line =~ (--ppn\ |--ntasks-per-node=)([0-9]+) ]] && p=${BASH_REMATCH[2]}
echo "launcher $0 ${line%% bash *}" >>"$SEEN"
while [ "$1" != bash ]; do shift; done
for rank in 0 $((n - 1)); do
    env PALS_RANKID=$rank PALS_LOCAL_RANKID=$((rank % p)) SLURM_PROCID=$rank SLURM_LOCALID=$((rank % p)) "$@" || exit 1
done
)";
constexpr const char* kProgram = R"(#!/bin/bash
echo "rank $RANK local $LOCAL_RANK of $WORLD_SIZE at $MASTER_ADDR:$MASTER_PORT: $*" >>"$SEEN"
)";

class EmitJob : public testing::Test, protected testing_cli::Runner {
 protected:
    void SetUp() override {
        std::filesystem::create_directories(folder_ + "bin");
        std::filesystem::create_directories(folder_ + "work");
        add("mpiexec", kLauncher);
        add("srun", kLauncher);
        add("scontrol", "#!/bin/bash\necho first-node\necho second-node\n");
        add("python", kProgram);
        static_cast<void>(write("work/run_experiment.sh",
                                "env | grep -E '^(PP|EP|DP|NUM_NODES|USE_|SAC_|CCL_|ZE_|EXIT_)' >>\"$SEEN\"\n"));
        static_cast<void>(write("nodes", "first-node\nsecond-node\n"));
    }

    void add(const std::string& name, const std::string& text) {
        const std::string file = write("bin/" + name, text);
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }

    /// Emits, checks with bash -n, runs: what the stand-ins saw.
    std::string seen(const std::string& arguments, const std::string& environment = "") {
        const std::string script = folder_ + "job.sh", seen_file = folder_ + "seen";
        std::filesystem::remove(script);
        std::filesystem::remove(seen_file);
        const Outcome emitted = run("emit --steps 10 --out '" + script + "' " + arguments);
        EXPECT_EQ(emitted.exit_code, 0) << emitted.error;
        EXPECT_EQ(std::system(("bash -n '" + script + "'").c_str()), 0) << text_of(script);
        const std::string command = "cd '" + folder_ + "work' && env PATH='" + folder_ + "bin':\"$PATH\" SEEN='" +
                                    seen_file + "' PBS_O_WORKDIR=. PBS_NODEFILE='" + folder_ +
                                    "nodes' SLURM_JOB_NODELIST=x " + environment + " bash '" + script + "' >'" +
                                    folder_ + "said' 2>&1";
        EXPECT_EQ(std::system(command.c_str()), 0) << text_of(folder_ + "said") << text_of(script);
        return text_of(seen_file);
    }
    void expect(const std::string& text, std::initializer_list<const char*> words) const {
        for (const char* word : words) {
            EXPECT_NE(text.find(word), std::string::npos) << word << "\nin\n" << text;
        }
    }
    /// The plan that is read from the script predicts the same step, to the bit.
    void expect_same_step(const std::string& import, const std::string& inputs, const std::string& plan) {
        const std::string back = folder_ + "back.json";
        const Outcome imported = run("import " + import + " '" + folder_ + "job.sh' --out '" + back + "'");
        ASSERT_EQ(imported.exit_code, 0) << imported.error;
        const auto step_of = [this](const std::string& arguments) {
            const Outcome predicted = run("predict --json " + arguments);
            EXPECT_EQ(predicted.exit_code, 0) << predicted.error;
            return JsonDocument::parse(predicted.out, "out").root().at("step_time_s").as_number(0, 1e6);
        };
        EXPECT_EQ(step_of(inputs + " --plan '" + back + "'"), step_of(inputs + " --plan " + plan));
    }
};

/// What frameworks recompute of layers whose norms, attention and feed-forward a plan recomputes each by itself.
const std::string kWholeLayers = R"( --set 'plan.recompute=["layer"]')";

TEST_F(EmitJob, optimus_on_aurora) {
    const std::string inputs = "--machine aurora --stack optimus --workload mula-220b-a10b --tiles 3072";
    expect(seen("--format optimus --job pbs --plan mula-220b-a10b " + inputs),
           {"NUM_NODES=256\n", "PP=8\n", "EP=12\n", "SAC_LEVEL=7\n", "USE_OM_PGSHARDED_OPTIMIZER=1\n",
            "EXIT_STEPS=10\n", "USE_OM_OPTIMIZER=0\n", "CCL_OP_SYNC=1\n",
            "CCL_ALLREDUCE_SCALEOUT=direct:0-1048576;rabenseifner:1048577-max\n", "ZE_FLAT_DEVICE_HIERARCHY=FLAT\n"});
    expect_same_step("optimus", inputs, "mula-220b-a10b" + kWholeLayers);
}

TEST_F(EmitJob, megatron_lm_on_lumi) {
    const std::string inputs = "--machine lumi --stack rccl --workload llama3-70b --tiles 384";
    expect(seen("--format megatron-lm --job slurm --plan llama3-70b " + inputs),
           {"launcher", "srun --ntasks=384 --ntasks-per-node=8 --cpu-bind=mask_cpu:0x7e000000000000,",
            "rank 0 local 0 of 384 at first-node:29500: pretrain_gpt.py --num-layers 80 ",
            "rank 383 local 7 of 384 at first-node:29500: ", "--tensor-model-parallel-size 4 ", "--train-iters 10 "});
    expect_same_step("megatron", inputs, "llama3-70b" + kWholeLayers);
}

TEST_F(EmitJob, deepspeed_on_aurora) {
    const std::string inputs = "--machine aurora --stack megatron-deepspeed --workload agpt-70b --tiles 96";
    expect(
        seen("--format deepspeed --job pbs --plan agpt-70b " + inputs),
        {"mpiexec -n 96 --ppn 12 --cpu-bind list:1-8:", "rank 95 local 11 of 96 at first-node:29500: pretrain_gpt.py ",
         "--pipeline-model-parallel-size 8 ", "--deepspeed_config ds_config.json "});
    const JsonDocument json = JsonDocument::load(folder_ + "work/ds_config.json");
    EXPECT_EQ(json.root().at("train_batch_size").as_integer(1, 1000), 96);  // 1 x 16 x 6
    EXPECT_EQ(json.root().at("zero_optimization").at("stage").as_integer(0, 3), 1);
    expect_same_step("deepspeed", inputs, "agpt-70b" + kWholeLayers);
}

// A configuration of dataclasses as torchtitan has them, with the fields that are set; Python runs what was written.
TEST_F(EmitJob, torchtitan_on_aurora) {
    if (std::system("python3 -c '' 2>/dev/null") != 0) {
        GTEST_SKIP() << "no python3";
    }
    static_cast<void>(write("work/mine.py", R"(from dataclasses import dataclass, field
@dataclass
class Parallelism:
    data_parallel_replicate_degree: int = 7
    data_parallel_shard_degree: int = -1
    fsdp_reshard_after_forward: str = "default"
    tensor_parallel_degree: int = 7
    enable_sequence_parallel: bool = True
    context_parallel_degree: int = 7
    expert_parallel_degree: int = 7
    pipeline_parallel_degree: int = 7
    pipeline_parallel_schedule: str = "ZBVZeroBubble"
    pipeline_parallel_layers_per_stage: int = 7
    pipeline_parallel_first_stage_less_layers: int = 1
    pipeline_parallel_last_stage_less_layers: int = 1
    num_pp_microbatches: int = 7
@dataclass
class Training:
    num_tokens_per_microbatch_per_dp_rank: int = 7
    num_tokens_per_train_step: int = 7
    max_context_length: int = 7
    mixed_precision_param: str = "float32"
    mixed_precision_reduce: str = "float32"
    steps: int = 7
    dataset: str = "mine"
@dataclass
class Checkpointing:
    mode: str = "none"
@dataclass
class Config:
    parallelism: Parallelism = field(default_factory=Parallelism)
    training: Training = field(default_factory=Training)
    activation_checkpoint: Checkpointing = field(default_factory=Checkpointing)
)"));
    add("python", R"(#!/bin/bash
python3 - "$@" >>"$SEEN" <<'END'
import importlib, os, sys
words = sys.argv[1:]
module = words[words.index("--module") + 1]
print(words[:2], os.environ["LOCAL_RANK"], getattr(importlib.import_module(module), words[words.index("--config") + 1])())
END
)");
    const std::string inputs = "--machine aurora --stack torchtitan --workload agpt-20b --tiles 96";
    expect(seen("--format torchtitan --job pbs --plan agpt-20b " + inputs, "MODEL_CONFIG=mine:Config"),
           {"['-m', 'torchtitan.train'] 0 Config(", "['-m', 'torchtitan.train'] 11 Config(",
            "data_parallel_replicate_degree=1,", "data_parallel_shard_degree=96,",
            "fsdp_reshard_after_forward='always'", "pipeline_parallel_layers_per_stage=None",
            "steps=10, dataset='mine'", "mode='full'", "num_pp_microbatches=None"});
    expect_same_step("torchtitan", inputs, "agpt-20b" + kWholeLayers);
}

// 12 nodes of Frontier have 2 h, of which 30 min are for the beginning and the end.
TEST_F(EmitJob, a_queue_cuts_the_walltime) {
    const std::string script = folder_ + "job.sh";
    const std::string job =
        "emit --format deepspeed --job slurm --machine frontier --stack megatron-deepspeed "
        "--workload agpt-70b --plan agpt-70b --tiles 96 --json ";
    const auto text_with = [&](const std::string& flags) {
        const Outcome emitted = run(job + flags);
        EXPECT_EQ(emitted.exit_code, 0) << emitted.error;
        return JsonDocument::parse(emitted.out, "out").root().at("text").as_string();
    };
    expect(text_with("--steps 5000"),
           {"#SBATCH --time=02:00:00\n", " steps fit into 2 h, the longest job of 12 nodes (OLCF ", "the run takes ",
            " jobs, each from the checkpoint of the one before\n", "export NCCL_CROSS_NIC=1"});
    const std::string few = text_with("--steps 10 --set stack.communication=oneccl/pytorch-2025");
    expect(few, {"# Left out: CCL_ALLREDUCE_SCALEOUT, CCL_BCAST, CCL_OP_SYNC of oneccl, which was measured "
                 "on aurora\n"});
    EXPECT_EQ(few.find("steps fit into"), std::string::npos) << few;
    EXPECT_EQ(few.find("export CCL_"), std::string::npos) << few;
    const std::string limit =
        R"(--set 'machine.launch.walltime_limits={"value": [{"up_to_nodes": 12, "walltime": "31 min"}], )"
        R"("source": "x", "kind": "assumed"}' )";
    const auto forced = [&](const char* walltime) {
        std::string text = limit;
        return text.replace(text.find("31 min"), 6, walltime) + "--steps 3";
    };
    expect(text_with(forced("31 min")), {"1 step fits into 31 min", "the run takes 3 jobs"});
    EXPECT_EQ(fault_of_refusal(job + forced("30 min"), {"--job", "a step of at most", "30 min", "walltime_limits"}),
              "");
}

// 100 steps, with what auspex startup says of 512 nodes of Aurora and of torchtitan, whose ranks look at every shard.
TEST_F(EmitJob, a_long_start_lengthens_the_walltime) {
    const std::string inputs = " --machine aurora --stack torchtitan --workload agpt-20b --plan agpt-20b --tiles 6144";
    const Outcome emitted = run("emit --format torchtitan --job pbs --steps 100 --json" + inputs);
    ASSERT_EQ(emitted.exit_code, 0) << emitted.error;
    const std::string script = JsonDocument::parse(emitted.out, "out").root().at("text").as_string();
    const Outcome start = run("startup --json" + inputs);
    ASSERT_EQ(start.exit_code, 0) << start.error;
    const JsonDocument startup = JsonDocument::parse(start.out, "out");
    // Libraries, devices, communicators and compilation once more for each start that fails; 1 / (1 - share) = e^(n p).
    const double tries = std::exp(512 * 3.4e-4);
    double begin_s = 0;
    for (const JsonValue& phase : startup.root().at("phases").elements()) {
        const std::string name = phase.at("name").as_string();
        const double seconds = name == "first_step" ? 0 : phase.at("seconds").as_number(0, 1e6);
        begin_s += seconds * (name == "environment" || name == "load" ? 1 : tries);
    }
    EXPECT_GT(begin_s, 30 * 60);
    expect(script, {(format_quantity(begin_s, Dimension::kSeconds) + " to begin (auspex startup; 16").c_str(),
                    " of starts fail), ", " to save at the end, a tenth to spare, predicted with stack torchtitan"});
    EXPECT_EQ(script.find("30 min to begin"), std::string::npos);
}

TEST_F(EmitJob, what_cannot_be_is_said) {
    const auto refused = [this](const std::string& arguments, std::initializer_list<const char*> words) {
        EXPECT_EQ(fault_of_refusal(arguments, words), "");
    };
    const std::string inputs = " --workload agpt-20b --plan agpt-20b --tiles 96 --steps 10";
    refused("emit --format torchtitan --job slurm --machine aurora --stack torchtitan" + inputs,
            {"--job", "slurm", "pbs", "launch.batch"});
    refused("emit --format optimus --job pbs --machine aurora --stack torchtitan" + inputs,
            {"$.norm", "rms", "non-parametric", "OLMo-1B"});
    refused("emit --format torchtitan --stack torchtitan" + inputs, {"--stack", "--job"});
    refused("emit --format torchtitan --set plan.optimizer=sharded" + inputs, {"$.optimizer", "sharded", "torchtitan"});
    refused("import torchtitan README.md", {"README.md", "expected"});
    refused("import optimus README.md", {"README.md", "expected"});
    refused("import deepspeed machines/aurora.json", {"machines/aurora.json", "$."});
}

}  // namespace
}  // namespace auspex::cli
