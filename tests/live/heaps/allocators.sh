#!/bin/sh
# Programs whose malloc is not only glibc's: each is checked, or refused with
# the name of its allocator, or the answer says what was not checked; never "0
# leaks" for an allocator that was not searched.
#
# plain.c loses ten blocks of 1000 bytes; the library is preloaded and asked at
# the end. What is not installed here is skipped, loudly.
set -u
. tests/support/script_setup.sh
library=$build/libmemunreachable.so
archive=$build/libmemunreachable.a
here=tests/live/heaps/allocators
checked=0
cc=${CC:-cc}

skipped() {
	echo "SKIPPED: allocators: $1"
}

# make NAME SOURCE FLAG...: build a program or a library.
make_() {
	name=$1
	source=$2
	shift 2
	if ! $cc -O1 -fno-builtin -Iinclude -o "$work/$name" "$here/$source" \
	    "$@" 2>"$work/cc"; then
		skipped "$name does not link here: $(head -n 1 "$work/cc")"
		return 1
	fi
}

# expect WHAT PATTERN COMMAND...: the answer has these words.
expect() {
	what=$1
	pattern=$2
	shift 2
	"$@" >"$work/out" 2>&1 </dev/null
	checked=$((checked + 1))
	if ! grep -Eq "$pattern" "$work/out"; then
		echo "FAILED: $what: no \"$pattern\" in"
		sed 's/^/	/' "$work/out"
		failures=$((failures + 1))
	elif [ -n "${VERBOSE:-}" ]; then
		echo "$what: $(grep -E "$pattern" "$work/out" | head -n 1)"
	fi
}

asked() {
	env MEMUNREACHABLE_OPTIONS="${given}at_exit=1" "$@"
}

# As asked(), the library preloaded, others behind it.
preloaded() {
	others=$1
	shift
	asked LD_PRELOAD="$library $others" "$@"
}

# The command looks at the end of a program that has not our library in it.
from_outside() {
	# shellcheck disable=SC2016 # for that shell
	"$build/memunreachable" --children -- \
	    sh -c 'LD_PRELOAD=libc_malloc_debug.so.0 "$@"; true' sh "$@"
}

found='10000 bytes in 10 allocations unreachable'
whole=': 10 lost: $'
foreign='foreign allocator: this process uses another allocator'

make_ plain plain.c || exit 1
expect "glibc's" "$found" preloaded '' "$work/plain"

# glibc's own ways of checking.
debug=$(ldconfig -p 2>/dev/null |
	sed -n 's/.*libc_malloc_debug.*x86-64.*=> //p' | head -n 1)
if [ -n "$debug" ]; then
	expect MALLOC_CHECK_ "$foreign \(libc_malloc_debug.so.0\)" \
	    preloaded libc_malloc_debug.so.0 MALLOC_CHECK_=3 "$work/plain"
	expect "its library alone" "$found" \
	    preloaded libc_malloc_debug.so.0 "$work/plain"
	expect MALLOC_TRACE "$found" preloaded libc_malloc_debug.so.0 \
	    MALLOC_TRACE="$work/trace" "$work/plain" mtrace
	expect mcheck 'failed: foreign allocator: mcheck\(\) is in use' \
	    preloaded libc_malloc_debug.so.0 "$work/plain" mcheck
	# In the place of our library, as git's own tests do it.
	expect "MALLOC_CHECK_, seen from outside" \
	    "$foreign \(libc_malloc_debug.so.0\).*\(process [0-9]+, .*/plain\)" \
	    from_outside env MALLOC_CHECK_=3 \
	    GLIBC_TUNABLES=glibc.malloc.check=3 "$work/plain"
	expect "its library alone, seen from outside" "$found" \
	    from_outside "$work/plain"
