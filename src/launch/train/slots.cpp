/// @file Slots: lines of a hostfile, or only numbers.
#include "launch/train/slots.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <regex>

#include "base/error.hpp"
#include "base/input_text.hpp"

namespace auspex::launch {
namespace {

/// The lines of a hostfile that name a host, without comments.
std::vector<std::string> lines_of(const std::string& file) {
    std::vector<std::string> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        line = line.substr(0, line.find('#'));
        if (line.find_first_not_of(" \t\r") != std::string::npos) {
            lines.push_back(line);
        }
    }
    return lines;
}

std::string name_in(const std::string& line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

/// The hosts of a hostfile, one slot a line.
std::vector<std::string> hosts_of(const std::string& file) {
    std::vector<std::string> hosts = lines_of(file);
    for (const std::string& line : hosts) {
        if (const std::size_t slots = line.find("slots=");
            slots != std::string::npos && line.substr(slots + 6).find_first_not_of("1 \t\r") != std::string::npos) {
            throw InputError("--hostfile " + file,
                             "found \"" + printable(line) + "\"; expected a line for every slot, without \"slots=\"");
        }
    }
    return hosts;
}

/// A line of a hostfile and the name that a host gives itself, which may or may not have a domain.
bool is_host(const std::string& line, const std::string& host) {
    const std::string name = name_in(line);
    if (name == host) {
        return true;
    }
    if (name == "localhost" || name.starts_with("127.")) {
        return host == own_host();
    }
    const bool is_address = name.find_first_not_of("0123456789.:") == std::string::npos;
    const bool has_both_domains = name.find('.') != std::string::npos && host.find('.') != std::string::npos;
    return !is_address && !has_both_domains && name.substr(0, name.find('.')) == host.substr(0, host.find('.'));
}

}  // namespace

Slots::Slots(const std::string& hostfile, int ranks, int buffer_ranks) : ranks_(ranks) {
    const int wanted = ranks + buffer_ranks;
    if (!hostfile.empty()) {
        hosts_ = hosts_of(hostfile);
        if (static_cast<int>(hosts_.size()) < wanted) {
            throw InputError("--hostfile " + hostfile, "found " + std::to_string(hosts_.size()) +
                                                           " lines; expected at least " + std::to_string(wanted) +
                                                           ": ranks and buffer ranks");
        }
    }
    healthy_.resize(static_cast<std::size_t>(hosts_.empty() ? wanted : static_cast<int>(hosts_.size())));
    std::iota(healthy_.begin(), healthy_.end(), 0);
}

std::vector<int> Slots::slots_of(const std::vector<int>& ranks, const RunFolder& folder) const {
    std::vector<int> left = used(), found;
    for (const int rank : ranks) {
        if (hosts_.empty()) {
            found.push_back(left.at(static_cast<std::size_t>(rank)));
            continue;
        }
        const std::string host = folder.status(rank).value_or(RankStatus{}).host;
        const auto slot = std::find_if(left.begin(), left.end(), [&](int line) {
            return !host.empty() && is_host(hosts_[static_cast<std::size_t>(line)], host);
        });
        found.push_back(slot == left.end() ? -1 : *slot);
        if (slot != left.end()) {
            left.erase(slot);
        }
    }
    return found;
}

std::string Slots::hostfile(const RunFolder& folder) const {
    if (hosts_.empty()) {
        return "";
    }
    const std::string file = folder.path() + "/hosts";
    std::ofstream out(file);
    for (const int slot : used()) {
        out << hosts_[static_cast<std::size_t>(slot)] << "\n";
    }
    return file;
}

std::vector<int> slots_by_host(const std::string& file) {
    static const std::regex kSlots("\\sslots=([1-9][0-9]{0,5})(?=\\s|$)");
    std::vector<std::string> names;
    std::vector<int> slots;
    std::vector<bool> are_given;
    for (const std::string& line : lines_of(file)) {
        const std::string name = name_in(line);
        const auto at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
        if (at == names.size()) {
            names.push_back(name);
            slots.push_back(0);
            are_given.push_back(false);
        }
        std::smatch match;
        const bool says_how_many = std::regex_search(line, match, kSlots);
        are_given[at] = says_how_many || slots[at] > 0;
        slots[at] += says_how_many ? std::stoi(match[1]) : 1;
    }
    for (std::size_t i = 0; i + 1 < names.size(); ++i) {
        if (!are_given[i]) {
            throw InputError("--hostfile " + file, "found \"" + printable(names[i]) +
                                                       "\" once, to which mpirun gives as many slots as it has cores; "
                                                       "expected \"slots=1\" behind it, or a line for each slot");
        }
    }
    if (slots.empty()) {
        throw InputError("--hostfile " + file, "found no host in it; expected a readable list of hosts, a line a slot");
    }
    return slots;
}

}  // namespace auspex::launch
