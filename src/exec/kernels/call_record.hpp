#pragma once
/// @file What kernels are called with, as tests see it: off, and then a test of one thread-local pointer, unless a
/// test switches it on.
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace auspex::exec {

/// One call of a kernel, or of a loop over data that stands by itself, with its sizes; unused ones are 1.
struct RecordedCall {
    std::string_view kernel;  ///< the function's name
    std::array<std::size_t, 4> sizes{1, 1, 1, 1};
    int depth = 0;  ///< kernels around it that called it (RecordedScope)
};
struct CallRecord {
    std::vector<RecordedCall> calls;
    int depth = 0;
};

/// Where the calling thread's calls go; null: nowhere.
inline thread_local constinit CallRecord* call_record = nullptr;

void append_call(std::string_view kernel, const std::array<std::size_t, 4>& sizes);

/// To be called at the entry of a kernel.
inline void record_call(std::string_view kernel, std::size_t rows, std::size_t columns = 1, std::size_t depth = 1,
                        std::size_t groups = 1) {
    if (call_record != nullptr) [[unlikely]] {
        append_call(kernel, {rows, columns, depth, groups});
    }
}

/// Of a kernel that calls others.
class RecordedScope {
 public:
    template <typename... Sizes>
    explicit RecordedScope(std::string_view kernel, Sizes... sizes) {
        record_call(kernel, sizes...);
        change_depth(1);
    }
    ~RecordedScope() { change_depth(-1); }
    RecordedScope(const RecordedScope&) = delete;
    RecordedScope& operator=(const RecordedScope&) = delete;

 private:
    static void change_depth(int by) {
        if (call_record != nullptr) [[unlikely]] {
            call_record->depth += by;
        }
    }
};

}  // namespace auspex::exec
