#!/bin/sh
# --diff of saved looks and of reports in JSON: what came, grew, shrank and went, of
# what was lost and of what lives, with the totals.
set -u
. tests/support/command/look_program.sh

# take NAME: a look, and two reports
take() {
	"$command" -q --save "$work/$1.look" --in-use --format=json -p "$pid" \
	    >"$work/$1.json" 2>"$work/errors"
	"$command" -q --format=json "$work/$1.look" >"$work/$1.lost"
	sed 's/Session {/Sessions {/' "$work/$1.json" >"$work/$1.other"
}

hold "$work/program"
take before
echo 3 >&9
await grep -q lost "$said"
take after
let_go

for kinds in "look look" "json json" "look json" "json look"; do
	name=$kinds
	first=${kinds% *} second=${kinds#* }
	ends 0 --diff "$work/before.$first" "$work/after.$second"
	like "$work/answer" "^Before: lost 3.0 KiB in 60 blocks, live .*before"
	like "$work/answer" "^Now:    lost 3.4 KiB in 69 blocks, live .*after"
	has "$work/answer" "Change: lost +456 bytes (+9 blocks), live +0 bytes"
	like "$work/answer" "grew +[+]456 bytes \([+]9 blocks\) to 3.4 KiB: Session"
	ends 0 --diff "$work/after.$second" "$work/before.$first"
	like "$work/answer" "shrank +-456 bytes \(-9 blocks\) to 3.0 KiB: Session"
	ends 0 --diff "$work/after.$first" "$work/after.$second"
	unlike "$work/answer" "Lost:|Live:"
done

name="came and went"
ends 0 --diff "$work/before.look" "$work/after.other"
like "$work/answer" "came +[+]3.4 KiB \([+]69 blocks\) to 3.4 KiB: Sessions"
like "$work/answer" "went +-3.0 KiB \(-60 blocks\) to 0 bytes: Session "

name="what lives"
sed 's/"allocation_bytes": 1/"allocation_bytes": 2/; s/std::pair<const/pair<const/' \
    "$work/after.json" >"$work/changed"
ends 0 --diff "$work/before.look" "$work/changed"
like "$work/answer" "^Live:"
like "$work/answer" "went .* to 0 bytes: .*std::pair"

# A table that was moved to a larger block is the same one: by its type, and by
# the variable that holds it.
cat >"$work/table.cc" <<'END'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

struct item {
	long number;
	item *next;
};
std::vector<item> items;
void *table;

static void grow(size_t count)
{
	items.assign(count, item { 1, nullptr });
	items.shrink_to_fit();
	table = realloc(table, count * 1000);
	memset(table, 1, count * 1000);
}

int main()
{
	size_t count = 1000;
	char line[80];

	grow(count);
	puts("ready");
	for (fflush(stdout); fgets(line, sizeof(line), stdin) != NULL;) {
		grow(count *= 4);
		puts("done");
		fflush(stdout);
	}
}
END
g++ -g -o "$work/table" "$work/table.cc" || fail "not compiled"
hold "$work/table"
take small
echo 4 >&9
await grep -q "done" "$said"
take large
let_go
for kind in look json; do
	name="a table, $kind"
	ends 0 --diff "$work/small.$kind" "$work/large.$kind"
	like "$work/answer" "grew +[+].* \([+]0 blocks\) to .*: item\[\]"
	like "$work/answer" "grew .* to 3.8 MiB: blocks of 128.0 KiB or more"
	unlike "$work/answer" "came|went"
done
ends 0 --diff "$work/small.look" "$work/large.look"
like "$work/answer" "^Held by:"
like "$work/answer" "grew +[+].* \([+]3000 elements\) to 6[0-9.]* KiB: items"

name=incomplete
ends 4 --diff "$work/before.look" "$work/after.lost"
has "$work/answer" "does not say what lives"
like "$work/answer" "grew .*: Session"

name=refused
echo '{"pid": 1}' >"$work/none"
ends 3 --diff "$work/before.look" "$work/none"
has "$work/answer" "no report"
echo '{"pid": ' >"$work/none"
ends 3 --diff "$work/none" "$work/before.look"
head -c 100 "$work/before.look" >"$work/none"
ends 3 --diff "$work/none" "$work/before.look"
has "$work/answer" "damaged"
ends 3 --diff "$work/before.look" "$source"

[ $failures -eq 0 ]
