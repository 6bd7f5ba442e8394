# The flags of every target of the project. Fused multiply-add would make results depend on the compiler's mood. The two
# warnings switched off are false alarms of gcc 12 inside std::string and Boost.Graph once they are inlined; three more of
# joined files (CMAKE_UNITY_BUILD) are of names of a neighbour, of types that only the file has which its header names,
# and again of std::string.
add_library(auspex_flags INTERFACE)
target_compile_options(auspex_flags INTERFACE
    -ffp-contract=off
    "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=" # failed checks name files from here, wherever it was built
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
    -Woverloaded-virtual -Wimplicit-fallthrough
    $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op -Wuseless-cast -Wno-restrict -Wno-maybe-uninitialized>
    $<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<CXX_COMPILER_ID:GNU>>:-Wno-shadow;-Wno-subobject-linkage;-Wno-array-bounds;-Wno-stringop-overflow>
    $<$<BOOL:${AUSPEX_WERROR}>:-Werror>)
target_include_directories(auspex_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)

# What our files include most of the standard library is read once: a quarter of what compiling them takes. They name what they use all
# the same; the preset `tidy` compiles without. Emscripten's build has headers of its own in front.
add_library(auspex_standard_headers OBJECT ${PROJECT_SOURCE_DIR}/cmake/standard_headers.cpp)
target_link_libraries(auspex_standard_headers PRIVATE auspex_flags)
target_precompile_headers(auspex_standard_headers PRIVATE
    <algorithm> <array> <chrono> <cmath> <cstddef> <cstdint> <filesystem> <fstream> <functional> <iostream> <map> <memory> <optional>
    <set> <span> <sstream> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
function(auspex_precompiled target)
    if(NOT EMSCRIPTEN)
        target_precompile_headers(${target} REUSE_FROM auspex_standard_headers)
    endif()
endfunction()

# auspex_apart(file...)
# Files are joined to be compiled together (CMAKE_UNITY_BUILD of the preset `release`: less than half the time), those in this list are
# not: their own names (helpers, constants) are names of neighbours', too, which the compiler tells, or of their namespace's headers,
# where neighbours would silently mean theirs, which tests/arch/check_own_names.pl tells.
function(auspex_apart)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# auspex_layer(NAME SOURCES file... [DEPENDS layer...] [PRIVATE library...])
# One folder of src/ as one static library, auspex::NAME. Third-party libraries are PRIVATE: no header of ours shows them.
function(auspex_layer name)
    cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "SOURCES;DEPENDS;PRIVATE")
    add_library(auspex_${name} STATIC ${layer_SOURCES})
    add_library(auspex::${name} ALIAS auspex_${name})
    list(TRANSFORM layer_DEPENDS PREPEND auspex::)
    target_link_libraries(auspex_${name} PUBLIC auspex_flags ${layer_DEPENDS} PRIVATE ${layer_PRIVATE})
    auspex_precompiled(auspex_${name})
endfunction()
