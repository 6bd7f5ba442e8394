/// @file For each shell: what is fixed as text, and around it a line for each command and flag.
#include "cli/flags/completion_scripts.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

#include "cli/flags/flag_texts.hpp"

namespace auspex::cli {
namespace {

/// What stands behind a flag.
enum class ValueKind { kNone, kText, kFile, kFolder, kNames, kWords };

ValueKind kind_of(const FlagText& text) {
    if (text.value == nullptr) {
        return ValueKind::kNone;
    }
    const std::string_view value = text.value;
    if (text.role != nullptr) {
        return ValueKind::kNames;
    }
    if (value.find('|') != std::string_view::npos) {
        return ValueKind::kWords;
    }
    if (value == "DIR") {
        return ValueKind::kFolder;
    }
    return value.starts_with("FILE") || value == "PREFIX" ? ValueKind::kFile : ValueKind::kText;
}

/// "folded|unfolded" with another separator.
std::string words_of(const FlagText& text, char separator) {
    std::string words = text.value;
    std::replace(words.begin(), words.end(), '|', separator);
    return words;
}

/// With a backslash before each of those characters.
std::string escaped(std::string_view text, std::string_view characters) {
    std::string out;
    for (const char c : text) {
        out += characters.find(c) == std::string_view::npos ? std::string(1, c) : std::string("\\") + c;
    }
    return out;
}

/// A word of the command line: a command of one word, or the first of several commands of two.
struct FirstWord {
    std::string word;
    std::vector<const Command*> commands;
    [[nodiscard]] bool is_group() const { return word != commands.front()->name; }
    /// What it is for: a group names its second words.
    [[nodiscard]] std::string summary() const {
        std::string words;
        for (const Command* command : commands) {
            words += (words.empty() ? "" : ", ") + second(*command);
        }
        return is_group() ? words : commands.front()->summary;
    }
    [[nodiscard]] std::string second(const Command& command) const {
        const std::string name = command.name;
        return name.size() > word.size() ? name.substr(word.size() + 1) : "";
    }
};

std::vector<FirstWord> first_words(const std::vector<Command>& commands) {
    std::vector<FirstWord> words;
    for (const Command& command : commands) {
        const std::string name = command.name, word = name.substr(0, name.find(' '));
        if (words.empty() || words.back().word != word) {
            words.push_back({word, {}});
        }
        words.back().commands.push_back(&command);
    }
    return words;
}

// --- bash

/// "--lens=words:folded,unfolded"; a "+" at the end: several values behind the flag.
std::string bash_entry(const CommandFlag& flag) {
    const FlagText& text = flag.text;
    const auto value = [&]() -> std::string {
        switch (kind_of(text)) {
            case ValueKind::kNone: return "none";
            case ValueKind::kText: return "text";
            case ValueKind::kFile: return "file";
            case ValueKind::kFolder: return "folder";
            case ValueKind::kNames: return std::string("names:") + text.role;
            case ValueKind::kWords: return "words:" + words_of(text, ',');
        }
        return "text";
    };
    return std::string("--") + text.name + "=" + value() + (flag.takes_many ? "+" : "");
}

constexpr const char* kBashLogic = R"BASH(
# Prints what stands behind a flag of a command: none, text, file, folder, names:ROLE, words:A,B; "+" at the end: several.
_auspex_value() { # COMMAND --FLAG
    local entry
    for entry in $(_auspex_flags "$1"); do
        [[ $entry == "$2="* ]] && echo "${entry#*=}"
    done
}

_auspex() {
    local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} first=2 value= i IFS=$' \t\n'
    [[ $current == = ]] && current=
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "$_auspex_words --help --version" -- "$current"))
        return
    fi
    if [[ -n $(_auspex_seconds "$command") ]]; then
        if ((COMP_CWORD == 2)); then
            COMPREPLY=($(compgen -W "$(_auspex_seconds "$command") --help" -- "$current"))
            return
        fi
        command+=" ${COMP_WORDS[2]}" first=3
    fi
    for ((i = COMP_CWORD - 1; i >= first; i--)); do # the flag that this word is a value of
        if [[ ${COMP_WORDS[i]} == -* ]]; then
            value=$(_auspex_value "$command" "${COMP_WORDS[i]}")
            break
        fi
    done
    local before=${COMP_WORDS[COMP_CWORD - 1]}
    if [[ $value != *+ && $before != -* && $before != = ]]; then
        value=
    fi
    [[ $current == -* ]] && value=
    case ${value%+} in
        names:*)
            local role=${value#names:}
            role=${role%+}
            COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" completion names --role "$role" 2>/dev/null)" -- "$current"))
            ((${#COMPREPLY[@]})) || compopt -o default 2>/dev/null
            ;;
        words:*) COMPREPLY=($(compgen -W "$(tr , ' ' <<<"${value#words:}")" -- "$current")) ;;
        folder) compopt -o dirnames 2>/dev/null ;;
        file) compopt -o default 2>/dev/null ;;
        text) ;;
        *) COMPREPLY=($(compgen -W "$(_auspex_flags "$command" | tr ' ' '\n' | sed 's/=.*//') --help" -- "$current")) ;;
    esac
}
complete -F _auspex auspex
)BASH";

