/// @file Which corrections, fits and reasons a case has.
#include "compare/evaluate/names/run_names.hpp"

#include <algorithm>

#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

bool has_id(const std::string& id, const PublishedRun& run) { return id.empty() || id == run.id; }

bool has_id(const std::vector<std::string>& ids, const PublishedRun& run) {
    return ids.empty() || std::ranges::find(ids, run.id) != ids.end();
}

/// Texts that an entry leaves out fit every case.
template <typename Entry>
bool fits(const Entry& one, const PublishedRun& run) {
    return has_id(one.id, run) && (one.source_key.empty() || one.source_key == run.source_key) &&
           (one.framework.empty() || run.framework.starts_with(one.framework)) &&
           run.source.find(one.source) != std::string::npos;
}

}  // namespace

std::vector<const RunNames::Correction*> corrections_of(const RunNames& names, const PublishedRun& run) {
    std::vector<const RunNames::Correction*> found;
    for (const RunNames::Correction& one : names.corrections) {
        if (has_id(one.id, run) && contains_any(run.source, one.source)) {
            found.push_back(&one);
        }
    }
    return found;
}

PublishedRun corrected(const RunNames& names, PublishedRun run) {
    for (const RunNames::Correction* const one : corrections_of(names, run)) {
        if (one->micro_batch > 0 && run.plan.micro_batch > 0) {
            run.plan.global_batch = run.plan.global_batch / run.plan.micro_batch * one->micro_batch;
            run.plan.micro_batch = one->micro_batch;
        }
    }
    return run;
}

bool is_fitted(const RunNames& names, const PublishedRun& run) {
    return std::ranges::any_of(names.fitted, [&](const RunNames::Fitted& one) { return fits(one, run); });
}

std::string reason_of(const RunNames& names, const PublishedRun& run) {
    const auto found = std::ranges::find_if(names.reasons, [&](const RunNames::Reason& one) { return fits(one, run); });
    return found == names.reasons.end() ? "" : found->why;
}

}  // namespace auspex::evaluate
