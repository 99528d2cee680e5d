#!/bin/sh
# Early constructors, late destructors, threads at exit, forks, modules that
# come and go, handlers that jump out, stacks and memory at their end.
set -u
. tests/recorder/core_play.inc
all="guard fill free_track=20 verify_pointers expand_alloc backtrace=8"

for options in leak_track backtrace "$all" record_allocs=100000; do
	expect 5 "$options" "$here/core_early"
done
# What the last destructor frees is no leak; what it loses is one.
under leak_track "$here/core_early"
grep -q 'leaked block of size 100 ' "$work/err" && fail "freed late: listed"

# close_stdout() of coreutils closes stderr before that.
under leak_track ls / || fail "ls"
grep -q ': +++ ls leaked block of size .* at 0x.* (leak 1 of' "$work/err" ||
    fail "nothing is listed behind a closed stderr"

for options in leak_track backtrace "$all"; do
	for _ in 1 2 3 4 5 6 7 8; do
		expect 42 "$options" "$here/core_exit"
	done
done

expect 0 leak_track "$here/core_churn" 1 4
expect 0 "$all" "$here/core_churn" 0.5 4
expect 0 "backtrace=16 leak_track" "$here/core_churn" 0.5 4

for options in backtrace "backtrace backtrace_full" "fill free_track guard"; do
	under "$options" "$here/core_longjmp" signals
	case $? in
	0) ;;
	77) echo "no signal came within the recorder: $options" ;;
	*) fail "jumps: $options: $(tail -n 3 "$work/err" "$work/out")" ;;
	esac
	under "$options" "$here/core_longjmp" stack ||
	    fail "stacks: $options: $(tail -n 3 "$work/err" "$work/out")"
done

for options in backtrace leak_track "$all"; do
	under "$options" "$here/core_no_memory" 6 ||
	    fail "no memory: $options: $?"
	grep -q '^stopped: 1$' "$work/out" || fail "no memory: $options: on"
	[ "$(complaints | grep -c 'out of memory')" -eq 1 ] ||
	    fail "no memory: $options: not one line"
done

# A module that allocates when it comes, frees when it goes.
cat >"$work/module.c" <<'END'
#include <stdlib.h>
#include <string.h>
static char *text;
__attribute__((constructor)) static void comes(void) { text = strdup("text"); }
__attribute__((destructor)) static void goes(void) { free(text); }
void *give(void) { return malloc(1234); }
END
cat >"$work/loads.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	void *last = NULL;
	for (int i = 0; i < 200; i++) {
		void *module = dlopen(argv[argc - 1], RTLD_NOW);
		void *(*give)(void);
		if (module == NULL) return 1;
		*(void **)&give = dlsym(module, "give");
		free(last);
		last = give();
		if (dlopen("no such module", RTLD_NOW) != NULL) return 2;
		(void)dlerror();
		dlclose(module);
	}
	free(last);
	return 7;
}
END
if ${CC:-cc} -fno-builtin -fPIC -shared -o "$work/module.so" "$work/module.c" &&
    ${CC:-cc} -fno-builtin -o "$work/loads" "$work/loads.c" -ldl; then
	for options in leak_track backtrace "$all"; do
		expect 7 "$options" "$work/loads" "$work/module.so"
		grep -q 'leaked block of size 1234 ' "$work/err" &&
		    fail "modules: leaks"
	done
else
	fail "no compiler"
fi
[ "$failures" -eq 0 ]
