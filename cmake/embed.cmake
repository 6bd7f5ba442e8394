# auspex_embed(TARGET FILE SYMBOL [HEADER NAMESPACE]): the text of FILE, a style sheet or script of pages, as NAMESPACE::SYMBOL in TARGET,
# declared in HEADER; without them as auspex::report::SYMBOL. Run with -P it writes the source file.
if(CMAKE_SCRIPT_MODE_FILE)
    file(READ "${FILE}" text)
    if(text MATCHES "[)]embedded\"")
        message(FATAL_ERROR "${FILE}: found )embedded\", which ends the text; expected anything else")
    endif()
    file(WRITE "${OUTPUT}" "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n"
        "const char* const ${SYMBOL} = R\"embedded(${text})embedded\";\n}\n")
    return()
endif()

function(auspex_embed target file symbol)
    set(header report/parts/page_assets.hpp)
    set(namespace auspex::report)
    if(ARGC GREATER 3)
        list(GET ARGN 0 header)
        list(GET ARGN 1 namespace)
    endif()
    get_filename_component(name ${file} NAME)
    get_filename_component(path ${file} ABSOLUTE)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -D FILE=${path} -D OUTPUT=${output} -D SYMBOL=${symbol} -D HEADER=${header} -D NAMESPACE=${namespace}
                -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        DEPENDS ${path} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        COMMENT "Embedding ${file}"
        VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()