else
	# Up to 2.33 these are in libc, and so is the heap that they use. The
	# one adds a byte to each block, the other loses its own buffer.
	expect MALLOC_CHECK_ '10160 bytes in 10 allocations unreachable' \
	    preloaded '' MALLOC_CHECK_=3 "$work/plain"
	expect MALLOC_TRACE '10520 bytes in 11 allocations unreachable' \
	    preloaded '' \
	    MALLOC_TRACE="$work/trace" "$work/plain" mtrace
	expect mcheck 'failed: foreign allocator: mcheck\(\) is in use' \
	    preloaded '' "$work/plain" mcheck
fi
expect "without mcheck" "$found" preloaded '' "$work/plain" mtrace

# How a program can be linked.
make_ fixed plain.c -no-pie -fno-pie &&
	expect "not position-independent" "$found" preloaded '' "$work/fixed"
make_ with_archive asks.c "$archive" &&
	expect "linked with the archive" "$whole" "$work/with_archive"
make_ fixed_archive asks.c -no-pie -fno-pie "$archive" &&
	expect "the same at a fixed address" "$whole" "$work/fixed_archive"
make_ static asks.c -static "$archive" &&
	expect "static" "$whole" "$work/static"
make_ static_pie asks.c -static-pie "$archive" &&
	expect "static, position-independent" "$whole" "$work/static_pie"

# A second libc.
if make_ second_libc second_libc.c -ldl; then
	expect "a second libc, not used" ' 0 bytes in 0 allocations unreach' \
	    preloaded '' "$work/second_libc"
	expect "a second libc" 'libc is loaded once more at 0x[0-9a-f]+ .dlm' \
	    preloaded '' "$work/second_libc" use
fi

# Whatever stands between the program and glibc and passes on is fine.
if make_ counting.so counting.c -shared -fPIC -ldl; then
	expect "a wrapper" "$found" preloaded "$work/counting.so" "$work/plain"
	expect "a wrapper in front" "$found" \
	    asked LD_PRELOAD="$work/counting.so $library" "$work/plain"
fi

# An allocator of the program's own.
make_ own plain.c "$here/own_malloc.c" &&
	expect "its own malloc" \
	    'its own allocator .malloc is that of own.' \
	    preloaded '' "$work/own"
make_ own.so own_malloc.c -shared -fPIC &&
	expect "the same in a library" 'malloc is that of own.so.' \
	    preloaded "$work/own.so" "$work/plain"
make_ own_archive asks.c "$here/own_malloc.c" "$archive" &&
	expect "the same, linked with the archive" \
	    'foreign allocator: 0 lost: .*malloc is that of own_archive' \
	    "$work/own_archive"
make_ besides plain.c "$here/own_malloc.c" -DBESIDES &&
	expect "its own malloc, and glibc's" \
	    'malloc is that of besides, whose blocks were not checked; only' \
	    preloaded '' "$work/besides"

