# auspex_embed(TARGET FILE SYMBOL): the text of FILE, a style sheet or script of pages, as auspex::report::SYMBOL in TARGET. Run with -P it
# writes the source file.
if(CMAKE_SCRIPT_MODE_FILE)
    file(READ "${FILE}" text)
    if(text MATCHES "[)]embedded\"")
        message(FATAL_ERROR "${FILE}: found )embedded\", which ends the text; expected anything else")
    endif()
    file(WRITE "${OUTPUT}" "#include \"report/parts/page_assets.hpp\"\n\nnamespace auspex::report {\n"
        "const char* const ${SYMBOL} = R\"embedded(${text})embedded\";\n}\n")
    return()
endif()

function(auspex_embed target file symbol)
    get_filename_component(name ${file} NAME)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -D FILE=${CMAKE_CURRENT_SOURCE_DIR}/${file} -D OUTPUT=${output} -D SYMBOL=${symbol}
                -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        COMMENT "Embedding ${file}"
        VERBATIM)
    target_sources(${target} PRIVATE ${output})
endfunction()
