/*
 * lib/cli/options.c, lib/cli/flags.c: the command line becomes a structure, or
 * a message that says what is wrong and what is expected.
 */
#include "lib/cli/options.h"
#include "tests/support/suite.h"

#define MAX_ARGUMENTS 16

static struct mu_cli_options options;
static struct mu_why why;
static char line[512];

/* WORDS are parted at spaces; '~' stands for the empty argument. */
static enum mu_status
parse(const char *words)
{
	static char *argv[MAX_ARGUMENTS];
	int argc = 0;
	char *word;

	why.text[0] = '\0';
	argv[argc++] = (char[]) { "memunreachable" };
	ck_assert_uint_lt(strlen(words), sizeof(line));
	strcpy(line, words);
	for (word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
		if (strcmp(word, "~") == 0)
			*word = '\0';
		ck_assert_int_lt(argc, MAX_ARGUMENTS - 1);
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	return mu_cli_options_parse(
	    &options, NULL, &(struct mu_text) { 0 }, argc, argv, &why);
}

static void
parse_well(const char *words)
{
	enum mu_status status = parse(words);

	ck_assert_msg(status == MU_OK, "%s: %s", words, why.text);
	ck_assert_str_eq(why.text, "");
}

static void
assert_complaint(const char *words, const char *complaint)
{
	ck_assert_msg(parse(words) == MU_ERR_ARGUMENT, "%s", words);
	ck_assert_str_eq(why.text, complaint);
}

/* A stop that may be long is a part of a check that may be longer. */
TEST(time_for_a_pause)
{
	parse_well("-p 1 --max-pause=1s");
	ck_assert_uint_eq(options.timeout_ms, 30000);
	parse_well("-p 1 --max-pause=20s");
	ck_assert_uint_eq(options.timeout_ms, 80000);
	ck_assert(!options.timeout_given);
	parse_well("-p 1 --max-pause=20s --timeout=5s");
	ck_assert_uint_eq(options.timeout_ms, 5000);
}

TEST(why_a_block_or_a_type)
{
	parse_well("-p 1 --why=0x55d0");
	ck_assert(options.explain.why);
	ck_assert_uint_eq(options.explain.address, 0x55d0);
	ck_assert_ptr_null(options.explain.why_type);
	parse_well("-p 1 --why=std::*<a>");
	ck_assert(!options.explain.why);
	ck_assert_str_eq(options.explain.why_type, "std::*<a>");
	ck_assert_uint_eq(options.explain.why_count, 3);
	parse_well("-p 1 --why=12:face");
	ck_assert_str_eq(options.explain.why_type, "face");
	ck_assert_uint_eq(options.explain.why_count, 12);
	assert_complaint("-p 1 --why=0:Session",
	    "--why=0:Session: expected the address of a block, such as"
	    " 55d0c8a02b0, or a type, such as Session or 10:Session");
}

TEST(defaults)
{
	parse_well("-p 4711");
	ck_assert_int_eq(options.subject, MU_CLI_PROCESS);
	ck_assert_int_eq(options.pid, 4711);
	ck_assert_ptr_null(options.core);
	ck_assert_ptr_null(options.exe);
	ck_assert_ptr_null(options.sysroot);
	ck_assert_ptr_null(options.output);
	ck_assert_ptr_null(options.command);
	ck_assert_int_eq(options.stop, MU_CHECK_STOP_AUTO);
	ck_assert_uint_eq(options.timeout_ms, 30000);
	ck_assert(!options.timeout_given);
	ck_assert_uint_eq(options.limit, 100);
	ck_assert(!options.limit_given);
	ck_assert_uint_eq(options.max_memory, 0);
	ck_assert_uint_eq(options.workers, 0);
	ck_assert_int_eq(options.signal, 0);
	ck_assert(!options.contents && !options.quiet && !options.children);
	ck_assert_ptr_eq(options.writer, &mu_writer_text);
	ck_assert_int_eq(options.color, MU_STYLE_AUTO);
}

TEST(every_option_for_a_process)
{
	parse_well("--pid=1 --stop=read --timeout=500ms --limit=7 --contents"
		   " --format=json --output=x -q --color=always"
		   " --max-memory=64m --workers=3");
	ck_assert_int_eq(options.pid, 1);
	ck_assert_int_eq(options.stop, MU_CHECK_STOP_READ);
	ck_assert_uint_eq(options.timeout_ms, 500);
	ck_assert(options.timeout_given);
	ck_assert_uint_eq(options.limit, 7);
	ck_assert(options.limit_given);
	ck_assert(options.contents);
	ck_assert_ptr_eq(options.writer, &mu_writer_json);
	ck_assert_str_eq(options.output, "x");
	ck_assert(options.quiet);
	ck_assert_int_eq(options.color, MU_STYLE_ALWAYS);
	ck_assert_uint_eq(options.max_memory, 64 << 20);
	ck_assert_uint_eq(options.workers, 3);
	parse_well("-p4194304 --stop fork --timeout 2 --color never");
	ck_assert_int_eq(options.pid, 4194304);
	ck_assert_int_eq(options.stop, MU_CHECK_STOP_FORK);
	ck_assert_uint_eq(options.timeout_ms, 2000);
	ck_assert_int_eq(options.color, MU_STYLE_NEVER);
}

TEST(backtrace)
{
	parse_well("-- true");
	ck_assert(!options.backtrace);
	parse_well("--backtrace -- true");
	ck_assert(options.backtrace);
	ck_assert_uint_eq(options.frames, 0);
	ck_assert_uint_eq(options.max_size, 0);
	parse_well("--backtrace=256 --backtrace-size=24 -- true");
	ck_assert_uint_eq(options.frames, 256);
	ck_assert_uint_eq(options.min_size, 24);
	ck_assert_uint_eq(options.max_size, 24);
	parse_well("--backtrace-size 24-4096 -- true");
	ck_assert(options.backtrace);
	ck_assert_uint_eq(options.min_size, 24);
	ck_assert_uint_eq(options.max_size, 4096);
	assert_complaint("--backtrace=0 -- true",
	    "--backtrace=0: expected a number of frames, 1 to 256");
	assert_complaint("--backtrace=257 -- true",
	    "--backtrace=257: expected a number of frames, 1 to 256");
	assert_complaint("--backtrace=x -- true",
	    "--backtrace=x: expected a number of frames, 1 to 256");
	assert_complaint("--backtrace-size=5-4 -- true",
	    "--backtrace-size=5-4: expected bytes, such as 24, or from least"
	    " to most, such as 24-4096");
	ck_assert_int_eq(parse("--backtrace-size=0 -- true"), MU_ERR_ARGUMENT);
	ck_assert_int_eq(parse("--backtrace-size=4- -- true"), MU_ERR_ARGUMENT);
	ck_assert_int_eq(parse("--backtrace-size=-4 -- true"), MU_ERR_ARGUMENT);
	ck_assert_int_eq(
	    parse("--backtrace-size=4-5-6 -- true"), MU_ERR_ARGUMENT);
	assert_complaint(
	    "--backtrace -p 1", "--backtrace goes with -- COMMAND only");
}

TEST(core)
{
	parse_well("--core c --exe e --sysroot=/r");
	ck_assert_int_eq(options.subject, MU_CLI_CORE);
	ck_assert_str_eq(options.core, "c");
	ck_assert_str_eq(options.exe, "e");
	ck_assert_str_eq(options.sysroot, "/r");
	ck_assert_int_eq(options.pid, 0);
}

TEST(command_keeps_its_own_options)
{
	parse_well("--signal=USR2 --children -q -- ls -p 3 -- --help");
	ck_assert_int_eq(options.subject, MU_CLI_COMMAND);
	ck_assert_int_eq(options.signal, SIGUSR2);
	ck_assert(options.children);
	ck_assert_int_eq(options.pid, 0);
	ck_assert_str_eq(options.command[0], "ls");
	ck_assert_str_eq(options.command[1], "-p");
	ck_assert_str_eq(options.command[3], "--");
	ck_assert_str_eq(options.command[4], "--help");
	ck_assert_ptr_null(options.command[5]);
}

TEST(doctor)
{
	parse_well("--doctor");
	ck_assert_int_eq(options.subject, MU_CLI_DOCTOR);
	ck_assert_int_eq(options.pid, 0);
	parse_well("--doctor 12");
	ck_assert_int_eq(options.pid, 12);
	parse_well("--doctor 12 -o x");
	ck_assert_int_eq(options.pid, 12);
	parse_well("--doctor=13");
	ck_assert_int_eq(options.pid, 13);
	parse_well("-p 14 --doctor -o x");
	ck_assert_int_eq(options.subject, MU_CLI_DOCTOR);
	ck_assert_int_eq(options.pid, 14);
	assert_complaint("--doctor --core=x",
	    "--doctor and --core FILE: one of them at a time");
	assert_complaint("--doctor=1 -p 2", "1 and 2: one process at a time");
	assert_complaint("--doctor 0x",
	    "--doctor=0x: expected the number of a process, such as 4711");
}

TEST(symbolize)
{
	parse_well("--symbolize");
	ck_assert_int_eq(options.subject, MU_CLI_SYMBOLIZE);
	ck_assert_ptr_null(options.log);
	parse_well("--symbolize -");
	ck_assert_ptr_null(options.log);
	parse_well("--symbolize --symbols=/r a.log");
	ck_assert_str_eq(options.log, "a.log");
	ck_assert_str_eq(options.symbols, "/r");
	parse_well("--symbolize a.log --symbols /r");
	ck_assert_str_eq(options.log, "a.log");
	ck_assert_str_eq(options.symbols, "/r");
	parse_well("--symbolize - --symbols /r");
	ck_assert_str_eq(options.symbols, "/r");
	parse_well("--symbolize=a.log -q");
	ck_assert_str_eq(options.log, "a.log");
	assert_complaint(
	    "--symbolize=a b", "--symbolize takes one file at a time");
	assert_complaint("--symbolize=",
	    "--symbolize=: expected the name of a"
	    " file");
	assert_complaint("--symbolize -- ls",
	    "--symbolize and -- COMMAND: one of them at a time");
	ck_assert_int_eq(parse("--symbolize a b"), MU_ERR_ARGUMENT);
	ck_assert_int_eq(parse("--symbolize -o x"), MU_ERR_ARGUMENT);
	ck_assert_int_eq(parse("--symbolize -p 1"), MU_ERR_ARGUMENT);
}

TEST(files_of_recorders)
{
	parse_well("--heap-dump d --symbols=/r --html=x.html --limit=3 -q");
	ck_assert_int_eq(options.subject, MU_CLI_HEAP_DUMP);
	ck_assert_str_eq(options.heap_dump, "d");
	ck_assert_str_eq(options.symbols, "/r");
	ck_assert_str_eq(options.html, "x.html");
	ck_assert_uint_eq(options.limit, 3);
	parse_well("--diff a b -o x");
	ck_assert_int_eq(options.subject, MU_CLI_DIFF);
	ck_assert_str_eq(options.diff_before, "a");
	ck_assert_str_eq(options.diff_after, "b");
	parse_well("--symbols r --diff=a --diff=b");
	ck_assert_str_eq(options.diff_after, "b");
	parse_well("--leaktracer l --exe ./p");
	ck_assert_int_eq(options.subject, MU_CLI_LEAKTRACER);
	ck_assert_str_eq(options.leaktracer, "l");
	ck_assert_str_eq(options.exe, "./p");
}

TEST(files_of_recorders_alone)
{
	assert_complaint(
	    "--diff a", "--diff needs two heap dumps, the earlier one first");
	assert_complaint("--diff a -q b",
	    "b is neither an option nor a saved look; a process is given by -p PID, a command to run"
	    " by -- COMMAND");
	assert_complaint("--diff a b c",
	    "c is neither an option nor a saved look; a process is given by -p PID, a command to run"
	    " by -- COMMAND");
	assert_complaint("--heap-dump a b",
	    "b is neither an option nor a saved look; a process is given by -p PID, a command to run"
	    " by -- COMMAND");
	assert_complaint("--heap-dump a --diff b c",
	    "--heap-dump FILE and --diff A B: one of them at a time");
	assert_complaint("-p 1 --leaktracer b",
	    "-p PID and --leaktracer FILE: one of them at a time");
	assert_complaint("--leaktracer b -- ls",
	    "--leaktracer FILE and -- COMMAND: one of them at a time");
	assert_complaint("--leaktracer b --html=c",
	    "--html goes with --heap-dump FILE or --diff A B or watch only");
	assert_complaint("--doctor --symbols=c",
	    "--symbols goes with -p PID or --core FILE or"
	    " --heap-dump FILE or --diff A B or --leaktracer FILE or"
	    " --symbolize or -- COMMAND or watch only");
	assert_complaint("--heap-dump a --format=json",
	    "--format goes with -p PID or --core FILE or -- COMMAND or"
	    " LOOK or watch only");
	assert_complaint(
	    "--heap-dump=", "--heap-dump=: expected the name of a file");
	assert_complaint("--diff a ~", "--diff=: expected the name of a file");
}

TEST(help_and_version)
{
	parse_well("--help");
	ck_assert_int_eq(options.subject, MU_CLI_HELP);
	parse_well("-h --nonsense");
	ck_assert_int_eq(options.subject, MU_CLI_HELP);
	parse_well("-p 1 --vers");
	ck_assert_int_eq(options.subject, MU_CLI_VERSION);
	parse_well("-V");
	ck_assert_int_eq(options.subject, MU_CLI_VERSION);
}

TEST(one_subject)
{
	assert_complaint(
	    "", "nothing to look at; give a PID, --core FILE or a COMMAND");
	assert_complaint(
	    "-p 1 --core c", "-p PID and --core FILE: one of them at a time");
	assert_complaint(
	    "-p 1 -- ls", "-p PID and -- COMMAND: one of them at a time");
	assert_complaint("--core c -- ls",
	    "--core FILE and -- COMMAND: one of them at a time");
	assert_complaint("-p 1 -p 2", "1 and 2: one process at a time");
	assert_complaint("--", "there is no COMMAND after --");
	assert_complaint("-p 1 ls -l",
	    "ls is neither an option nor a saved look; a process is given by -p PID, a command to run"
	    " by -- COMMAND");
}

TEST(words_alone)
{
	ck_assert_int_eq(parse("ls -l"), MU_OK);
	ck_assert_int_eq(options.subject, MU_CLI_COMMAND);
	ck_assert_str_eq(options.command[0], "ls");
	ck_assert_str_eq(options.command[1], "-l");
	ck_assert_int_eq(parse("-q --limit=3 ./program -p 5"), MU_OK);
	ck_assert_int_eq(options.subject, MU_CLI_COMMAND);
	ck_assert_str_eq(options.command[1], "-p");
	ck_assert_int_eq(parse("-q 4711"), MU_OK);
	ck_assert_int_eq(options.subject, MU_CLI_PROCESS);
	ck_assert_int_eq(options.pid, 4711);
	ck_assert_int_eq(parse("4711 x"), MU_OK);
	ck_assert_int_eq(options.subject, MU_CLI_COMMAND);
	ck_assert_int_eq(parse("watch 4711"), MU_OK);
	ck_assert_int_eq(options.pid, 4711);
	ck_assert_int_eq(parse("watch ./program x"), MU_OK);
	ck_assert_str_eq(options.command[0], "./program");
	ck_assert_int_eq(parse("-p served"), MU_OK);
	ck_assert_int_eq(options.subject, MU_CLI_PROCESS);
	ck_assert_str_eq(options.watch.search.name, "served");
	assert_complaint(
	    "0", "--pid=0: expected the number of a process, such as 4711");
}

TEST(meant)
{
	assert_complaint("--backtrase ls",
	    "no such option: --backtrase; did you mean --backtrace?");
	assert_complaint("--childern ls",
	    "no such option: --childern; did you mean --children?");
	assert_complaint(
	    "--leak-check=full ls", "no such option: --leak-check=full");
	assert_complaint("--formta=json -p 1",
	    "no such option: --formta=json; did you mean --format?");
	assert_complaint("--help=some", "--help=some: expected all");
	ck_assert_int_eq(parse("--only-program=test_* make test"), MU_OK);
	ck_assert(options.children);
	assert_complaint("--only-program=a'b ls",
	    "--only-program=a'b: expected the name of a program, or a"
	    " pattern such as 'test_*'");
}

TEST(unknown_options)
{
	assert_complaint("--foo -p 1", "no such option: --foo");
	assert_complaint("-x", "no such option: -x");
	assert_complaint("--co -p 1",
	    "--co could be --core, --contents, --color, --core-out, --confirm,"
	    " --count");
	assert_complaint("-p", "--pid needs a value after it");
	assert_complaint("--core", "--core needs a value after it");
	assert_complaint("--contents=1 -p 1", "--contents takes no value");
	parse("--\x1b[2J");
	ck_assert_str_eq(why.text, "no such option: --\\x1b[2J");
}

TEST(bad_values)
{
	static const char pid[] = "expected the number of a process, such as"
				  " 4711";
	static const char *const pids[] = { "0", "-1", ".x", "4194305", "1x",
		"+1", "0x10", "99999999999999999999" };
	char words[128], complaint[128];
	size_t i;

	for (i = 0; i < sizeof(pids) / sizeof(*pids); i++) {
		snprintf(words, sizeof(words), "--pid=%s", pids[i]);
		snprintf(
		    complaint, sizeof(complaint), "--pid=%s: %s", pids[i], pid);
		assert_complaint(words, complaint);
	}
	assert_complaint(
	    "--core= -p 1", "--core=: expected the name of a file");
	assert_complaint("-o ~ -p 1", "--output=: expected the name of a file");
	assert_complaint(
	    "--stop=ptrace -p 1", "--stop=ptrace: expected auto, fork or read");
	assert_complaint(
	    "--color=yes -p 1", "--color=yes: expected auto, always or never");
	assert_complaint("--format=xml -p 1",
	    "--format=xml: expected text, json, html, sarif, junit, github,"
	    " gitlab, folded, pprof, lsan or markdown");
	assert_complaint("--limit=-1 -p 1", "--limit=-1: expected a number");
	assert_complaint("--limit ~ -p 1", "--limit=: expected a number");
	assert_complaint("--signal=KILL -- ls",
	    "--signal=KILL: expected a signal that can be caught, such as"
	    " RTMIN+5, USR2 or 40");
}

/* What ends a value in MEMUNREACHABLE_OPTIONS is but a bad value here. */
TEST(values_are_not_options)
{
	static const char expected[] = ": expected a time from 1ms to"
				       " 1000000s, such as 30, 30s or 500ms";
	static const char *const bad[] = { "1:verbosity=2", "'1'", "\"1\"", ":",
		"1h", "0", "1:" };
	char words[128], complaint[256];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(words, sizeof(words), "--timeout=%s -p 1", bad[i]);
		snprintf(complaint, sizeof(complaint), "--timeout=%s%s", bad[i],
		    expected);
		assert_complaint(words, complaint);
	}
}

