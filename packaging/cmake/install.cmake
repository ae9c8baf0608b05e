# What `cmake --install` puts where, in the components that the packages are made of: runtime and development here, python, java and csharp
# by the folder of each language. Everything finds its neighbours by relative paths, so an installed prefix may be moved.
include(CMakePackageConfigHelpers)
set(tritri_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tritri)

install(TARGETS tritri EXPORT tritri
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tritri DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# find_package(tritri 0.1) -> tritri::tritri
install(EXPORT tritri NAMESPACE tritri:: FILE tritri-targets.cmake DESTINATION ${tritri_cmake_dir} COMPONENT development)
configure_package_config_file(packaging/cmake/tritri-config.cmake.in ${PROJECT_BINARY_DIR}/cmake/tritri-config.cmake INSTALL_DESTINATION ${tritri_cmake_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/tritri-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/tritri-config.cmake ${PROJECT_BINARY_DIR}/cmake/tritri-config-version.cmake
  DESTINATION ${tritri_cmake_dir} COMPONENT development)

# pkg-config tritri
file(RELATIVE_PATH tritri_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(packaging/pkgconfig/tritri.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/tritri.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/tritri.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

if(TARGET tritri_python)
  if(SKBUILD)
    # In a wheel the library lies beside the extension module, under the one name that the loader asks for.
    install(FILES $<TARGET_FILE:tritri> DESTINATION tritri RENAME $<TARGET_SONAME_FILE_NAME:tritri> COMPONENT wheel)
    install(TARGETS tritri_python LIBRARY DESTINATION tritri COMPONENT wheel)
  else()
    set(TRITRI_PYTHON_INSTALL_DIR lib/python3/dist-packages CACHE STRING "Where the Python package goes, from the prefix")
    set_property(TARGET tritri_python APPEND PROPERTY INSTALL_RPATH "$ORIGIN/../../..")
    install(TARGETS tritri_python LIBRARY DESTINATION ${TRITRI_PYTHON_INSTALL_DIR}/tritri COMPONENT python)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/python/tritri DESTINATION ${TRITRI_PYTHON_INSTALL_DIR} COMPONENT python
      FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  endif()
endif()

option(TRITRI_DEB "Describe Debian packages for cpack" OFF)
if(TRITRI_DEB)
  include(${PROJECT_SOURCE_DIR}/packaging/cmake/deb.cmake)
endif()
