#pragma once
/// @file The switch links of a job on a dragonfly, and those that a flow takes.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/machine.hpp"
#include "sim/network/fabric/job_blocks.hpp"
#include "sim/network/fabric/link_ranges.hpp"
#include "sim/network/fabric/route.hpp"
#include "sim/network/node/link_kind.hpp"
#include "sim/network/sharing/alike_blocks.hpp"

namespace auspex::network {

/// All switches of the job's groups, and the links between these groups. Fabric says what the routings mean.
class DragonflyLinks {
 public:
    DragonflyLinks(const models::FabricRecipe& recipe, double efficiency, JobBlocks job, LinkRanges& links);
    void route_between(int from_node, int to_node, InterNodeRoute& route) const;
    /// As Fabric says.
    [[nodiscard]] bool sums_exchanges() const;
    void route_exchange(std::span<const double> members, bool everywhere, InterNodeRoute& crossings) const;
    [[nodiscard]] std::string name(LinkKind kind, std::uint32_t link) const;
    [[nodiscard]] int attachment(int node) const;
    [[nodiscard]] const JobBlocks& job() const { return job_; }
    [[nodiscard]] std::span<const DetourLinks> detours() const { return detours_; }
    /// None under minimal routing, and where shares of links do not add up without rounding.
    [[nodiscard]] const AlikeBlocks& alike_blocks() const { return alike_; }

 private:
    struct End {
        std::uint32_t group, switch_in_group;  ///< group among those of the job, switch within it
        auto operator<=>(const End&) const = default;
    };
    void add_single(double local, double global, LinkRanges& links);
    void add_pairs(double local, double global, LinkRanges& links);
    void add_pools(double local, double global, LinkRanges& links);
    void add_detours(double local, double global);
    void find_alike_blocks();
    [[nodiscard]] End end_of(int node) const;
    [[nodiscard]] std::uint32_t local(std::uint32_t group, std::uint32_t from, std::uint32_t to) const;
    [[nodiscard]] std::uint32_t spread(End end, std::uint32_t way) const;
    double route_minimal(End from, End to, InterNodeRoute& route) const;
    void exchange_in_group(std::uint32_t group, std::span<const double> members, double all,
                           InterNodeRoute& crossings) const;
    void exchange_between_groups(std::span<const double> members_of_group, InterNodeRoute& crossings) const;
    [[nodiscard]] bool has_third_switch() const { return switches_ > 2; }
    [[nodiscard]] bool detours_in_group() const {
        return recipe_.routing == models::RoutingKind::kValiant && has_third_switch();
    }
    /// Switches that a packet passes, the mean of the ways that it may go. Not of minimal routing.
    [[nodiscard]] static double passed_on_switch() { return 1; }
    [[nodiscard]] double passed_in_group() const;
    [[nodiscard]] double passed_between_groups() const;
    double route_in_group(End from, End to, InterNodeRoute& route) const;
    double route_between_groups(End from, End to, InterNodeRoute& route) const;

    models::FabricRecipe recipe_;
    JobBlocks job_;
    std::vector<std::uint32_t> switch_of_node_;  ///< within its group
    std::uint32_t groups_, switches_;
    double to_gateway_;  ///< local links on the way to the switch of a global link: none from that switch itself
    std::uint32_t parallel_ = 1;  ///< kGlobal links of a pair of groups that have a number each
    std::uint32_t local_ = kNoLink, global_ = kNoLink;
    std::uint32_t local_spread_ = kNoLink, local_pool_ = kNoLink, global_spread_ = kNoLink, global_pool_ = kNoLink;
    std::vector<DetourLinks> detours_;
    AlikeBlocks alike_;
};

}  // namespace auspex::network
