/// @file Tables of nccl-tests.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json.hpp"
#include "interop/measurements/measured_text.hpp"
#include "interop/measurements/text_lines.hpp"

namespace auspex::interop {
namespace {

/// A collective by its program's name, with busbw over algbw of n ranks (nccl-tests, doc/PERFORMANCE.md): times (n - 1)
/// / n as often as bytes cross a wire.
struct Collective {
    const char* program;
    const char* kind;
    double crossings;  ///< 0: busbw is algbw
};
constexpr std::array<Collective, 5> kCollectives{{{"all_reduce_perf", "all-reduce", 2},
                                                  {"reduce_scatter_perf", "reduce-scatter", 1},
                                                  {"all_gather_perf", "all-gather", 1},
                                                  {"alltoall_perf", "all-to-all", 1},
                                                  {"broadcast_perf", "broadcast", 0}}};

/// Columns of one way to call it.
struct Columns {
    std::size_t time, algbw, busbw, wrong;
};

/// What was read of one run so far.
struct Run {
    std::optional<Collective> collective;
    std::set<std::string> hosts;
    std::set<std::string> groups;  ///< that ran at the same time
    int devices = 0;
    int iterations = 1;
    std::vector<std::string> names;    ///< of columns; empty: no header yet
    std::array<Columns, 2> columns{};  ///< out of place, in place
    std::size_t size = 0;
    bool has_units = false;
};

class NcclTestsReader {
 public:
    explicit NcclTestsReader(const MeasuredText& from) : from_(from) {
        if (!from.kind.empty()) {
            given_ = named(from.kind, "--kind");
        }
    }

    MeasuredRows run() {
        for_each_line(from_.text, from_.name, [this](const TextLine& line) { take(line); });
        if (is_open_ || result_.rows.empty()) {
            throw InputError(from_.name,
                             is_open_ ? "found a table without its end; expected the line \"# Avg bus bandwidth\""
                                      : "found no table; expected the output of nccl-tests, from \"# nThread\" on");
        }
        if (left_out_ > 0) {
            result_.notes.push_back("rows of no bytes, of less than --min-bytes, or not measured, are left out: " +
                                    std::to_string(left_out_));
        }
        return std::move(result_);
    }

 private:
    static Collective named(const std::string& word, const std::string& where) {
        std::string words;
        for (const Collective& one : kCollectives) {
            if (word == one.kind || word == one.program) {
                return one;
            }
            words += (words.empty() ? "" : ", ") + std::string(one.kind);
        }
        throw InputError(where, "found " + json_quote(printable(word)) + "; expected one of " + words);
    }

    void take(const TextLine& line) {
        const std::vector<std::string> words = words_of(line.text);
        if (words.empty()) {
            return;
        }
        if (line.text.starts_with('#')) {
            take_comment(line, words);
        } else if (is_open_ && line.text.find(" NCCL ") == std::string_view::npos) {
            take_row(line, words);
        }
    }

    void take_comment(const TextLine& line, const std::vector<std::string>& words) {
        const auto has = [&line](std::string_view text) { return line.text.find(text) != std::string_view::npos; };
        if (has("Collective test starting:")) {
            begin();
            run_.collective = named(words.back(), line.place());
        } else if (has("nThread")) {
            begin();
            read_iterations(words);
        } else if (words.size() > 2 && words[1] == "Rank") {
            read_device(words);
        } else if (words.size() > 3 && words[1] == "size" && has("busbw")) {
            read_names(line, words);
        } else if (is_open_ && words.size() > 1 && words[1] == "(B)") {
            read_units(line, words);
        } else if (has("Avg bus bandwidth")) {
            if (!is_open_) {
                throw InputError(line.place(), "found the end of a table that has no beginning; expected its columns");
            }
            is_open_ = false;
            run_ = {};
        }
    }

