#!/bin/sh
# Programs whose files make their reader hang: the report comes in time
# nevertheless, with the names of other files.
set -u
. tests/support/script_setup.sh
. tests/support/command/silent_mount.sh
command=$build/memunreachable
victim=$build/tests/live/victims/victim_pointing
unset DEBUGINFOD_URLS
if ! command -v objcopy >/dev/null || ! command -v python3 >/dev/null; then
	echo "SKIPPED: names_hostile: no objcopy or no python3"
	exit 77
fi

# begin NAME: a folder with the victim in it, stripped.
begin() {
	name=$1
	folder=$work/$1
	mkdir "$folder" && chmod 755 "$folder"
	strip -o "$folder/prog" "$victim"
}

# link NAME: the program says that its debug information is in that file.
link() {
	echo other >"$folder/other"
	python3 - "$folder/link" "$1" <<-'END'
	import struct, sys
	name = sys.argv[2].encode() + b"\0"
	name += bytes(-len(name) % 4)
	open(sys.argv[1], "wb").write(name + struct.pack("<I", 0x12345678))
	END
	objcopy --remove-section .note.gnu.build-id \
	    --add-section ".gnu_debuglink=$folder/link" "$folder/prog" \
	    2>/dev/null
}

# look SECONDS: the report of the program comes within so many.
look() {
	began=$(date +%s)
	timeout -s KILL 200 "$command" -q --contents -p "$pid" \
	    >"$work/text" 2>"$work/err" 9>&-
	status=$?
	took=$(($(date +%s) - began))
	[ $status -eq 23 ] || fail "status $status: $(cat "$work/err")"
	[ $took -le "$1" ] || fail "it took $took s"
	grep -q 'bytes unreachable at' "$work/text" || fail "no report"
	grep -q 'libc.so.6+0x[0-9a-f]* .*strlen' "$work/text" ||
		fail "no name of the other file: $(cat "$work/text")"
	kill -0 "$pid" || fail "the program has ended"
}

# leave: the program ends as it would have.
leave() {
	let_go || fail "the program ends with $?"
}

begin 'fifo'
link prog.debug
mkfifo "$folder/prog.debug"
hold "$folder/prog"
look 20
leave

begin 'fifo_by_the_side'
link prog.debug
mkdir "$folder/.debug"
mkfifo "$folder/.debug/prog.debug"
hold "$folder/prog"
look 20
leave

begin 'device_by_dots'
up=$(echo "$folder" | sed 's,/[^/]*,../,g')
link "${up}dev/full"
hold "$folder/prog"
look 20
leave

begin 'device_by_link'
link prog.debug
ln -s /dev/zero "$folder/prog.debug"
hold "$folder/prog"
look 20
leave

begin 'sparse'
link prog.debug
truncate -s 4T "$folder/prog.debug" 2>/dev/null ||
	truncate -s 15T "$folder/prog.debug" 2>/dev/null ||
	echo "SKIPPED: names_hostile: no sparse files here"
hold "$folder/prog"
look 20
leave

begin 'symbols'
python3 tests/support/command/hostile_symbols.py "$folder/prog" 200000 1048576
hold "$folder/prog"
look 20
leave

# Where names of addresses are not asked for, types are.
begin 'symbols_for_types'
python3 tests/support/command/hostile_symbols.py "$folder/prog" 1000000 1048576
hold "$folder/prog"
timeout -k 5 60 "$command" -q --timeout=4s -p "$pid" >"$work/text" 2>&1 9>&-
grep -q '^Names are incomplete: it takes too long' "$work/text" ||
	fail "nothing is said of it: $(cat "$work/text")"
leave

# A program on a file system that does not answer any more. A process that waits
# for it in the kernel cannot be killed before it ends.
name='silent_mount'
folder=$work/silent_mount
serve_silently "$folder" "$victim" || {
	echo "SKIPPED: names_hostile: no FUSE mount here"
	[ "$failures" -eq 0 ]
	exit
}
hold "$folder/prog"
fall_silent "$folder" USR1
look 60
grep -q 'Names are incomplete: it takes too long to read .*/prog' "$work/text" ||
	fail "nothing is said of it"
grep -q 'prog+0x' "$work/text" || fail "no module and offset"
timeout -k 5 60 "$command" --doctor "$pid" >"$work/text" 2>&1 ||
	fail "doctor: exit status $?: $(cat "$work/text")"
grep -q '^warning  files: the files of process .* are not read' "$work/text" ||
	fail "doctor: nothing is said of the mount: $(cat "$work/text")"
# Its code is read through the mount: it is not asked to go on.
kill -9 "$pid" "$server"
exec 9>&-
umount -l "$folder"

[ "$failures" -eq 0 ]
