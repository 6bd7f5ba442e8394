/// @file Words and limits of schedules.
#include "models/pipeline/schedule_kind.hpp"

#include <algorithm>

namespace auspex::models {
namespace {

/// Micro-batches with which a schedule's order begins and ends as its authors have it.
int least_micro_batches(ScheduleKind kind, int pp) {
    switch (kind) {
        case ScheduleKind::kZbv: return 2 * pp - 1;
        case ScheduleKind::kDualPipeV:
        case ScheduleKind::kDualPipe: return 2 * pp;
        default: return 1;
    }
}

std::string found(int number) { return "found " + std::to_string(number); }

PlanMisfit misfit_of_interleaved(const ScheduleShape& shape) {
    if (shape.pp < 2) {
        return {"pp",
                found(shape.pp) + "; expected 2 or more: interleaved-1f1b has nothing to interleave on one stage"};
    }
    if (shape.micro_batches % shape.pp != 0) {
        const int below = shape.micro_batches / shape.pp * shape.pp;
        return {"micro_batches", found(shape.micro_batches) + "; interleaved-1f1b needs a multiple of pp " +
                                     std::to_string(shape.pp) + ", such as " +
                                     std::to_string(below > 0 ? below : shape.pp)};
    }
    return {};
}

}  // namespace

const char* to_string(ScheduleKind kind) {
    switch (kind) {
        case ScheduleKind::kGpipe: return "gpipe";
        case ScheduleKind::k1f1b: return "1f1b";
        case ScheduleKind::kInterleaved1f1b: return "interleaved-1f1b";
        case ScheduleKind::kZbH1: return "zb-h1";
        case ScheduleKind::kZbH2: return "zb-h2";
        case ScheduleKind::kZbAuto: return "zb-auto";
        case ScheduleKind::kZbv: return "zbv";
        case ScheduleKind::kVHalf: return "v-half";
        case ScheduleKind::kVMin: return "v-min";
        case ScheduleKind::kDualPipeV: return "dualpipev";
        case ScheduleKind::kDualPipe: return "dualpipe";
    }
    return "";
}

std::array<std::string_view, kScheduleKinds.size()> schedule_words() {
    std::array<std::string_view, kScheduleKinds.size()> words;
    std::ranges::transform(kScheduleKinds, words.begin(), [](ScheduleKind kind) { return to_string(kind); });
    return words;
}

bool is_v_shaped(ScheduleKind kind) {
    return kind == ScheduleKind::kZbv || kind == ScheduleKind::kVHalf || kind == ScheduleKind::kVMin ||
           kind == ScheduleKind::kDualPipeV || has_stages_twice(kind);
}

bool has_stages_twice(ScheduleKind kind) { return kind == ScheduleKind::kDualPipe; }

int stages_of_model(ScheduleKind kind, int pp, int virtual_stages) {
    return has_stages_twice(kind) ? pp : pp * virtual_stages;
}

int least_chunks(ScheduleKind kind) { return kind == ScheduleKind::kInterleaved1f1b || is_v_shaped(kind) ? 2 : 1; }

bool splits_backward(ScheduleKind kind) {
    return kind == ScheduleKind::kZbH1 || kind == ScheduleKind::kZbH2 || kind == ScheduleKind::kZbAuto ||
           is_v_shaped(kind);
}

PlanMisfit misfit_of(ScheduleKind kind, const ScheduleShape& shape) {
    const std::string word = to_string(kind);
    if (kind == ScheduleKind::kInterleaved1f1b) {
        return shape.virtual_stages < 2
                   ? PlanMisfit{"virtual_stages", found(shape.virtual_stages) + "; expected 2 or more with " + word}
                   : misfit_of_interleaved(shape);
    }
    const int chunks = least_chunks(kind);
    if (shape.virtual_stages != chunks) {
        return {"virtual_stages", found(shape.virtual_stages) + " with schedule " + word + ", which has " +
                                      std::to_string(chunks) + "; expected " + std::to_string(chunks) +
                                      ", or interleaved-1f1b"};
    }
    if (chunks == 2 && shape.pp < 2) {
        return {"pp", found(shape.pp) + "; expected 2 or more with " + word};
    }
    const bool has_two_ends = has_stages_twice(kind);
    if (has_two_ends && shape.pp % 2 != 0) {
        return {"pp", found(shape.pp) + "; expected an even number with " + word};
    }
    const int least = least_micro_batches(kind, shape.pp);
    if (shape.micro_batches < least) {
        return {"micro_batches", found(shape.micro_batches) + "; expected at least " + std::to_string(least) +
                                     " with " + word + " and pp " + std::to_string(shape.pp)};
    }
    if (has_two_ends && shape.micro_batches % 2 != 0) {
        return {"micro_batches", found(shape.micro_batches) + "; expected an even number with " + word};
    }
    return {};
}

}  // namespace auspex::models
