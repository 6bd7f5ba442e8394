# What `cmake --preset wasm` builds with Debian's emscripten: build/wasm/explore.html, the page of `auspex explore` as one file that needs no
# server. One thread, no OpenSSL, no zlib; libraries that are headers only are Debian's.
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")

# Their headers alone: the others of /usr/include are not of this system.
set(headers ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${headers})
foreach(name boost nlohmann)
    if(NOT EXISTS /usr/include/${name})
        message(FATAL_ERROR "found no /usr/include/${name}; expected Debian's libboost-graph-dev and nlohmann-json3-dev")
    endif()
    file(CREATE_LINK /usr/include/${name} ${headers}/${name} SYMBOLIC)
endforeach()
foreach(target Boost::headers nlohmann_json::nlohmann_json)
    add_library(${target} INTERFACE IMPORTED)
    target_include_directories(${target} INTERFACE ${headers})
endforeach()
add_library(TBB::tbb INTERFACE IMPORTED)
target_include_directories(TBB::tbb INTERFACE ${PROJECT_SOURCE_DIR}/cmake/wasm/include)

include(cmake/layer.cmake)
target_compile_options(auspex_flags INTERFACE -fwasm-exceptions "SHELL:-include ${PROJECT_SOURCE_DIR}/cmake/wasm/std_additions.hpp")
add_subdirectory(src/base)
add_subdirectory(src/models)
add_subdirectory(src/campaign)
add_subdirectory(src/interop)
add_subdirectory(src/schedule)
add_subdirectory(src/sim)
add_subdirectory(src/report)
add_subdirectory(src/explore)

# The data files that the engine has in it, without those of this computer (machines/local.json).
set(data ${PROJECT_BINARY_DIR}/data)
set(files)
set(embedded)
foreach(role machines stacks workloads plans)
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${role}/*.json)
    list(FILTER found EXCLUDE REGEX "machines/local")
    file(REMOVE_RECURSE ${data}/${role})
    file(COPY ${found} DESTINATION ${data}/${role})
    list(APPEND files ${found})
    list(APPEND embedded "SHELL:--embed-file ${data}/${role}@/${role}")
endforeach()

add_executable(explore_engine src/explore/engine/engine.cpp)
target_link_libraries(explore_engine PRIVATE auspex::explore)
target_link_options(explore_engine PRIVATE
    -fwasm-exceptions ${embedded} -sSINGLE_FILE=1 -sMODULARIZE=1 -sEXPORT_NAME=auspexEngine -sENVIRONMENT=worker,node
    -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=134217728 -sTOTAL_STACK=8388608 -sEXPORTED_RUNTIME_METHODS=ccall)
set_target_properties(explore_engine PROPERTIES LINK_DEPENDS "${files}")

add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/explore.html
    COMMAND node ${PROJECT_SOURCE_DIR}/cmake/wasm/make_page.js $<TARGET_FILE:explore_engine> ${PROJECT_BINARY_DIR}/explore.html
    DEPENDS explore_engine ${PROJECT_SOURCE_DIR}/cmake/wasm/make_page.js
    COMMENT "Writing explore.html"
    VERBATIM)
add_custom_target(explore_page ALL DEPENDS ${PROJECT_BINARY_DIR}/explore.html)
