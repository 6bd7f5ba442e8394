/// @file Checkpoints that cannot be written to their end leave the other one whole.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "checkpoint_fixture.hpp"

namespace auspex::state_fixture {
namespace {

/// Files cannot grow beyond this, as on a full disk, while it lives.
class FileLimit {
 public:
    explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;
    ~FileLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

 private:
    void (*handler_)(int);
    rlimit before_{};
};

TEST(Checkpoint, a_failure_on_one_rank_is_told_by_all_and_leaves_the_other_checkpoint) {
    const TestFolder folder;
    const models::Plan plan = plan_of(2, 1, 1, 1, models::OptimizerSharding::kSharded);
    const State state = write_state<exec::Fp32>(plan, folder.path(), 40);
    const std::string source = folder.path() + "/checkpoint-0";
    const exec::Manifest manifest = exec::load_manifest(source + "/manifest.json");
    const std::uint64_t sizes[] = {manifest.parts.at(0).bytes, manifest.parts.at(1).bytes};
    ASSERT_NE(sizes[0], sizes[1]);
    const std::string failing = sizes[0] > sizes[1] ? "part-00000.bin" : "part-00001.bin";
    {
        const FileLimit limit((sizes[0] + sizes[1]) / 2);  // room for the smaller part only
        on_ranks<exec::Fp32>(run_inputs(every_tensor_model(), plan), [&](exec::Rank<exec::Fp32>& rank) {
            const std::string message = message_of<exec::CheckpointError>([&] {
                static_cast<void>(write_checkpoint(rank, {folder.path(), source, 60, 0, {}}));
            });
            EXPECT_NE(message.find(failing + ": File too large"), std::string::npos) << message;
            EXPECT_NE(message.find("rank " + failing.substr(9, 1)), std::string::npos) << message;
        });
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path() + "/checkpoint-1"));  // the space is back
    std::vector<std::string> notes;
    EXPECT_EQ(read_state<exec::Fp32>(plan, newest(folder.path(), &notes)), state);
    EXPECT_EQ(newest(folder.path()).step, 40);
    static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 60, source));  // and the next attempt succeeds
    EXPECT_EQ(newest(folder.path()).step, 60);
}

/// As a run that was killed while it wrote leaves it.
void write_half(const std::string& checkpoint) {
    std::filesystem::remove(checkpoint + "/manifest.json");
    std::filesystem::resize_file(checkpoint + "/part-00000.bin", 100);
}

TEST(Checkpoint, one_is_whole_though_the_newer_was_damaged_and_the_next_write_fails_or_is_killed) {
    for (const char* damaged : {"part-00000.bin", "manifest.json"}) {
        const TestFolder folder;
        const models::Plan plan = plan_of(2, 1, 1, 1, models::OptimizerSharding::kSharded);
        const State state = write_state<exec::Fp32>(plan, folder.path(), 40);
        const std::string good = folder.path() + "/checkpoint-0", newer = folder.path() + "/checkpoint-1";
        static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 60, good));
        flip_byte(newer + "/" + damaged);
        const exec::CheckpointInfo source = newest(folder.path());
        EXPECT_EQ(source.folder, good);
        {
            const FileLimit limit(100);
            on_ranks<exec::Fp32>(run_inputs(every_tensor_model(), plan), [&](exec::Rank<exec::Fp32>& rank) {
                EXPECT_THROW(static_cast<void>(write_checkpoint(rank, {folder.path(), source.folder, 50, 0, {}})),
                             exec::CheckpointError);
            });
        }
        EXPECT_EQ(read_state<exec::Fp32>(plan, newest(folder.path())), state) << damaged;
        static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 50, source.folder));
        EXPECT_EQ(newest(folder.path()).folder, newer);
        write_half(newer);
        EXPECT_EQ(read_state<exec::Fp32>(plan, newest(folder.path())), state) << damaged;
        static_cast<void>(write_state<exec::Fp32>(plan, folder.path(), 50, newest(folder.path()).folder));
        EXPECT_EQ(newest(folder.path()).step, 50);
        EXPECT_EQ(newest(folder.path()).folder, newer);
    }
}

TEST(Checkpoint, a_folder_that_cannot_be_made_is_told) {
    const TestFolder folder;
    write_bytes(folder.path() + "/file", "x");
    on_ranks<exec::Fp32>(run_inputs(dense_model(), plan_of(1, 2, 1, 1, models::OptimizerSharding::kSharded)),
                         [&](exec::Rank<exec::Fp32>& rank) {
                             EXPECT_NE(
                                 message_of<exec::CheckpointError>([&] {
                                     static_cast<void>(write_checkpoint(rank, {folder.path() + "/file", "", 1, 0, {}}));
                                 }).find("Not a directory"),
                                 std::string::npos);
                         });
}

}  // namespace
}  // namespace auspex::state_fixture
