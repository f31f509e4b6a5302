#!/usr/bin/env bash
# A project in C, to be built with make, CMake and Meson.
set -euo pipefail
rm -rf project
mkdir -p project/{src,cmake}
cp queue_test.c project
cp queue.[ch] project/src
cd project
clewline header --cmake > cmake/Clewline.cmake
cat > Makefile <<'MAKE'
CFLAGS = -Isrc -pthread
queue_test: queue_test.c src/queue.c
	$(CC) $(CFLAGS) -o $@ $^
MAKE
cat > CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(queue C CXX)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/cmake)
include(Clewline)
enable_testing()
add_executable(queue_test queue_test.c src/queue.c)
target_include_directories(queue_test PRIVATE src)
clewline_add_test(queue_test --preemptions 3)
CMAKE
cat > clewline.ini <<'INI'
[binaries]
c = ['clewline', 'cc']
cpp = ['clewline', 'cc', '--compiler', 'c++']
INI
cat > meson.build <<'MESON'
project('queue', 'c')
queue_test = executable('queue_test', 'queue_test.c', 'src/queue.c', include_directories: 'src')
test('queue', find_program('clewline'), args: ['run', queue_test, '--preemptions', '3'])
MESON
