#pragma once
/// @file What all runs of one `auspex verify` share: a scratch folder, a dataset, what each run is asked to do.
#include <string>

#include "launch/new_folder.hpp"
#include "launch/train/request.hpp"
#include "workflows/verify/layouts.hpp"
#include "workflows/verify/request.hpp"

namespace auspex::workflows {

/// The scratch folder goes with it.
class VerifySession {
 public:
    /// Makes the folder, and in it a dataset unless the request names one. Throws InputError.
    explicit VerifySession(const VerifyRequest& request);

    [[nodiscard]] const std::string& scratch() const { return folder_.path(); }
    [[nodiscard]] int steps() const { return steps_; }
    [[nodiscard]] std::string workload_of(VerifyModel model) const;
    /// A run of a layout, whose plan is written to the scratch folder; `routing` is JSON. The
    /// learning rate is kept to kVerifyRate, and does not depend on `steps` if it is not to. With forced routing the
    /// optimizer's epsilon is kForcedEpsilon.
    [[nodiscard]] launch::TrainRequest run_of(const VerifyLayout& layout, const std::string& routing, int steps,
                                              bool steady_rate = false) const;
    /// The text without the scratch folder's name, which is another one each time.
    [[nodiscard]] std::string without_scratch(const std::string& text) const { return folder_.without_path(text); }

 private:
    void make_data();
    launch::NewFolder folder_;
    std::string data_, workload_;
    int steps_;
};

inline constexpr const char* kForcedRouting = "\"uniform\"";
inline constexpr const char* kLearnedRouting = "\"learned\"";
/// Of a plan that replays a record.
[[nodiscard]] std::string replayed_routing(const std::string& file);

}  // namespace auspex::workflows
