#!/bin/sh
# The recorder preloaded, linked first, linked after libc, loaded late, or in a
# static program; and beside other tools that replace malloc.
set -u
. tests/recorder/core_play.inc
cc=${CC:-cc}
cxx=${CXX:-c++}

cat >"$work/leak.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
char *lost;
int main(void)
{
	lost = malloc(4321);
	lost = strdup("a text of eighteen");
	free(malloc(99));
	puts("done");
	return 3;
}
END
cat >"$work/leak.cc" <<'END'
#include <string>
char *lost;
int main()
{
	lost = new char[4321];
	std::string text(5000, 'x');
	lost[0] = text[1];
	try { lost = new char[~0ul / 4]; } catch (const std::bad_alloc &) { return 3; }
}
END
# leaks PROGRAM: as it should be.
leaks() {
	timeout 60 env LIBC_DEBUG_MALLOC_OPTIONS="leak_track backtrace" \
	    "$1" >"$work/out" 2>"$work/err"
	[ $? -eq 3 ] || fail "$1: status: $(head -n 3 "$work/err")"
	[ "$(grep -c 'leaked block of size 4321 ' "$work/err")" -eq 1 ] ||
	    fail "$1: does not list its leak"
	! grep -q 'leaked block of size 99 ' "$work/err" ||
	    fail "$1: lists what was freed"
}

directory=$(dirname "$recorder")
first="-Wl,--no-as-needed -L$directory -lmemunreachable-malloc-debug -Wl,-rpath,$directory"
archive="$directory/libmemunreachable-malloc-debug.a"
# Options are words.
# shellcheck disable=SC2086
{
	$cc -O1 -g -fno-builtin -o "$work/linked" "$work/leak.c" $first &&
	    leaks "$work/linked"
	$cxx -O1 -g -fno-builtin -o "$work/linked_cxx" "$work/leak.cc" $first &&
	    leaks "$work/linked_cxx"
	if [ -r "$archive" ]; then
		$cc -O1 -g -fno-builtin -o "$work/static" "$work/leak.c" \
		    "$archive" -ldl -pthread && leaks "$work/static"
		$cxx -O1 -g -fno-builtin -o "$work/static_cxx" \
		    "$work/leak.cc" "$archive" -ldl -pthread &&
		    leaks "$work/static_cxx"
	else
		fail "no $archive"
	fi
	# Behind libc nothing comes next: libc itself is asked.
	$cc -O1 -fno-builtin -o "$work/behind" "$work/leak.c" -lc $first
	timeout 60 env LIBC_DEBUG_MALLOC_OPTIONS=leak_track "$work/behind" \
	    >"$work/out" 2>"$work/err"
	[ $? -eq 3 ] || fail "behind libc: $(head -n 3 "$work/err")"
}
for program in linked linked_cxx static static_cxx behind; do
	[ -x "$work/$program" ] || fail "$program cannot be linked"
done

# Stacks begin in the program; here the entries are in it as well.
cat >"$work/frames.cc" <<'END'
#include <cstdlib>
#include <malloc.h>
#include <new>
int main()
{
	void *volatile p = malloc(1001);
	p = calloc(1, 1002);
	p = realloc(malloc(5), 1003);
	p = reallocarray(nullptr, 4, 251);
	p = memalign(64, 1005);
	if (posix_memalign((void **)&p, 64, 1006) != 0) return 1;
	p = aligned_alloc(64, 1024);
	p = valloc(1008);
	p = ::operator new(1010);
	p = ::operator new[](1011);
	p = ::operator new(1012, std::nothrow);
	p = ::operator new[](1013, std::nothrow);
	p = ::operator new(1014, std::align_val_t{64});
	p = ::operator new[](1015, std::align_val_t{64}, std::nothrow);
}
END
if command -v addr2line >/dev/null && $cxx -g -O1 -w -fno-builtin -std=c++17 \
    -o "$work/frames" "$work/frames.cc" "$archive" -ldl -pthread; then
	for options in leak_track guard verify_pointers backtrace_full; do
		LIBC_DEBUG_MALLOC_OPTIONS="leak_track backtrace $options" \
		    "$work/frames" 2>&1 |
		    awk '/ leaked block of size 10/ { on = 1 }
			/#00/ { if (on) print $4; on = 0 }' |
		    addr2line -f -e "$work/frames" | grep -c '^main$' \
		    >"$work/count"
		[ "$(cat "$work/count")" -eq 14 ] ||
		    fail "stacks begin elsewhere: $options: $(cat "$work/count")"
	done
