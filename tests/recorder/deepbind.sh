#!/bin/sh
# Objects that are opened with RTLD_DEEPBIND, as Debian's php opens its modules, or
# with dlmopen() into the program's namespace:
# blocks go both ways between them and the program. And what dlopen() takes from
# its caller, which is still the program's: the search path.
set -u
. tests/support/script_setup.sh
cc=${CC:-cc}

mkdir "$work/modules"
cat >"$work/module.c" <<'END'
#include <stdlib.h>
#include <string.h>
void *module_makes(size_t size) { return memset(malloc(size), 1, size); }
void module_frees(void *block) { free(block); }
void *module_grows(void *block, size_t size) { return realloc(block, size); }
void *module_loses(size_t size) { return strdup("lost") ? malloc(size) : 0; }
END
# By a bare name: only the runpath of who calls dlopen() leads there.
cat >"$work/opener.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
void *opener(int deep)
{
	if (deep == 2)
		return dlmopen(LM_ID_BASE, "libother.so", RTLD_NOW | RTLD_DEEPBIND);
	return dlopen("libmodule.so", RTLD_NOW | (deep ? RTLD_DEEPBIND : 0));
}
END
cat >"$work/program.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *opener(int deep);
static void play(void *handle)
{
	void *(*makes)(size_t), *(*grows)(void *, size_t), *(*loses)(size_t);
	void (*frees)(void *);
	void *blocks[50];
	int i;

	if (handle == NULL) {
		fprintf(stderr, "no module: %s\n", dlerror());
		exit(9);
	}
	*(void **)&makes = dlsym(handle, "module_makes");
	*(void **)&grows = dlsym(handle, "module_grows");
	*(void **)&frees = dlsym(handle, "module_frees");
	*(void **)&loses = dlsym(handle, "module_loses");
	for (i = 0; i < 50; i++) {
		free(makes(777));
		frees(malloc(777));
		frees(grows(malloc(777), 1777));
		free(realloc(makes(777), 1777));
		blocks[i] = makes(777);
	}
	for (i = 0; i < 50; i++)
		frees(blocks[i]);
	loses(4321);
}
int main(int argc, char **argv)
{
	void *handle;

	(void)argc;
	if (dlopen("libmodule.so", RTLD_NOW) != NULL ||
	    strstr(dlerror(), "libmodule.so") == NULL)
		return 8; /* it is on the path of opener() only */
	play(opener(2));
	play(opener(1));
	play(opener(0));
	handle = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW | RTLD_DEEPBIND);
	if (handle == NULL)
		return 7;
	if (dlopen(NULL, RTLD_NOW) == NULL ||
	    dlsym(dlopen(NULL, RTLD_NOW), "opener") != (void *)opener)
		return 5;
	return dlopen("no such file", RTLD_NOW) == NULL && errno != 0 ? 0 : 6;
}
END
"$cc" -g -fno-builtin -shared -fPIC -o "$work/modules/libmodule.so" \
    "$work/module.c" || exit 1
cp "$work/modules/libmodule.so" "$work/modules/libother.so"
"$cc" -g -shared -fPIC -o "$work/libopener.so" "$work/opener.c" -ldl \
    -Wl,-rpath,"\$ORIGIN/modules" -Wl,--enable-new-dtags || exit 1
"$cc" -g -fno-builtin -o "$work/program" "$work/program.c" -L"$work" -lopener \
    -ldl -Wl,-rpath,"\$ORIGIN" || exit 1

"$work/program" "$work/modules/libmodule.so" || fail "plain: status $?"
words='is opened without RTLD_DEEPBIND'
for options in guard front_guard=32 rear_guard "guard free_track fill" \
    leak_track "backtrace leak_track" "backtrace verify_pointers guard"; do
	timeout 60 env LD_PRELOAD="$recorder" \
	    LIBC_DEBUG_MALLOC_OPTIONS="$options" "$work/program" \
	    "$work/modules/libmodule.so" >"$work/out" 2>"$work/err"
	status=$?
	[ $status -eq 0 ] || fail "$options: status $status: $(cat "$work/err")"
	[ "$(grep -c "$words" "$work/err")" -eq 1 ] || fail "$options: not said"
	! grep -q '\*\*\*' "$work/err" || fail "$options: $(cat "$work/err")"
	case $options in
	*leak_track*)
		! grep -Eq 'leaked block of size 1?777 ' "$work/err" ||
		    fail "$options: freed blocks are listed"
		[ "$(grep -c 'leaked block of size 4321 ' "$work/err")" -eq 3 ] ||
		    fail "$options: a lost block of the module is missing"
		;;
	esac
done

# The library sleeps: the flag is the program's.
LD_PRELOAD=$recorder "$work/program" "$work/modules/libmodule.so" \
    2>"$work/err" || fail "asleep: status $?"
[ ! -s "$work/err" ] || fail "asleep: $(cat "$work/err")"
exit $((failures > 0))
