# The build's own vocabulary: one static library a folder of src/, one test program a folder of test/unit/.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json url)
find_package(simdjson REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(hiredict REQUIRED IMPORTED_TARGET hiredict)
pkg_check_modules(prometheus_core REQUIRED IMPORTED_TARGET prometheus-cpp-core)

find_program(CCACHE ccache)
if(CCACHE)
  # It cannot look into a precompiled header, and has to be told to trust the compiler there.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

add_library(switchgear_flags INTERFACE)
target_compile_options(switchgear_flags INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers
  -fno-omit-frame-pointer -fstack-protector-strong)
target_compile_definitions(switchgear_flags INTERFACE
  # hiredict wants these offsets; a precompiled header and whoever uses it must agree on them.
  _FILE_OFFSET_BITS=64
  _GLIBCXX_ASSERTIONS BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_BOOST_COROUTINE
  # A call is some twenty coroutine frames of many sizes: Asio's cache (two blocks a thread, the first that is large
  # enough) thrashes on them, and malloc's own per-thread bins do better.
  BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE=0)
target_include_directories(switchgear_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_link_options(switchgear_flags INTERFACE -fuse-ld=lld)
target_link_libraries(switchgear_flags INTERFACE Boost::headers Threads::Threads)
if(SWITCHGEAR_SANITIZE)
  target_compile_options(switchgear_flags INTERFACE -fsanitize=${SWITCHGEAR_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(switchgear_flags INTERFACE -fsanitize=${SWITCHGEAR_SANITIZE})
endif()

# Half of what the compiler does in a file is to read Asio and the standard library, so they are read once. `shell` is
# for the folders with coroutines, `test` for unit tests, which are not optimised: they run once for each build.
function(switchgear_precompile kind)
  set(folder ${CMAKE_SOURCE_DIR}/cmake/precompiled)
  add_library(precompiled_${kind} OBJECT ${folder}/empty.cpp)
  target_link_libraries(precompiled_${kind} PRIVATE switchgear_flags ${ARGN})
  target_precompile_headers(precompiled_${kind} PRIVATE ${folder}/${kind}.hpp)
endfunction()

if(SWITCHGEAR_PRECOMPILE)
  switchgear_precompile(shell)
  if(SWITCHGEAR_TESTS)
    find_package(GTest REQUIRED)
    switchgear_precompile(test GTest::gtest)
    target_compile_options(precompiled_test PRIVATE -O0)
  endif()
  # A time of its own in it would be a new header for ccache each time.
  target_compile_options(switchgear_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()

function(switchgear_precompiled target kind)
  if(SWITCHGEAR_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM precompiled_${kind})
  endif()
endfunction()

# switchgear_folder(NAME [SHELL] LINKS ...): src/NAME as library sg_NAME. SHELL: it has coroutines. LINKS names other
# folders (sg_...) and outside libraries; the folder rules of docs/architecture.md are what may stand here.
function(switchgear_folder name)
  cmake_parse_arguments(arg "SHELL" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(sg_${name} STATIC ${sources})
    target_link_libraries(sg_${name} PUBLIC switchgear_flags ${arg_LINKS})
    if(arg_SHELL)
      switchgear_precompiled(sg_${name} shell)
    endif()
  else()
    add_library(sg_${name} INTERFACE)
    target_link_libraries(sg_${name} INTERFACE switchgear_flags ${arg_LINKS})
  endif()
endfunction()

# switchgear_unit_test(FOLDER LINKS ...): every *_test.cpp of test/unit/FOLDER in one program unit_FOLDER.
function(switchgear_unit_test folder)
  cmake_parse_arguments(arg "" "" "LINKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/test/unit/${folder}/*.cpp)
  add_executable(unit_${folder} ${sources})
  target_include_directories(unit_${folder} PRIVATE ${CMAKE_SOURCE_DIR}/test)
  target_link_libraries(unit_${folder} PRIVATE ${arg_LINKS} GTest::gtest GTest::gtest_main)
  target_compile_options(unit_${folder} PRIVATE -O0)
  switchgear_precompiled(unit_${folder} test)
  add_test(NAME unit_${folder} COMMAND unit_${folder})
endfunction()
