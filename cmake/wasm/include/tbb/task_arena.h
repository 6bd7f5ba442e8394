#pragma once
/// @file An arena of one thread.

namespace tbb {

class task_arena {
 public:
    static constexpr int automatic = -1;
    explicit task_arena(int) {}
    template <typename Work>
    void execute(const Work& work) {
        work();
    }
};

}  // namespace tbb
