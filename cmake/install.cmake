# What `cmake --install` puts where. The program finds its data and trainer by how these folders lie to one another
# (src/launch/installation.cpp), so an installation may be moved.
set(data ${CMAKE_INSTALL_DATADIR}/auspex)
set(manual ${PROJECT_BINARY_DIR}/manual) # written when auspex is built

if(AUSPEX_PORTABLE)
    # libtbb, libcpp-httplib with what it needs, libstdc++ and libgcc_s; the C library is the system's.
    set_target_properties(auspex PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/auspex")
    target_link_options(auspex PRIVATE -Wl,--disable-new-dtags) # for what these libraries need, too
    install(TARGETS auspex RUNTIME_DEPENDENCY_SET auspex_libraries)
    install(RUNTIME_DEPENDENCY_SET auspex_libraries
        PRE_EXCLUDE_REGEXES "^(libc|libm|libdl|librt|libpthread|ld-linux.*)\\.so"
        LIBRARY DESTINATION lib/auspex)
    foreach(package libtbb12 libstdc++6 libssl3 libcpp-httplib0.11 libbrotli1 nlohmann-json3-dev libeigen3-dev) # their licences ask for it
        install(FILES /usr/share/doc/${package}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/libraries RENAME ${package} OPTIONAL)
    endforeach()
else()
    install(TARGETS auspex)
    install(TARGETS auspex-mpi DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/auspex)
endif()

install(DIRECTORY machines stacks workloads plans schemas DESTINATION ${data}
    FILES_MATCHING PATTERN "*.json" PATTERN "*.csv"
    PATTERN "machines/local*" EXCLUDE) # of this computer, made by calibrate
install(PROGRAMS tools/netlab tools/measure_torch.py DESTINATION ${data}/tools)

install(FILES README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md CITATION.cff LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${manual}/completions/auspex DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${manual}/completions/_auspex DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${manual}/completions/auspex.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
