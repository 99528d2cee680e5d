#!/bin/sh
# The build systems' own ways to run tests under the command: the CMake package
# and CTest, meson test --wrapper, automake's LOG_COMPILER. Each runs a test that
# loses memory between two that do not: exactly one fails.
set -u
. tests/support/script_setup.sh
unset LD_PRELOAD MEMUNREACHABLE_OPTIONS LIBC_DEBUG_MALLOC_OPTIONS
shown=$work/out
prefix=$work/prefix

unset MAKEFLAGS MFLAGS MAKELEVEL
version=$(sed -n 's/^VERSION *:= *//p' Makefile)

# The package as it is installed, but for its places.
mkdir -p "$prefix/bin" "$prefix/lib/cmake/memunreachable"
ln -s "$build/memunreachable" "$PWD/lib/glue/memunreachable-memcheck" "$prefix/bin"
for file in config config-version; do
	sed -e "s|@LIBDIR@|$build|" -e "s|@BINDIR@|$prefix/bin|" \
		-e "s|@INCLUDEDIR@|$PWD/include|" -e "s|@VERSION@|$version|" \
		-e 's|@SONAME@|libmemunreachable.so.0|' \
		"lib/glue/cmake/memunreachable-$file.cmake.in" \
		>"$prefix/lib/cmake/memunreachable/memunreachable-$file.cmake"
done
PATH=$prefix/bin:$PATH
LD_LIBRARY_PATH=$build
export PATH LD_LIBRARY_PATH

cat >"$work/program.c" <<'END'
#include <stdlib.h>
#include <string.h>

static __attribute__((noinline)) void
lose(void)
{
	char *volatile p = strdup("lost by a test");

	p = NULL;
	(void)p;
}

static __attribute__((noinline)) void
overwrite_old_stack(void)
{
	volatile char old[16384];
	size_t i;

	for (i = 0; i < sizeof(old); i++)
		old[i] = 0;
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "lose") == 0)
		lose();
	overwrite_old_stack();
	return 0;
}
END

# has_tool NAME...: all of them are there.
has_tool() {
	for tool in "$@"; do
		command -v "$tool" >/dev/null || {
			echo "SKIPPED: no $tool"
			return 1
		}
	done
}

name=cmake
if has_tool cmake ctest; then
	mkdir "$work/cmake"
	cp "$work/program.c" "$work/cmake"
	cat >"$work/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.15)
project(play C CXX)
find_package(memunreachable 0.1 REQUIRED)
set(MEMORYCHECK_COMMAND ${MEMUNREACHABLE_MEMCHECK_COMMAND})
set(MEMORYCHECK_TYPE Valgrind)
include(CTest)
find_package(memunreachable 9.0 QUIET)
if(memunreachable_FOUND)
  message(FATAL_ERROR "9.0 was found")
endif()
add_executable(program program.c)
add_executable(linked program.c)
target_link_libraries(linked PRIVATE memunreachable::memunreachable)
memunreachable_add_test(NAME first COMMAND program)
memunreachable_add_test(NAME second OPTIONS --backtrace COMMAND program lose)
memunreachable_add_test(NAME third COMMAND linked keep)
add_test(NAME plain COMMAND program lose)
add_executable(sanitized sanitized.c program.c)
target_link_libraries(sanitized PRIVATE memunreachable::lsan)
add_test(NAME sanitized COMMAND sanitized lose)
if(TARGET memunreachable::gtest)
  add_executable(listened listened.cpp)
  target_link_libraries(listened PRIVATE memunreachable::gtest)
  add_test(NAME listened COMMAND listened)
endif()
END
	cat >"$work/cmake/sanitized.c" <<'END'
int __lsan_is_turned_off(void);
int (*volatile asked)(void) = __lsan_is_turned_off;
END
	cat >"$work/cmake/listened.cpp" <<'END'
#include <gtest/gtest.h>

#include <cstdlib>

