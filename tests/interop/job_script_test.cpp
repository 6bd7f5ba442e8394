/// @file Scripts to submit.
#include "interop/frameworks/job_script.hpp"

#include <gtest/gtest.h>

#include <string>

#include "interop/launch_script.hpp"
#include "interop_fixture.hpp"
#include "models/stack_file/communication.hpp"

namespace auspex::interop {
namespace {

using models::BatchSystem;
using testing_interop::case_of;
using testing_interop::input;
using testing_interop::job_of;

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

Job on_machine(const char* machine, const char* stack, int tiles_of_node, int dp) {
    const std::string replicas = std::to_string(dp);
    Job job = job_of(case_of("agpt-20b", "agpt-20b", {{"dp", replicas.c_str()}}), "torchtitan", tiles_of_node);
    job.launch = models::launch_settings_of(input("machines", machine));
    job.environment = models::environment_of(models::with_communication(input("stacks", stack)));
    return job;
}

// The first ranks of a node have the cores of the first tiles.
TEST(JobScript, aurora_has_its_launcher_cores_and_environment) {
    const std::string script = job_script(on_machine("aurora", "torchtitan", 12, 24), BatchSystem::kPbs);
    for (const char* line :
         {"#PBS -l select=2\n", "#PBS -l place=scatter\n", "#PBS -l walltime=01:24:00\n",
          "# qsub -A PROJECT -q QUEUE -l filesystems=home:flare THIS_FILE\n", "export ZE_FLAT_DEVICE_HIERARCHY=FLAT ",
          "export CCL_OP_SYNC=1 ", "export CCL_BCAST=double_tree ",
          "export CCL_ALLREDUCE_SCALEOUT='direct:0-1048576;rabenseifner:1048577-max'",
          "mpiexec -n 24 --ppn 12 --cpu-bind list:1-8:9-16:17-24:25-32:33-40:41-48:53-60:61-68:69-76:"
          "77-84:85-92:93-100 bash -uc 'export RANK=$PALS_RANKID LOCAL_RANK=$PALS_LOCAL_RANKID; "}) {
        EXPECT_PRED2(has, script, line);
    }
    EXPECT_FALSE(has(script, "CUDA"));
    const std::string small = job_script(on_machine("aurora", "torchtitan", 12, 2), BatchSystem::kPbs);
    EXPECT_PRED2(has, small, "mpiexec -n 2 --ppn 2 --cpu-bind list:1-8:9-16 bash");
}

TEST(JobScript, slurm_machines_have_theirs) {
    const std::string lumi = job_script(on_machine("lumi", "rccl", 8, 16), BatchSystem::kSlurm);
    EXPECT_PRED2(has, lumi,
                 "srun --ntasks=16 --ntasks-per-node=8 --cpu-bind=mask_cpu:0x7e000000000000,0x7e00000000000000,"
                 "0x7e0000,0x7e000000,0x7e,0x7e00,0x7e00000000,0x7e0000000000 bash");
    EXPECT_PRED2(has, lumi, "#SBATCH --gpus-per-node=8\n");
    EXPECT_PRED2(has, lumi, "export NCCL_SOCKET_IFNAME=hsn0,hsn1,hsn2,hsn3 ");
    EXPECT_PRED2(has, lumi, "LOCAL_RANK=$SLURM_LOCALID;");
    const std::string frontier = job_script(on_machine("frontier", "rccl", 8, 16), BatchSystem::kSlurm);
    EXPECT_PRED2(has, frontier,
                 "srun --nodes=2 --ntasks=16 --ntasks-per-node=8 --cpus-per-task=7 --gpus-per-task=1 "
                 "--gpu-bind=closest bash");
    EXPECT_PRED2(has, frontier, "LOCAL_RANK=0;");  // it sees its own tile alone
    Job dgx = on_machine("dgx-a100", "bare", 8, 16);
    dgx.emission = testing_interop::emission_of(case_of("llama3-70b", "llama3-70b"), "megatron-lm");
    const std::string a100 = job_script(dgx, BatchSystem::kSlurm);
    EXPECT_PRED2(has, a100, "export CUDA_DEVICE_MAX_CONNECTIONS=1 ");
    EXPECT_PRED2(has, a100, "# Which cores are near which tile is not known: ranks are not bound.\n");
    EXPECT_PRED2(has, a100, "--cpu-bind=none");
}

TEST(JobScript, machines_that_say_nothing_have_the_batch_systems_own) {
    const Job job = job_of(case_of("mixtral-8x22b", "mixtral-8x22b"), "megatron-lm", 8);
    for (const BatchSystem system : {BatchSystem::kPbs, BatchSystem::kSlurm}) {
        const std::string script = job_script(job, system);
        EXPECT_EQ(read_launch_script(script, "job.sh").ranks, job.ranks) << script;
        EXPECT_PRED2(has, script, "01:24:00");  // 5,000 s are 83 min and 20 s
        EXPECT_PRED2(has, script, "# On NVIDIA's GPUs: export CUDA_DEVICE_MAX_CONNECTIONS=1");
    }
}

TEST(JobScript, what_forces_routing_stands_apart) {
    const Job job = job_of(case_of("mula-220b-a10b", "mula-220b-a10b"), "optimus", 12);
    const std::string script = job_script(job, BatchSystem::kPbs);
    EXPECT_GT(script.find("export FORCE_UNIFORM_ROUTING=1"), script.find("# To try the layout.")) << script;
    EXPECT_PRED2(has, script, "\nbash run_experiment.sh\n");
    EXPECT_FALSE(has(script, "WORLD_SIZE")) << "its launcher sets that";
}

TEST(JobScript, a_comment_stays_one) {
    Job job = job_of(case_of("mula-220b-a10b", "mula-220b-a10b"), "optimus", 12);
    job.repeat = "a\ntouch here\r#", job.predicted_with = "b\ntouch here";
    for (const BatchSystem system : {BatchSystem::kPbs, BatchSystem::kSlurm}) {
        EXPECT_FALSE(has(job_script(job, system), "\ntouch"));
    }
    const testing_interop::Case one = case_of("agpt-20b", "agpt-20b");
    const EmitRequest request{one.workload, one.plan, 0, 0, "x\nimport evil"};
    EXPECT_FALSE(has(framework_named("torchtitan", "--format").emit(request).file->text, "\nimport evil"));
}

}  // namespace
}  // namespace auspex::interop
