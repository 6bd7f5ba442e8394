/// @file Texts and values of the flags of auspex schedule.
#include "cli/flags/schedule_flags.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/units.hpp"
#include "cli/flags/flag_numbers.hpp"

namespace auspex::cli {
namespace {

constexpr int kMostRanks = 4096, kMostMicroBatches = 100'000, kMostStages = 64;

struct NamedTime {
    const char* name;
    double PassTimeFlags::*value;
};

/// "F=18.5ms,B=18ms": each name once.
void store_times(const char* flag, PassTimeFlags& to, const std::string& text, std::initializer_list<NamedTime> names) {
    const std::string written = std::string("--") + flag;
    std::string expected;
    for (const NamedTime& one : names) {
        expected += (expected.empty() ? "" : ",") + std::string(one.name) + "=TIME";
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string part = text.substr(begin, end - begin);
        const std::size_t equals = part.find('=');
        const auto named = std::find_if(names.begin(), names.end(),
                                        [&](const NamedTime& one) { return part.substr(0, equals) == one.name; });
        if (equals == std::string::npos || named == names.end()) {
            throw InputError(written, "found \"" + part + "\"; expected " + expected);
        }
        double& value = to.*named->value;
        if (value >= 0) {
            throw InputError(written, "found " + std::string(named->name) + " twice; expected it once");
        }
        value = parse_quantity(part.substr(equals + 1), Dimension::kSeconds, written + " " + named->name, "18.5 ms");
        if (value < 0) {
            throw InputError(written + " " + named->name,
                             "found \"" + part.substr(equals + 1) + "\"; expected no less than 0");
        }
        begin = end + 1;
    }
}

}  // namespace

bool is_schedule_flag(Flag flag) { return flag >= Flag::kOrder && flag <= Flag::kSvg; }

FlagText schedule_flag_text(Flag flag) {
    switch (flag) {
        case Flag::kOrder:
            return {"order", "WORD|FILE",
                    "gpipe, 1f1b, interleaved-1f1b, zb-h1, zb-h2, zb-auto, zbv, v-half, v-min, dualpipe or dualpipev; "
                    "or a file "
                    "of passes, NAME.csv, as torch.distributed.pipelining keeps them"};
        case Flag::kPipelineRanks: return {"pp", "N", "ranks of the pipeline"};
        case Flag::kMicroBatches: return {"micro-batches", "N", "micro-batches of a step"};
        case Flag::kVirtualStages: return {"virtual-stages", "N", "stages a rank of interleaved-1f1b (default 2)"};
        case Flag::kPassTimes:
            return {"times", "F=T,B=T,W=T,...",
                    "what a pass of a micro-batch through one stage takes: F forward, B the gradient of its input, W "
                    "that of its weights (a whole backward pass takes both); send: a message between ranks (default "
                    "0 s)"};
        case Flag::kPairTimes:
            return {"overlap", "F&B=T",
                    "what a forward pass beside a whole backward pass takes (dualpipe, dualpipev; default: F + B + W)"};
        case Flag::kInFlight:
            return {"in-flight", "N", "zb-auto: micro-batches of which a rank may hold activations (default: 2 pp)"};
        case Flag::kKeptForWeights:
            return {"kept-for-weights", "SHARE",
                    "zb-auto: of a micro-batch's activations, what is left between the gradient of the input and that "
                    "of the weights (default 1)"};
        case Flag::kSvg: return {"svg", "FILE", "draw the passes there, a row for each rank"};
        default: check_failed("flag", "unknown flag", __FILE__, __LINE__);
    }
}

void store_schedule_flag(Options& options, Flag flag, const std::string& text) {
    ScheduleFlags& to = options.schedule;
    switch (flag) {
        case Flag::kOrder: to.order = text; break;
        case Flag::kPipelineRanks: to.ranks = parse_whole("pp", text, 1, kMostRanks); break;
        case Flag::kMicroBatches: to.micro_batches = parse_whole("micro-batches", text, 1, kMostMicroBatches); break;
        case Flag::kVirtualStages: to.virtual_stages = parse_whole("virtual-stages", text, 1, kMostStages); break;
        case Flag::kPassTimes:
            store_times("times", to.times, text,
                        {{"F", &PassTimeFlags::forward_s},
                         {"B", &PassTimeFlags::input_s},
                         {"W", &PassTimeFlags::weight_s},
                         {"send", &PassTimeFlags::send_s}});
            break;
        case Flag::kPairTimes: store_times("overlap", to.times, text, {{"F&B", &PassTimeFlags::pair_s}}); break;
        case Flag::kInFlight: to.in_flight = parse_whole("in-flight", text, 1, kMostMicroBatches); break;
        case Flag::kKeptForWeights:
            to.kept_for_weights = parse_number("kept-for-weights", text, 0.0, 10.0, "a number from 0 to 10");
            break;
        case Flag::kSvg: to.svg = text; break;
        default: check_failed("flag", "unknown flag", __FILE__, __LINE__);
    }
}

}  // namespace auspex::cli
