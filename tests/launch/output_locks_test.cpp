/// @file Folders of commands: made, held, and gone again where nothing was left in them.
#include "launch/output_locks.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace auspex::launch {
namespace {

namespace fs = std::filesystem;

TEST(OutputLocks, folders_made_for_nothing_are_gone_again) {
    const fs::path root = fs::path(testing::TempDir()) / "auspex-output-locks";
    fs::remove_all(root);
    fs::create_directories(root);
    { OutputLocks("auspex predict").take_folder("--out", (root / "a" / "b" / "").string()); }
    EXPECT_FALSE(fs::exists(root / "a"));
    {
        OutputLocks locks("auspex predict");
        EXPECT_TRUE(locks.take_folder("--out", (root / "a" / "b").string()));
        std::ofstream(root / "a" / "report.md") << "kept";
    }
    EXPECT_TRUE(fs::exists(root / "a" / "report.md")) << "what has something in it stays";
    EXPECT_FALSE(fs::exists(root / "a" / "b"));
    { OutputLocks("auspex predict").take_folder("--out", root.string()); }
    EXPECT_TRUE(fs::exists(root)) << "it was there before";
    fs::remove_all(root);
}

}  // namespace
}  // namespace auspex::launch
