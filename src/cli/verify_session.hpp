#pragma once
/// @file What all runs of one `auspex verify` share: a scratch folder, a dataset, the flags of a run.
#include <string>
#include <vector>

#include "cli/new_folder.hpp"
#include "cli/options.hpp"
#include "cli/verify_layouts.hpp"

namespace auspex {

/// The scratch folder goes with it.
class VerifySession {
 public:
    /// Makes the folder, and in it a dataset unless --data names one. Throws InputError.
    explicit VerifySession(const Options& options);

    [[nodiscard]] const std::string& scratch() const { return folder_.path(); }
    [[nodiscard]] int steps() const { return steps_; }
    [[nodiscard]] std::string workload_of(VerifyModel model) const;
    /// Flags of `auspex train` for a layout, whose plan is written to the scratch folder; `routing` is JSON. The
    /// learning rate is kept to kVerifyRate, and does not depend on `steps` if it is not to. With forced routing the
    /// optimizer's epsilon is kForcedEpsilon.
    [[nodiscard]] std::vector<std::string> flags_of(const VerifyLayout& layout, const std::string& routing, int steps,
                                                    bool steady_rate = false) const;
    /// The text without the scratch folder's name, which is another one each time.
    [[nodiscard]] std::string without_scratch(std::string text) const;

 private:
    void make_data();
    NewFolder folder_;
    std::string data_, workload_;
    int steps_ = 0;
};

inline constexpr const char* kForcedRouting = "\"uniform\"";
inline constexpr const char* kLearnedRouting = "\"learned\"";
/// Of a plan that replays a record.
[[nodiscard]] std::string replayed_routing(const std::string& file);

}  // namespace auspex
