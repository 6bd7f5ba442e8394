/// @file The flags of `auspex compare`: their texts and their values.
#include "cli/flags/command_meanings.hpp"

#include "base/error.hpp"
#include "cli/flags/flag_texts.hpp"
#include "workflows/compare/request.hpp"

namespace auspex::cli {

FlagText compare_flag_text(Flag flag) {
    switch (flag) {
        case Flag::kPlans:
            return {"plans", "PLAN...", "plan files, or names in plans/; PLAN@WORKLOAD: with that workload only",
                    "plan"};
        case Flag::kWorkloads:
            return {"workload", "FILE...", "models, each with every plan that resolves for it (default toy-moe)",
                    "workload"};
        case Flag::kLayoutsFile:
            return {"layouts", "FILE", "a file that lists layouts, or the name of one in plans/layouts/", "layouts"};
        case Flag::kRandomLayouts:
            return {"random", "N", "draw models and layouts of them, N in all, from the ranges in docs/calibration.md"};
        case Flag::kMechanisms:
            return {"mechanisms", nullptr, "predict without each mechanism of the machine, too: what each is worth"};
        case Flag::kRepeat:
            return {"repeat", "N",
                    "runs of each layout that count, in turns" + by_default(workflows::CompareRequest().repeats) +
                        "; up to three times as many are made"};
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

std::vector<FlagMeaning> compare_meanings() {
    return {{Flag::kMachine, "machine file with a host section, or the name of one (default local)"},
            {Flag::kTrainRanks, "or -n N: ranks of plans that have no dp"},
            {Flag::kSeed, "of the draw of --random (default 1)"},
            {Flag::kSteps, "of a run, at least; the first does not count (default 5 to 61, by how long they take)"},
            {Flag::kData, "dataset, or blend; without it random tokens"},
            {Flag::kSet, "override a field; ROLE is machine, stack, workload or plan; may be repeated"},
            {Flag::kResume, "take the runs that --out has from an earlier, interrupted comparison"},
            {Flag::kHostfile, "hosts for mpirun"},
            {Flag::kOut, "write the report there: index.html, comparison.json, cases.csv, cases.jsonl, traces/"}};
}

}  // namespace auspex::cli
