/// @file Shell text without running it.
#include "interop/launch_script.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "interop/shell_words.hpp"

namespace auspex::interop {
namespace {

TEST(ShellWords, here_documents_are_kept_as_they_stand) {
    const ShellText shell = shell_words(
        "cat >a.json <<'END' # comment\n{\"a\": \"it's\"}\nEND\n"
        "python <<-EOF b.py\n\t\tprint(1)\n\tEOF\necho $((1 << 3)) <<< word\n",
        "job.sh");
    ASSERT_EQ(shell.documents.size(), 2U);
    EXPECT_EQ(shell.documents[0], "{\"a\": \"it's\"}\n");
    EXPECT_EQ(shell.documents[1], "print(1)\n");
    ASSERT_EQ(shell.commands.size(), 3U);
    EXPECT_EQ(shell.commands[0], (Words{"cat", ">a.json"}));
    EXPECT_EQ(shell.commands[1], (Words{"python", "b.py"}));
    EXPECT_THROW(static_cast<void>(shell_words("cat <<END\nno end\n", "job.sh")), InputError);
    EXPECT_THROW(static_cast<void>(shell_words("cat <<END", "job.sh")), InputError);
}

TEST(LaunchScript, a_module_behind_python_is_the_program) {
    const LaunchScript script =
        read_launch_script("srun -m block -n 8 python3 -u -m torchtitan.train --a.b 1\nOTHER=(--a.c 2)\n", "job.sh");
    EXPECT_EQ(script.arguments.size(), 1U);
    EXPECT_EQ(script.arguments.at("--a.b"), "1");
    EXPECT_EQ(script.ranks, 8);
    const LaunchScript torchrun = read_launch_script(
        "python -m torch.distributed.run --nproc-per-node 4 --nnodes 2 -m torchtitan.train --a.b=1", "job.sh");
    EXPECT_EQ(torchrun.arguments.size(), 1U);
    EXPECT_EQ(torchrun.ranks, 8);
}

TEST(LaunchScript, arrays_within_arrays_end_somewhere) {
    std::string text = "python p.py ${A0[@]}\n";
    for (int i = 0; i < 200'000; ++i) {
        text += "A" + std::to_string(i) + "=(${A" + std::to_string(i + 1) + "[@]})\n";
    }
    text += "A200000=(--a 1)\n";
    EXPECT_THROW(static_cast<void>(read_launch_script(text, "job.sh")), InputError);
    EXPECT_EQ(read_launch_script("A=(${B[@]})\nB=(${A[@]} --a 1)\npython p.py ${A[@]}", "job.sh").arguments.size(), 1U);
}

TEST(LaunchScript, variables_have_their_one_value) {
    const auto variables =
        script_variables("export A=1 B='x y'\nA=1\nC=2\nC=3\nD=$A\nMODEL=a/b--c\ncd \"$E\"\n", "job.sh");
    EXPECT_EQ(variables.at("A"), "1");
    EXPECT_EQ(variables.at("B"), "x y");
    EXPECT_EQ(variables.at("C"), "$C");
    EXPECT_EQ(variables.at("D"), "$D");
    EXPECT_EQ(variables.at("MODEL"), "a/b--c");
    EXPECT_TRUE(read_launch_script("MODEL=a/b--c\npython p.py --f $MODEL", "job.sh").arguments.contains("--f"));
}

}  // namespace
}  // namespace auspex::interop
