#pragma once
/// @file Times in which a slow node holds all steps up.
#include "base/rng.hpp"
#include "campaign/quantities.hpp"
#include "campaign/setting.hpp"

namespace auspex::campaign {

/// One spell after another, in time that the job is exposed to failures.
class SlowSpells {
 public:
    SlowSpells(const SlowNodes& slow, Rng rng);
    /// What a step takes that is begun then. Requires times that do not run backwards.
    [[nodiscard]] Nanoseconds pace(Nanoseconds exposed, Nanoseconds step);
    /// When that changes next.
    [[nodiscard]] Nanoseconds change(Nanoseconds exposed) const { return exposed < begin_ ? begin_ : end_; }

 private:
    void draw(Nanoseconds from);

    const SlowNodes& slow_;
    Rng rng_;
    Nanoseconds begin_ = kNever, end_ = kNever;
};

}  // namespace auspex::campaign