fi

# Loaded while the program runs, and then asked for memory by name.
cat >"$work/late.c" <<'END'
#include <dlfcn.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	void *old = malloc(100), *own = dlopen(argv[argc - 1], RTLD_NOW);
	if (own == NULL) return 1;
	void *(*allocate)(size_t);
	void *(*resize)(void *, size_t);
	void (*release)(void *);
	*(void **)&allocate = dlsym(own, "malloc");
	*(void **)&resize = dlsym(own, "realloc");
	*(void **)&release = dlsym(own, "free");
	release(old);
	old = resize(allocate(100), 5000);
	free(old);
	return old == NULL || allocate == malloc ? 2 : 3;
}
END
$cc -O1 -fno-builtin -o "$work/late" "$work/late.c" -ldl
for options in "" leak_track "backtrace leak_track"; do
	timeout 60 env LIBC_DEBUG_MALLOC_OPTIONS="$options" \
	    "$work/late" "$recorder" >"$work/out" 2>"$work/err"
	[ $? -eq 3 ] || fail "late: $options: $(head -n 3 "$work/err")"
done

# A dlsym() that allocates, as glibc's did once.
cat >"$work/old.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
static void *given[64], *resized[64];
static int count, busy;
void *dlsym(void *handle, const char *name)
{
	static void *(*next)(void *, const char *);
	if (!busy && count < 64) {
		busy = 1;
		given[count] = calloc(3, 11);
		resized[count] = realloc(malloc(10), 30);
		if (((char *)given[count])[32] != 0) abort();
		memset(given[count], 1, 33);
		memset(resized[count++], 1, 30);
		free(malloc(7));
		busy = 0;
	}
	if (next == NULL)
		*(void **)&next = dlvsym(RTLD_NEXT, "dlsym", SYMBOL_VERSION);
	return handle == RTLD_NEXT ? next(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), name) : next(handle, name);
}
__attribute__((destructor)) static void end(void)
{
	if (count == 0) _Exit(9);
	while (count-- > 0) { given[count] = realloc(given[count], 99); free(given[count]); free(resized[count]); }
}
END
case $(uname -m) in
x86_64) version=GLIBC_2.2.5 ;;
aarch64) version=GLIBC_2.17 ;;
*) version=GLIBC_2.27 ;;
esac
if $cc -O1 -fno-builtin -fPIC -shared -DSYMBOL_VERSION="\"$version\"" \
    -o "$work/old.so" "$work/old.c" -ldl 2>/dev/null &&
    $cc -O1 -fno-builtin -o "$work/plain" "$work/leak.c"; then
	export PRELOAD="$work/old.so"
	for options in "" leak_track "guard verify_pointers free_track"; do
		under "$options" "$work/plain"
		[ $? -eq 3 ] || fail "dlsym that allocates: $options"
		[ -z "$(complaints)" ] ||
		    fail "dlsym that allocates: $(complaints | head -n 2)"
	done
	unset PRELOAD
else
	echo "no dlsym() of our own here"
fi

