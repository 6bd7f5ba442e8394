/// @file Which core a rank is bound to. Each case runs on a thread of its own, whose end undoes the binding.
#include "exec/run/process_binding.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "base/error.hpp"
#include "exec/system/cores.hpp"

namespace auspex::exec {
namespace {

void on_a_thread(const std::function<void()>& body) { std::thread(body).join(); }

class ProcessBinding : public testing::Test {
 protected:
    void TearDown() override {
        for (const char* const name : {kFirstCoreVariable, "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}) {
            unsetenv(name);
        }
    }
};

// core = cores[(first + local rank) mod number of cores]; bound to it, a thread has that one only.
TEST_F(ProcessBinding, ranks_take_cores_in_turn_from_the_first_one) {
    const std::vector<int> cores = allowed_cores();
    ASSERT_FALSE(cores.empty());
    for (const int first : {0, 1, 7}) {
        setenv(kFirstCoreVariable, std::to_string(first).c_str(), 1);
        for (int rank = 0; rank < 5; ++rank) {
            on_a_thread([&] {
                const int expected = cores[static_cast<std::size_t>(first + rank) % cores.size()];
                const std::optional<int> core = bind_to_core(rank);
                EXPECT_EQ(core, std::optional(expected));
                EXPECT_EQ(allowed_cores(), std::vector<int>{expected});
                EXPECT_EQ(bind_to_core(rank + 1), std::optional(expected)) << "only one core is left";
            });
        }
    }
    EXPECT_EQ(allowed_cores(), cores);
}

TEST_F(ProcessBinding, a_first_core_that_is_no_number_is_refused) {
    for (const char* const text : {"", "x", "-1", "1.5", "2 ", "100001"}) {
        setenv(kFirstCoreVariable, text, 1);
        EXPECT_THROW(bind_to_core(0), InputError) << text;
    }
}

// Open MPI's number before Slurm's before the rank.
TEST_F(ProcessBinding, the_launcher_tells_the_local_rank) {
    EXPECT_EQ(local_rank_of(5), 5);
    setenv("SLURM_LOCALID", "3", 1);
    EXPECT_EQ(local_rank_of(5), 3);
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
    EXPECT_EQ(local_rank_of(5), 1);
}

TEST_F(ProcessBinding, a_stack_may_leave_ranks_where_they_are) {
    const std::vector<int> cores = allowed_cores();
    models::Stack stack;
    on_a_thread([&] { EXPECT_EQ(bind_rank(stack, 0), std::nullopt) << "no section \"processes\""; });
    stack.has_processes = true;
    stack.binds_ranks = false;
    on_a_thread([&] { EXPECT_EQ(bind_rank(stack, 0), std::nullopt); });
    stack.binds_ranks = true;
    on_a_thread([&] { EXPECT_EQ(bind_rank(stack, 0).value_or(cores.front()), cores.front()); });
    EXPECT_EQ(allowed_cores(), cores);
}

}  // namespace
}  // namespace auspex::exec