// --- zsh

std::string zsh_action(const FlagText& text) {
    switch (kind_of(text)) {
        case ValueKind::kNone: return "";
        case ValueKind::kText: return " ";
        case ValueKind::kFile: return "_files";
        case ValueKind::kFolder: return "_files -/";
        case ValueKind::kNames: return std::string(" _auspex_names ") + text.role;
        case ValueKind::kWords: return "(" + words_of(text, ' ') + ")";
    }
    return "";
}

/// In single quotes, as zsh reads it.
std::string zsh_quoted(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out + "'";
}

/// An argument of _arguments: '*--set=[override a field]:ROLE.PATH=VALUE: '.
std::string zsh_argument(const CommandFlag& flag) {
    const FlagText& text = flag.text;
    const std::string explanation = "[" + escaped(text.meaning, "[]:\\") + "]";
    const std::string name = (flag.is_repeatable ? "*--" : "--") + std::string(text.name);
    if (text.value == nullptr) {
        return zsh_quoted(name + explanation);
    }
    const std::string value = escaped(text.value, ":\\") + ":" + zsh_action(text);
    return zsh_quoted(flag.takes_many ? name + explanation + ":*-*:" + value : name + "=" + explanation + ":" + value);
}

constexpr const char* kZshNames = R"ZSH(
_auspex_names() { # ROLE
    local expl
    local -a names=(${(f)"$(${(Q)program} completion names --role $1 2>/dev/null)"})
    _wanted names expl $1 compadd -a names || _files
}

_auspex() {
    local program=$words[1] command
    local -a found
    if ((CURRENT == 2)); then
)ZSH";

std::string zsh_choice(const std::vector<std::pair<std::string, std::string>>& words, const std::string& indent) {
    std::string out = indent + "found=(\n";
    for (const auto& [word, summary] : words) {
        out += indent + "    " + zsh_quoted(word + ":" + escaped(summary, ":\\")) + "\n";
    }
    return out + indent + ")\n" + indent + "_describe command found\n";
}

std::string zsh_second_words(const FirstWord& word) {
    std::vector<std::pair<std::string, std::string>> seconds;
    for (const Command* command : word.commands) {
        seconds.emplace_back(word.second(*command), command->summary);
    }
    return "        " + word.word + ")\n            if ((CURRENT == 3)); then\n" +
           zsh_choice(seconds, "                ") +
           "                return\n            fi\n            command+=\" $words[3]\"\n            shift words\n"
           "            ((CURRENT--))\n            ;;\n";
}

// --- fish

std::string fish_quoted(std::string_view text) { return "'" + escaped(text, "\\'") + "'"; }

