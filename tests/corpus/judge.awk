# Hold what each tool found lost against what each program lost.
#
# Usage: awk -v programs="..." -v tools="..." [-v table=FILE]
#            [-v doubtful=FILE] -f judge.awk
#            DIFFERENCES PROGRAM.TOOL.out PROGRAM.TOOL.log ...
#
# Addresses are compared within a run, in which the record has them all. That
# the runs lost the same blocks is seen by their names. A line for each program;
# what differs, and is not in DIFFERENCES, is a failure.

FNR == 1 {
	file = FILENAME
	sub(".*/", "", file)
	split(file, name, "[.]")
	run = name[1] SUBSEP name[2]
	counting = 0
}

FILENAME == ARGV[1] {
	# PROGRAM | TOOL | missing or extra | NAME | CAUSE
	if ($0 ~ /^#/ || NF == 0)
		next
	split($0, field, " *[|] *")
	cause[field[1], field[2], field[3], field[4]] = field[5]
	next
}

name[3] == "out" && $1 == "block" {
	where[run] = where[run] " " $2
	label = $4
	sub("[.][0-9]*$", "", label)
	block[run, $2] = label
	if (label == "-") {
		kept[run, $2] = $3 " bytes, allocated by " $5
	} else {
		expected[run]++
		lost_names[run] = lost_names[run] " " label ":" $3
	}
}
name[3] == "out" && $1 == "lost" { found_lost(tolower($2)) }
name[3] == "out" && $1 == "status" && $2 != 0 {
	refused[run] = substr($0, 8)
}
name[3] == "out" && $1 == "unknown" { refused[run] = "was not preloaded" }
name[3] == "out" && $1 == "skip" { skipped[name[1]] = substr($0, 6) }
name[3] == "out" && $1 == "failed" { refused[run] = substr($0, 8) }

name[3] == "log" && name[2] == "valgrind" {
	sub("^==[0-9]*== ?", "")
	if (/ in loss record [0-9,]+ of /)
		counting = /(definitely|indirectly) lost in/
	if (/^LEAK SUMMARY|no leaks are possible/)
		answered[run] = 1
	if (counting && /^0x[0-9A-F]+\[/) {
		sub("\\[.*", "")
		found_lost(tolower($0))
	}
}
name[3] == "log" && name[2] == "lsan" && /^0x[0-9a-f]+ \(/ { found_lost($1) }
name[3] == "log" && name[2] == "lsan" && /FATAL|HINT/ { refused[run] = $0 }

function found_lost(address) {
	if (!((run, address) in found))
		found_list[run] = found_list[run] " " address
	found[run, address] = 1
}

# Both directions of one run as words; sets verdict and adds to why.
function judge(program, tool,    n, list, i, words, kind, what, in_run) {
	in_run = program SUBSEP tool
	verdict = "same"
	if (in_run in refused) {
		verdict = "WRONG"
		return "no answer: " refused[in_run]
	}
	if (tool == "valgrind" && !answered[in_run]) {
		verdict = "WRONG"
		return "no answer"
	}
	n = split(where[in_run], list, " ")
	for (i = 1; i <= n; i++) {
		what = block[in_run, list[i]]
		if (what != "-" && !((in_run, list[i]) in found))
			difference[in_run, "missing", what]++
		if (what == "-" && (in_run, list[i]) in found)
			detail = detail "  " program ", " tool ": " list[i] \
			    " " kept[in_run, list[i]] "\n"
	}
	words = split(found_list[in_run], list, " ")
	for (i = 1; i <= words; i++) {
		if (!((in_run, list[i]) in block))
			difference[in_run, "extra", "unrecorded"]++
		else if (block[in_run, list[i]] == "-")
			difference[in_run, "extra", "kept"]++
	}
	for (key in difference) {
		split(key, part, SUBSEP)
		if (part[1] != program || part[2] != tool)
			continue
		kind = part[3]
		what = part[4]
		words = words (kind == "extra" ? ", +" : ", -") \
		    difference[key] " " what
		if ((program, tool, kind, what) in cause) {
			if (verdict == "same")
				verdict = "listed"
			if (index(why, cause[program, tool, kind, what]) == 0)
				why = why (why == "" ? "" : " ") \
				    cause[program, tool, kind, what]
		} else {
			verdict = "WRONG"
		}
	}
	return words
}

function sorted_names(in_run,    n, list, i, j, t, all) {
	n = split(lost_names[in_run], list, " ")
	for (i = 2; i <= n; i++) {
		t = list[i]
		for (j = i - 1; j > 0 && list[j] > t; j--)
			list[j + 1] = list[j]
		list[j + 1] = t
	}
	for (i = 1; i <= n; i++)
		all = all " " list[i]
	return all
}

function put(line) {
	if (table != "")
		print line > table
}

END {
	num_programs = split(programs, program, " ")
	num_tools = split(tools, tool, " ")
	head = "| program | lost |"
	rule = "|---|---|"
	for (t = 1; t <= num_tools; t++) {
		head = head " " tool[t] " |"
		rule = rule "---|"
	}
	put(head " why |")
	put(rule "---|")
	for (p = 1; p <= num_programs; p++) {
		if (program[p] in skipped) {
			print "SKIPPED: " program[p] ": " skipped[program[p]]
			continue
		}
		why = ""
		detail = ""
		bad = 0
		ours_bad = 0
		first = program[p] SUBSEP tool[1]
		row = "| " program[p] " | " expected[first] + 0 " |"
		for (t = 1; t <= num_tools; t++) {
			row = row " " judge(program[p], tool[t]) " |"
			bad += verdict == "WRONG"
			ours_bad += verdict == "WRONG" && tool[t] == "ours"
			same[tool[t]] += verdict == "same"
			listed[tool[t]] += verdict == "listed"
			wrong[tool[t]] += verdict == "WRONG"
			run = program[p] SUBSEP tool[t]
			if (sorted_names(run) != sorted_names(first)) {
				bad++
				detail = detail "  another set was lost when" \
				    " run with " tool[t] ":" \
				    sorted_names(run) " and not" \
				    sorted_names(first) "\n"
			}
		}
		print (bad ? "WRONG " : "ok    ") row " " why " |"
		if (bad)
			printf "%s", detail
		put(row " " why " |")
		failures += bad > 0
		if (bad && !ours_bad && doubtful != "")
			print program[p] > doubtful
	}
	for (t = 1; t <= num_tools; t++)
		printf "%s: %d the same, %d differ as listed, %d otherwise\n",
		    tool[t], same[tool[t]], listed[tool[t]], wrong[tool[t]]
	exit failures > 0
}
