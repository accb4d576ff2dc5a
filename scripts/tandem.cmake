# How rooms, tests and fuzz targets are made.  Files are found by their place:
# no list of files is edited by hand.

include(GNUInstallDirs)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(TD_STAGE ${PROJECT_BINARY_DIR}/python)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Assertions of our own stay on in every build; NDEBUG would only change what
# CPython's headers check.
foreach(language C CXX)
  foreach(type RELEASE RELWITHDEBINFO)
    string(REPLACE "-DNDEBUG" "" CMAKE_${language}_FLAGS_${type} "${CMAKE_${language}_FLAGS_${type}}")
  endforeach()
endforeach()

# ---- the subject is optimised across its files -------------------------------------

# In what users run (the extension module) alone: everything else links the plain
# code that the same object files hold.
set(TD_LINK_TIME_ROOMS base py builder)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  set(TD_LINK_TIME_COMPILE -flto -ffat-lto-objects -fno-semantic-interposition)
  set(TD_LINK_TIME_LINK -flto=2 -O3)
endif()

# ---- the engine ---------------------------------------------------------------

# A fuzzing service hands over its engine and all flags; ours stay out then.
if(DEFINED ENV{LIB_FUZZING_ENGINE} AND NOT "$ENV{LIB_FUZZING_ENGINE}" STREQUAL "")
  set(TD_ENGINE_DRIVER libfuzzer)
  set(TD_ENGINE_COMPILE "")
  separate_arguments(TD_ENGINE_LINK UNIX_COMMAND "$ENV{LIB_FUZZING_ENGINE}")
else()
  include(${PROJECT_SOURCE_DIR}/fuzz/engine_${TD_ENGINE}.cmake)
endif()

# ---- flags that every file of ours is compiled with -----------------------------

