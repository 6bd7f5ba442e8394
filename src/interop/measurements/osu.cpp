/// @file Tables of the OSU micro-benchmarks.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "base/units.hpp"
#include "interop/measurements/measured_text.hpp"
#include "interop/measurements/text_lines.hpp"

namespace auspex::interop {
namespace {

/// One of the benchmarks, by what stands between "# OSU MPI" and "Test".
struct Benchmark {
    const char* title;
    const char* kind;  ///< of the collective; nullptr: messages of two ranks
    bool is_rate = false;
    bool is_each = false;  ///< its size is that of one rank's part
};
constexpr std::array<Benchmark, 7> kBenchmarks{{{"Latency", nullptr},
                                                {"Bandwidth", nullptr, true},
                                                {"Allreduce Latency", "all-reduce"},
                                                {"Reduce_scatter Latency", "reduce-scatter"},
                                                {"Allgather Latency", "all-gather", false, true},
                                                {"All-to-All Personalized Exchange Latency", "all-to-all", false, true},
                                                {"Broadcast Latency", "broadcast"}}};
constexpr std::array<std::string_view, 9> kLinks{"pair",      "mesh",        "switch", "pcie", "socket_out",
                                                 "socket_in", "host_memory", "nic",    "rank"};
/// Below, rows of many messages under way tell how fast they are issued, not what a link carries.
constexpr double kLeastOfRate = 1 << 20;

class OsuReader {
 public:
    explicit OsuReader(const MeasuredText& from) : from_(from) {}

    MeasuredRows run() {
        for_each_line(from_.text, from_.name, [this](const TextLine& line) { take(line); });
        if (result_.rows.empty()) {
            throw InputError(from_.name, benchmark_ ? "found no row of a size that is taken; expected some"
                                                    : "found no table; expected the output of an OSU micro-benchmark, "
                                                      "from \"# OSU MPI\" on");
        }
        if (left_out_ > 0) {
            result_.notes.push_back("rows of less than " + format_quantity(least_bytes(), Dimension::kBytes) +
                                    " are left out (--min-bytes takes others): " + std::to_string(left_out_));
        }
        return std::move(result_);
    }

 private:
    void take(const TextLine& line) {
        const std::vector<std::string> words = words_of(line.text);
        if (words.empty()) {
            return;
        }
        const bool is_comment = line.text.starts_with('#');
        if (is_comment && words.size() > 1 && words[1] == "OSU") {
            begin(line);
        } else if (is_comment && words.size() > 1 && words[1] == "Size") {
            read_columns(line);
        } else if (!is_comment && !columns_.empty()) {
            take_row(line, words);
        }
    }

    /// "# OSU MPI-CUDA Allreduce Latency Test v7.2"
    void begin(const TextLine& line) {
        const std::string_view text = line.text;
        const std::size_t library = text.find("OSU ") + 4;
        const std::size_t begin = std::min(text.find(' ', library), text.size());
        const std::size_t end = std::min(text.find(" Test", begin), text.size());
        const std::string title(begin < end ? text.substr(begin + 1, end - begin - 1) : "");
        const auto known = std::ranges::find_if(kBenchmarks, [&](const Benchmark& one) { return title == one.title; });
        if (known == kBenchmarks.end()) {
            std::string titles;
            for (const Benchmark& one : kBenchmarks) {
                titles += (titles.empty() ? "" : ", ") + std::string(one.title);
            }
            throw InputError(line.place(),
                             "found the test " + json_quote(printable(title)) + "; expected one of " + titles);
        }
        benchmark_ = *known;
        columns_.clear();
        last_bytes_ = -1;
        check_flags();
    }

    void check_flags() const {
        const bool is_collective = benchmark_->kind != nullptr;
        if (!from_.kind.empty() && (!is_collective || from_.kind != benchmark_->kind)) {
            throw InputError("--kind", "found " + from_.kind + ", but " + from_.name + " is of " + benchmark_->title +
                                           "; expected no such flag");
        }
        if (is_collective && (from_.ranks == 0 || from_.nodes == 0)) {
            throw InputError(from_.ranks == 0 ? "--ranks" : "--nodes",
                             "found no such flag; expected it, for the output of OSU's collectives does not say it");
        }
        if (is_collective && from_.nodes > from_.ranks) {
            throw InputError("--nodes", "found " + std::to_string(from_.nodes) + "; expected not more than --ranks, " +
                                            std::to_string(from_.ranks));
        }
        const bool is_link = std::ranges::find(kLinks, from_.link) != kLinks.end();
        if (!is_collective && !is_link) {
            std::string words;
            for (const std::string_view link : kLinks) {
                words += (words.empty() ? "" : ", ") + std::string(link);
            }
            throw InputError("--link", (from_.link.empty() ? "found no such flag" : "found " + from_.link) +
                                           "; expected what the two ranks' messages cross: " + words);
        }
    }

