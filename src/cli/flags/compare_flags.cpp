/// @file The flags of `auspex compare`: their texts and their values.
#include <charconv>

#include "base/error.hpp"
#include "cli/flags/options.hpp"

namespace auspex {

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
        case Flag::kRepeat:
            return {"repeat", "N",
                    "runs of each layout that count, in turns (default 5); up to three times as many are made"};
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

const char* meaning_for_compare(Flag flag, const char* meaning) {
    switch (flag) {
        case Flag::kMachine: return "machine file with a host section, or the name of one (default local)";
        case Flag::kTrainRanks: return "or -n N: ranks of plans that have no dp";
        case Flag::kSteps:
            return "of a run, at least; the first two do not count (default 17 to 62, by how long they take)";
        case Flag::kData: return "dataset that \"auspex data prepare\" has written; without it random tokens";
        case Flag::kSet: return "override a field; ROLE is machine, stack, workload or plan; may be repeated";
        case Flag::kResume: return "take the runs that --out has from an earlier, interrupted comparison";
        case Flag::kHostfile: return "hosts for mpirun";
        case Flag::kOut: return "write the report there: index.html, comparison.json, cases.csv, cases.jsonl, traces/";
        default: return meaning;
    }
}

}  // namespace auspex