add_library(td_flags INTERFACE)
target_include_directories(td_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(td_flags INTERFACE -Wall -Wextra ${TD_ENGINE_COMPILE})
# snprintf into a message of bounded size is meant to cut.
target_compile_options(td_flags INTERFACE $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>)
# What an assertion prints is the same wherever the checkout lies.
target_compile_options(td_flags INTERFACE -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
# POSIX and GNU names are asked for once, here, not file by file.
target_compile_definitions(td_flags INTERFACE _GNU_SOURCE)
if(TD_LINK_TIME_LINK)
  target_link_options(td_flags INTERFACE "$<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:NAME>,_tandem>>:-fno-lto>")
endif()
if(TD_WERROR)
  target_compile_options(td_flags INTERFACE -Werror)
endif()
if(TD_SANITIZE)
  # Undefined behaviour that only prints goes unseen: halt at the first error.
  set(sanitize -fsanitize=${TD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(td_flags INTERFACE ${sanitize})
  target_link_options(td_flags INTERFACE -fsanitize=${TD_SANITIZE})
endif()
if(TD_COVERAGE)
  target_compile_options(td_flags INTERFACE -fprofile-instr-generate -fcoverage-mapping)
  target_compile_definitions(td_flags INTERFACE TD_COVERED)
  target_link_options(td_flags INTERFACE -fprofile-instr-generate)
endif()

# ---- Python ---------------------------------------------------------------------

# The interpreter is given (Python3_EXECUTABLE) by the scripts or by the wheel's
# builder; its headers and shared library follow from it.
if(TD_WITH_PYTHON)
  if(SKBUILD)
    find_package(Python3 3.11...<3.12 REQUIRED COMPONENTS Interpreter Development.Module)
  else()
    set(Python3_USE_STATIC_LIBS FALSE)
    set(Python3_FIND_VIRTUALENV FIRST)
    find_package(Python3 3.11...<3.12 COMPONENTS Interpreter Development.Module Development.Embed)
    if(NOT Python3_Interpreter_FOUND OR NOT Python3_Development.Module_FOUND)
      message(FATAL_ERROR "Python 3.11 with its headers was not found: give "
        "-DPython3_EXECUTABLE=PATH (scripts/test does), or -DTD_WITH_PYTHON=OFF for the rooms without it")
    endif()
    if(NOT Python3_Development.Embed_FOUND)
      message(FATAL_ERROR "${Python3_EXECUTABLE} has no shared libpython3.11: "
        "take a Python 3.11 configured with --enable-shared (Debian: apt-get install libpython3.11-dev)")
    endif()
  endif()
endif()

# Linked by every executable that may load torch.
#
# libstdc++ must be there from the start: the address sanitizer looks its
# __cxa_throw up when it starts, and without it dies at torch's first exception.
# It is kept although no C file of ours uses it.
if(TD_WITH_PYTHON AND NOT SKBUILD)
  add_library(td_embed INTERFACE)
  target_link_libraries(td_embed INTERFACE Python3::Python)
  target_link_options(td_embed INTERFACE "LINKER:--no-as-needed" -lstdc++ "LINKER:--as-needed")
endif()

# ---- rooms ----------------------------------------------------------------------

# td_add_room(NAME [USES room...] [PURE]): all .c files of src/NAME.
#
# Each room is a static library of its own, so that a test links its room and
# what that room may use, nothing else.  A pure room knows no Python and is
# compiled pedantically, which CPython's slot tables could not pass.
function(td_add_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "PURE" "" "USES")
  if(NOT room_PURE AND NOT TD_WITH_PYTHON)
    return()
  endif()
  list(TRANSFORM room_USES PREPEND td_)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.c)
  if(files)
    add_library(td_${name} STATIC ${files})
    target_link_libraries(td_${name} PUBLIC td_flags ${room_USES})
    set_property(GLOBAL APPEND PROPERTY TD_OBJECTS $<TARGET_OBJECTS:td_${name}>)
    if(name IN_LIST TD_LINK_TIME_ROOMS)
      target_compile_options(td_${name} PRIVATE ${TD_LINK_TIME_COMPILE})
    endif()
    if(room_PURE)
      target_compile_options(td_${name} PRIVATE -Wpedantic)
    elseif(TD_WITH_PYTHON)
      target_link_libraries(td_${name} PUBLIC Python3::Module)
    endif()
  else()
    add_library(td_${name} INTERFACE)
    target_link_libraries(td_${name} INTERFACE td_flags ${room_USES})
    if(NOT room_PURE AND TD_WITH_PYTHON)
      target_link_libraries(td_${name} INTERFACE Python3::Module)
    endif()
  endif()
  set_property(GLOBAL APPEND PROPERTY TD_ROOMS ${name})
  if(room_PURE)
    set_property(GLOBAL APPEND PROPERTY TD_PURE_ROOMS ${name})
  endif()
  # Where the embedded interpreter finds its packages.  A wheel is loaded by an
  # interpreter that is already there, and holds no path of the machine that
  # made it.
  if(name STREQUAL "py" AND files AND NOT SKBUILD)
    target_compile_definitions(td_py PRIVATE ${TD_PYTHON_DEFINITIONS})
  endif()
endfunction()

if(TD_WITH_PYTHON AND NOT SKBUILD)
  set(TD_PYTHON_DEFINITIONS
    TD_PYTHON_EXECUTABLE="${Python3_EXECUTABLE}" TD_PYTHON_PATH="${TD_STAGE}")
endif()

# The one static library that the extension module, tandem-python and every fuzz
# target link.  It never links libpython: executables do.
function(td_add_core)
  get_property(objects GLOBAL PROPERTY TD_OBJECTS)
  if(objects)
    add_library(tandem_core STATIC ${objects})
    set_target_properties(tandem_core PROPERTIES LINKER_LANGUAGE C)
    target_link_libraries(tandem_core PUBLIC td_flags m)
  else()
    add_library(tandem_core INTERFACE)
    target_link_libraries(tandem_core INTERFACE td_flags m)
  endif()
endfunction()

# td_add_program(NAME SOURCE...): an executable that may load torch.
function(td_add_program name)
  add_executable(${name} ${ARGN} ${PROJECT_SOURCE_DIR}/fuzz/sanitizer_options.c)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PRIVATE td_embed)
endfunction()

# ---- the extension module and our own interpreter ---------------------------------

# The package as it is used without installation: links to src/tandem and oracle,
# which a wheel maps in the same way.
function(td_stage_package)
  file(GLOB entries CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tandem/*)
  file(REMOVE_RECURSE ${TD_STAGE}/tandem)
  file(MAKE_DIRECTORY ${TD_STAGE}/tandem)
  list(FILTER entries EXCLUDE REGEX "\\.(c|h)$|__pycache__$")
  foreach(entry IN LISTS entries)
    get_filename_component(entry_name ${entry} NAME)
    file(CREATE_LINK ${entry} ${TD_STAGE}/tandem/${entry_name} SYMBOLIC)
  endforeach()
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/oracle ${TD_STAGE}/tandem/oracle SYMBOLIC)
endfunction()

function(td_add_python)
  if(NOT TD_WITH_PYTHON)
    return()
  endif()
  file(GLOB module_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/tandem/_tandem*.c)
  if(module_files AND TD_WITH_MODULE)
    Python3_add_library(_tandem MODULE WITH_SOABI ${module_files})
    target_link_libraries(_tandem PRIVATE tandem_core)
    target_link_options(_tandem PRIVATE ${TD_LINK_TIME_LINK})
    set_target_properties(_tandem PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${TD_STAGE})
    install(TARGETS _tandem DESTINATION .)
  endif()
  if(SKBUILD)
    return()
  endif()
  td_stage_package()
  td_add_program(tandem-python ${PROJECT_SOURCE_DIR}/src/tandem/tandem_python.c ${module_files})
  target_link_libraries(tandem-python PRIVATE tandem_core)
  target_compile_definitions(tandem-python PRIVATE ${TD_PYTHON_DEFINITIONS})
  if(module_files)
    target_compile_definitions(tandem-python PRIVATE TD_WITH_BUILTIN_MODULE)
  endif()
endfunction()

# ---- tests ------------------------------------------------------------------------

# Every tests/<room>/test_*.c is one cmocka executable that links its room and
# what that room may use.
function(td_add_tests)
  if(NOT TD_WITH_TESTS OR SKBUILD)
    return()
  endif()
  find_library(TD_CMOCKA cmocka)
  if(NOT TD_CMOCKA)
    message(FATAL_ERROR "cmocka was not found (Debian: apt-get install libcmocka-dev)")
  endif()
  get_property(rooms GLOBAL PROPERTY TD_ROOMS)
  foreach(room IN LISTS rooms)
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${room}/test_*.c)
    foreach(file IN LISTS files)
      td_add_test(${room} ${file})
    endforeach()
  endforeach()
endfunction()

# Every tests/check/subject_*.c is a subject in a shared object of its own,
# <build>/subjects/<name>.so, as a third party would make it: from td_abi.h alone.
function(td_add_test_subjects)
  if(NOT TD_WITH_TESTS OR NOT TD_WITH_PYTHON OR SKBUILD)
    return()
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/check/subject_*.c)
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    add_library(${name} MODULE ${file})
    target_link_libraries(${name} PRIVATE td_flags Python3::Module)
    set_target_properties(${name} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/subjects)
  endforeach()
endfunction()

# td_add_subject(NAME file...): <build>/subjects/NAME.so, the subject once more, from these
# sources.  It brings its own copy of all that it uses and shows what is marked as shown.
function(td_add_subject name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE td_flags td_py td_observe td_base Python3::Module m)
  set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/subjects)
  target_link_options(${name} PRIVATE "LINKER:--exclude-libs,ALL")
endfunction()

# planted: with the faults of tests/planted compiled in.
function(td_add_planted_subject)
  if(NOT TD_WITH_TESTS OR NOT TD_WITH_PYTHON OR SKBUILD)
    return()
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/builder/*.c ${PROJECT_SOURCE_DIR}/tests/planted/*.c)
  td_add_subject(planted ${files})
  target_include_directories(planted PRIVATE ${PROJECT_SOURCE_DIR}/tests/planted)
  target_compile_definitions(planted PRIVATE TD_PLANTED)
endfunction()

# covered: with counters at its lines, for `tandem cover`; only where coverage is on.
function(td_add_covered_subject)
  if(NOT TD_COVERAGE OR NOT TD_WITH_PYTHON OR SKBUILD)
    return()
  endif()
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/builder/*.c ${PROJECT_SOURCE_DIR}/src/cover/*.c)
  td_add_subject(covered ${files})
  # The one that it shows is td_cover_gate.c's.
  target_compile_definitions(covered PRIVATE td_subject_v1=td_subject_plain_v1)
endfunction()

function(td_add_test room file)
  get_filename_component(name ${file} NAME_WE)
  get_property(pure GLOBAL PROPERTY TD_PURE_ROOMS)
  if(room IN_LIST pure OR NOT TD_WITH_PYTHON)
    add_executable(${name} ${file})
    target_link_libraries(${name} PRIVATE td_${room})
  else()
    td_add_program(${name} ${file})
    target_link_libraries(${name} PRIVATE td_${room})
    target_compile_definitions(${name} PRIVATE ${TD_PYTHON_DEFINITIONS})
  endif()
  target_link_libraries(${name} PRIVATE ${TD_CMOCKA} m)
  target_compile_definitions(${name} PRIVATE TD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${room})
  add_test(NAME ${room}.${name} COMMAND ${name})
  set_tests_properties(${room}.${name} PROPERTIES TIMEOUT 1800 SKIP_RETURN_CODE 77)
endfunction()

# ---- fuzz targets -----------------------------------------------------------------

# One executable for each line of targets.def, whatever the engine.
function(td_add_fuzz_targets)
  if(SKBUILD OR NOT TD_WITH_PYTHON)
    return()
  endif()
  set(list ${PROJECT_SOURCE_DIR}/src/target/targets.def)
  set(driver ${PROJECT_SOURCE_DIR}/fuzz/driver_${TD_ENGINE_DRIVER}.c)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} rows REGEX "^X\\(")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^X\\( *([a-z0-9_]+).*" "\\1" name "${row}")
    td_add_program(${name}_fuzzer ${driver})
    target_compile_definitions(${name}_fuzzer PRIVATE TD_TARGET=${name})
    target_link_libraries(${name}_fuzzer PRIVATE tandem_core)
    target_link_options(${name}_fuzzer PRIVATE ${TD_ENGINE_LINK})
  endforeach()
endfunction()
