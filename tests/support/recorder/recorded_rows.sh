#!/bin/sh
# Rows of tests/live/heaps/recorded_programs.sh (RECORDED_ROWS) as a Markdown table:
# a line a program, a column a release; in a field the threads and looks, and
# walked / recorded / missing / extra. Usage: recorded_rows.sh ROWS...
cat "$@" | awk -F'|' '
	!($1 in releases) { releases[$1]; order[++num_releases] = $1 }
	!($2 in programs) { programs[$2]; line[++num_programs] = $2 }
	{ field[$2, $1] = sprintf("%d × %d: %d / %d / %d / %d", $3, $4,
	    $5, $6, $7, $8 + $9) }
	END {
		# Rising, by the number behind the dot.
		for (i = 2; i <= num_releases; i++)
			for (j = i; j > 1 && substr(order[j], 3) + 0 < \
			    substr(order[j - 1], 3) + 0; j--) {
				swap = order[j]
				order[j] = order[j - 1]
				order[j - 1] = swap
			}
		printf "| program |"
		for (i = 1; i <= num_releases; i++)
			printf " %s |", order[i]
		printf "\n|---|"
		for (i = 1; i <= num_releases; i++)
			printf "---|"
		for (p = 1; p <= num_programs; p++) {
			printf "\n| %s |", line[p]
			for (i = 1; i <= num_releases; i++)
				printf " %s |", (line[p], order[i]) in field ? \
				    field[line[p], order[i]] : "-"
		}
		printf "\n"
	}'
