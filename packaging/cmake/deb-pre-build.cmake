# Run by cpack on each staged package. Debian's libraries lie where the loader looks: a search path of their own is a fault there (in
# the build tree, a wheel or a jar it is what finds libtritri.so.0).
file(GLOB_RECURSE libraries LIST_DIRECTORIES FALSE ${CPACK_TEMPORARY_DIRECTORY}/*.so*)
foreach(library IN LISTS libraries)
  if(NOT IS_SYMLINK ${library})
    file(RPATH_REMOVE FILE ${library})
  endif()
endforeach()

# Debian's name for a jar carries the version; the natives that Maven users need inside are in the package itself.
file(GLOB_RECURSE jar ${CPACK_TEMPORARY_DIRECTORY}/*/tritri.jar)
if(jar)
  get_filename_component(folder ${jar} DIRECTORY)
  execute_process(COMMAND zip -qd ${jar} "natives/*" COMMAND_ERROR_IS_FATAL ANY)
  file(RENAME ${jar} ${folder}/tritri-${CPACK_PACKAGE_VERSION}.jar)
  file(CREATE_LINK tritri-${CPACK_PACKAGE_VERSION}.jar ${folder}/tritri.jar SYMBOLIC)
endif()
