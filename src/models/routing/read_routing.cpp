/// @file Shares of a trace: of all layers together, or of each.
#include "models/routing/read_routing.hpp"

#include <algorithm>
#include <filesystem>
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
void read_shares(const JsonValue& shares, Routing& routing) {
    const std::vector<JsonValue> elements = shares.elements();
    if (elements.empty() || !elements.front().is_array()) {
        routing.trace_shares = shares_of(shares);
        return;
    }
    for (const JsonValue& layer : elements) {
        routing.layer_shares.push_back(shares_of(layer));
        const std::size_t found = routing.layer_shares.back().size(), first = routing.layer_shares.front().size();
        if (found != first) {
            layer.fail("as many shares as the first layer has, " + std::to_string(first));
        }
    }
    routing.trace_shares = mean_of(routing.layer_shares);
}

/// All steps of each layer together.
void read_shares(const RoutingRecord& record, Routing& routing) {
    for (int layer = 0; layer < record.layers; ++layer) {
        std::vector<double> shares(static_cast<std::size_t>(record.num_experts), 0.0);
        for (int step = record.first_step; step < record.first_step + record.steps; ++step) {
            const std::vector<std::int64_t> counts = choices_by_expert(record, step, layer, 0, record.tokens);
            for (std::size_t i = 0; i < shares.size(); ++i) {
                shares[i] +=
                    static_cast<double>(counts[i]) / (static_cast<double>(record.steps) * record.tokens * record.top_k);
            }
        }
        routing.layer_shares.push_back(std::move(shares));
    }
}

void read_trace(const JsonValue& file, const std::string& plan_file, Routing& routing) {
    const std::string name = file.as_string();
    if (name.empty() ||
        std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
        file.fail("a file name without control characters, relative to the plan's folder");
    }
    routing.trace_file = (std::filesystem::path(plan_file).parent_path() / name).string();
    const JsonDocument document = JsonDocument::load(routing.trace_file);
    document.root().allow_only({"source", "shares", "choices"});
    if (document.root().find("choices")) {
        routing.record = std::make_shared<const RoutingRecord>(read_routing_record(routing.trace_file));
        read_shares(*routing.record, routing);
        routing.trace_shares = shares_of(document.root().at("shares"));
        return;
    }
    read_shares(document.root().at("shares"), routing);
}

}  // namespace

void read_routing(const JsonValue& root, Plan& plan) {
    const auto value = root.find("routing");
    if (!value) {
        return;
    }
    const std::string expected = "\"uniform\", \"learned\", {\"zipf\": s}, {\"dirichlet\": a} or {\"trace\": \"file\"}";
    if (value->is_string() && (value->as_string() == "uniform" || value->as_string() == "learned")) {
        plan.routing.kind =
            value->as_string() == "learned" ? RoutingDistribution::kLearned : RoutingDistribution::kUniform;
        return;
    }
    if (!value->is_object()) {
        value->fail(expected);
    }
    value->allow_only({"zipf", "dirichlet", "trace", "alike_layers"});
    const auto zipf = value->find("zipf");
    const auto dirichlet = value->find("dirichlet");
    const auto trace = value->find("trace");
    if (zipf.has_value() + dirichlet.has_value() + trace.has_value() != 1) {
        value->fail(expected);
    }
    const auto alike = value->find("alike_layers");
    plan.routing.alike_layers = alike && alike->as_bool();
    if (zipf) {
        plan.routing.kind = RoutingDistribution::kZipf;
        plan.routing.parameter = zipf->as_number(0, 10);
    } else if (dirichlet) {
        plan.routing.kind = RoutingDistribution::kDirichlet;
        plan.routing.parameter = dirichlet->as_number(0.001, 1e6);
    } else {
        plan.routing.kind = RoutingDistribution::kTrace;
        read_trace(*trace, plan.file, plan.routing);
    }
}

}  // namespace auspex::models
