#!/bin/sh
# A module that dlclose() has unloaded keeps its name and its build-id: in lists,
# heap dumps and LeakTracer's reports, and in those of what is lost, by the
# library, by the command at its end, from outside, and in a core.
set -u
. tests/support/script_setup.sh
cc=${CC:-cc}

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
# Two modules at one place, one after the other.
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
for name in lose_one lose_two; do
	grep -q "$name" "$work/tree" || fail "dump: no names: $(cat "$work/tree")"
done
LEAKTRACER_ONSTART_STARTALLTHREAD=1 \
    LEAKTRACER_AUTO_REPORTFILENAME=$work/leaks.out \
    LD_PRELOAD=$recorder "$work/program" "$work/plugin_one.so" \
    "$work/plugin_two.so" 2>/dev/null
"$build/memunreachable" --leaktracer "$work/leaks.out" >"$work/text" 2>&1
for name in lose_one lose_two; do
	grep -q "$name" "$work/text" || fail "LeakTracer: $(cat "$work/text")"
done

# A program that loses blocks in modules and ends when its input does.
cat >"$work/loser.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static __attribute__((noinline)) void lose(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	void *(*enter)(size_t);
	int i;

	*(void **)&enter = dlsym(handle, "enter");
	for (i = 0; i < 20; i++)
		enter(4001);
	dlclose(handle);
}
static __attribute__((noinline)) void clear(void)
{
	char bytes[8192];
	memset(bytes, 0, sizeof(bytes));
	__asm__ volatile("" : : "r"(bytes) : "memory");
}
int main(int argc, char **argv)
{
	while (--argc > 0)
		lose(argv[argc]);
	clear();
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
END
"$cc" -O1 -g -fno-builtin -o "$work/loser" "$work/loser.c" -ldl || exit 1
command=$build/memunreachable

# told FILE WHAT: the frames of the unloaded module have names in FILE.
told() {
	grep -q "plugin_one.so (lose_one) .*plugin.c:" "$1" ||
		fail "$2: no name: $(grep '#0[01]' "$1")"
	grep -q "plugin_one.so (enter) .*plugin.c:" "$1" || fail "$2: one name"
}

# start PROGRAM ARG...: it is $pid, has lost blocks, and waits for the end of
# what descriptor 9 leads to.
start() {
	rm -f "$work/in" "$work/out"
	mkfifo "$work/in"
	(
		cd "$work" && LD_PRELOAD=$recorder \
		    LIBC_DEBUG_MALLOC_OPTIONS=backtrace exec "$@" \
		    <"$work/in" >"$work/out"
	) &
	pid=$!
	exec 9>"$work/in"
	tries=0
	until grep -q ready "$work/out" 2>/dev/null || [ $tries -gt 600 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

"$command" --backtrace -- "$work/loser" "$work/plugin_one.so" </dev/null \
    >/dev/null 2>"$work/err"
told "$work/err" "at the end"
"$command" --backtrace --format=json -o "$work/json" -- \
    "$work/loser" "$work/plugin_one.so" </dev/null >/dev/null 2>&1
id=$(readelf -n "$work/plugin_one.so" | sed -n 's/.*Build ID: //p')
grep -q "\"build_id\": \"$id\"" "$work/json" || fail "JSON: no build-id"
LD_PRELOAD=$recorder:$build/libmemunreachable.so.0 \
    LIBC_DEBUG_MALLOC_OPTIONS=backtrace \
    MEMUNREACHABLE_OPTIONS=${MEMUNREACHABLE_OPTIONS:+$MEMUNREACHABLE_OPTIONS:}at_exit=1 \
    "$work/loser" "$work/plugin_one.so" </dev/null >/dev/null 2>"$work/err"
"$command" --symbolize "$work/err" >"$work/text"
told "$work/text" "by itself"

# Its module has a path that is not absolute.
start ./loser ./plugin_one.so
"$command" -q --max-pause=20s -p "$pid" >"$work/text" 2>&1
told "$work/text" "from outside"
if command -v gcore >/dev/null; then
	gcore -o "$work/core" "$pid" >/dev/null 2>&1
	"$command" -q --core "$work/core.$pid" >"$work/text" 2>&1
	told "$work/text" "core"
else
	echo "SKIPPED: gone_modules: no gcore"
fi
# Another build at its path gives no names.
"$cc" -O1 -g -fno-builtin -shared -fPIC -DNAME=other -Wl,--build-id=sha1 \
    -o "$work/plugin_new.so" "$work/plugin.c" &&
    mv "$work/plugin_new.so" "$work/plugin_one.so"
"$command" -q --max-pause=20s -p "$pid" >"$work/text" 2>&1
grep -q '/plugin_one.so$' "$work/text" || fail "rebuilt: $(cat "$work/text")"
grep -q 'other' "$work/text" && fail "rebuilt: the names of another build"
exec 9>&-
wait "$pid"

# Modules that came to the same place, one after the other; the last of them
# stays. Each block has the stack of the one that it was lost in.
"$cc" -O1 -g -fno-builtin -shared -fPIC -DNAME=lose_one -Wl,--build-id=sha1 \
    -o "$work/plugin_one.so" "$work/plugin.c"
cat >"$work/places.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) void lose(const char *path, int count, int stay)
{
	static void *place;
	void *handle = dlopen(path, RTLD_NOW);
	void *(*enter)(size_t);

	*(void **)&enter = dlsym(handle, "enter");
	if (place != NULL && place != *(void **)&enter)
		exit(77);
	place = *(void **)&enter;
	while (count-- > 0)
		enter(4001);
	if (!stay)
		dlclose(handle);
}
static __attribute__((noinline)) void clear(void)
{
	char bytes[8192];
	memset(bytes, 0, sizeof(bytes));
	__asm__ volatile("" : : "r"(bytes) : "memory");
}
int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		lose(argv[i], 1 << i, i + 1 == argc);
	clear();
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
END
"$cc" -O1 -g -fno-builtin -o "$work/places" "$work/places.c" -ldl || exit 1
one=$work/plugin_one.so two=$work/plugin_two.so

# counts FILE WHAT: one, twice at this place, lost 2 + 8 blocks, two lost 4, and
# 16 when it came again. An entry's last lines are the innermost frames.
counts() {
	awk '/bytes unreachable at/ { count = 1 }
		/similar unreachable bytes in/ { count += $(NF - 1) }
		/#00/ { match($0, /lose_[a-z]*/)
			print substr($0, RSTART, RLENGTH), count }' "$1" |
		sort >"$work/counts"
	printf '%s\n' 'lose_one 10' 'lose_two 16' 'lose_two 4' |
		diff - "$work/counts" || fail "$2: $(cat "$1")"
}
"$command" --backtrace --by=block -- "$work/places" "$one" "$two" "$one" "$two" \
    </dev/null >/dev/null 2>"$work/err"
case $? in
77)
	echo "SKIPPED: gone_modules: the modules lie at different places"
	[ "$failures" -eq 0 ]
	exit
	;;
esac
counts "$work/err" "one place, at the end"
LD_PRELOAD=$recorder:$build/libmemunreachable.so.0 \
    LIBC_DEBUG_MALLOC_OPTIONS=backtrace \
    MEMUNREACHABLE_OPTIONS=${MEMUNREACHABLE_OPTIONS:+$MEMUNREACHABLE_OPTIONS:}at_exit=1 \
    "$work/places" "$one" "$two" "$one" "$two" </dev/null >/dev/null \
    2>"$work/err"
"$command" --symbolize "$work/err" >"$work/text"
counts "$work/text" "one place, by itself"
start "$work/places" "$one" "$two" "$one" "$two"
"$command" -q --max-pause=20s --by=block -p "$pid" >"$work/text" 2>&1
counts "$work/text" "one place, from outside"
exec 9>&-
wait "$pid"

# More unloadings than there is room for: a module that was alone at its place
# keeps its name; of two at one place neither gets the name of the other.
cat >"$work/often.c" <<'END'
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) void lose(const char *path, size_t size)
{
	void *handle = dlopen(path, RTLD_NOW);
	void *(*enter)(size_t);

	*(void **)&enter = dlsym(handle, "enter");
	enter(size);
	dlclose(handle);
}
static __attribute__((noinline)) void clear(void)
{
	char bytes[8192];
	memset(bytes, 0, sizeof(bytes));
	__asm__ volatile("" : : "r"(bytes) : "memory");
}
int main(int argc, char **argv)
{
	int i, which;

	for (i = 0; i < 2500; i++) {
		which = 1 + i % (argc - 1);
		lose(argv[which], which == 1 ? 4001 : 5001);
	}
	clear();
	return 0;
}
END
"$cc" -O1 -g -fno-builtin -o "$work/often" "$work/often.c" -ldl || exit 1
"$command" --backtrace --by=block -- "$work/often" "$one" >/dev/null 2>"$work/err"
grep -q 'and [0-9]* similar unreachable bytes in 2499 allocations' "$work/err" ||
	fail "2500 times: $(cat "$work/err")"
grep -q 'lose_one' "$work/err" || fail "2500 times: no name"
"$command" --backtrace --by=block -- "$work/often" "$one" "$two" >/dev/null 2>"$work/err"
awk '/bytes unreachable at/ { size = $1 }
	/lose_one/ && size > 4100 || /lose_two/ && size < 5000 { bad = 1 }
	/lose_one/ { one = 1 }
	/lose_two/ { two = 1 }
	END { exit bad || !one || !two }' "$work/err" ||
	fail "two of 2500: $(cat "$work/err")"
[ "$failures" -eq 0 ]
