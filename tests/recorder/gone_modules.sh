#!/bin/sh
# A module that dlclose() has unloaded keeps its name and its build-id in lists,
# heap dumps and LeakTracer's reports, so that its frames have names.
set -u
build=$(cd "${BUILD:-build}" && pwd) || exit 1
recorder=$build/libmemunreachable-malloc-debug.so
cc=${CC:-cc}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
	echo "FAILED: $*"
	failed=1
}

cat >"$work/plugin.c" <<'END'
#include <stdlib.h>
__attribute__((noinline)) void *NAME(size_t size)
{
	void *volatile block = malloc(size);
	return block;
}
void *enter(size_t size)
{
	void *volatile block = NAME(size);
	return block;
}
END
cat >"$work/program.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
void *kept[8];
int main(int argc, char **argv)
{
	void *(*enter)(size_t), *handle;
	int i;

	for (i = 1; i < argc; i++) {
		handle = dlopen(argv[i], RTLD_NOW);
		if (handle == NULL)
			return 1;
		*(void **)&enter = dlsym(handle, "enter");
		kept[i] = enter((size_t)4000 + (size_t)i);
		if (dlclose(handle) != 0)
			return 2;
	}
	return 0;
}
END
for name in one two; do
	"$cc" -O1 -g -fno-builtin -shared -fPIC -DNAME=lose_$name \
	    -Wl,--build-id=sha1 -o "$work/plugin_$name.so" "$work/plugin.c" ||
	    exit 1
done
"$cc" -O1 -g -fno-builtin -o "$work/program" "$work/program.c" -ldl || exit 1

LEAKTRACER_ONSTART_STARTALLTHREAD=1 \
    LEAKTRACER_AUTO_REPORTFILENAME=$work/leaks.out \
    LD_PRELOAD=$recorder "$work/program" "$work/plugin_one.so" 2>/dev/null
grep -q '^# unloaded .* [0-9a-f]\{40\} .*/plugin_one.so$' "$work/leaks.out" ||
    fail "LeakTracer: no module"

LD_PRELOAD=$recorder \
    LIBC_DEBUG_MALLOC_OPTIONS="backtrace leak_track bt_dmp_on_ex bt_dmp_pre=$work/dump" \
    "$work/program" "$work/plugin_one.so" "$work/plugin_one.so" \
    2>"$work/err" || fail "status $?"
place=$(awk '/ leaked block of size / { on = / 4001 / }
	on && /#00/ { print $4, $5 }' "$work/err")
case $place in
*" $work/plugin_one.so")
	addr2line -f -e "$work/plugin_one.so" "${place% *}" |
	    grep -q '^lose_one$' || fail "list: another place: $place"
	;;
*) fail "list: no module: $place" ;;
esac
rm -f "$work"/dump.*
# A later module at the same place hides an earlier one.
LD_PRELOAD=$recorder \
    LIBC_DEBUG_MALLOC_OPTIONS="backtrace bt_dmp_on_ex bt_dmp_pre=$work/dump" \
    "$work/program" "$work/plugin_one.so" "$work/plugin_two.so" \
    2>"$work/err" || fail "status $?"
set -- "$work"/dump.*.exit.txt
grep -q '^# unloaded .* [0-9a-f]\{40\} .*/plugin_two.so$' "$1" ||
    fail "dump: no module"
[ "$(grep '^# unloaded .*/plugin_' "$1" | awk '{ print $3 }' | sort | uniq -d)" \
    = "" ] || fail "dump: two modules in one place"
"$build/memunreachable" --heap-dump "$1" >"$work/tree" 2>&1
grep -q 'lose_two' "$work/tree" || fail "dump: no names: $(cat "$work/tree")"
exit $failed
