/// @file Words to flags.
#include "models/flag_words.hpp"

#include "base/json.hpp"

namespace auspex::models {

void set_flags(const JsonValue& list, std::initializer_list<std::string_view> words,
               std::initializer_list<bool*> flags) {
    for (const JsonValue& word : list.elements()) {
        bool& flag = **(flags.begin() + word.as_one_of(words));
        if (flag) {
            word.fail("each word once");
        }
        flag = true;
    }
}

}  // namespace auspex::models
