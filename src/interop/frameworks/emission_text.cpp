/// @file Arguments, variables, here-documents.
#include "interop/frameworks/emission_text.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "base/shell_word.hpp"

namespace auspex::interop {
namespace {

/// Lines with comments behind them, one below the other as far as lines are not too long.
std::string with_comments(const std::vector<std::string>& lines, const Settings& settings) {
    constexpr std::size_t kWidest = 60;
    std::size_t width = 0;
    for (const std::string& line : lines) {
        width = std::max(width, std::min(kWidest, line.size()));
    }
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        text += lines[i] + std::string(std::max(width, lines[i].size()) - lines[i].size() + 2, ' ') + "# " +
                settings[i].from + "\n";
    }
    return text;
}

}  // namespace

std::string arguments_text(const std::string& name, const Settings& settings) {
    std::vector<std::string> lines;
    for (const Setting& setting : settings) {
        lines.push_back("    " + setting.name + (setting.value.empty() ? "" : " " + setting.value));
    }
    return name + "=(\n" + with_comments(lines, settings) + ")\n";
}

std::string variables_text(const Settings& settings) {
    std::vector<std::string> lines;
    for (const Setting& setting : settings) {
        lines.push_back("export " + setting.name + "=" + quoted_for_shell(setting.value));
    }
    return with_comments(lines, settings);
}

std::string file_text(const SettingsFile& file) {
    std::string text;
    for (const Setting& line : file.comments) {
        text += "# " + line.name + ": " + line.from + "\n";
    }
    std::string end = "END";
    while (file.text.find("\n" + end + "\n") != std::string::npos) {
        end += "_";
    }
    return text + "cat >" + quoted_for_shell(file.name) + " <<'" + end + "'\n" + file.text + end + "\n";
}

std::string emission_text(const Emission& emission) {
    if (emission.form == SettingsForm::kFile) {
        return emission.file->text;
    }
    const std::string file = emission.file ? file_text(*emission.file) + "\n" : "";
    return file + (emission.form == SettingsForm::kVariables ? variables_text(emission.settings)
                                                             : arguments_text("ARGUMENTS", emission.settings));
}

}  // namespace auspex::interop
