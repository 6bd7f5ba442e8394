# What `cpack --preset debian` and `cpack --preset portable` make.
set(CPACK_PACKAGE_NAME auspex)
set(CPACK_PACKAGE_VENDOR "The Auspex authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator of large-scale Mixture-of-Experts pretraining")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
string(TOLOWER ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} system)
set(CPACK_PACKAGE_FILE_NAME auspex-${PROJECT_VERSION}-${system}-portable)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(AUSPEX_MAINTAINER "The Auspex authors" CACHE STRING "Who answers for the Debian package: NAME <ADDRESS>")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${AUSPEX_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Auspex predicts the training step of Mixture-of-Experts models on a large
machine by discrete-event simulation, and says where the time goes and how
efficiency falls with size. Its trainer runs the same program on the cores
of this computer, to compare.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin") # mpirun, for train, verify, calibrate and compare
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "iproute2, python3") # for share/auspex/tools
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian/arrange.cmake)
set(CPACK_AUSPEX_SOURCE ${PROJECT_SOURCE_DIR})
include(CPack)
