/// @file Rows as files.
#include <algorithm>
#include <sstream>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/json_writer.hpp"
#include "interop/measurements/measured_text.hpp"

namespace auspex::interop {

std::string measurement_table(const std::vector<models::Measurement>& rows) {
    std::string text = models::measurement_header() + "\n";
    for (const models::Measurement& row : rows) {
        text += to_csv(row) + "\n";
    }
    return text;
}

std::string published_table(const std::vector<models::Measurement>& rows, const std::string& machine,
                            const std::string& library) {
    std::ostringstream text;
    JsonWriter json(text);
    json.begin_array();
    for (const models::Measurement& row : rows) {
        AUSPEX_CHECK(row.kind == "collective", "published rows are collectives");
        std::string kind = row.name;
        std::ranges::replace(kind, '-', '_');
        json.begin_object().member("machine", machine).member("library", library).member("kind", kind);
        json.member("nodes", row.nodes).member("ranks", row.ranks);
        json.member("bytes", static_cast<std::int64_t>(row.bytes)).member("value", row.seconds).member("unit", "s");
        json.member("note", "total buffer; " + row.source).end_object();
    }
    json.end_array();
    return JsonDocument::parse(text.str(), "rows").indented() + "\n";
}

}  // namespace auspex::interop