TEST(long_value_is_cut)
{
	char words[300] = "--timeout=";

	memset(words + strlen(words), '1', 200);
	ck_assert_int_eq(parse(words), MU_ERR_ARGUMENT);
	ck_assert_uint_lt(strlen(why.text), 180);
	ck_assert_ptr_nonnull(strstr(why.text, "1: expected a time"));
}

TEST(nothing_is_without_effect)
{
	assert_complaint("-p 1 --exe=x",
	    "--exe goes with --core FILE or --leaktracer FILE only");
	assert_complaint(
	    "-p 1 --signal=USR1", "--signal goes with -- COMMAND only");
	assert_complaint(
	    "--core c --children", "--children goes with -- COMMAND only");
	assert_complaint(
	    "--core c --stop=fork", "--stop goes with -p PID or watch only");
	assert_complaint("--doctor --limit=1",
	    "--limit goes with -p PID or --core FILE or --heap-dump FILE or"
	    " --diff A B or --leaktracer FILE or -- COMMAND or LOOK only");
	parse_well("--format=json -- ls");
}

TEST(the_page_of_a_watch)
{
	static struct mu_cli_options parsed;
	char *argv[] = { (char[]) { "memunreachable" }, (char[]) { "watch" },
		(char[]) { "-p" }, (char[]) { "1" }, (char[]) { "--html=-" },
		NULL };

	ck_assert(mu_cli_options_parse(&parsed, NULL, &(struct mu_text) { 0 },
		      5, argv, &why) == MU_ERR_ARGUMENT);
	ck_assert_str_eq(why.text, "--html=-: the page of a watch is a file");
}

