#pragma once
/// @file From which commit this program was built; the build writes commit.cpp (cmake/commit.cmake).

namespace auspex::cli {

/// As git describes it, "-dirty" where files differed from it; empty where the sources were no clone.
extern const char* const kBuildCommit;
/// "2026-11-22"; empty where there is no commit.
extern const char* const kBuildCommitDate;

}  // namespace auspex::cli