    /// Of a run; the line of its name and that of its parameters belong together.
    void begin() {
        if (is_open_) {
            throw InputError(from_.name, "found a table without its end; expected the line \"# Avg bus bandwidth\"");
        }
        if (run_.devices > 0) {
            run_ = {};
        }
    }

    void read_iterations(const std::vector<std::string>& words) {
        for (std::size_t i = 1; i + 1 < words.size(); ++i) {
            if (words[i] == "iters:" && words[i - 1] != "warmup" && words[i - 1] != "agg") {
                int count = 0;
                std::from_chars(words[i + 1].data(), words[i + 1].data() + words[i + 1].size(), count);
                run_.iterations = std::max(1, count);
            }
        }
    }

    /// "#  Rank  0 Group  0 Pid 123 on host device 0 [0x1b] NVIDIA H100"
    void read_device(const std::vector<std::string>& words) {
        const auto behind = [&words](const char* word) {
            const auto at = std::ranges::find(words, word);
            return at == words.end() || at + 1 == words.end() ? std::string() : *(at + 1);
        };
        run_.hosts.insert(behind("on"));
        run_.groups.insert(behind("Group"));
        ++run_.devices;
    }

    void read_names(const TextLine& line, const std::vector<std::string>& words) {
        run_.names = {words.begin() + 1, words.end()};
        std::vector<std::size_t> times;
        for (std::size_t i = 0; i < run_.names.size(); ++i) {
            if (run_.names[i] == "time") {
                times.push_back(i);
            }
        }
        for (std::size_t way = 0; way < 2; ++way) {
            const std::size_t at = way < times.size() ? times[way] : 0;
            const bool is_known = times.size() == 2 && at + 3 < run_.names.size() && run_.names[at + 1] == "algbw" &&
                                  run_.names[at + 2] == "busbw" &&
                                  (run_.names[at + 3] == "#wrong" || run_.names[at + 3] == "error");
            if (!is_known) {
                throw InputError(line.place(),
                                 "found other columns; expected size, count, type, and twice time, algbw, "
                                 "busbw, #wrong: out of place and in place");
            }
            run_.columns.at(way) = {at, at + 1, at + 2, at + 3};
        }
        is_open_ = true;
        check_run(line);
    }

    void read_units(const TextLine& line, const std::vector<std::string>& words) {
        const std::vector<std::string> units{words.begin() + 1, words.end()};
        const std::vector<std::string> known{"(B)",    "(elements)", "(us)",   "(GB/s)",
                                             "(GB/s)", "(us)",       "(GB/s)", "(GB/s)"};
        if (units != known) {
            throw InputError(line.place(),
                             "found other units; expected (B), (elements), and twice (us), (GB/s), (GB/s)");
        }
        run_.has_units = true;
    }

    /// What has to be known before a row.
    void check_run(const TextLine& line) {
        if (run_.collective && given_ && std::string_view(run_.collective->kind) != given_->kind) {
            throw InputError("--kind", "found " + from_.kind + ", but " + line.place() + " is of " +
                                           run_.collective->program + "; expected the same, or no such flag");
        }
        run_.collective = run_.collective ? run_.collective : given_;
        if (!run_.collective) {
            throw InputError("--kind", "found no such flag, and " + from_.name +
                                           " does not say which collective it is of; expected all-reduce, "
                                           "reduce-scatter, all-gather, all-to-all or broadcast");
        }
        const int groups = std::max<int>(1, static_cast<int>(run_.groups.size()));
        ranks_ = run_.devices > 0 ? run_.devices / groups : from_.ranks;
        nodes_ = run_.devices > 0 ? static_cast<int>(run_.hosts.size()) : from_.nodes;
        check_given("--ranks", from_.ranks, ranks_, line);
        check_given("--nodes", from_.nodes, nodes_, line);
        if (nodes_ > ranks_ || ranks_ * groups < run_.devices) {
            throw InputError(line.place(), "found " + std::to_string(ranks_) + " ranks on " + std::to_string(nodes_) +
                                               " nodes in " + std::to_string(groups) +
                                               " groups; expected as many in every group, and one a node at least");
        }
        active_ = groups;
    }

