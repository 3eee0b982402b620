# What `cmake --install` delivers, and cpack as a Debian package. cmake/tarball.sh makes the tarball of it.
include(GNUInstallDirs)
set(desktop ${PROJECT_SOURCE_DIR}/config/desktop)
install(TARGETS lensd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/config/ DESTINATION ${CMAKE_INSTALL_DATADIR}/lensd
  PATTERN systemd EXCLUDE PATTERN desktop EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN lensd.1 EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES ${PROJECT_SOURCE_DIR}/docs/lensd.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${desktop}/lensd.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES ${desktop}/lensd.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES ${desktop}/lensd.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME lensd)
install(FILES ${PROJECT_SOURCE_DIR}/config/systemd/lensd.sysusers DESTINATION lib/sysusers.d RENAME lensd.conf)
# The units name the program where it is installed, which is known only now.
install(CODE "
  foreach(unit lensd.service lensd@.service)
    file(READ \"${PROJECT_SOURCE_DIR}/config/systemd/\${unit}\" text)
    string(REPLACE /usr/bin/lensd \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/lensd\" text \"\${text}\")
    set(folder \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\")
    message(STATUS \"Installing: \$ENV{DESTDIR}\${folder}/\${unit}\")
    file(WRITE \"\$ENV{DESTDIR}\${folder}/\${unit}\" \"\${text}\")
  endforeach()")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lensd)
set(CPACK_PACKAGE_VENDOR "The lensd authors")
set(CPACK_PACKAGE_CONTACT "The lensd authors <lensd@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Real-time video processing with a GL display, on CUDA or the CPU")
set(CPACK_PACKAGE_DESCRIPTION
  "Video files, cameras and streams go through a graph of filters, in a window with a panel that tunes them or as
a service. The output is the same byte for byte on an NVIDIA GPU and on the CPU.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)  # lensd_0.1.0_amd64.deb
# Library dependencies are read off the program; libcuda belongs to the driver and is opened at run time.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION video)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-inter, libgl1")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/deb/postinst ${PROJECT_SOURCE_DIR}/cmake/deb/prerm
  ${PROJECT_SOURCE_DIR}/cmake/deb/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
