/// @file Names of what time goes to.
#include "campaign/spent.hpp"

namespace auspex::campaign {
namespace {

struct Names {
    const char *key, *words;
};
constexpr std::array<Names, kSpentCount> kNames = {{
    {"work", "steps"},
    {"replay", "lost steps, done again"},
    {"checkpoint", "checkpoint stalls"},
    {"detection", "detection of failures"},
    {"hang", "silent hangs"},
    {"queue", "queue"},
    {"node_wait", "waits for nodes"},
    {"swap", "swaps of nodes"},
    {"restart", "restarts"},
    {"initialisation", "initialisation after failures"},
    {"load", "loads after failures"},
    {"start", "starts of blocks"},
    {"slow_nodes", "slow nodes"},
    {"maintenance", "maintenance"},
    {"failed_start", "starts that failed"},
}};

}  // namespace

const char* key_of(Spent spent) { return kNames[static_cast<std::size_t>(spent)].key; }

const char* words_of(Spent spent) { return kNames[static_cast<std::size_t>(spent)].words; }

}  // namespace auspex::campaign
