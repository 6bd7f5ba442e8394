/// @file Layouts one after another, those left out, and recovery.
#include "workflows/verify/verification.hpp"

#include <set>
#include <utility>

#include "base/error.hpp"
#include "workflows/verify/layout_checks.hpp"
#include "workflows/verify/recovery.hpp"
#include "workflows/verify/session.hpp"

namespace auspex::workflows {
namespace {

class Verification {
 public:
    Verification(const VerifyRequest& request, const VerifyWatch& watch)
        : request_(request), watch_(watch), session_(request), layouts_(session_) {
        report_.command = request.command_line;
        report_.steps = session_.steps();
        report_.global_batch = kVerifyBatch;
        report_.all_layouts = static_cast<int>(verify_layouts().size());
    }

    report::ExecutorReport run() {
        const std::vector<VerifyLayout> wanted = wanted_layouts(request_);
        all_ = wanted.size() + recovery_count(request_.kills);
        for (const VerifyLayout& layout : wanted) {
            check(layout);
            count_check();
        }
        report_.curves = layouts_.take_curves();
        report_.optimizers = layouts_.optimizers();
        if (request_.kills > 0) {
            watch_.begins_recoveries();
            check_recovery(session_, request_.kills, [this](report::RecoveryCheck check) { take(std::move(check)); });
        }
        return std::move(report_);
    }

 private:
    void count_check() { watch_.progress(++done_, all_); }

    void check(const VerifyLayout& layout) {
        if (unfit_.contains(layout.model)) {
            return;
        }
        try {
            if (!layouts_.has_single(layout.model)) {
                layouts_.run_single(layout.model);
            }
            if (report_.layouts.empty() && report_.left_out.empty()) {
                watch_.begins_layouts();
            }
            report_.layouts.push_back(layouts_.check(layout));
        } catch (const InputError& error) {
            leave_out(layout, error);
            return;
        }
        watch_.layout(report_.layouts.back());
    }

    /// A layout that the model cannot have, or a further model that the data are not for.
    void leave_out(const VerifyLayout& layout, const InputError& error) {
        std::string what = layout.grid();
        if (!layouts_.has_single(layout.model)) {
            if (layout.model == VerifyModel::kExperts) {
                throw error;
            }
            unfit_.insert(layout.model);
            what = session_.workload_of(layout.model);
        }
        report_.left_out.push_back(what + ": " + session_.without_scratch(error.what()));
        watch_.left_out(report_.left_out.back());
    }

    void take(report::RecoveryCheck check) {
        count_check();
        watch_.recovery(check);
        report_.recoveries.push_back(std::move(check));
    }

    const VerifyRequest& request_;
    const VerifyWatch& watch_;
    VerifySession session_;
    LayoutChecks layouts_;
    report::ExecutorReport report_;
    std::set<VerifyModel> unfit_;
    std::size_t done_ = 0, all_ = 0;
};

}  // namespace

std::vector<VerifyLayout> wanted_layouts(const VerifyRequest& request) {
    std::vector<VerifyLayout> layouts;
    for (const VerifyLayout& layout : verify_layouts()) {
        const bool is_enough = request.layouts > 0 && layouts.size() == static_cast<std::size_t>(request.layouts);
        if (layout.ranks() <= request.max_ranks && !is_enough) {
            layouts.push_back(layout);
        }
    }
    return layouts;
}

report::ExecutorReport verify(const VerifyRequest& request, const VerifyWatch& watch) {
    return Verification(request, watch).run();
}

}  // namespace auspex::workflows
