/// @file Parts and links of a node.
#include "sim/network/node/node_template.hpp"

#include <map>

namespace auspex::network {
namespace {

class TemplateBuilder {
 public:
    explicit TemplateBuilder(const models::Node& node) : node_(node) {}

    [[nodiscard]] NodeTemplate build() {
        for (int t = 0; t < node_.tiles; ++t) {
            index(PartKind::kTile, t);
        }
        for (int n = 0; n < node_.nics; ++n) {
            out_.nics.push_back(index(PartKind::kNic, n));
        }
        for (const NodeSlot& slot : find_node_paths(node_, models::Stack{}).slots) {
            if (slot.kind != LinkKind::kNic && slot.kind != LinkKind::kRankTransport && !is_both_ways(slot.kind) &&
                !is_beside_network(slot.kind)) {
                out_.links.push_back({index(slot.from.kind, slot.from.index), index(slot.to.kind, slot.to.index),
                                      slot.kind, false, slot.bytes_per_s});
            }
        }
        add_internal_edges();
        return std::move(out_);
    }

 private:
    /// Where NICs hang on the device no message passes the host.
    [[nodiscard]] bool is_beside_network(LinkKind kind) const {
        return node_.nic_attachment == models::NicAttachment::kDevice &&
               (kind == LinkKind::kPcieCard || kind == LinkKind::kPcieSocket);
    }

    std::uint32_t index(PartKind kind, int number) {
        const NodePart part{kind, number};
        const auto [at, is_new] = index_of_.try_emplace(part, static_cast<std::uint32_t>(out_.parts.size()));
        if (is_new) {
            out_.parts.push_back(part);
        }
        return at->second;
    }

    void join(std::uint32_t a, std::uint32_t b) {
        out_.links.push_back({a, b, LinkKind::kNic, true, 0});
        out_.links.push_back({b, a, LinkKind::kNic, true, 0});
    }

    /// A card is a part of its own where a link ends at the card as a whole.
    void add_internal_edges() {
        for (int t = 0; t < node_.tiles; ++t) {
            const NodePart card{PartKind::kCard, t / node_.tiles_per_card};
            if (const auto at = index_of_.find(card); at != index_of_.end()) {
                join(index(PartKind::kTile, t), at->second);
            }
            if (node_.nic_attachment == models::NicAttachment::kDevice) {
                join(index(PartKind::kTile, t), index(PartKind::kNic, nic_of_tile(node_, t)));
            }
        }
        if (node_.nic_attachment == models::NicAttachment::kHost) {
            for (int n = 0; n < node_.nics; ++n) {
                join(index(PartKind::kNic, n), index(PartKind::kSocketNics, socket_of_nic(node_, n)));
            }
        }
    }

    const models::Node& node_;
    NodeTemplate out_;
    std::map<NodePart, std::uint32_t> index_of_;
};

}  // namespace

NodeTemplate node_template(const models::Node& node) { return TemplateBuilder(node).build(); }

}  // namespace auspex::network
