#!/bin/sh
# Passes in unusual phases of a program and on unusual stacks: before main()
# and after it, in the destructors of a thread, in a coroutine, in a handler,
# in children made in every way, with a thousand threads.
set -u
. tests/support/environments/environments.sh
moment=$victims/victim_phase
place=$victims/victim_environment

for name in constructor destructor single-threaded atexit on_exit quick_exit \
    tsd thread_local 'thread_local of the main thread' 'small stack' \
    'main thread has ended' handler 'handler on its own stack' coroutine \
    'beside coroutines' child 'child of a single thread' 'vfork and exec' \
    posix_spawn; do
	places "$name" - ptrace signal "$moment" "$name"
done

wrong='^0 wrong passes, 0 wrong children'
places 'fork beside passes' - \
    "$wrong, complete by ptrace: exact; the same again; unharmed\$" \
    "$wrong, complete by signal: exact; the same again; unharmed\$" \
    "$moment" 'fork beside passes'

places "1024 idle threads" - ptrace signal "$place" threads_idle=1020
places "1024 threads, a few of which rest" - ptrace signal \
    "$place" threads_napping=1020
places "1024 threads, ptrace denied" signal - - \
    "$place" threads_napping=1020 seccomp=EPERM
places "24 threads that never rest" - ptrace signal "$place" threads=20

# Libraries that ask in their constructors, the one before any other's; a
# program that has the library inside, and no other.
cc=${CC:-cc}
if have "$cc" "libraries' constructors, static programs"; then
	cat >"$work/early.c" <<'END'
#define _GNU_SOURCE /* RTLD_DEFAULT, before glibc 2.34 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "memunreachable/memunreachable.h"

#define ASK(name) ((bool (*)(struct UnreachableMemoryInfo *, size_t)) \
    dlsym(RTLD_DEFAULT, name))

static __attribute__((constructor)) void
early(void)
{
	struct UnreachableMemoryInfo info = { 0 };
	char *volatile kept = malloc(100);

	ASK("GetUnreachableMemory")(&info, 10);
	free(kept);
	printf("early: %s, %zu leaks %s\n",
	    info.status == MEMUNREACHABLE_COMPLETE ? "complete" : "not so",
	    info.num_leaks, info.reason);
	fflush(stdout);
}
END
	for first in '' -Wl,-z,initfirst; do
		# shellcheck disable=SC2086 # none or one
		$cc -O2 -Iinclude -shared -fPIC $first -o "$work/early.so" \
		    "$work/early.c" -ldl || fail "does not compile"
		early="^early: complete, 0 leaks"
		places "constructor of a library $first" \
		    - "$early" "$early" \
		    env LD_PRELOAD="$work/early.so" "$moment" plain
	done

	# shellcheck disable=SC2046 # words by intention
	if $cc -static -std=gnu11 -D_GNU_SOURCE -O2 -Iinclude -I. \
	    -o "$work/static" tests/live/victims/victim_environment.c \
	    "$build/tests/libsupport.a" "$build/libmemunreachable.a" \
	    $(pkg-config --libs check) -pthread 2>"$work/why"; then
		# Whether it calls sigaltstack() cannot be seen: it is asked.
		if is_filtered; then
			skip "linked statically: not under a seccomp filter"
		else
			places "linked statically" ptrace ptrace signal \
			    "$work/static"
		fi
		places "linked statically, ptrace denied" \
		    signal 'ptrace refused by seccomp' signal \
		    "$work/static" container=EPERM
	else
		skip "static programs: $(grep -v warning "$work/why" | head -n 1)"
	fi
fi

finish_places
