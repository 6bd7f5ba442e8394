/// @file Shares of a trace: of all layers together, or of each.
#include "models/routing/trace.hpp"

#include <memory>
#include <numeric>

#include "base/json.hpp"

namespace auspex::models {
namespace {

std::vector<double> shares_of(const JsonValue& list) {
    std::vector<double> shares;
    for (const JsonValue& share : list.elements()) {
        shares.push_back(share.as_number(0, 1e18));
    }
    const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
    if (!(total > 0)) {
        list.fail("one count or share per expert, at least one above zero");
    }
    for (double& share : shares) {
        share /= total;
    }
    return shares;
}

/// Every layer routes as many tokens.
std::vector<double> mean_of(const std::vector<std::vector<double>>& layers) {
    std::vector<double> mean(layers.front().size(), 0.0);
    for (const std::vector<double>& layer : layers) {
        for (std::size_t i = 0; i < mean.size(); ++i) {
            mean[i] += layer[i] / static_cast<double>(layers.size());
        }
    }
    return mean;
}

/// A list of shares, or a list of such lists.
void read_shares(const JsonValue& shares, Trace& trace) {
    const std::vector<JsonValue> elements = shares.elements();
    if (elements.empty() || !elements.front().is_array()) {
        trace.shares = shares_of(shares);
        return;
    }
    for (const JsonValue& layer : elements) {
        trace.layer_shares.push_back(shares_of(layer));
        const std::size_t found = trace.layer_shares.back().size(), first = trace.layer_shares.front().size();
        if (found != first) {
            layer.fail("as many shares as the first layer has, " + std::to_string(first));
        }
    }
    trace.shares = mean_of(trace.layer_shares);
}

/// All steps of each layer together.
void read_shares(const RoutingRecord& record, Trace& trace) {
    for (int layer = 0; layer < record.layers; ++layer) {
        std::vector<double> shares(static_cast<std::size_t>(record.num_experts), 0.0);
        for (int step = record.first_step; step < record.first_step + record.steps; ++step) {
            const std::vector<std::int64_t> counts = choices_by_expert(record, step, layer, 0, record.tokens);
            for (std::size_t i = 0; i < shares.size(); ++i) {
                shares[i] +=
                    static_cast<double>(counts[i]) / (static_cast<double>(record.steps) * record.tokens * record.top_k);
            }
        }
        trace.layer_shares.push_back(std::move(shares));
    }
}

}  // namespace

Trace read_trace(const std::string& file) {
    const JsonDocument document = JsonDocument::load(file);
    document.root().allow_only({"source", "shares", "choices"});
    Trace trace;
    if (document.root().find("choices")) {
        trace.record = std::make_shared<const RoutingRecord>(read_routing_record(file));
        read_shares(*trace.record, trace);
        trace.shares = shares_of(document.root().at("shares"));
    } else {
        read_shares(document.root().at("shares"), trace);
    }
    return trace;
}

}  // namespace auspex::models
