#!/bin/sh
# --symbols: debug information in a folder that is named, for a process, a core
# and a command. As /usr/lib/debug has it, by a link, or before it was stripped.
set -u
. tests/support/command/command.sh

cat >"$work/program.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct session {
	struct session *next;
	char name[40];
};
static struct session *sessions;
static void *scrubbed;
__attribute__((noinline)) static void make(void)
{
	char *volatile lost = malloc(5000);
	int i;

	memset(lost, 0, 5000);
	for (i = 0; i < 20; i++) {
		struct session *one = calloc(1, sizeof(*one));

		one->next = sessions;
		sessions = one;
	}
	lost = NULL;
}
int main(int argc, char **argv)
{
	char byte;

	make();
	scrubbed = memset(__builtin_alloca(20000), 0, 20000);
	scrubbed = NULL;
	puts("ready");
	fflush(stdout);
	while (argc == 1 && read(0, &byte, 1) > 0)
		continue;
	return argv == NULL;
}
END

# The folders: named by build-id; a mirror of the system; by link; unstripped.
folders='ids mirror linked whole'

make_folders() {
	id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
	rest=${id#??}
	debug=$work/program.debug
	objcopy --only-keep-debug "$1" "$debug" || return 1
	set -- "$1" ".build-id/${id%"$rest"}"
	mkdir -p "$work/ids/$2" "$work/mirror/usr/lib/debug/$2" \
		"$work/linked" "$work/whole/$work" "$work/other/$work"
	cp "$debug" "$work/ids/$2/$rest.debug"
	cp "$debug" "$work/mirror/usr/lib/debug/$2/$rest.debug"
	cp "$debug" "$work/linked/"
	cp "$1" "$work/whole/$work/program"
}

# Of another build: it is not used.
check_other() {
	name="$1, another program"
	"$command" -q --in-use --symbols="$work/other" -p "$pid" >"$out" 2>"$err"
	has_no "$out" session
}

if ! command -v objcopy >/dev/null; then
	echo "SKIPPED: symbols_folder: no objcopy"
	exit 77
fi
cc=${CC:-cc}
$cc -g -O1 -Wl,--build-id -o "$work/program" "$work/program.c" || exit 1
sed 's/session/visitor/g; s/name\[40\]/name[44]/' "$work/program.c" \
	>"$work/visitor.c"
make_folders "$work/program" || exit 1
$cc -g -O1 -Wl,--build-id -o "$work/other/$work/program" "$work/visitor.c" ||
	exit 1
(cd "$work" && strip --strip-all program &&
	objcopy --add-gnu-debuglink=program.debug program && rm program.debug) ||
	exit 1

hold "$work/program"
name='without a folder'
"$command" -q --in-use -p "$pid" >"$out" 2>"$err"
has_no "$out" session
check_other -p
run 23 -q --core-out="$work/core" -p "$pid"
for folder in $folders; do
	name="-p, $folder"
	"$command" -q --in-use --symbols="$work/$folder" -p "$pid" >"$out" 2>"$err"
	like "$out" " 56 bytes, session$"
	name="--core, $folder"
	"$command" -q --in-use --symbols="$work/$folder" --core="$work/core" \
		>"$out" 2>"$err"
	like "$out" " 56 bytes, session$"
done
let_go
name='-- COMMAND'
(cd "$work" && exec "$command" -q --in-use --symbols=ids \
	-- ./program and end) >"$out" 2>"$err"
like "$err" " 56 bytes, session$"

[ $failures -eq 0 ]
