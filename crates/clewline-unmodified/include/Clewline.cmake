# clewline_add_test(TARGET [EXPLORE_OPTION]…): a test that explores the executable TARGET.
#
# include(Clewline) in a project that is configured with the toolchain file beside this one, or with
# -DCMAKE_C_COMPILER="clewline;cc": then TARGET is built by `clewline cc`, and `ctest` explores it.
# With another compiler, the sources of TARGET are compiled by `clewline cc` when the test runs.
find_program(CLEWLINE clewline REQUIRED)
# As FindClewline.cmake or ClewlineConfig.cmake, it is what find_package(Clewline) finds.
set(Clewline_FOUND TRUE)

function(clewline_add_test target)
  get_target_property(sources ${target} SOURCES)
  # The target is instrumented if the compiler of each of its languages is `clewline`.
  set(instrumented TRUE)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\.c$")
      set(language C)
    elseif(source MATCHES "\\.(h|hh|hpp|hxx|inl|inc)$")
      continue()
    else()
      set(language CXX)
    endif()
    if(NOT "${CMAKE_${language}_COMPILER};${CMAKE_${language}_COMPILER_ARG1}" MATCHES "clewline")
      set(instrumented FALSE)
    endif()
  endforeach()
  if(instrumented)
    add_test(NAME clewline.${target} COMMAND ${CLEWLINE} run $<TARGET_FILE:${target}> ${ARGN})
    return()
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  list(TRANSFORM sources PREPEND "${folder}/" REGEX "^[^/$]")
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  # An argument that is empty would be passed on.
  add_test(NAME clewline.${target} COMMAND_EXPAND_LISTS COMMAND ${CLEWLINE}
    "cc$<$<BOOL:${includes}>:;-I$<JOIN:${includes},;-I>>$<$<BOOL:${definitions}>:;-D$<JOIN:${definitions},;-D>>"
    ${sources} ${ARGN})
endfunction()