# Behind an allocator that has all calls, as jemalloc: that is said, and nothing
# else. In front of it: the blocks are recorded.
cat >"$work/other.c" <<'END'
#include <stddef.h>
#include <string.h>
static char memory[64 << 20] __attribute__((aligned(16)));
static size_t used;
void *malloc(size_t size)
{
	size_t *block = (size_t *)(memory + __atomic_fetch_add(&used,
	    (size + 31) & ~(size_t)15, __ATOMIC_RELAXED));
	block[0] = size;
	return block + 2;
}
void free(void *block) { (void)block; }
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *block, size_t size)
{
	size_t *moved = malloc(size), *old = (size_t *)block - 2;
	if (block != NULL) memcpy(moved, block, *old < size ? *old : size);
	return moved;
}
END
if $cc -O1 -fno-builtin -fPIC -shared -o "$work/other.so" "$work/other.c"; then
	for options in "verbose leak_track" leak_track "backtrace guard"; do
		timeout 60 env LD_PRELOAD="$work/other.so $recorder" \
		    LIBC_DEBUG_MALLOC_OPTIONS="$options" "$work/plain" \
		    >"$work/out" 2>"$work/err"
		[ $? -eq 3 ] || fail "behind another: $(head -n 3 "$work/err")"
		[ "$(grep -c "malloc_debug: plain: calls of malloc go to .*/other.so, which comes before" \
		    "$work/err")" -eq 1 ] || fail "behind another: not said"
		! grep -q 'malloc debug enabled' "$work/err" ||
		    fail "behind another: enabled"
	done
	LEAKTRACER_AUTO_REPORTFILENAME=$work/leaks \
	    LD_PRELOAD="$work/other.so $recorder" "$work/plain" \
	    >"$work/out" 2>"$work/err"
	grep -q "calls of malloc go to .*/other.so" "$work/err" ||
	    fail "behind another: LeakTracer: not said"
	timeout 60 env LD_PRELOAD="$recorder $work/other.so" \
	    LIBC_DEBUG_MALLOC_OPTIONS="verbose leak_track" "$work/plain" \
	    >"$work/out" 2>"$work/err"
	grep -q 'plain: malloc debug enabled' "$work/err" ||
	    fail "before another: not enabled"
	grep -q 'leaked block of size 4321 ' "$work/err" ||
	    fail "before another: nothing recorded"
else
	fail "no allocator could be built"
fi

# The archive cannot be in a static program: the linker says why.
if ! echo 'int main(void) { return 0; }' | $cc -static -x c - \
    -o "$work/none" 2>/dev/null; then
	echo "SKIPPED: no static libc"
elif $cc -static -fno-builtin -o "$work/whole" "$work/leak.c" "$archive" \
    2>"$work/err"; then
	fail "-static: it was linked"
else
	grep -q 'malloc-debug.a cannot be linked with -static, which leaves no malloc' \
	    "$work/err" || fail "-static: $(cat "$work/err")"
fi

# AddressSanitizer, Valgrind: one line, and out of the way.
if $cc -O1 -g -fno-builtin -fsanitize=address -o "$work/asan" \
    "$work/leak.c" 2>/dev/null; then
	timeout 60 env LD_PRELOAD="$recorder" LIBC_DEBUG_MALLOC_OPTIONS=guard \
	    ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 "$work/asan" \
	    >"$work/out" 2>"$work/err"
	[ $? -eq 3 ] || fail "with ASan: $(head -n 5 "$work/err")"
	[ "$(complaints)" = \
	    "malloc_debug: inactive: AddressSanitizer replaces malloc" ] ||
	    fail "with ASan: $(complaints)"
fi
if command -v valgrind >/dev/null; then
	timeout 120 env LD_PRELOAD="$recorder" LIBC_DEBUG_MALLOC_OPTIONS=guard \
	    valgrind -q --error-exitcode=9 "$work/plain" \
	    >"$work/out" 2>"$work/err"
	[ $? -eq 3 ] || fail "under Valgrind: $(head -n 5 "$work/err")"
	complaints | grep -q "inactive: Valgrind replaces malloc" ||
	    fail "under Valgrind: $(complaints)"
fi
[ "$failures" -eq 0 ]