# named NAME WORDS: preloaded, linked, and, as WORDS, linked statically.
named() {
	path=$(ldconfig -p 2>/dev/null |
		sed -n "s/.*lib$1\.so\.[0-9.]* .*x86-64.*=> //p" |
		head -n 1)
	if [ -z "$path" ]; then
		skipped "no $1"
		return
	fi
	file=$(basename "$(readlink -f "$path")")
	expect "$1 preloaded" "$foreign \($file\)" \
	    preloaded "$path" "$work/plain"
	make_ "$1" plain.c "$path" &&
		expect "$1 linked" "$foreign \($file\)" \
		    preloaded '' "$work/$1"
	dev=${path%/*}/lib$1.a
	if [ ! -e "$dev" ]; then
		skipped "no static $1"
		return
	fi
	make_ "$1-inside" plain.c "$dev" -lstdc++ -lm -pthread -ldl || return
	strip "$work/$1-inside"
	expect "$1 linked statically" \
	    "$foreign \($2, in $1-inside\)" \
	    preloaded '' "$work/$1-inside"
}

named jemalloc jemalloc

# From outside jemalloc 5.2.1, 5.3.0 and 5.3.1 are read.
command=$build/memunreachable
at_end='10 blocks: 10 × 1024 bytes'
if [ -z "$path" ] || ! grep -aq '5[.]2[.]1-\|5[.]3[.][01]-' "$path"; then
	skipped "no jemalloc 5.2.1 or 5.3 to be read from outside"
else
	for program in jemalloc jemalloc-inside; do
		[ ! -e "$work/$program" ] ||
			expect "$program, from outside at its end" "$at_end" \
			    "$command" -- "$work/$program"
	done
	expect "jemalloc preloaded, from outside at its end" "$at_end" \
	    "$command" -- env LD_PRELOAD="$path" "$work/plain"
fi

# mimalloc 2.0.9 to 2.4.1 and 3.0.3 to 3.4.3 is read, by the library, too.
path=$(ldconfig -p 2>/dev/null |
	sed -n "s/.*libmimalloc\.so\.[23] .*x86-64.*=> //p" | head -n 1)
path=${MIMALLOC:-$path}
if [ -z "$path" ]; then
	skipped "no mimalloc"
else
	found_mi='10240 bytes in 10 allocations unreachable'
	expect "mimalloc preloaded" "$found_mi" preloaded "$path" "$work/plain"
	make_ mimalloc plain.c "$path" &&
		expect "mimalloc linked" "$found_mi" \
		    preloaded '' "$work/mimalloc" &&
		expect "mimalloc linked, from outside at its end" "$at_end" \
		    "$command" -- "$work/mimalloc"
	expect "mimalloc preloaded, from outside at its end" "$at_end" \
	    "$command" -- env LD_PRELOAD="$path" "$work/plain"
fi
# gperftools' tcmalloc 2.9.1 to 2.18.1, too: linked statically, as well.
path=$(ldconfig -p 2>/dev/null |
	sed -n "s/.*libtcmalloc_minimal\.so\.4 .*x86-64.*=> //p" | head -n 1)
if [ -z "$path" ]; then
	skipped "no tcmalloc"
else
	found_tc='10240 bytes in 10 allocations unreachable'
	expect "tcmalloc preloaded" "$found_tc" preloaded "$path" "$work/plain"
	expect "tcmalloc preloaded, from outside at its end" "$at_end" \
	    "$command" --core-out="$work/core" -- \
	    env LD_PRELOAD="$path" "$work/plain"
	expect "tcmalloc preloaded, its core" "$at_end" \
	    "$command" --core="$work/core"
	make_ tcmalloc plain.c "$path" &&
		expect "tcmalloc linked" "$found_tc" \
		    preloaded '' "$work/tcmalloc" &&
		expect "tcmalloc linked, from outside at its end" "$at_end" \
		    "$command" -- "$work/tcmalloc"
	dev=${path%/*}/libtcmalloc_minimal.a
	[ ! -e "$dev" ] || ! make_ tcmalloc-inside plain.c "$dev" -lstdc++ \
	    -lm -pthread -ldl || ! strip "$work/tcmalloc-inside" ||
		expect "tcmalloc linked statically, from outside at its end" \
		    "$at_end" "$command" -- "$work/tcmalloc-inside"
fi
named tcmalloc_minimal_debug "tcmalloc's debugallocation"

# Under other names, without replacing malloc.
for jemalloc in /usr/lib/*/libjemalloc.a; do
	[ ! -e "$jemalloc" ] || break
done
if [ -e "$jemalloc" ]; then
	for symbol in malloc calloc realloc free memalign valloc aligned_alloc \
	    posix_memalign malloc_usable_size mallocx rallocx xallocx sallocx \
	    dallocx sdallocx nallocx malloc_stats_print reallocarray \
	    mallctl mallctlnametomib mallctlbymib malloc_message malloc_conf; do
		echo "$symbol private_$symbol"
	done >"$work/names"
	for symbol in __libc_malloc __libc_calloc __libc_realloc __libc_free \
	    __libc_memalign __libc_valloc __posix_memalign __free_hook \
	    __malloc_hook __realloc_hook __memalign_hook; do
		echo "$symbol private$symbol"
	done >>"$work/names"
	objcopy --redefine-syms="$work/names" "$jemalloc" "$work/private.a"
	make_ two_mallocs two_mallocs.c "$work/private.a" -lstdc++ -lm \
	    -pthread -ldl && strip "$work/two_mallocs" &&
		expect "a private jemalloc" \
		    'also has another allocator .jemalloc, in two_mallocs.' \
		    preloaded '' "$work/two_mallocs"
	if [ -e "$work/two_mallocs" ] && grep -aq '5[.]2[.]1-\|5[.]3[.][01]-' "$jemalloc"; then
		hold "$work/two_mallocs" lose
		expect "both heaps, from outside" \
		    ' in 7 unreachable allocations' "$command" -p "$pid"
		expect "both are named" ', glibc 2[.][0-9]*, jemalloc,' \
		    "$command" -p "$pid"
		let_go
	fi
else
	skipped "no static jemalloc to be made private"
fi

# Sanitizers.
for sanitizer in address thread leak; do
	case $sanitizer in
	address) runtime=libasan words=AddressSanitizer ;;
	thread) runtime=libtsan words=ThreadSanitizer ;;
	leak) runtime=liblsan words=LeakSanitizer ;;
	esac
	quiet="ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
	    LSAN_OPTIONS=detect_leaks=0"
	# shellcheck disable=SC2086
	make_ "$sanitizer" plain.c "-fsanitize=$sanitizer" &&
		expect "-fsanitize=$sanitizer" \
		    "$foreign \($runtime\.so" \
		    preloaded '' $quiet "$work/$sanitizer"
	# Nothing at all can be preloaded then.
	[ $sanitizer != leak ] || continue
	# shellcheck disable=SC2086
	make_ "$sanitizer-static" plain.c "-fsanitize=$sanitizer" \
	    "-static-$runtime" &&
		strip "$work/$sanitizer-static" &&
		expect "the same, linked statically" \
		    "$foreign \($words, in $sanitizer-static" \
		    preloaded '' $quiet "$work/$sanitizer-static"
