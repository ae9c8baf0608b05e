# The single-threaded OpenBLAS as a static archive, linked into libtritri with its symbols hidden: no threads of its own, nothing shared with another
# OpenBLAS in the process. Debian: libopenblas-serial-dev. Gives OpenBLASStatic::OpenBLASStatic.
find_path(OPENBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-serial ${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial
  PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} /usr/include)
find_library(OPENBLAS_ARCHIVE libopenblas.a PATH_SUFFIXES openblas-serial
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLASStatic REQUIRED_VARS OPENBLAS_ARCHIVE OPENBLAS_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libopenblas-serial-dev, or set OPENBLAS_ARCHIVE and OPENBLAS_INCLUDE_DIR")
if(OpenBLASStatic_FOUND AND NOT TARGET OpenBLASStatic::OpenBLASStatic)
  add_library(OpenBLASStatic::OpenBLASStatic STATIC IMPORTED)
  set_target_properties(OpenBLASStatic::OpenBLASStatic PROPERTIES IMPORTED_LOCATION ${OPENBLAS_ARCHIVE}
    INTERFACE_INCLUDE_DIRECTORIES ${OPENBLAS_INCLUDE_DIR} INTERFACE_LINK_LIBRARIES m)
endif()
