#!/bin/sh
# --why names thread-local variables of libraries, linked with the program or
# loaded by it, of each thread, and the types of what they lead to; so it does
# for a saved look.
set -u
. tests/support/command/command.sh
sources=tests/live/command/library_locals
lines=0

for library in linked loaded; do
	made "$work/lib$library.so" "${CC:-cc}" -g -O1 -fPIC -shared \
	    -DNAME=$library $sources/library.c || exit 1
done
made "$work/program" "${CC:-cc}" -g -O1 -I. $sources/program.c \
    -L"$work" -llinked -Wl,-rpath,"$work" -lpthread -ldl || exit 1

# The paths to all blocks by "$@", which ends with the subject, are as told.
compare() {
	name="$*"
	while read -r address thread variable module field; do
		[ "$address" != ready ] || break
		lines=$((lines + 1))
		short=${variable%_*}
		module="(lib$short.so)"
		case $field in
		.*) path="$variable $module $field → " ;;
		*) path="$variable $module → $field → " ;;
		esac
		"$command" -q --why="$address" "$@" \
		    >"$work/text" 2>"$err" || fail "status $?: $(cat "$err")"
		has "$work/text" "  $path"
		has "$work/text" \
		    "thread-local \`$variable\` in lib$short.so of thread "
		if [ "$thread" = 1 ]; then
			has "$work/text" "of thread $pid "
		else
			has_no "$work/text" "of thread $pid "
		fi
		has_no "$work/text" "probably slot"
	done <"$said"
}

hold "$work/program" "$work/libloaded.so"
compare --max-pause=20s -p "$pid"
"$command" -q --save "$work/look" --max-pause=20s -p "$pid" >/dev/null 2>"$err" ||
	fail "not saved: $(cat "$err")"
let_go
compare "$work/look"
[ $lines -eq 16 ] || fail "$lines paths"

[ $failures -eq 0 ]
