# Files that `cmake --install` installs and cpack puts into the Debian package. cmake/tarball.sh makes the tarball.
#
# The package is lensd-cuda in builds with CUDA, else lensd. Each package replaces the other.
include(GNUInstallDirs)
set(units lensd.service lensd@.service)
if(LENSD_HAS_CUDA)
  set(package lensd-cuda)
  list(APPEND units lensd-nvidia.service)
else()
  set(package lensd)
endif()
set(doc_folder ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package})
set(desktop ${PROJECT_SOURCE_DIR}/config/desktop)
file(STRINGS /etc/os-release debian REGEX "^VERSION_ID=")
string(REGEX REPLACE "[^0-9.]" "" debian "${debian}")
set(debian_revision "1~deb${debian}")  # a package for a newer Debian has a higher version
set(debian_version ${PROJECT_VERSION}-${debian_revision})
# string(TIMESTAMP) uses SOURCE_DATE_EPOCH, if it is set, instead of the current time.
string(TIMESTAMP release_date "%Y-%m-%d" UTC)
string(TIMESTAMP release_time "%a, %d %b %Y %H:%M:%S +0000" UTC)
# The maintainer of the packages, from the variables that Debian's tools use.
set(maintainer "The lensd authors <packages@lensd.org>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()

set(generated ${CMAKE_BINARY_DIR}/packaging)
configure_file(${desktop}/lensd.metainfo.xml.in ${generated}/org.lensd.lensd.metainfo.xml @ONLY)
configure_file(cmake/deb/changelog.in ${generated}/changelog.Debian @ONLY)
configure_file(LICENSE ${generated}/copyright COPYONLY)

install(TARGETS lensd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/config/ DESTINATION ${CMAKE_INSTALL_DATADIR}/lensd
  PATTERN systemd EXCLUDE PATTERN desktop EXCLUDE PATTERN containers EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${doc_folder})
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${generated}/copyright DESTINATION ${doc_folder})
install(FILES ${desktop}/lensd.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES ${desktop}/lensd.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)
install(FILES ${generated}/org.lensd.lensd.metainfo.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo)
install(FILES ${PROJECT_SOURCE_DIR}/config/systemd/lensd.sysusers DESTINATION lib/sysusers.d RENAME lensd.conf)
# The program prints its manual page and completions. The units need the program's path, which is known only at
# installation.
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  function(write_output file)
    get_filename_component(folder \"\${prefix}/\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    message(STATUS \"Installing: \${prefix}/\${file}\")
    execute_process(COMMAND \${ARGN} OUTPUT_FILE \"\${prefix}/\${file}\" RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR \"\${ARGN} failed: \${failed}\")
    endif()
  endfunction()
  function(compress file)
    execute_process(COMMAND gzip -9nf \"\${prefix}/\${file}\" COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  set(program \"$<TARGET_FILE:lensd>\")
  write_output(${CMAKE_INSTALL_MANDIR}/man1/lensd.1 \"\${program}\" manual)
  compress(${CMAKE_INSTALL_MANDIR}/man1/lensd.1)
  set(share ${CMAKE_INSTALL_DATADIR})
  write_output(\${share}/bash-completion/completions/lensd \"\${program}\" completion bash)
  write_output(\${share}/zsh/vendor-completions/_lensd \"\${program}\" completion zsh)
  write_output(\${share}/fish/vendor_completions.d/lensd.fish \"\${program}\" completion fish)
  file(COPY_FILE \"${PROJECT_SOURCE_DIR}/CHANGELOG.md\" \"\${prefix}/${doc_folder}/changelog\")
  compress(${doc_folder}/changelog)
  file(COPY_FILE \"${generated}/changelog.Debian\" \"\${prefix}/${doc_folder}/changelog.Debian\")
  compress(${doc_folder}/changelog.Debian)
  foreach(unit ${units})
    file(READ \"${PROJECT_SOURCE_DIR}/config/systemd/\${unit}\" text)
    string(REPLACE /usr/bin/lensd \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/lensd\" text \"\${text}\")
    message(STATUS \"Installing: \${prefix}/lib/systemd/system/\${unit}\")
    file(WRITE \"\${prefix}/lib/systemd/system/\${unit}\" \"\${text}\")
  endforeach()")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ${package})
set(CPACK_PACKAGE_VENDOR "The lensd authors")
set(CPACK_PACKAGE_CONTACT "${maintainer}")
set(CPACK_PACKAGE_DESCRIPTION
  "Video files, cameras and streams go through a graph of filters, in a window
with a panel that tunes them or as a service. The output is the same byte for
byte on an NVIDIA GPU and on the CPU.
.")
if(LENSD_HAS_CUDA)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "real-time video filters with a GL display, on CUDA or the CPU")
  string(APPEND CPACK_PACKAGE_DESCRIPTION "
This package uses an NVIDIA GPU if there is one, from the RTX 20 series on, and
the CPU otherwise. The package lensd uses the CPU only.")
  set(CPACK_DEBIAN_PACKAGE_PROVIDES "lensd (= ${debian_version})")
  set(CPACK_DEBIAN_PACKAGE_CONFLICTS "lensd")
  set(CPACK_DEBIAN_PACKAGE_REPLACES "lensd")
else()
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "real-time video filters with a GL display, on the CPU")
  string(APPEND CPACK_PACKAGE_DESCRIPTION "
This package uses the CPU only. The package lensd-cuda also uses NVIDIA GPUs.")
  set(CPACK_DEBIAN_PACKAGE_CONFLICTS "lensd-cuda")
  set(CPACK_DEBIAN_PACKAGE_REPLACES "lensd-cuda")
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)  # lensd_0.1.0-1~deb12_amd64.deb
set(CPACK_DEBIAN_PACKAGE_RELEASE ${debian_revision})
# dpkg-shlibdeps finds the libraries that the program is linked with. libcuda and libpipewire are not among them: they
# are loaded at run time.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION video)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "fonts-inter, libgl1")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfontconfig1, pipewire, xclip, wl-clipboard")
if(LENSD_HAS_CUDA)
  string(APPEND CPACK_DEBIAN_PACKAGE_SUGGESTS ", nvidia-modprobe")  # for lensd-nvidia.service
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/deb/postinst ${PROJECT_SOURCE_DIR}/cmake/deb/prerm
  ${PROJECT_SOURCE_DIR}/cmake/deb/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
