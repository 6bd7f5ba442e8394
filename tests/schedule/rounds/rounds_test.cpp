/// @file Rounds of the trainer's collectives: written out for small groups, and played on data for larger ones.
#include "schedule/rounds/rounds.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace auspex::schedule {
namespace {

constexpr std::size_t kLargest = 9;
constexpr double kLong = 2, kShort = 1;  // bytes of an all-reduce, where one byte is gathered

std::string part_text(std::size_t part) { return part == kAllParts ? "all" : std::to_string(part); }

/// Messages in their order as "PEER:PART", rounds apart by "; ".
std::string text_of(const Rounds& rounds) {
    std::string text;
    for (const Round& round : rounds) {
        text += text.empty() ? "from" : "; from";
        for (const RoundMessage& message : round.receives) {
            text += " " + std::to_string(message.peer) + ":" + part_text(message.part);
        }
        text += " to";
        for (const RoundMessage& message : round.sends) {
            text += " " + std::to_string(message.peer) + ":" + part_text(message.part);
        }
        text += round.copies_own_part ? " copies" : "";
        text += round.adds ? " adds " + part_text(round.sum) : "";
    }
    return text;
}

using Texts = std::vector<std::string>;  // by member
using MakeRounds = std::function<Rounds(std::size_t members, std::size_t group_rank)>;

Texts texts_of(const MakeRounds& make, std::size_t members) {
    Texts texts;
    for (std::size_t member = 0; member < members; ++member) {
        texts.push_back(text_of(make(members, member)));
    }
    return texts;
}

Rounds short_all_reduce(std::size_t members, std::size_t group_rank) {
    return all_reduce_rounds(members, group_rank, kShort, kShort);
}
Rounds long_all_reduce(std::size_t members, std::size_t group_rank) {
    return all_reduce_rounds(members, group_rank, kLong, kShort);
}

TEST(Rounds, a_reduce_scatter_receives_in_order_and_sends_from_the_next_member_on) {
    EXPECT_EQ(texts_of(reduce_scatter_rounds, 1), Texts{""});
    EXPECT_EQ(texts_of(reduce_scatter_rounds, 2), (Texts{"from 1:0 to 1:1 adds 0", "from 0:1 to 0:0 adds 1"}));
    EXPECT_EQ(
        texts_of(reduce_scatter_rounds, 3),
        (Texts{"from 1:0 2:0 to 1:1 2:2 adds 0", "from 0:1 2:1 to 2:2 0:0 adds 1", "from 0:2 1:2 to 0:0 1:1 adds 2"}));
    EXPECT_EQ(texts_of(reduce_scatter_rounds, 4),
              (Texts{"from 1:0 2:0 3:0 to 1:1 2:2 3:3 adds 0", "from 0:1 2:1 3:1 to 2:2 3:3 0:0 adds 1",
                     "from 0:2 1:2 3:2 to 3:3 0:0 1:1 adds 2", "from 0:3 1:3 2:3 to 0:0 1:1 2:2 adds 3"}));
}

TEST(Rounds, a_short_all_reduce_sends_everything_to_every_member_at_once) {
    EXPECT_EQ(texts_of(short_all_reduce, 1), Texts{""});
    EXPECT_EQ(texts_of(short_all_reduce, 2), (Texts{"from 1:all to 1:all adds all", "from 0:all to 0:all adds all"}));
    EXPECT_EQ(texts_of(short_all_reduce, 3),
              (Texts{"from 1:all 2:all to 1:all 2:all adds all", "from 0:all 2:all to 2:all 0:all adds all",
                     "from 0:all 1:all to 0:all 1:all adds all"}));
    EXPECT_EQ(texts_of(short_all_reduce, 4), (Texts{"from 1:all 2:all 3:all to 1:all 2:all 3:all adds all",
                                                    "from 0:all 2:all 3:all to 2:all 3:all 0:all adds all",
                                                    "from 0:all 1:all 3:all to 3:all 0:all 1:all adds all",
                                                    "from 0:all 1:all 2:all to 0:all 1:all 2:all adds all"}));
}

TEST(Rounds, a_longer_all_reduce_is_a_reduce_scatter_whose_sums_go_to_every_member) {
    EXPECT_EQ(texts_of(long_all_reduce, 1), Texts{""});
    EXPECT_EQ(texts_of(long_all_reduce, 2), (Texts{"from 1:0 to 1:1 adds 0; from 1:1 to 1:0",  //
                                                   "from 0:1 to 0:0 adds 1; from 0:0 to 0:1"}));
    EXPECT_EQ(texts_of(long_all_reduce, 3), (Texts{"from 1:0 2:0 to 1:1 2:2 adds 0; from 1:1 2:2 to 1:0 2:0",
                                                   "from 0:1 2:1 to 2:2 0:0 adds 1; from 0:0 2:2 to 2:1 0:1",
                                                   "from 0:2 1:2 to 0:0 1:1 adds 2; from 0:0 1:1 to 0:2 1:2"}));
    EXPECT_EQ(texts_of(long_all_reduce, 4),
              (Texts{"from 1:0 2:0 3:0 to 1:1 2:2 3:3 adds 0; from 1:1 2:2 3:3 to 1:0 2:0 3:0",
                     "from 0:1 2:1 3:1 to 2:2 3:3 0:0 adds 1; from 0:0 2:2 3:3 to 2:1 3:1 0:1",
                     "from 0:2 1:2 3:2 to 3:3 0:0 1:1 adds 2; from 0:0 1:1 3:3 to 3:2 0:2 1:2",
                     "from 0:3 1:3 2:3 to 0:0 1:1 2:2 adds 3; from 0:0 1:1 2:2 to 0:3 1:3 2:3"}));
}

TEST(Rounds, an_all_gather_passes_on_what_the_previous_member_has_sent) {
    EXPECT_EQ(texts_of(all_gather_rounds, 1), Texts{""});
    EXPECT_EQ(texts_of(all_gather_rounds, 2), (Texts{"from 1:1 to 1:0", "from 0:0 to 0:1"}));
    EXPECT_EQ(texts_of(all_gather_rounds, 3), (Texts{"from 2:2 to 1:0; from 2:1 to 1:2",  //
                                                     "from 0:0 to 2:1; from 0:2 to 2:0",  //
                                                     "from 1:1 to 0:2; from 1:0 to 0:1"}));
    EXPECT_EQ(texts_of(all_gather_rounds, 4), (Texts{"from 3:3 to 1:0; from 3:2 to 1:3; from 3:1 to 1:2",
                                                     "from 0:0 to 2:1; from 0:3 to 2:0; from 0:2 to 2:3",
                                                     "from 1:1 to 3:2; from 1:0 to 3:1; from 1:3 to 3:0",
                                                     "from 2:2 to 0:3; from 2:1 to 0:2; from 2:0 to 0:1"}));
}

TEST(Rounds, an_all_to_all_sends_each_member_its_part_and_copies_its_own) {
    EXPECT_EQ(texts_of(all_to_all_rounds, 1), Texts{"from to copies"});
    EXPECT_EQ(texts_of(all_to_all_rounds, 2), (Texts{"from 1:1 to 1:1 copies", "from 0:0 to 0:0 copies"}));
    EXPECT_EQ(texts_of(all_to_all_rounds, 3), (Texts{"from 1:1 2:2 to 1:1 2:2 copies", "from 0:0 2:2 to 2:2 0:0 copies",
                                                     "from 0:0 1:1 to 0:0 1:1 copies"}));
    EXPECT_EQ(texts_of(all_to_all_rounds, 4),
              (Texts{"from 1:1 2:2 3:3 to 1:1 2:2 3:3 copies", "from 0:0 2:2 3:3 to 2:2 3:3 0:0 copies",
                     "from 0:0 1:1 3:3 to 3:3 0:0 1:1 copies", "from 0:0 1:1 2:2 to 0:0 1:1 2:2 copies"}));
}

TEST(Rounds, a_shift_goes_to_the_next_member) {
    EXPECT_EQ(texts_of(shift_rounds, 1), Texts{""});
    EXPECT_EQ(texts_of(shift_rounds, 2), (Texts{"from 1:all to 1:all", "from 0:all to 0:all"}));
    EXPECT_EQ(texts_of(shift_rounds, 3), (Texts{"from 2:all to 1:all", "from 0:all to 2:all", "from 1:all to 0:all"}));
}

TEST(Rounds, a_barrier_doubles_its_distance) {
    EXPECT_EQ(texts_of(barrier_rounds, 1), Texts{""});
    EXPECT_EQ(texts_of(barrier_rounds, 2), (Texts{"from 1:all to 1:all", "from 0:all to 0:all"}));
    EXPECT_EQ(texts_of(barrier_rounds, 3),
              (Texts{"from 2:all to 1:all; from 1:all to 2:all", "from 0:all to 2:all; from 2:all to 0:all",
                     "from 1:all to 0:all; from 0:all to 1:all"}));
    EXPECT_EQ(texts_of(barrier_rounds, 4),
              (Texts{"from 3:all to 1:all; from 2:all to 2:all", "from 0:all to 2:all; from 3:all to 3:all",
                     "from 1:all to 3:all; from 0:all to 0:all", "from 2:all to 0:all; from 1:all to 1:all"}));
}

TEST(Rounds, parts_are_even_and_of_whole_items) {
    using Offsets = std::vector<std::size_t>;
    // Part i of n of 10 items begins at floor(10 i / n); items of 3 elements move it by threes.
    EXPECT_EQ(even_parts(10, 4, 1), (Offsets{0, 2, 5, 7, 10}));
    EXPECT_EQ(even_parts(30, 4, 3), (Offsets{0, 6, 15, 21, 30}));
    EXPECT_EQ(even_parts(2, 3, 1), (Offsets{0, 0, 1, 2}));
    EXPECT_EQ(even_parts(0, 2, 1), (Offsets{0, 0, 0}));
    EXPECT_EQ(even_parts(7, 1, 1), (Offsets{0, 7}));
}

/// Rounds of all members of a group.
std::vector<Rounds> group_of(const MakeRounds& make, std::size_t members) {
    std::vector<Rounds> group;
    for (std::size_t member = 0; member < members; ++member) {
        group.push_back(make(members, member));
    }
    return group;
}

/// Messages of a round as (from, to, part).
using Messages = std::multiset<std::array<std::size_t, 3>>;

Messages sent(const std::vector<Rounds>& group, std::size_t round) {
    Messages messages;
    for (std::size_t from = 0; from < group.size(); ++from) {
        for (const RoundMessage& message : group[from][round].sends) {
            messages.insert({from, message.peer, message.part});
        }
    }
    return messages;
}
Messages received(const std::vector<Rounds>& group, std::size_t round) {
    Messages messages;
    for (std::size_t to = 0; to < group.size(); ++to) {
        for (const RoundMessage& message : group[to][round].receives) {
            messages.insert({message.peer, to, message.part});
        }
    }
    return messages;
}

const std::map<std::string, MakeRounds>& of_shared_parts() {
    static const std::map<std::string, MakeRounds> kAll{{"reduce-scatter", reduce_scatter_rounds},
                                                        {"short all-reduce", short_all_reduce},
                                                        {"long all-reduce", long_all_reduce},
                                                        {"all-gather", all_gather_rounds},
                                                        {"barrier", barrier_rounds}};
    return kAll;
}

TEST(Rounds, what_is_sent_in_a_round_is_received_in_it_as_the_same_part) {
    for (const auto& [name, make] : of_shared_parts()) {
        for (std::size_t members = 2; members <= kLargest; ++members) {
            const std::vector<Rounds> group = group_of(make, members);
            ASSERT_FALSE(group.front().empty()) << name << " of " << members;
            for (const Rounds& rounds : group) {
                ASSERT_EQ(rounds.size(), group.front().size()) << name << " of " << members;
            }
            for (std::size_t round = 0; round < group.front().size(); ++round) {
                const Messages messages = sent(group, round);
                EXPECT_EQ(messages, received(group, round)) << name << " of " << members << ", round " << round;
                for (const auto& [from, to, part] : messages) {
                    EXPECT_NE(from, to) << name << " of " << members;
                    EXPECT_EQ(messages.count({from, to, part}), 1U) << name << " of " << members;
                }
            }
        }
    }
}

/// By member: what it has of each part. Part p of member m begins as 10^m + p 10^10: digits of a sum say whose versions
/// are in it, and how often; -1 is a part that a member does not have.
using Data = std::vector<std::vector<std::int64_t>>;
constexpr std::int64_t kPartUnit = 10'000'000'000, kMissing = -1;

std::int64_t version(std::size_t member, std::size_t part) {
    std::int64_t digit = 1;
    for (std::size_t i = 0; i < member; ++i) {
        digit *= 10;
    }
    return digit + static_cast<std::int64_t>(part) * kPartUnit;
}
std::int64_t sum_of_versions(std::size_t members, std::size_t part) {
    std::int64_t sum = 0;
    for (std::size_t member = 0; member < members; ++member) {
        sum += version(member, part);
    }
    return sum;
}
Data all_versions(std::size_t members) {
    Data data(members, std::vector<std::int64_t>(members));
    for (std::size_t member = 0; member < members; ++member) {
        for (std::size_t part = 0; part < members; ++part) {
            data[member][part] = version(member, part);
        }
    }
    return data;
}

std::vector<std::size_t> parts_of(std::size_t part, std::size_t members) {
    if (part != kAllParts) {
        return {part};
    }
    std::vector<std::size_t> all(members);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

/// Every member sends what it had when the round began.
Data played(const std::vector<Rounds>& group, Data data) {
    for (std::size_t round = 0; round < group.front().size(); ++round) {
        const Data before = data;
        for (std::size_t to = 0; to < group.size(); ++to) {
            for (const RoundMessage& message : group[to][round].receives) {
                for (const std::size_t part : parts_of(message.part, group.size())) {
                    const std::int64_t arrived = before[message.peer][part];
                    EXPECT_NE(arrived, kMissing) << "member " << message.peer << " has no part " << part;
                    data[to][part] = group[to][round].adds ? data[to][part] + arrived : arrived;
                }
            }
        }
    }
    return data;
}

TEST(Rounds, a_reduce_scatter_adds_every_members_version_once_where_it_belongs) {
    for (std::size_t members = 2; members <= kLargest; ++members) {
        const Data data = played(group_of(reduce_scatter_rounds, members), all_versions(members));
        for (std::size_t member = 0; member < members; ++member) {
            EXPECT_EQ(data[member][member], sum_of_versions(members, member)) << member << " of " << members;
        }
    }
}

TEST(Rounds, an_all_reduce_leaves_the_same_sums_with_all) {
    for (const MakeRounds& make : {MakeRounds(short_all_reduce), MakeRounds(long_all_reduce)}) {
        for (std::size_t members = 2; members <= kLargest; ++members) {
            const Data data = played(group_of(make, members), all_versions(members));
            for (std::size_t member = 0; member < members; ++member) {
                for (std::size_t part = 0; part < members; ++part) {
                    EXPECT_EQ(data[member][part], sum_of_versions(members, part)) << member << " of " << members;
                }
            }
        }
    }
}

TEST(Rounds, an_all_gather_brings_every_part_to_every_other_member_once) {
    for (std::size_t members = 2; members <= kLargest; ++members) {
        const std::vector<Rounds> group = group_of(all_gather_rounds, members);
        Data own(members, std::vector<std::int64_t>(members, kMissing));
        for (std::size_t member = 0; member < members; ++member) {
            own[member][member] = version(member, member);
        }
        const Data data = played(group, own);
        for (std::size_t member = 0; member < members; ++member) {
            std::vector<int> arrivals(members, 0);
            for (const Round& round : group[member]) {
                for (const RoundMessage& message : round.receives) {
                    ++arrivals[message.part];
                }
            }
            for (std::size_t part = 0; part < members; ++part) {
                EXPECT_EQ(data[member][part], version(part, part)) << member << " of " << members;
                EXPECT_EQ(arrivals[part], part == member ? 0 : 1) << member << " of " << members;
            }
        }
    }
}

/// Parts of an all-to-all are slots of two arrays: part i of what a member sends is for member i, part i of what it
/// receives is from member i.
TEST(Rounds, an_all_to_all_exchanges_every_pair_of_parts) {
    for (std::size_t members = 1; members <= kLargest; ++members) {
        const std::vector<Rounds> group = group_of(all_to_all_rounds, members);
        const Data leaving = all_versions(members);
        Data arrived(members, std::vector<std::int64_t>(members, kMissing));
        for (std::size_t to = 0; to < members; ++to) {
            ASSERT_EQ(group[to].size(), 1U);
            const Round& round = group[to].front();
            EXPECT_FALSE(round.adds);
            arrived[to][to] = round.copies_own_part ? leaving[to][to] : kMissing;
            for (const RoundMessage& incoming : round.receives) {
                for (const RoundMessage& outgoing : group[incoming.peer].front().sends) {
                    if (outgoing.peer == to) {
                        EXPECT_EQ(arrived[to][incoming.part], kMissing) << to << " of " << members;
                        arrived[to][incoming.part] = leaving[incoming.peer][outgoing.part];
                    }
                }
            }
            for (std::size_t from = 0; from < members; ++from) {
                EXPECT_EQ(arrived[to][from], version(from, to)) << from << " to " << to << " of " << members;
            }
            EXPECT_EQ(round.sends.size(), members - 1) << "nothing is sent that nobody receives";
        }
    }
}

TEST(Rounds, nobody_leaves_a_barrier_that_somebody_has_not_reached) {
    for (std::size_t members = 2; members <= kLargest; ++members) {
        const std::vector<Rounds> group = group_of(barrier_rounds, members);
        std::vector<std::set<std::size_t>> heard(members);  // of whom a member knows that it has come
        for (std::size_t member = 0; member < members; ++member) {
            heard[member] = {member};
        }
        std::size_t reach = 1;
        for (std::size_t round = 0; round < group.front().size(); ++round) {
            EXPECT_LT(reach, members) << "no round more than log2(members), rounded up";
            reach *= 2;
            const auto before = heard;
            for (std::size_t to = 0; to < members; ++to) {
                for (const RoundMessage& message : group[to][round].receives) {
                    heard[to].insert(before[message.peer].begin(), before[message.peer].end());
                }
            }
        }
        for (std::size_t member = 0; member < members; ++member) {
            EXPECT_EQ(heard[member].size(), members) << member << " of " << members;
        }
    }
}

}  // namespace
}  // namespace auspex::schedule