done
if command -v valgrind >/dev/null; then
	expect "under Valgrind" "$foreign \(vgpreload_memcheck" \
	    preloaded '' valgrind -q "$work/plain"
else
	skipped "no valgrind"
fi

# Where the library cannot be: said by the compiler, or by the loader.
if command -v musl-gcc >/dev/null; then
	expect "compiled with musl" 'error.*this is another C library' \
	    musl-gcc -Iinclude -c -o "$work/x.o" "$here/asks.c"
else
	skipped "no musl-gcc"
fi
if echo '#include <stdlib.h>' |
	i686-linux-gnu-gcc -E - >/dev/null 2>&1; then
	expect "compiled for 32 bits" 'error.*for 64-bit programs only' \
	    i686-linux-gnu-gcc -Iinclude -c -o "$work/x.o" "$here/asks.c"
	expect "the library for 32 bits" 'error.*for 64-bit programs only' \
	    i686-linux-gnu-gcc -std=gnu11 -D_GNU_SOURCE -Iinclude -I. -c \
	    -o "$work/x.o" lib/pass/pass.c
	if i686-linux-gnu-gcc -o "$work/short" "$here/plain.c" &&
	    "$work/short" >/dev/null 2>&1; then
		expect "preloaded into 32 bits" 'wrong ELF class: ELFCLASS64' \
		    preloaded '' "$work/short"
	else
		skipped "no libc for 32 bits"
	fi
else
	skipped "no i686-linux-gnu-gcc, or no headers for it"
fi

[ $failures -eq 0 ] || exit 1
[ $checked -gt 0 ] || exit 77