TEST(a_look)
{
	char name[] = "/tmp/look.XXXXXX", words[64];
	int fd = mkstemp(name);

	ck_assert_int_eq(write(fd, "MuLook\n", 8), 8);
	close(fd);
	snprintf(words, sizeof(words), "%s --retained", name);
	parse_well(words);
	ck_assert_int_eq(options.subject, MU_CLI_LOOK);
	ck_assert_str_eq(options.look, name);
	snprintf(words, sizeof(words), "--why=55d0c8a02b0 %s", name);
	parse_well(words);
	ck_assert_str_eq(options.look, name);
	snprintf(words, sizeof(words), "%s -p 1", name);
	assert_complaint(words, "-p PID and LOOK: one of them at a time");
	snprintf(words, sizeof(words), "%s --save=other", name);
	assert_complaint(
	    words, "--save goes with -p PID or --core FILE or -- COMMAND only");
	snprintf(words, sizeof(words), "--retained -- %s", name);
	parse_well(words);
	ck_assert_int_eq(options.subject, MU_CLI_COMMAND);
	unlink(name);
	assert_complaint("--children --save=look -- ls",
	    "--save writes one process, and --children checks several");
}

TEST(a_watch)
{
	parse_well("watch -p 4711");
	ck_assert_int_eq(options.subject, MU_CLI_WATCH);
	ck_assert_int_eq(options.pid, 4711);
	ck_assert_ptr_null(options.watch.search.name);
	ck_assert_uint_eq(options.watch.every_ms, 60000);
	ck_assert_uint_eq(options.watch.count, 0);
	ck_assert_uint_eq(options.watch.duration_ms, 0);
	parse_well("watch -p served --every=500ms --count=3 --duration 2h");
	ck_assert_str_eq(options.watch.search.name, "served");
	ck_assert(!options.watch.search.unit);
	ck_assert_uint_eq(options.watch.every_ms, 500);
	ck_assert_uint_eq(options.watch.count, 3);
	ck_assert_uint_eq(options.watch.duration_ms, 7200000);
	parse_well("watch --every=1d --format=json -- served watch");
	ck_assert_str_eq(options.command[1], "watch");
	ck_assert_uint_eq(options.watch.every_ms, 86400000);
	assert_complaint("watch",
	    "nothing to watch; give -p PID, -p NAME, --unit=NAME or"
	    " -- COMMAND");
	parse_well("watch --unit=served --syslog");
	ck_assert_str_eq(options.watch.search.name, "served");
	ck_assert(options.watch.search.unit);
	ck_assert(options.watch.syslog);
	assert_complaint(
	    "watch --unit=served -p served", "one process at a time");
	assert_complaint("watch -p 1 --unit=served", "one process at a time");
	assert_complaint("watch -p 1 -- served",
	    "-p PID, --from=FILE and -- COMMAND: one of them at a time");
	assert_complaint("watch -p 1 -p served", "one process at a time");
	assert_complaint("watch -p served -p 1", "one process at a time");
	assert_complaint("-p 1 --every=3", "--every goes with watch only");
	assert_complaint("watch -p 1 --format=html",
	    "--format=html: a watch is text or json");
	assert_complaint(
	    "watch -p 1 --by=block", "--by=block: a watch compares groups");
	parse_well("watch -p 1 --round=true --rounds=3");
	ck_assert_str_eq(options.watch.round, "true");
	ck_assert_uint_eq(options.watch.rounds, 3);
	assert_complaint(
	    "watch -p 1 --rounds=3", "--rounds goes with --round only");
	assert_complaint("watch -p 1 --round=true --count=3",
	    "--count has no effect with --round");
	assert_complaint("watch -p 1 --round=true --rounds=96",
	    "--rounds=96: expected a number of rounds, 1 to 95");
	ck_assert(parse("watch -p 1 --retained") == MU_ERR_ARGUMENT);
}

static const char *const no_times[] = { "0", "", "-1", "1y", "1.5s", "s",
	"99999999999999999999", "999999999999d" };

TEST_LOOP(no_time_of_a_watch, 0, sizeof(no_times) / sizeof(*no_times))
{
	char words[64];

	snprintf(words, sizeof(words), "watch -p 1 --every=%s", no_times[_i]);
	ck_assert(parse(words) == MU_ERR_ARGUMENT);
	ck_assert_ptr_nonnull(strstr(
	    why.text, "expected a time, such as 60s, 500ms, 5m, 1h or 2d"));
}
