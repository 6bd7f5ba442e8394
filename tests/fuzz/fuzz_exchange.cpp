/// @file Throws damaged files of other projects at the imports: only InputError, of one line, may come out.
///
/// usage: fuzz_exchange [COUNT [SEED]]      in the repository's root
#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "../interop/interop_fixture.hpp"
#include "base/error.hpp"
#include "base/rng.hpp"
#include "damage.hpp"
#include "interop/measurements/measured_text.hpp"

namespace auspex {
namespace {

using testing_interop::case_of;

/// A text, and what reads it.
struct Seed {
    std::string format, text;
};

constexpr const char* kNccl =
    "# Collective test starting: all_gather_perf\n# nThread 1 nGpus 4 iters: 20 agg iters: 1\n"
    "#  Rank  0 Group  0 Pid 1 on hostA device  0 [0x07] GPU\n#  Rank  1 Group  0 Pid 2 on hostB device  0 [0x07] GPU\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
    "     2000000        250000     float    none      -1   200.00   10.00    5.00      0   200.00   10.00    5.00    "
    "N/A\n"
    "# Avg bus bandwidth    : 5.0\n";
constexpr const char* kOsu =
    "# OSU MPI-CUDA Allgather Latency Test v7.2\n# Size       Avg Latency(us)   Min Latency(us)   Iterations\n"
    "4   10.0   9.0   1000\n1048576   250.0   240.0   100\n";

std::vector<Seed> seeds() {
    std::vector<Seed> all{{"nccl-tests", kNccl}, {"osu", kOsu}};
    const auto add = [&all](const char* format, const testing_interop::Case& one) {
        const interop::Job job = testing_interop::job_of(one, format, 12);
        all.push_back({format, testing_interop::text_of(one, format)});
        all.push_back({format, job_script(job, models::BatchSystem::kPbs)});
        all.push_back({format, job_script(job, models::BatchSystem::kSlurm)});
    };
    add("megatron-lm", case_of("mixtral-8x22b", "mixtral-8x22b"));
    add("megatron-lm", case_of("llama3-70b", "llama3-70b", {{"stages", "[10, 9, 10, 11, 10, 10, 10, 10]"}}));
    add("optimus", case_of("mula-220b-a10b", "mula-220b-a10b"));
    add("torchtitan", case_of("agpt-20b", "agpt-20b"));
    add("torchtitan",
        case_of("llama3-70b", "llama3-70b", {{"optimizer", "fsdp"}, {"rank_order", R"(["pp", "dp", "ep", "tp"])"}}));
    all.push_back({"torchtitan",
                   "torchrun --nproc_per_node=8 --nnodes 16 -m torchtitan.train --parallelism.tensor_parallel_degree 4 "
                   "--parallelism.pipeline_parallel_degree 4 --parallelism.pipeline_parallel_schedule Interleaved1F1B "
                   "--parallelism.pipeline_parallel_layers_per_stage 7 --parallelism.fsdp_reshard_after_forward always "
                   "--training.max_context_length 8192 --training.num_tokens_per_microbatch_per_dp_rank 16384 "
                   "--parallelism.num_pp_microbatches 8 --parallelism.pipeline_parallel_last_stage_less_layers 3"});
    add("deepspeed", case_of("agpt-70b", "agpt-70b"));
    return all;
}

void read_rows(const Seed& seed, const std::string& text) {
    interop::MeasuredText from;
    from.text = text, from.name = "damaged.txt", from.ranks = seed.format == "osu" ? 8 : 0;
    from.nodes = seed.format == "osu" ? 2 : 0, from.link = "nic";
    const interop::MeasuredRows measured =
        seed.format == "osu" ? interop::rows_of_osu(from) : interop::rows_of_nccl_tests(from);
    AUSPEX_CHECK(
        models::parse_measurements(interop::measurement_table(measured.rows), "rows").size() == measured.rows.size(),
        "rows are read back");
}

void read_plan(const Seed& seed, const std::string& text, const models::Workload& workload, Rng& rng) {
    interop::PlanText from;
    from.text = text, from.name = "damaged.sh";
    from.ranks = rng.below(2) == 0 ? 0 : 96;
    from.workload = rng.below(4) == 0 ? nullptr : &workload;
    const interop::ImportedPlan imported = interop::framework_named(seed.format, "--format").import(from);
    const models::Plan resolved = resolve_plan(imported.plan, workload, 0);
    AUSPEX_CHECK(tiles_of(resolved) >= 1, "a resolved plan has tiles");
}

/// One damaged input. Returns what went wrong, or nothing.
std::string try_one(const Seed& seed, const std::string& text, const models::Workload& workload, Rng& rng) {
    const auto begin = std::chrono::steady_clock::now();
    try {
        if (seed.format == "osu" || seed.format == "nccl-tests") {
            read_rows(seed, text);
        } else {
            read_plan(seed, text, workload, rng);
        }
    } catch (const InputError& error) {
        const std::string_view message = error.what();
        if (message.find('\n') != std::string_view::npos) {
            return "a message of more than one line: " + std::string(message);
        }
    } catch (const std::exception& error) {
        return std::string("an exception other than InputError: ") + error.what();
    }
    constexpr std::chrono::seconds kLongest{5};
    return std::chrono::steady_clock::now() - begin > kLongest ? "more than 5 s" : "";
}

int fuzz(std::uint64_t count, std::uint64_t seed) {
    const std::vector<Seed> all = seeds();
    const models::Workload workload = testing_interop::workload_named("llama3-70b");
    Rng rng(seed);
    for (std::uint64_t i = 0; i < count; ++i) {
        const Seed& one = any_of(all, rng);
        std::string text = one.text;
        for (std::uint64_t left = rng.below(5); left > 0; --left) {
            damage(text, any_of(all, rng).text, rng);
        }
        const std::string problem = try_one(one, text, workload, rng);
        if (!problem.empty()) {
            std::cerr << "input " << i << " of seed " << seed << " (" << one.format << "): " << problem << "\n"
                      << text << "\n";
            return 1;
        }
    }
    std::cout << count << " damaged inputs, seed " << seed << ": refused in order or accepted\n";
    return 0;
}

}  // namespace
}  // namespace auspex

int main(int argc, char** argv) { return auspex::fuzz_main(argc, argv, "fuzz_exchange", auspex::fuzz); }
