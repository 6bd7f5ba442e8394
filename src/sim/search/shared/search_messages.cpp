/// @file Records one after another.
#include "sim/search/shared/search_messages.hpp"

#include "sim/search/state/byte_records.hpp"

namespace auspex::search {
namespace {

std::string name_of(int rank) { return "message of rank " + std::to_string(rank); }

}  // namespace

std::string bytes_of(const HelperReport& report) {
    std::string bytes;
    append_records(bytes, std::vector<char>(report.key.begin(), report.key.end()));
    append_record(bytes, report.idle_threads);
    append_record(bytes, static_cast<std::uint64_t>(report.is_done));
    return bytes + bytes_of(report.news);
}

std::string bytes_of(const LeadOrder& order) {
    std::string bytes;
    append_record(bytes, order.phase);
    append_record(bytes, order.cutoff_s);
    append_record(bytes, std::uint64_t{order.parts.size()});
    for (const GivenPart& part : order.parts) {
        append_record(bytes, part.part);
        append_records(bytes, part.known);
    }
    return bytes;
}

HelperReport report_of(std::string_view bytes, int from) {
    const std::string name = name_of(from);
    RecordReader reader(bytes, name);
    const std::vector<char> key = reader.many<char>();
    HelperReport report{std::string(key.begin(), key.end()), 0, false, {}};
    report.idle_threads = reader.one<std::uint64_t>();
    report.is_done = reader.one<std::uint64_t>() != 0;
    report.news = state_of(reader.rest(), name);
    return report;
}

LeadOrder order_of(std::string_view bytes, int from) {
    const std::string name = name_of(from);
    RecordReader reader(bytes, name);
    LeadOrder order;
    order.phase = reader.one<SearchPhase>();
    order.cutoff_s = reader.one<double>();
    for (auto left = reader.one<std::uint64_t>(); left > 0; --left) {
        const auto part = reader.one<std::uint64_t>();
        order.parts.push_back({part, reader.many<std::uint64_t>()});
    }
    reader.require_end();
    return order;
}

}  // namespace auspex::search
