/// @file auspex import nccl-tests, osu: what benchmarks of communication print, as rows.
#include <algorithm>
#include <iostream>
#include <string>

#include "base/error.hpp"
#include "base/input_text.hpp"
#include "base/json_writer.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/exchange/imported_file.hpp"
#include "interop/measurements/measured_text.hpp"
#include "report/parts/text.hpp"

namespace auspex::cli {
namespace {

using Import = interop::MeasuredRows (*)(const interop::MeasuredText&);

/// For calibrate --from, or, with --library, for collective --against.
std::string table_of(const interop::MeasuredRows& measured, const Options& options) {
    const ImportFlags& flags = options.import;
    if (flags.library.empty() != flags.machine.empty()) {
        throw InputError(flags.library.empty() ? "--machine" : "--library",
                         "found it alone; expected --machine and --library together");
    }
    if (flags.library.empty()) {
        return interop::measurement_table(measured.rows);
    }
    const bool has_links =
        std::ranges::any_of(measured.rows, [](const models::Measurement& row) { return row.kind != "collective"; });
    if (has_links) {
        throw InputError("--library", "found rows of messages between two ranks; expected those of a collective");
    }
    return interop::published_table(measured.rows, flags.machine, flags.library);
}

void write_rows(JsonWriter& json, const interop::MeasuredRows& measured) {
    json.key("measurements").begin_array();
    for (const models::Measurement& row : measured.rows) {
        json.begin_object().member("kind", row.kind).member("name", row.name).member("ranks", row.ranks);
        json.member("nodes", row.nodes).member("active", row.active).member("bytes", row.bytes);
        json.member("seconds", row.seconds).member("count", row.count).member("source", row.source).end_object();
    }
    json.end_array();
}

void print_json(const interop::MeasuredRows& measured, const Options& options) {
    JsonWriter json(answer_stream(options));
    json.begin_object().member("file", options.config).member("out", options.out);
    json.member("rows", static_cast<std::int64_t>(measured.rows.size())).key("notes").begin_array();
    for (const std::string& note : measured.notes) {
        json.value(note);
    }
    json.end_array();
    if (options.out.empty()) {
        write_rows(json, measured);
    }
    json.end_object();
}

void import_rows(const Options& options, Import import) {
    interop::MeasuredText from;
    from.name = options.config;
    from.text = read_input_file(options.config, "the output of a benchmark");
    from.kind = options.collective.kind, from.link = options.import.link;
    from.ranks = options.ranks, from.nodes = options.import.nodes, from.min_bytes = options.import.min_bytes;
    const interop::MeasuredRows measured = import(from);
    const std::string table = table_of(measured, options);
    const bool was_printed = !(options.json && options.out.empty()) && is_printed(table, options);
    if (options.json && !was_printed) {
        print_json(measured, options);
        return;
    }
    std::ostream& out = was_printed ? std::cerr : std::cout;  // rows are all that stdout is to hold
    for (const std::string& note : measured.notes) {
        out << "note: " << note << "\n";
    }
    if (!was_printed) {
        std::cout << counted(static_cast<double>(measured.rows.size()), "row") << " written to " << options.out << "\n";
    }
}

}  // namespace

void run_import_nccl_tests(const Options& options) { import_rows(options, interop::rows_of_nccl_tests); }
void run_import_osu(const Options& options) { import_rows(options, interop::rows_of_osu); }

}  // namespace auspex::cli
