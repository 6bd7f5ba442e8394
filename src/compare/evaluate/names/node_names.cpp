/// @file GPUs and NICs of a node as settings of the machine.
#include "compare/evaluate/names/node_names.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "compare/evaluate/words/nic_words.hpp"
#include "compare/evaluate/words/words.hpp"

namespace auspex::evaluate {
namespace {

using Node = RunNames::Hardware::Node;

constexpr int kLargestServer = 16;  ///< GPUs; what shares links beyond is a rack of several

int gpus_of(const PublishedRun& run, const Node& usual) {
    if (usual.gpus > kLargestServer) {
        const bool fills_racks =
            usual.whole_rack > 0 && run.gpus > 0 && run.gpus % usual.whole_rack == 0 && run.gpus % usual.gpus != 0;
        if (fills_racks) {
            return usual.whole_rack;
        }
        const bool has_domain = run.scale_up_gpus > run.gpus_per_node;
        return has_domain ? std::min(run.scale_up_gpus, usual.gpus) : usual.gpus;
    }
    if (run.gpus_per_node > kLargestServer) {
        refuse(run.id, "hardware.gpus_per_node " + std::to_string(run.gpus_per_node),
               "1 to " + std::to_string(kLargestServer));
    }
    return run.gpus_per_node > 0 ? run.gpus_per_node : usual.gpus;
}

/// NICs of so many GPUs, of which the case's words may be of a part.
void set_nics(const PublishedRun& run, const Node& usual, const NicWords& words, Node& node) {
    const double parts = run.gpus_per_node > 0 ? std::max(1.0, static_cast<double>(node.gpus) / run.gpus_per_node) : 1;
    const double usual_nics = std::max(1.0, static_cast<double>(node.gpus) * usual.nics / usual.gpus);
    double nics = words.count > 0 ? words.count * parts : usual_nics;
    double total = nics * (words.gbit_s > 0 ? words.gbit_s : usual.gbit_s);
    if (words.total_gbit_s > 0) {
        total = words.total_gbit_s * parts;
        nics = std::min(usual_nics, total / usual.gbit_s);
    }
    node.nics = std::clamp(static_cast<int>(nics), 1, node.gpus);
    node.gbit_s = total / node.nics;
}

void change(NodeOfCase& node, const std::string& path, const std::string& value) {
    node.set.push_back("machine." + path + "=" + value);
}

void change_gpus(NodeOfCase& changes, const Node& usual, int gpus) {
    change(changes, "node.tiles", std::to_string(gpus));
    const int sockets = std::max(1, gpus / usual.gpus_per_socket);
    change(changes, "node.sockets", std::to_string(gpus % sockets == 0 ? sockets : 1));
}

void change_rate(NodeOfCase& changes, const Node& usual, double gbit_s) {
    constexpr double kBits = 8;
    change(changes, "node.nic.bandwidth", json_number(gbit_s / kBits * usual.payload) + " GB/s");
    if (gbit_s > usual.gbit_s) {
        change(changes, "fabric.link_bandwidth", json_number(gbit_s / kBits) + " GB/s");
    }
}

std::string words_of(const Node& node) {
    return std::to_string(node.gpus) + " GPUs and " + std::to_string(node.nics) + " NICs of " +
           json_number(node.gbit_s) + " Gb/s";
}

}  // namespace

NodeOfCase node_of_case(const PublishedRun& run, const RunNames::Hardware& hardware) {
    NodeOfCase changes;
    if (!hardware.node) {
        return changes;
    }
    const Node& usual = *hardware.node;
    Node node = usual;
    node.gpus = gpus_of(run, usual);
    NicWords words = nics_in(run.nics, run.gpus_per_node);
    if (words.gbit_s == 0 && words.total_gbit_s == 0 && words.count > node.gpus) {
        words = {.is_unclear = true};  // "32x EFA": of what rate?
    }
    set_nics(run, usual, words, node);
    if (node.gpus != usual.gpus) {
        change_gpus(changes, usual, node.gpus);
    }
    if (node.nics != usual.nics) {
        change(changes, "node.nic.count", std::to_string(node.nics));
    }
    if (node.gbit_s != usual.gbit_s) {
        change_rate(changes, usual, node.gbit_s);
    }
    if (!changes.set.empty()) {
        changes.note = "nodes of " + words_of(node) + ", in place of " + words_of(usual);
    }
    if (!is_unstated(run.nics) && words.count == 0 && words.total_gbit_s == 0) {
        changes.note += (changes.note.empty() ? "" : "; ") + std::string("nics ") + json_quote(run.nics) +
                        (words.is_unclear ? " are not understood" : " do not say how many") + ": those of " +
                        hardware.machine + " are taken";
    }
    return changes;
}

}  // namespace auspex::evaluate
