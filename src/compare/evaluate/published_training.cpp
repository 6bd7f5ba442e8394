/// @file Files of published training runs, read.
#include "compare/evaluate/published_training.hpp"

#include "base/error.hpp"
#include "base/json.hpp"

namespace auspex::evaluate {
namespace {

constexpr long kMostTiles = 10'000'000;
constexpr double kMostSpeed = 1e12;

int whole_number(const JsonValue& object, std::string_view key) {
    return static_cast<int>(object.at(key).as_integer(1, kMostTiles));
}

/// Of a series, or where it does not say so of the file.
std::string text_of(const JsonValue& series, const JsonValue& root, std::string_view key) {
    const auto own = series.find(key);
    return own ? own->as_string() : root.at(key).as_string();
}

PublishedScaling scaling_of(const JsonValue& series, const JsonValue& root) {
    PublishedScaling scaling{text_of(series, root, "source"),
                             text_of(series, root, "url"),
                             text_of(series, root, "machine"),
                             text_of(series, root, "stack"),
                             text_of(series, root, "workload"),
                             series.find("release") ? series.at("release").as_string() : "",
                             series.find("micro_batch_size") ? whole_number(series, "micro_batch_size") : 0,
                             series.find("micro_batches") ? whole_number(series, "micro_batches") : 0,
                             {}};
    const int reference = whole_number(series, "reference_tiles");
    for (const JsonValue& row : series.at("rows").elements()) {
        const auto efficiency = row.find("efficiency");
        if (efficiency && scaling.rows.empty()) {
            scaling.rows.push_back({reference, 1});
        }
        scaling.rows.push_back(
            {whole_number(row, "tiles"),
             efficiency ? efficiency->as_number(0, 10) : row.at("tokens_per_s_per_tile").as_number(0, kMostSpeed)});
    }
    return scaling;
}

std::optional<double> ratio_of(const JsonValue& row, std::string_view key) {
    const auto value = row.find(key);
    return value ? std::optional(value->as_number(0, 1000)) : std::nullopt;
}

void add_speedups(const JsonValue& root, PublishedTraining& published) {
    for (const JsonValue& row : root.at("rows").elements()) {
        published.speedups.push_back({root.at("source").as_string(), root.at("url").as_string(),
                                      root.at("machine").as_string(), root.at("stack").as_string(),
                                      row.at("model").as_string(), whole_number(root, "tiles"),
                                      row.at("variant").as_string(), ratio_of(row, "forward_backward"),
                                      ratio_of(row, "optimizer"), ratio_of(row, "training")});
    }
}

}  // namespace

void add_published(const JsonDocument& document, PublishedTraining& published) {
    const JsonValue root = document.root();
    const std::string what = root.at("what").as_string();
    if (what == "ablation") {
        add_speedups(root, published);
    } else if (what != "weak-scaling") {
        throw InputError(document.name() + ": $.what",
                         "found \"" + what + "\"; expected \"weak-scaling\" or \"ablation\"");
    } else if (const auto series = root.find("series")) {
        for (const JsonValue& one : series->elements()) {
            published.scaling.push_back(scaling_of(one, root));
        }
    } else {
        published.scaling.push_back(scaling_of(root, root));
    }
}

}  // namespace auspex::evaluate
