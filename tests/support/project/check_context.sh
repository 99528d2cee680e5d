#!/bin/sh
# What runs while the world is stopped may call nothing that allocates, locks
# or writes errno: the undefined symbols of its objects must be our own or be
# on the list. Usage: check_context.sh BUILD SOURCE...
set -u
build=$1
shift

# A recorder's variable, pure functions of libc, and what gcc and the linker add.
ALLOWED='memunreachable_recorded|memcpy|memmove|memset|memcmp|memchr|strlen|strnlen|strcmp|strncmp|strchr|strrchr|strstr|memmem|_setjmp|longjmp|explicit_bzero|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|gnu_get_libc_version|__popcountdi2|__explicit_bzero_chk|FreeUnreachableMemoryInfo'

bad=0
for source in "$@"; do
	object=$build/${source%.c}.o
	strays=$("${NM:-nm}" -u "$object" | awk '{ print $NF }' |
		grep -vE "^(mu_[a-z0-9_]*|$ALLOWED)\$")
	if [ -n "$strays" ]; then
		echo "check-context: $source calls" "$strays"
		bad=1
	fi
done
exit $bad
