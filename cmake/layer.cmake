# The flags of every target of the project. Fused multiply-add would make results depend on the compiler's mood. The two
# warnings switched off are false alarms of gcc 12 inside std::string and Boost.Graph once they are inlined.
add_library(auspex_flags INTERFACE)
target_compile_options(auspex_flags INTERFACE
    -ffp-contract=off
    "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=" # failed checks name files from here, wherever it was built
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
    -Woverloaded-virtual -Wimplicit-fallthrough
    $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op -Wuseless-cast -Wno-restrict -Wno-maybe-uninitialized>
    $<$<BOOL:${AUSPEX_WERROR}>:-Werror>)
target_include_directories(auspex_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)

# auspex_layer(NAME SOURCES file... [DEPENDS layer...] [PRIVATE library...])
# One folder of src/ as one static library, auspex::NAME. Third-party libraries are PRIVATE: no header of ours shows them.
function(auspex_layer name)
    cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "SOURCES;DEPENDS;PRIVATE")
    add_library(auspex_${name} STATIC ${layer_SOURCES})
    add_library(auspex::${name} ALIAS auspex_${name})
    list(TRANSFORM layer_DEPENDS PREPEND auspex::)
    target_link_libraries(auspex_${name} PUBLIC auspex_flags ${layer_DEPENDS} PRIVATE ${layer_PRIVATE})
endfunction()
