# What `cmake --install` and `cpack` (./dev package) deliver: the program, example configuration, documents.
include(GNUInstallDirs)
install(TARGETS lensd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/config/ DESTINATION ${CMAKE_INSTALL_DATADIR}/lensd)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME lensd)
set(CPACK_PACKAGE_VENDOR "The lensd authors")
set(CPACK_PACKAGE_CONTACT "The lensd authors <lensd@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Real-time video processing with a GL display, on CUDA or the CPU")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME "lensd-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR}")
# Library dependencies are read off the program; libcuda belongs to the driver and is opened at run time.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION video)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-inter")
include(CPack)