    /// "# Size       Avg Latency(us)   Min Latency(us)   Iterations": titles stand two blanks apart.
    void read_columns(const TextLine& line) {
        if (!benchmark_) {
            throw InputError(line.place(), "found columns of no test; expected the line \"# OSU MPI … Test\" above");
        }
        columns_.clear();
        std::string_view text = line.text.substr(1);
        while (!text.empty()) {
            text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
            const std::size_t end = std::min({text.find("  "), text.find('\t'), text.size()});
            if (end > 0) {
                columns_.emplace_back(text.substr(0, end));
            }
            text.remove_prefix(end);
        }
        const std::vector<std::string> first =
            benchmark_->is_rate
                ? std::vector<std::string>{"Bandwidth (MB/s)", "Bandwidth(MB/s)"}
                : std::vector<std::string>{"Avg Latency(us)", "Avg Latency (us)", "Latency (us)", "Latency(us)"};
        if (columns_.size() < 2 || std::ranges::find(first, columns_[1]) == first.end()) {
            throw InputError(line.place(), "found other columns; expected Size and " + first.front());
        }
    }

    [[nodiscard]] double least_bytes() const {
        return from_.min_bytes >= 0 ? from_.min_bytes : benchmark_->is_rate ? kLeastOfRate : 1;
    }

    void take_row(const TextLine& line, const std::vector<std::string>& words) {
        if (words.size() != columns_.size() || !line.has_end) {
            throw InputError(line.place(), "found " + std::to_string(words.size()) + " columns" +
                                               (line.has_end ? "" : " and no end of the line") + "; expected " +
                                               std::to_string(columns_.size()) + ", as the titles have it");
        }
        const double size = number_of(words[0], line, "Size"), value = number_of(words[1], line, columns_[1]);
        if (!(size > last_bytes_)) {
            throw InputError(line.place(), "found size " + printable(words[0]) + " after " + json_number(last_bytes_) +
                                               "; expected sizes that grow");
        }
        last_bytes_ = size;
        int iterations = 1;
        for (std::size_t i = 2; i < columns_.size(); ++i) {
            if (columns_[i] == "Validation" && words[i] != "Pass") {
                throw InputError(line.place(),
                                 "found validation " + json_quote(printable(words[i])) + "; expected Pass");
            }
            if (columns_[i] == "Iterations") {
                iterations = static_cast<int>(std::clamp(number_of(words[i], line, columns_[i]), 1.0, 1e9));
            }
        }
        if (size < 1 || size < least_bytes() || value == 0) {
            ++left_out_;
            return;
        }
        add_row(size, value, iterations);
    }

    void add_row(double size, double value, int iterations) {
        constexpr double kMicroseconds = 1e6, kMegabyte = 1e6;
        models::Measurement row;
        row.count = iterations;
        row.source = std::string("OSU micro-benchmarks, ") + benchmark_->title + ", " + from_.name;
        if (benchmark_->kind != nullptr) {
            row.kind = "collective", row.name = benchmark_->kind;
            row.ranks = from_.ranks, row.nodes = from_.nodes;
            row.bytes = size * (benchmark_->is_each ? from_.ranks : 1);
        } else {
            row.kind = "link", row.name = from_.link;
            const bool leaves_node = from_.link == "nic" || from_.link == "rank";
            row.ranks = 2, row.nodes = from_.nodes > 0 ? from_.nodes : leaves_node ? 2 : 1;
            row.bytes = size;
        }
        row.seconds = benchmark_->is_rate ? size / (value * kMegabyte) : value / kMicroseconds;
        result_.rows.push_back(std::move(row));
    }

    const MeasuredText& from_;
    std::optional<Benchmark> benchmark_;
    std::vector<std::string> columns_;  ///< titles; empty: none yet
    double last_bytes_ = -1;
    int left_out_ = 0;
    MeasuredRows result_;
};

}  // namespace

MeasuredRows rows_of_osu(const MeasuredText& from) { return OsuReader(from).run(); }

}  // namespace auspex::interop