TEST(Listened, Loses)
{
	void *volatile p = malloc(24);

	p = nullptr;
	(void)p;
}
END
	{
		cmake -S "$work/cmake" -B "$work/cmake/b" \
			-DCMAKE_BUILD_TYPE=Debug \
			-DCMAKE_PREFIX_PATH="$prefix" &&
			cmake --build "$work/cmake/b"
	} >"$work/out" 2>&1 || fail "cmake"
	(cd "$work/cmake/b" && ctest --output-on-failure -E 'listened|sanitized') >"$work/out" 2>&1
	like "$work/out" '75% tests passed, 1 tests? failed out of 4'
	like "$work/out" '2 - second \(Failed\)'
	has "$work/out" '24 bytes in 1 allocation unreachable'
	(cd "$work/cmake/b" && ctest -V -R sanitized) >"$work/out" 2>&1
	has "$work/out" 'SUMMARY: LeakSanitizer: 24 byte(s) leaked in 1 allocation'
	like "$work/out" 'sanitized \.*\*\*\*Failed'
	# The two that are added by add_test().
	printf 'add_test(NAME clean COMMAND program)\n' >>"$work/cmake/CMakeLists.txt"
	(cd "$work/cmake/b" && cmake . &&
		MEMUNREACHABLE_MEMCHECK_OPTIONS=--backtrace \
			ctest -T memcheck -R 'plain|clean') >"$work/out" 2>&1
	has "$work/out" 'Memory Leak - 1'
	like "$work/out" 'MemCheck #[0-9]+: clean \.+ +Passed'
	cat "$work"/cmake/b/Testing/*/DynamicAnalysis.xml >"$work/out"
	has "$work/out" '<Defect type="Memory Leak">1</Defect>'
	has "$work/out" 'bin/memunreachable-memcheck'
	cat "$work"/cmake/b/Testing/Temporary/MemoryChecker.*.log >"$work/out"
	like "$work/out" ' by 0x[0-9a-f]+: lose \(program.c:7\)'
	# A script of CTest, which looks for the command itself.
	cat >"$work/script.cmake" <<END
set(CTEST_SOURCE_DIRECTORY $work/cmake)
set(CTEST_BINARY_DIRECTORY $work/cmake/b)
find_program(CTEST_MEMORYCHECK_COMMAND memunreachable-memcheck)
set(CTEST_MEMORYCHECK_TYPE Valgrind)
ctest_start(Experimental)
ctest_memcheck(INCLUDE "plain|clean" DEFECT_COUNT defects)
message("defects: \${defects}")
END
	ctest -S "$work/script.cmake" -VV >"$work/out" 2>&1
	has "$work/out" 'defects: 1'
	has "$work/out" 'memunreachable-memcheck'
	echo kept >"$work/out"
	memunreachable-memcheck "$work/cmake/b/program" lose 2>>"$work/out"
	has "$work/out" kept
	has "$work/out" '24 bytes in 1 blocks are definitely lost'
	if [ -f "$build/libmemunreachable-gtest-main.a" ]; then
		(cd "$work/cmake/b" && ctest -V -R listened) >"$work/out" 2>&1
		has "$work/out" 'Listened.Loses lost 24 bytes in 1 allocation'
		has "$work/out" 'listened.cpp:5: Failure'
	fi
fi

name=meson
if has_tool meson ninja; then
	mkdir "$work/meson"
	cp "$work/program.c" "$work/meson"
	cat >"$work/meson/meson.build" <<'END'
project('play', 'c')
program = executable('program', 'program.c')
test('first', program)
test('second', program, args: ['lose'])
test('third', program, args: ['keep'])
END
	{
		meson setup "$work/meson/b" "$work/meson" &&
			meson compile -C "$work/meson/b"
	} >"$work/out" 2>&1 || fail "meson"
	meson test -C "$work/meson/b" --print-errorlogs \
		--wrapper 'memunreachable --' >"$work/out" 2>&1
	like "$work/out" 'Ok: +2'
	like "$work/out" 'Fail: +1'
	like "$work/out" 'second +FAIL'
	has "$work/out" '24 bytes in 1 allocation unreachable'
fi

name=automake
if has_tool autoreconf automake; then
	mkdir "$work/automake"
	cp "$work/program.c" "$work/automake/program.c"
	cat >"$work/automake/configure.ac" <<'END'
AC_INIT([play], [1])
AM_INIT_AUTOMAKE([foreign subdir-objects])
AC_PROG_CC
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
END
	cat >"$work/automake/Makefile.am" <<'END'
check_PROGRAMS = first second third
first_SOURCES = program.c
second_SOURCES = second.c
third_SOURCES = program.c
TESTS = $(check_PROGRAMS)
LOG_COMPILER = memunreachable
AM_LOG_FLAGS = --
END
	sed 's/argc > 1 .*/argc > 0)/' "$work/program.c" \
		>"$work/automake/second.c"
	(
		cd "$work/automake" || exit 1
		autoreconf -i && ./configure && make check
	) >"$work/out" 2>&1
	has "$work/out" '# PASS:  2'
	has "$work/out" '# FAIL:  1'
	has "$work/out" 'FAIL: second'
	has "$work/automake/second.log" '24 bytes in 1 allocation unreachable'
fi
exit $((failures > 0))
