#pragma once
/// @file What the one thread has.
#include <functional>
#include <optional>
#include <utility>

namespace tbb {

template <typename Value>
class enumerable_thread_specific {
 public:
    template <typename Make>
    explicit enumerable_thread_specific(Make make) : make_(std::move(make)) {}
    Value& local() {
        if (!value_) {
            value_.emplace(make_());
        }
        return *value_;
    }

 private:
    std::function<Value()> make_;
    std::optional<Value> value_;
};

}  // namespace tbb
