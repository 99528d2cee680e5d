# A program of others under the library and under Valgrind: is what the first
# finds lost among what the second does? A block is known by its size and by
# who allocated it.
#
# Usage: awk -v title=... -f compare.awk OURS.out VALGRIND.out VALGRIND.log

FNR == 1 { file++ }

$1 == "block" && file < 3 {
	name[file, $2] = $3 " bytes by " $5
	live[file]++
}
file == 1 && $1 == "status" && $2 != 0 { refused = substr($0, 8) }
file == 1 && $1 == "total" { total = $2 }
file == 1 && $1 == "lost" { lost(1, tolower($2)) }
file == 3 {
	sub("^==[0-9]*== ?", "")
	if (/ in loss record [0-9,]+ of /)
		counting = /(definitely|indirectly) lost in/
	if (/^LEAK SUMMARY|no leaks are possible/)
		answered = 1
	if (counting && /^0x[0-9A-F]+\[/) {
		sub("\\[.*", "")
		lost(2, tolower($0))
	}
}

function lost(of, address) {
	if (seen[of, address]++)
		return
	listed[of] = listed[of] " " address
	count[of]++
}

function name_of(of, address) {
	return (of, address) in name ? name[of, address] : "unrecorded"
}

END {
	if (refused != "" || !answered) {
		print "| " title " | | " refused " | | no answer |"
		exit 1
	}
	n = split(listed[2], list, " ")
	for (i = 1; i <= n; i++)
		rest[name_of(2, list[i])]++
	n = split(listed[1], list, " ")
	for (i = 1; i <= n; i++) {
		key = name_of(1, list[i])
		if (rest[key]-- <= 0) {
			words = words "; not by Valgrind: " key
			bad = 1
		}
	}
	if (total > count[2]) {
		words = words "; more than Valgrind"
		bad = 1
	}
	for (key in rest) {
		if (rest[key] > 0 && total == count[1] + 0)
			words = words "; by Valgrind only: " \
			    (rest[key] > 1 ? rest[key] " of " : "") key
	}
	print "| " title " | " live[1] + 0 " | " total + 0 " | " count[2] + 0 \
	    " | " substr(words, 3) " |"
	exit bad
}
