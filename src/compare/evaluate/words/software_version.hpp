#pragma once
/// @file Versions of software as people write them: "core_r0.9", "v0.11.0", "25.04", "@ 2025-04", "April 2025".
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace auspex::evaluate {

/// Numbers, or a date: year, month and day as far as they are said. 25.04 and 25.4, as containers are numbered, are
/// April 2025: no framework of the table has twenty numbered releases. A year alone is its July.
struct SoftwareVersion {
    std::vector<int> parts;
    bool is_date = false;
    bool is_container = false;  ///< a date in the short form, which is a release's own number
};
/// Part by part; those that one of the two leaves out are 0: 0.9 is before 0.11, and 25.04 before 25.04.01. Requires
/// both to be dates, or none.
[[nodiscard]] std::strong_ordering order(const SoftwareVersion& a, const SoftwareVersion& b);

struct VersionInText {
    SoftwareVersion version;
    std::size_t begin = 0, end = 0;  ///< with the v or r in front
};
/// All of them, in their order. No versions are sizes ("80GB", "8.3B"), papers ("2409.13523"), single digits without a
/// v or r in front ("ZeRO-3"), and digits that go on as letters (commits).
[[nodiscard]] std::vector<VersionInText> versions_in(std::string_view text);
/// Months of papers: "arXiv:2205.05198", "arxiv.org/abs/2205.05198v1" is of May 2022.
[[nodiscard]] std::vector<VersionInText> papers_in(std::string_view text);
/// Of a text that is nothing but a version.
[[nodiscard]] std::optional<SoftwareVersion> version_of(std::string_view text);

}  // namespace auspex::evaluate