std::string fish_value(const FlagText& text) {
    switch (kind_of(text)) {
        case ValueKind::kNone: return "";
        case ValueKind::kText: return " -x";
        case ValueKind::kFile: return " -r -F";
        case ValueKind::kFolder: return " -x -a '(__fish_complete_directories)'";
        case ValueKind::kNames:
            return std::string(" -r -F -a '(__auspex_program completion names --role ") + text.role + ")'";
        case ValueKind::kWords: return " -x -a " + fish_quoted(words_of(text, ' '));
    }
    return "";
}

constexpr const char* kFishHead = R"FISH(# fish completion of auspex, made by "auspex completion fish"

function __auspex_program # the program whose command line is completed
    set -l words (commandline -opc)
    command $words[1] $argv 2>/dev/null
end

function __auspex_has # the words behind the program's name, so many as are given
    set -l words (commandline -opc)
    set -l last (math 1 + (count $argv))
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end

function __auspex_after # how many words there are
    test (count (commandline -opc)) -eq $argv[1]
end

complete -c auspex -f
)FISH";

}  // namespace

std::string bash_completion(const std::vector<Command>& commands) {
    std::ostringstream out, seconds;
    out << "# bash completion of auspex, made by \"auspex completion bash\"\n\n_auspex_words='";
    for (const FirstWord& word : first_words(commands)) {
        out << word.word << " ";
        if (word.is_group()) {
            seconds << "        " << word.word << ") echo '";
            for (const Command* command : word.commands) {
                seconds << word.second(*command) << " ";
            }
            seconds << "' ;;\n";
        }
    }
    out << "'\n\n_auspex_seconds() { # FIRST-WORD\n    case $1 in\n"
        << seconds.str() << "    esac\n}\n\n"
        << "_auspex_flags() { # COMMAND\n    case $1 in\n";
    for (const Command& command : commands) {
        out << "        '" << command.name << "') echo '";
        for (const CommandFlag& flag : flags_of(command)) {
            out << bash_entry(flag) << " ";
        }
        out << "' ;;\n";
    }
    out << "    esac\n}\n" << kBashLogic;
    return out.str();
}

std::string zsh_completion(const std::vector<Command>& commands) {
    const std::vector<FirstWord> words = first_words(commands);
    std::vector<std::pair<std::string, std::string>> firsts;
    for (const FirstWord& word : words) {
        firsts.emplace_back(word.word, word.summary());
    }
    std::ostringstream out;
    out << "#compdef auspex\n# zsh completion of auspex, made by \"auspex completion zsh\"\n"
        << kZshNames << zsh_choice(firsts, "        ")
        << "        return\n    fi\n    command=$words[2]\n    case $command in\n";
    for (const FirstWord& word : words) {
        out << (word.is_group() ? zsh_second_words(word) : "");
    }
    out << "    esac\n    shift words\n    ((CURRENT--))\n    case $command in\n";
    for (const Command& command : commands) {
        out << "        " << zsh_quoted(command.name) << ")\n            _arguments '--help[list the flags]'";
        for (const CommandFlag& flag : flags_of(command)) {
            out << " \\\n                " << zsh_argument(flag);
        }
        out << "\n            ;;\n";
    }
    out << "    esac\n}\n\n_auspex \"$@\"\n";
    return out.str();
}

std::string fish_completion(const std::vector<Command>& commands) {
    std::ostringstream out;
    out << kFishHead;
    for (const FirstWord& word : first_words(commands)) {
        out << "complete -c auspex -n '__auspex_after 1' -a " << word.word << " -d " << fish_quoted(word.summary())
            << "\n";
        for (const Command* command : word.commands) {
            if (word.is_group()) {
                out << "complete -c auspex -n '__auspex_after 2; and __auspex_has " << word.word << "' -a "
                    << word.second(*command) << " -d " << fish_quoted(command->summary) << "\n";
            }
        }
    }
    for (const Command& command : commands) {
        for (const CommandFlag& flag : flags_of(command)) {
            out << "complete -c auspex -n '__auspex_has " << command.name << "' -l " << flag.text.name
                << fish_value(flag.text) << " -d " << fish_quoted(flag.text.meaning) << "\n";
        }
    }
    return out.str();
}

}  // namespace auspex::cli