    void check_given(const char* flag, int given, int found, const TextLine& line) const {
        if (found < 1) {
            throw InputError(flag, "found no such flag, and no devices in " + from_.name + "; expected it");
        }
        if (given > 0 && given != found) {
            throw InputError(flag, "found " + std::to_string(given) + ", but the devices above " + line.place() +
                                       " say " + std::to_string(found) + "; expected the same, or no such flag");
        }
    }

    void take_row(const TextLine& line, const std::vector<std::string>& words) {
        if (words.size() != run_.names.size() || !line.has_end || !run_.has_units) {
            throw InputError(line.place(), "found " + std::to_string(words.size()) + " columns; expected " +
                                               std::to_string(run_.names.size()) + ", below a line of units");
        }
        const double bytes = number_of(words[run_.size], line, "size");
        for (std::size_t way = 0; way < 2; ++way) {
            const Columns& columns = run_.columns.at(way);
            if (words[columns.wrong] != "N/A" && run_.names[columns.wrong] == "#wrong" &&
                number_of(words[columns.wrong], line, "#wrong") > 0) {
                throw InputError(line.place(), "found " + printable(words[columns.wrong]) +
                                                   " wrong results; expected a run whose results are right");
            }
            const double time_us = number_of(words[columns.time], line, "time");
            if (bytes == 0 || bytes < from_.min_bytes || time_us == 0) {
                ++left_out_;
                continue;
            }
            check_rates(line, bytes, time_us, number_of(words[columns.algbw], line, "algbw"),
                        number_of(words[columns.busbw], line, "busbw"));
            add_row(bytes, time_us, way == 1);
        }
    }

    /// algbw = size / time, busbw = algbw times what the collective and its ranks make of it; both as rounded.
    void check_rates(const TextLine& line, double bytes, double time_us, double algbw, double busbw) const {
        constexpr double kRounding = 0.006, kRelative = 0.01, kBytesOfGbPerUs = 1e3;
        const double of_time = bytes / time_us / kBytesOfGbPerUs;
        if (std::abs(algbw - of_time) > kRounding + kRelative * of_time) {
            throw InputError(line.place(), "found algbw " + json_number(algbw) + "; expected size over time, " +
                                               json_number(of_time) + " GB/s");
        }
        const double crossings = run_.collective->crossings;
        const double factor = crossings > 0 ? crossings * (ranks_ - 1) / ranks_ : 1;
        if (std::abs(busbw - factor * algbw) > kRounding * (1 + factor) + kRelative * busbw) {
            throw InputError(line.place(), "found busbw " + json_number(busbw) + " beside algbw " + json_number(algbw) +
                                               "; expected " + json_number(factor) + " times it, that of " +
                                               run_.collective->kind + " over " + std::to_string(ranks_) + " ranks");
        }
    }

    void add_row(double bytes, double time_us, bool is_in_place) {
        models::Measurement row;
        row.kind = "collective", row.name = run_.collective->kind;
        row.ranks = ranks_, row.nodes = nodes_, row.active = active_;
        row.bytes = bytes, row.seconds = time_us / 1e6, row.count = run_.iterations;
        row.source = "nccl-tests, " + from_.name + ", " + (is_in_place ? "in place" : "out of place");
        result_.rows.push_back(std::move(row));
    }

    const MeasuredText& from_;
    std::optional<Collective> given_;
    Run run_;
    bool is_open_ = false;  ///< between the names of columns and the end of the table
    int ranks_ = 1, nodes_ = 1, active_ = 1;
    int left_out_ = 0;
    MeasuredRows result_;
};

}  // namespace

MeasuredRows rows_of_nccl_tests(const MeasuredText& from) { return NcclTestsReader(from).run(); }

}  // namespace auspex::interop
