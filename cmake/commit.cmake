# Run at every build: cmake -D SOURCE=FOLDER -D OUTPUT=commit.cpp -P commit.cmake
# Writes the commit of the sources into OUTPUT, which is touched only when that changes.
set(commit "")
set(date "")
execute_process(COMMAND git rev-parse --show-toplevel
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
file(REAL_PATH "${SOURCE}" source)
if(status EQUAL 0 AND top STREQUAL source) # not the repository of somebody who unpacked the sources in it
    execute_process(COMMAND git describe --always --dirty
        WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND git log -1 --format=%cs
        WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "cli/flags/version.hpp"

namespace auspex::cli {

const char* const kBuildCommit = "@commit@";
const char* const kBuildCommitDate = "@date@";

}  // namespace auspex::cli
]])
