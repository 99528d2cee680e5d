#!/bin/sh
# A process whose program and libc are on a FUSE file system that falls silent:
# the command ends in time with the cause, the process runs on, and when the
# file system answers again nothing of the command is left.
set -u
. tests/support/command/other_users.sh
timeout=3 late=20 # seconds: --timeout, and when it hangs
tree=$work/tree mount=$work/mount
silent=$work/silent

command -v fusermount >/dev/null || command -v fusermount3 >/dev/null ||
	skip "no FUSE here"
/usr/bin/python3 -c 'import fusepy' 2>/dev/null || skip "no python3-fusepy"
[ -c /dev/fuse ] || skip "no /dev/fuse"

cat >"$work/server.py" <<'END'
import os
import sys
import time

import fusepy


class Tree(fusepy.Operations):
    """A folder; while the file "silent" exists no request is answered."""

    def __init__(self, folder, silent):
        self.folder, self.silent = folder, silent

    def wait(self):
        while os.path.exists(self.silent):
            time.sleep(0.05)

    def getattr(self, path, fh=None):
        self.wait()
        stat = os.lstat(self.folder + path)
        return {key: getattr(stat, key) for key in dir(stat)
                if key in ("st_mode", "st_nlink", "st_size", "st_uid", "st_gid",
                           "st_mtime", "st_atime", "st_ctime")}

    def open(self, path, flags):
        self.wait()
        return os.open(self.folder + path, os.O_RDONLY)

    def read(self, path, size, offset, fh):
        self.wait()
        return os.pread(fh, size, offset)

    def release(self, path, fh):
        os.close(fh)


fusepy.FUSE(Tree(sys.argv[1], sys.argv[3]), sys.argv[2], foreground=True,
            allow_other=True)
END

release() {
	rm -f "$silent"
	fusermount -u "$mount" 2>/dev/null || fusermount3 -u "$mount" 2>/dev/null ||
		umount -l "$mount"
} >/dev/null 2>&1
trap 'release; finish' EXIT

is_mounted() {
	[ -f "$mount/libc.so.6" ]
}

nothing_left() {
	! grep -lqs "^TracerPid:[[:space:]][1-9]" "/proc/$pid/task/"*/status &&
		[ -z "$(cat "/proc/$pid/task/"*/children)" ]
}

# check_silent WORD...: start the program as these words say.
check_silent() {
	rm -rf "$tree"
	mkdir -p "$tree" "$mount"
	chmod 755 "$tree" "$mount"
	cp "$(ldd "$victim" | sed -n 's/.*=> \(.*libc\.so\.6\) .*/\1/p')" \
	    "$tree/libc.so.6"
	cp "$(ldd "$victim" | sed -n 's/^[[:space:]]*\(\/.*ld-linux[^ ]*\) .*/\1/p')" \
	    "$tree/ld.so"
	cp "$victim" "$tree/victim"
	/usr/bin/python3 "$work/server.py" "$tree" "$mount" "$silent" \
	    >"$work/server" 2>&1 &
	pids="$pids $!"
	await is_mounted || skip "cannot mount: $(cat "$work/server")"
	: >"$work/out"
	[ -p "$work/in" ] || mkfifo "$work/in"
	"$@" "$mount/ld.so" --library-path "$mount" "$mount/victim" dlsym \
	    <"$work/in" >"$work/out" 2>&1 &
	pid=$!
	pids="$pids $pid"
	exec 9>"$work/in"
	await is_ready || fail "not ready"
	[ -z "$core" ] || "$command" -q --core-out "$core" -p "$pid" >"$work/text" \
	    2>"$work/err" 9>&-
	[ -z "$detached" ] || umount -l "$mount"
	: >"$silent"
	begin=$(date +%s)
	timeout -s KILL $late "$command" -q ${core:+--core} "${core:-"-p$pid"}" \
	    --timeout=${timeout}s >"$work/text" 2>"$work/err" 9>&-
	expect_status 3 $?
	took=$(($(date +%s) - begin))
	[ $took -lt $late ] || fail "took $took s"
	grep -q 'file systems\{0,1\} .*answers\{0,1\}' "$work/err" ||
		fail "no cause: $(cat "$work/err")"
	[ -n "$core$detached" ] || "$command" --doctor="$pid" | grep -q 'would wait for' ||
		fail "no word of --doctor"
	rm "$silent"
	await nothing_left || fail "something is left"
	"$command" -q -p "$pid" >"$work/text" 2>"$work/err" 9>&-
	expect_status 23 $?
	exec 9>&-
	wait "$pid" || fail "the process ended with $?"
	release
}

expect_status() {
	[ "$2" -eq "$1" ] || fail "status $2, expected $1: $(cat "$work/err")"
}

victim=$build/tests/live/victims/victim_alternate
core='' detached=''
name="same user"
check_silent env
name="detached mount"
detached=yes
check_silent env
name="core"
core=$work/core detached=''
check_silent env
core=''
name="another user"
# shellcheck disable=SC2086 # words
check_silent $as_nobody
[ $failures -eq 0 ]
