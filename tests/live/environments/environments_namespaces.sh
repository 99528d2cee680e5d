#!/bin/sh
# In separate namespaces, like containers: users, processes, mounts; as the
# first process of a namespace; with another /proc, with none; on a file system
# where nothing can be written; in a folder with nothing but the program.
set -u
. tests/support/environments/environments.sh
place=$victims/victim_environment

if ! have unshare "namespaces"; then
	exit 77
fi

# NAME, the flags of unshare: are such namespaces allowed here?
allowed() {
	what=$1
	shift
	"$@" true 2>"$work/why" && return
	skip "$what: $(head -n 1 "$work/why")"
	return 1
}

# Without a /proc of ours: the whole answer, or none and what helps.
none='no /proc by none: .*mount.*'
tail='; the same again; unharmed$'
some_ptrace="^(complete by ptrace: exact|$none)$tail"
some_signal="^(complete by signal: exact|$none)$tail"
some="^(complete by (ptrace|signal): exact|$none)$tail"
none="^$none$tail"

as_user=
[ "$(id -u)" -eq 0 ] &&
	as_user="setpriv --reuid=65534 --regid=65534 --clear-groups"

# Words by intention.
# shellcheck disable=SC2086
if allowed "user namespace" $as_user unshare -Urpf --mount-proc; then
	places "user and process namespace" ptrace ptrace signal \
	    $as_user unshare -Urpf --mount-proc "$place"
	places "the same, not dumpable, ptrace denied" \
	    signal 'ptrace refused by seccomp' signal \
	    $as_user unshare -Urpf --mount-proc "$place" undumpable \
	    seccomp=EPERM
fi
if [ "$(id -u)" -ne 0 ]; then
	skip "mounts and chroots: need root"
	finish_places
	exit
fi

if allowed "user namespace of root" unshare -Urpf --mount-proc; then
	places "root's user and process namespace" ptrace ptrace signal \
	    unshare -Urpf --mount-proc "$place"
fi
if allowed "process namespace" unshare -pf --mount-proc; then
	places "first process of its namespace" ptrace ptrace signal \
	    unshare -pf --mount-proc "$place"
	places "first process, ptrace denied" \
	    signal 'ptrace refused by seccomp' signal \
	    unshare -pf --mount-proc "$place" container=EPERM
	# shellcheck disable=SC2016 # for the inner shell
	places "second process of its namespace" ptrace ptrace signal \
	    unshare -pf --mount-proc sh -c '"$0"; exit $?' "$place"
	# A /proc of another namespace shows our numbers wrong.
	# The numbers in it are not ours.
	places "/proc of another process namespace" "$some" "$some_ptrace" "$some_signal" \
	    unshare -pf "$place"
fi

if allowed "mount namespace" unshare -m; then
	for hidden in 1 2; do
		# shellcheck disable=SC2016
		places "/proc with hidepid=$hidden, as nobody" \
		    ptrace ptrace signal unshare -m sh -c \
		    'mount -t proc -o hidepid='$hidden' proc /proc &&
		    exec setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$0"' "$place"
	done
	# shellcheck disable=SC2016
	places "no /proc" "$some" "$some_ptrace" "$some_signal" \
	    env LD_LIBRARY_PATH="$build" unshare -m sh -c \
	    'umount -l /proc && exec "$0"' "$place"
	# shellcheck disable=SC2016
	places "an empty file system over /proc" "$some" "$some_ptrace" "$some_signal" \
	    env LD_LIBRARY_PATH="$build" unshare -m sh -c \
	    'mount -t tmpfs none /proc && exec "$0"' "$place"
	# shellcheck disable=SC2016
	places "nothing can be written" ptrace ptrace signal \
	    env TMPDIR=/nowhere unshare -m sh -c '
	    grep " / " /proc/self/mounts >/dev/null
	    for at in / /tmp /var/tmp /dev/shm /run; do
		mount --bind "$at" "$at" 2>/dev/null &&
		    mount -o remount,bind,ro "$at"
	    done
	    exec "$0"' "$place"
fi

# Nothing but the program, its libraries, and /proc; then not even that.
if have chroot "chroot" && allowed "mount namespace" unshare -m; then
	mkdir -p "$work/root/proc"
	for file in "$place" "$library" $(ldd "$place" |
		grep -o '/[^ ]*'); do
		mkdir -p "$work/root$(dirname "$file")"
		cp -L "$file" "$work/root$file"
	done
	# Where the program looks for the library, from where it lies.
	cp -L "$library" "$work/root$build/libmemunreachable.so.0"
	# shellcheck disable=SC2016
	places "chroot" ptrace ptrace signal unshare -m sh -c \
	    'mount -t proc proc "$1/proc" && exec chroot "$1" "$0"' \
	    "$place" "$work/root"
	places "chroot without /proc" "$some" "$some_ptrace" "$some_signal" \
	    env LD_LIBRARY_PATH="$build" chroot "$work/root" "$place"
fi

finish_places
