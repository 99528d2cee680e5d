#!/bin/sh
# A saved look: every view of it is that of the process, also where the program
# is not; of cores and commands, too. It has no contents unless it should, is
# written whole or not at all, and what is damaged is refused.
set -u
. tests/support/command/look_program.sh
look=$work/look

# The report without what differs from look to look: times, and how often and how
# a busy machine let the process be stopped.
report() {
	"$command" -q "$@" 2>&1 | sed -E \
	    -e 's/[0-9.]+ (ns|us|ms|s)( |,)/TIME\2/g' \
	    -e 's/"(pause|total)_ns": [0-9]+/TIME/' \
	    -e 's/[0-9]+ (try|tries),/TRIES,/; s/"tries": [0-9]+/TRIES/' \
	    -e 's/\((fork|read)\)/(HOW)/; s/"stop": "(fork|read)"/HOW/' \
	    -e 's/, TIME in all//'
}

# The view with the options $@ of what $subject names is that of the look.
same() {
	name="$subject $*"
	# shellcheck disable=SC2086 # words
	report "$@" $subject >"$work/process"
	report "$@" "$look" >"$work/saved"
	cmp -s "$work/process" "$work/saved" ||
		fail "$(diff "$work/process" "$work/saved" | head -n 20)"
}

save() {
	"$command" -q --save "$look" "$@" >"$work/first" 2>&1
	status=$?
	[ "$status" -eq 23 ] || fail "--save $*: $status: $(cat "$work/first")"
}

# These views need contents of blocks.
contents_too() {
	same --in-use
	same --why=Session --all
	same --contents --by=block
	same --contents --format=json --in-use
	same --format=html
}

views() {
	same
	same --retained
	same --by=block --limit=7
	for by in shape type module; do
		same --by=$by
	done
	same --format=json --retained
}

hold "$work/program"
subject="-p $pid"
save -p "$pid"
[ "$(stat -c %a "$look")" = 600 ] || fail "mode $(stat -c %a "$look")"
views
"$command" -q --why=Session "$look" >"$work/why"
has "$work/why" "cache (program)"
has_no "$work/why" "key "

# The stream, which begins behind the version, has no contents of blocks.
if command -v zstd >/dev/null; then
	tail -c +10 "$look" | zstd -dc >"$work/plain" ||
		fail "not a zstd stream"
	! grep -aq "secret of\|same text" "$work/plain" ||
		fail "contents are in the look"
else
	echo "SKIPPED: no zstd"
fi

save --contents -p "$pid"
views
contents_too

# Damage: cut, and with bits that differ.
name=damage
size=$(stat -c %s "$look")
report "$look" >"$work/saved"
damaged() {
	"$command" -q "$work/damaged" >"$work/answer" 2>&1
	status=$?
	if [ "$status" -eq 23 ] && report "$work/damaged" >"$work/answer" &&
	    cmp -s "$work/answer" "$work/saved"; then
		return # a bit that says nothing, in the head of the stream
	fi
	case $status in
	2) has "$work/answer" "nor a saved look" ;;
	3) like "$work/answer" "no saved look|is damaged|version" ;;
	*) fail "$1: status $status" ;;
	esac
}
for part in 0 1 7 8 9 20 100 $((size / 2)) $((size - 4)) $((size - 1)); do
	head -c "$part" "$look" >"$work/damaged"
	damaged "$part of $size bytes"
done
for at in 0 8 9 13 40 $((size / 3)) $((size / 2)) $((size - 3)); do
	cp "$look" "$work/damaged"
	byte=$(tail -c +$((at + 1)) "$look" | od -An -N1 -tu1)
	# shellcheck disable=SC2059 # a byte
	printf "\\$(printf %03o $((byte ^ 16)))" |
		dd of="$work/damaged" bs=1 seek="$at" conv=notrunc 2>"$work/errors"
	damaged "a bit at $at"
done
(cat "$look"; echo) >"$work/damaged"
damaged "a byte more"

# Nothing is reported since a look or a report until more is lost.
name=since
"$command" -q --save "$look" --format=json -p "$pid" >"$work/json" 2>&1
since() {
	for file in "$look" "$work/json"; do
		"$command" -q --since "$file" -p "$pid" >"$work/answer" 2>&1
		status=$?
		[ "$status" -eq "$1" ] || fail "--since $file: status $status"
		like "$work/answer" "$2"
	done
}
since 0 "^ *0 bytes in 0 unreachable"
echo 3 >&9
await grep -q lost "$said"
since 23 " 3 × Session"
"$command" -q --since "$look" "$look" >"$work/answer" 2>&1 ||
	fail "status of a look since itself"
"$command" -q --since "$look" -p $$ >"$work/answer" 2>&1
[ $? -eq 3 ] || fail "status of a look since one at another process"
has "$work/answer" "--baseline"
"$command" -q --limit=1 --by=block --format=json -p "$pid" >"$work/json"
"$command" -q --since "$work/json" -p "$pid" >"$work/answer" 2>&1
[ $? -eq 4 ] || fail "status since a report that lists one entry"
"$command" -q --since "$source" -p "$pid" >"$work/answer" 2>&1
[ $? -eq 3 ] || fail "status since no report"

# If the new file cannot be written the old one stays.
name=unwritten
cp "$look" "$work/kept"
"$command" -q --save "$work/none/look" -p "$pid" >"$work/answer" 2>&1
[ $? -eq 3 ] || fail "status of --save where there is no folder"
"$command" -q --save "$look" --core "$work/program" >"$work/answer" 2>&1
[ $? -eq 3 ] || fail "status of --save of no core"
cmp -s "$look" "$work/kept" || fail "the file was replaced"
[ "$(ls "$work"/look*)" = "$look" ] || fail "files left: $(ls "$work"/look*)"

if command -v gcore >/dev/null && gcore -o "$work/core" "$pid" \
    >"$work/answer" 2>&1; then
	subject="--core $work/core.$pid"
	# shellcheck disable=SC2086 # words
	save $subject
	views
else
	echo "SKIPPED: no core by gcore"
fi

# On another machine: the program is not there.
save -p "$pid"
subject="-p $pid"
for options in --retained --by=type --format=json; do
	report $options -p "$pid" >"$work/here$options"
done
let_go
mv "$work/program" "$work/gone"
for options in --retained --by=type --format=json; do
	name="elsewhere $options"
	report $options "$look" >"$work/there"
	cmp -s "$work/here$options" "$work/there" ||
		fail "$(diff "$work/here$options" "$work/there" | head -n 20)"
done
mv "$work/gone" "$work/program"

# Threads have their names.
if cc -g -O0 -I. tests/live/command/looks/threads.c -o "$work/threads" -pthread
then
	hold "$work/threads"
	subject="-p $pid"
	save -p "$pid"
	views
	"$command" -q --retained "$look" >"$work/saved"
	has "$work/saved" "'threads'"
	let_go
fi

name="a command"
"$command" --backtrace --save "$look" -- "$work/program" </dev/null \
    >"$work/answer" 2>&1
"$command" -q "$look" >"$work/saved"
has "$work/saved" "20 × Session"
has "$work/saved" "(lose"
"$command" -q --in-use "$look" >"$work/saved"
has "$work/saved" "(make"

# Without debug information a map is recognised by the number of its nodes, which
# a look does not store.
strip "$work/program"
hold "$work/program"
subject="-p $pid"
save -p "$pid"
views
same '--why=std::*'
has "$work/saved" "std::map or std::set node"
has "$work/saved" "the program has no debug information here"
let_go

[ $failures -eq 0 ]
