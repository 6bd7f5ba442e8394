/// @file Texts and values of the flags of traces.
#include "cli/flags/trace_flags.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/units.hpp"
#include "cli/flags/flag_numbers.hpp"

namespace auspex::cli {
namespace {

constexpr int kMostRanks = 4'000'000;

void store_ranks(TraceFlags& to, const std::string& text) {
    to.ranks.clear();
    to.slowest = text == "slowest";
    to.all = text == "all";
    if (to.slowest || to.all) {
        return;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        to.ranks.push_back(parse_number<int>("trace-ranks", text.substr(begin, end - begin), 0, kMostRanks,
                                             "numbers of ranks with commas between them, or a word"));
        begin = end + 1;
    }
    std::sort(to.ranks.begin(), to.ranks.end());
    to.ranks.erase(std::unique(to.ranks.begin(), to.ranks.end()), to.ranks.end());
}

}  // namespace

bool is_trace_flag(Flag flag) { return flag >= Flag::kTraceRanks && flag <= Flag::kOneCommunication; }

FlagText trace_flag_text(Flag flag) {
    switch (flag) {
        case Flag::kTraceRanks:
            return {"trace-ranks", "R,R,...",
                    "unfolded: the ranks in the trace, of the median sample; or slowest: those most waited for, at "
                    "most ten"};
        case Flag::kChakra:
            return {
                "chakra", "DIR",
                "write the step there as Chakra execution traces, trace.RANK.et and comm_groups.json, for ASTRA-sim"};
        case Flag::kChakraRoles:
            return {"chakra-roles", nullptr, "one file a pipeline stage, with roles.json, instead of one a rank"};
        case Flag::kChakraLimit: return {"chakra-limit", "SIZE", "refuse to write traces of more bytes (default 4 GB)"};
        case Flag::kPipelineCsv:
            return {"pipeline-csv", "FILE",
                    "instead of the program: write the order of passes of each pipeline rank, as "
                    "torch.distributed.pipelining loads it"};
        case Flag::kTraceFolder:
            return {"traces", "DIR", "folder of traces, PREFIX.RANK.et; the flag's name may be left out"};
        case Flag::kCommGroups:
            return {"comm-groups", "FILE",
                    "ranks of each process group, as ASTRA-sim takes them (default: DIR/comm_groups.json, or the only "
                    "JSON file there)"};
        case Flag::kDurations:
            return {"durations", "recorded|roofline",
                    "recorded (default): what the traces say; roofline: from num_ops and tensor_size, on the machine's "
                    "tile"};
        case Flag::kOneCommunication:
            return {"one-communication", nullptr,
                    "one send or collective at a time on each rank, as ASTRA-sim issues them"};
        default: break;
    }
    check_failed("flag", "unknown flag", __FILE__, __LINE__);
}

void store_trace_flag(Options& options, Flag flag, const std::string& text) {
    TraceFlags& to = options.traces;
    switch (flag) {
        case Flag::kTraceRanks: store_ranks(to, text); break;
        case Flag::kChakra: to.chakra = text; break;
        case Flag::kChakraRoles: to.by_role = true; break;
        case Flag::kChakraLimit: {
            const double bytes = parse_quantity(text, Dimension::kBytes, "--chakra-limit");
            if (bytes <= 0) {
                throw InputError("--chakra-limit", "found \"" + text + "\"; expected more than 0 bytes");
            }
            to.most_bytes = bytes;
            break;
        }
        case Flag::kPipelineCsv: to.pipeline_csv = text; break;
        case Flag::kTraceFolder: to.folder = text; break;
        case Flag::kCommGroups: to.groups = text; break;
        case Flag::kDurations:
            if (text != "recorded" && text != "roofline") {
                throw InputError("--durations", "found \"" + text + "\"; expected recorded or roofline");
            }
            to.roofline = text == "roofline";
            break;
        case Flag::kOneCommunication: to.one_communication = true; break;
        default: check_failed("flag", "unknown flag", __FILE__, __LINE__);
    }
}

}  // namespace auspex::cli
