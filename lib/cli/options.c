#include "lib/cli/options.h"

#include <getopt.h>
#include <string.h>

#include "lib/cli/values.h"
#include "lib/look/read.h"
#include "lib/term/safe_text.h"
#include "mu/text.h"

#define WATCH_EVERY_MS 60000
#define WATCH_ROUNDS 5
#define BASELINE_LIMIT 10000 /* groups */

#define P (1u << MU_CLI_PROCESS)
#define C (1u << MU_CLI_CORE)
#define X (1u << MU_CLI_COMMAND)
#define D (1u << MU_CLI_DOCTOR)
#define H (1u << MU_CLI_HEAP_DUMP)
#define F (1u << MU_CLI_DIFF)
#define L (1u << MU_CLI_LEAKTRACER)
#define S (1u << MU_CLI_SYMBOLIZE)
#define W (1u << MU_CLI_WATCH)
#define K (1u << MU_CLI_LOOK)
#define ALL (P | C | X | D | H | F | L | K)

/* The subjects with which each option is valid. */
static const struct flag {
	struct option option;
	unsigned subjects;
} flags[] = {
	{ { "pid", required_argument, NULL, MU_CLI_OPT_PID }, P | D | W },
	{ { "unit", required_argument, NULL, MU_CLI_OPT_UNIT }, W },
	{ { "core", required_argument, NULL, MU_CLI_OPT_CORE }, C },
	{ { "exe", required_argument, NULL, MU_CLI_OPT_EXE }, C | L },
	{ { "sysroot", required_argument, NULL, MU_CLI_OPT_SYSROOT }, C },
	{ { "doctor", optional_argument, NULL, MU_CLI_OPT_DOCTOR }, D },
	{ { "stop", required_argument, NULL, MU_CLI_OPT_STOP }, P | W },
	{ { "timeout", required_argument, NULL, MU_CLI_OPT_TIMEOUT },
	    P | C | X | K | W },
	{ { "max-pause", required_argument, NULL, MU_CLI_OPT_MAX_PAUSE },
	    P | X | D | W },
	{ { "limit", required_argument, NULL, MU_CLI_OPT_LIMIT },
	    P | C | X | K | H | F | L },
	{ { "by", required_argument, NULL, MU_CLI_OPT_BY }, P | C | X | K | W },
	{ { "contents", no_argument, NULL, MU_CLI_OPT_CONTENTS },
	    P | C | X | K },
	{ { "format", required_argument, NULL, MU_CLI_OPT_FORMAT },
	    P | C | X | K | W },
	{ { "output", required_argument, NULL, MU_CLI_OPT_OUTPUT }, ALL | W },
	{ { "quiet", no_argument, NULL, MU_CLI_OPT_QUIET }, ALL | S | W },
	{ { "color", required_argument, NULL, MU_CLI_OPT_COLOR }, ALL | S | W },
	{ { "signal", required_argument, NULL, MU_CLI_OPT_SIGNAL }, X },
	{ { "children", no_argument, NULL, MU_CLI_OPT_CHILDREN }, X },
	{ { "unchecked", required_argument, NULL, MU_CLI_OPT_UNCHECKED }, X },
	{ { "backtrace", optional_argument, NULL, MU_CLI_OPT_BACKTRACE }, X },
	{ { "backtrace-size", required_argument, NULL,
	      MU_CLI_OPT_BACKTRACE_SIZE },
	    X },
	{ { "retained", optional_argument, NULL, MU_CLI_OPT_RETAINED },
	    P | C | X | K },
	{ { "why", required_argument, NULL, MU_CLI_OPT_WHY }, P | C | X | K },
	{ { "all", no_argument, NULL, MU_CLI_OPT_ALL }, P | C | X | K },
	{ { "in-use", no_argument, NULL, MU_CLI_OPT_IN_USE }, P | C | X | K },
	{ { "since", required_argument, NULL, MU_CLI_OPT_SINCE }, P | C | K },
	{ { "baseline", required_argument, NULL, MU_CLI_OPT_BASELINE },
	    P | C | X | K },
	{ { "write-baseline", required_argument, NULL,
	      MU_CLI_OPT_WRITE_BASELINE },
	    P | C | X | K },
	{ { "core-out", required_argument, NULL, MU_CLI_OPT_CORE_OUT }, P | X },
	{ { "save", required_argument, NULL, MU_CLI_OPT_SAVE }, P | C | X },
	{ { "max-memory", required_argument, NULL, MU_CLI_OPT_MAX_MEMORY },
	    P | C | X | K | W },
	{ { "workers", required_argument, NULL, MU_CLI_OPT_WORKERS },
	    P | C | X | K | W },
	{ { "confirm", no_argument, NULL, MU_CLI_OPT_CONFIRM }, P | X | W },
	{ { "pointer-mask", required_argument, NULL, MU_CLI_OPT_POINTER_MASK },
	    P | C | X | W },
	{ { "use-unaligned", optional_argument, NULL,
	      MU_CLI_OPT_USE_UNALIGNED },
	    P | C | X | W },
	{ { "use-globals", optional_argument, NULL, MU_CLI_OPT_USE_GLOBALS },
	    P | C | X | W },
	{ { "use-stacks", optional_argument, NULL, MU_CLI_OPT_USE_STACKS },
	    P | C | X | W },
	{ { "use-registers", optional_argument, NULL,
	      MU_CLI_OPT_USE_REGISTERS },
	    P | C | X | W },
	{ { "use-tls", optional_argument, NULL, MU_CLI_OPT_USE_TLS },
	    P | C | X | W },
	{ { "use-root-regions", optional_argument, NULL,
	      MU_CLI_OPT_USE_ROOT_REGIONS },
	    P | C | X | W },
	{ { "heap-dump", required_argument, NULL, MU_CLI_OPT_HEAP_DUMP }, H },
	{ { "diff", required_argument, NULL, MU_CLI_OPT_DIFF }, F },
	{ { "leaktracer", required_argument, NULL, MU_CLI_OPT_LEAKTRACER }, L },
	{ { "symbols", required_argument, NULL, MU_CLI_OPT_SYMBOLS },
	    H | F | L | S },
	{ { "symbolize", optional_argument, NULL, MU_CLI_OPT_SYMBOLIZE }, S },
	{ { "html", required_argument, NULL, MU_CLI_OPT_HTML }, H | F | W },
	{ { "every", required_argument, NULL, MU_CLI_OPT_EVERY }, W },
	{ { "duration", required_argument, NULL, MU_CLI_OPT_DURATION }, W },
	{ { "count", required_argument, NULL, MU_CLI_OPT_COUNT }, W },
	{ { "round", required_argument, NULL, MU_CLI_OPT_ROUND }, W },
	{ { "rounds", required_argument, NULL, MU_CLI_OPT_ROUNDS }, W },
	{ { "csv", required_argument, NULL, MU_CLI_OPT_CSV }, W },
	{ { "prometheus", required_argument, NULL, MU_CLI_OPT_PROMETHEUS }, W },
	{ { "syslog", no_argument, NULL, MU_CLI_OPT_SYSLOG }, W },
	{ { "help", no_argument, NULL, MU_CLI_OPT_HELP }, ~0u },
	{ { "version", no_argument, NULL, MU_CLI_OPT_VERSION }, ~0u },
};

#define NUM_FLAGS (sizeof(flags) / sizeof(*flags))

struct parse {
	struct mu_cli_options *options;
	bool given[NUM_FLAGS];
	struct mu_why *why;
};

/* In the order in which messages name them. */
static const struct subject {
	enum mu_cli_subject subject;
	const char *words;
} subjects[] = {
	{ MU_CLI_PROCESS, "-p PID" },
	{ MU_CLI_DOCTOR, "--doctor" },
	{ MU_CLI_CORE, "--core FILE" },
	{ MU_CLI_HEAP_DUMP, "--heap-dump FILE" },
	{ MU_CLI_DIFF, "--diff A B" },
	{ MU_CLI_LEAKTRACER, "--leaktracer FILE" },
	{ MU_CLI_SYMBOLIZE, "--symbolize" },
	{ MU_CLI_COMMAND, "-- COMMAND" },
	{ MU_CLI_LOOK, "LOOK" },
	{ MU_CLI_WATCH, "watch" },
};

#define NUM_SUBJECTS (sizeof(subjects) / sizeof(*subjects))

/* Determine the subject of a command line; there must be exactly one. */

static bool
is_wanted(const struct mu_cli_options *options, bool doctor,
    enum mu_cli_subject subject)
{
	if (options->watch.wanted)
		return subject == MU_CLI_WATCH;
	switch (subject) {
	case MU_CLI_WATCH:
		return false;
	case MU_CLI_PROCESS:
		return options->pid != 0 && !doctor;
	case MU_CLI_DOCTOR:
		return doctor;
	case MU_CLI_CORE:
		return options->core != NULL;
	case MU_CLI_LOOK:
		return options->look != NULL;
	case MU_CLI_HEAP_DUMP:
		return options->heap_dump != NULL;
	case MU_CLI_DIFF:
		return options->diff_before != NULL;
	case MU_CLI_LEAKTRACER:
		return options->leaktracer != NULL;
	case MU_CLI_SYMBOLIZE:
		return options->symbolize;
	default:
		return options->command != NULL;
	}
}

/*
 * Set the subject of OPTIONS. DOCTOR: --doctor was given, with a PID or
 * without. MU_ERR_ARGUMENT: there is none, or more than one, or something is
 * missing.
 */
static enum mu_status
cli_subject_choose(
    struct mu_cli_options *options, bool doctor, struct mu_why *why)
{
	const struct subject *subject, *chosen = NULL;

	for (subject = subjects; subject < subjects + NUM_SUBJECTS; subject++) {
		if (!is_wanted(options, doctor, subject->subject))
			continue;
		if (chosen != NULL)
			return mu_why(why, MU_ERR_ARGUMENT,
			    "%s and %s: one of them at a time", chosen->words,
			    subject->words);
		chosen = subject;
	}
	if (chosen == NULL)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "nothing to look at" MU_CURE "give -p PID, --core FILE or"
		    " -- COMMAND");
	options->subject = chosen->subject;
	if (options->subject == MU_CLI_DIFF && options->diff_after == NULL)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "--diff needs two heap dumps, the earlier one first");
	return MU_OK;
}

/*
 * "-p PID or --core FILE": the subjects whose bits, 1 << subject, are in
 * WANTED.
 */
static void
cli_subject_words(struct mu_text *text, unsigned wanted)
{
	size_t i;

	for (i = 0; i < NUM_SUBJECTS; i++) {
		if (wanted & 1u << subjects[i].subject)
			mu_text_add(text, "%s%s",
			    text->length > 0 ? " or " : "", subjects[i].words);
	}
}

static const struct flag *
flag_of(int value)
{
	size_t i;

	for (i = 0; i < NUM_FLAGS; i++) {
		if (flags[i].option.val == value)
			return &flags[i];
	}
	return NULL;
}

static enum mu_status
take(struct parse *parse, int flag, const char *text)
{
	struct mu_cli_value value = { flag, flag_of(flag)->option.name, text };

	return mu_cli_value_take(parse->options, &value, parse->why);
}

/* ARGUMENT is a prefix of several names, or of none. */
static enum mu_status
unclear(struct parse *parse, const char *argument)
{
	size_t i, length = strcspn(argument + 2, "=");
	char list[128] = "";
	struct mu_text text = { list, sizeof(list), 0 };

	for (i = 0; i < NUM_FLAGS; i++) {
		if (strncmp(flags[i].option.name, argument + 2, length) == 0)
			mu_text_add(&text, "%s--%s",
			    text.length > 0 ? ", " : "", flags[i].option.name);
	}
	if (text.length == 0)
		return mu_why(parse->why, MU_ERR_ARGUMENT, "no such option: %s",
		    mu_safe_argument(argument).text);
	return mu_why(parse->why, MU_ERR_ARGUMENT, "%s could be %s",
	    mu_safe_argument(argument).text, list);
}

/*
 * An option that getopt_long() does not know, as written in ARGUMENT; optopt
 * has details.
 */
static enum mu_status
unknown(struct parse *parse, const char *argument)
{
	const struct flag *flag = optopt != 0 ? flag_of(optopt) : NULL;

	if (flag != NULL)
		return mu_why(parse->why, MU_ERR_ARGUMENT,
		    "--%s takes no value", flag->option.name);
	if (optopt == 0)
		return unclear(parse, argument);
	return mu_why(parse->why, MU_ERR_ARGUMENT, "no such option: -%s",
	    mu_safe_argument((char[]) { (char)optopt, '\0' }).text);
}

static enum mu_status
lacking(struct parse *parse)
{
	const struct flag *flag = flag_of(optopt);

	return mu_why(parse->why, MU_ERR_ARGUMENT,
	    "--%s needs a value after it",
	    flag != NULL ? flag->option.name : "?");
}

/*
 * Take the word after FLAG: the second heap dump, or the optional word of
 * --doctor and --symbolize. Options may follow.
 */
static enum mu_status
take_behind(struct parse *parse, int flag, int argc, char **argv)
{
	bool diff = flag == MU_CLI_OPT_DIFF;
	bool wanted = diff ? parse->options->diff_after == NULL
			   : optarg == NULL &&
		(flag == MU_CLI_OPT_DOCTOR || flag == MU_CLI_OPT_SYMBOLIZE);
	const char *word;

	if (!wanted || optind >= argc)
		return MU_OK;
	word = argv[optind];
	if (word[0] == '-' && (diff || word[1] != '\0'))
		return MU_OK;
	optind++;
	return take(parse, flag, word);
}

static bool
is_given(const struct parse *parse, int flag)
{
	return parse->given[flag_of(flag) - flags];
}

/* Take the word at OPTIND if it is a saved look. */
static bool
take_look(struct parse *parse, int argc, char **argv)
{
	struct mu_cli_options *options = parse->options;

	if (optind >= argc || options->look != NULL || options->watch.wanted ||
	    (optind > 1 && strcmp(argv[optind - 1], "--") == 0) ||
	    is_given(parse, MU_CLI_OPT_DOCTOR) ||
	    is_given(parse, MU_CLI_OPT_SYMBOLIZE))
		return false;
	if (!mu_look_file_is(argv[optind]))
		return false;
	options->look = argv[optind++];
	return true;
}

/* Parse the options up to "--" or the first word that is not an option. */
static enum mu_status
take_flags(struct parse *parse, int argc, char **argv)
{
	struct option table[NUM_FLAGS + 1];
	enum mu_status status = MU_OK;
	size_t i;
	int flag;

	for (i = 0; i < NUM_FLAGS; i++)
		table[i] = flags[i].option;
	table[NUM_FLAGS] = (struct option) { 0 };
	opterr = 0;
	optind = 0; /* glibc: restart the scan */
	while (status == MU_OK) {
		/* '+': stop at COMMAND, whose options are not ours. */
		flag = getopt_long(argc, argv, "+:p:o:qhV", table, NULL);
		if (flag == -1 && take_look(parse, argc, argv))
			continue;
		if (flag == -1)
			break;
		if (flag == ':')
			return lacking(parse);
		if (flag == '?')
			return unknown(parse, argv[optind - 1]);
		parse->given[flag_of(flag) - flags] = true;
		if (flag == MU_CLI_OPT_HELP || flag == MU_CLI_OPT_VERSION)
			break; /* all other errors */
		status = take(parse, flag, optarg);
		if (status == MU_OK)
			status = take_behind(parse, flag, argc, argv);
	}
	return status;
}

/*
 * Take the remaining words: COMMAND, or the word after --doctor or --symbolize.
 */
static enum mu_status
take_rest(struct parse *parse, int argc, char **argv)
{
	struct mu_cli_options *options = parse->options;
	bool dashes = optind > 1 && strcmp(argv[optind - 1], "--") == 0;

	if (optind >= argc)
		return dashes ? mu_why(parse->why, MU_ERR_ARGUMENT,
				    "there is no COMMAND after --")
			      : MU_OK;
	if (dashes) {
		options->command = argv + optind;
		return MU_OK;
	}
	if (is_given(parse, MU_CLI_OPT_DOCTOR) && optind + 1 == argc)
		return take(parse, MU_CLI_OPT_DOCTOR, argv[optind]);
	if (is_given(parse, MU_CLI_OPT_SYMBOLIZE) && optind + 1 == argc)
		return take(parse, MU_CLI_OPT_SYMBOLIZE, argv[optind]);
	return mu_why(parse->why, MU_ERR_ARGUMENT,
	    "%s is neither an option nor a saved look" MU_CURE
	    "a process is given by -p PID, a command to run"
	    " by -- COMMAND",
	    mu_safe_argument(argv[optind]).text);
}

/* Refuse an option with this subject, and name those that it goes with. */
static enum mu_status
misplaced(const struct parse *parse, const struct flag *flag)
{
	char list[200] = "";
	struct mu_text text = { list, sizeof(list), 0 };

	cli_subject_words(&text, flag->subjects);
	return mu_why(parse->why, MU_ERR_ARGUMENT, "--%s goes with %s only",
	    flag->option.name, list);
}

/*
 * An option that has no effect here is refused; -q and --color are always
 * allowed.
 */
static enum mu_status
check_subject(const struct parse *parse)
{
	const struct mu_cli_options *options = parse->options;
	size_t i;

	for (i = 0; i < NUM_FLAGS; i++) {
		if (parse->given[i] &&
		    !(flags[i].subjects & 1u << options->subject))
			return misplaced(parse, &flags[i]);
	}
	return MU_OK;
}

/* Apply the environment's options where the command line has none. */
static void
start_with(struct mu_cli_options *options, const char *environment,
    struct mu_text *warnings)
{
	struct mu_options *library = &options->library;

	*options = (struct mu_cli_options) {
		.subject = MU_CLI_NONE,
		.writer = mu_writers[0],
		.by = MU_BY_STACK,
		.watch = { .every_ms = WATCH_EVERY_MS, .rounds = WATCH_ROUNDS },
	};
	mu_options_default(library);
	mu_options_read(library, environment, warnings);
	options->timeout_ms = library->timeout;
	options->max_pause_ms = library->max_pause;
	options->limit = library->max_leaks;
	options->contents = library->log_contents;
	options->max_memory = library->max_memory;
	options->workers = library->workers;
	options->exitcode = library->exitcode;
	options->unchecked_ok = library->unchecked == MU_UNCHECKED_OK;
}

/* A check includes the stop, and may have two of them. */
static void
leave_time(struct mu_cli_options *options)
{
	uint64_t least = 4 * options->max_pause_ms;

	if (options->max_pause_given && !options->timeout_given &&
	    options->timeout_ms < least)
		options->timeout_ms = least;
}

/* A baseline has all groups of lost blocks, by stack or shape. */
static enum mu_status
check_baseline(const struct parse *parse)
{
	struct mu_cli_options *options = parse->options;

	if (options->baseline == NULL && options->write_baseline == NULL)
		return MU_OK;
	if (options->by != MU_BY_STACK && options->by != MU_BY_SHAPE)
		return mu_why(parse->why, MU_ERR_ARGUMENT,
		    "a baseline has groups --by=stack or --by=shape");
	if (!options->limit_given)
		options->limit = BASELINE_LIMIT;
	return MU_OK;
}

/* Rounds, not a time, decide when to look. */
static enum mu_status
check_rounds(const struct parse *parse)
{
	static const int timed[] = { MU_CLI_OPT_EVERY, MU_CLI_OPT_COUNT,
		MU_CLI_OPT_DURATION };
	size_t i;

	if (parse->options->watch.round == NULL)
		return is_given(parse, MU_CLI_OPT_ROUNDS)
		    ? mu_why(parse->why, MU_ERR_ARGUMENT,
			  "--rounds goes with --round only")
		    : MU_OK;
	for (i = 0; i < sizeof(timed) / sizeof(*timed); i++)
		if (is_given(parse, timed[i]))
			return mu_why(parse->why, MU_ERR_ARGUMENT,
			    "--%s has no effect with --round",
			    flag_of(timed[i])->option.name);
	return MU_OK;
}

/* A watch has one process or command, and lines. */
static enum mu_status
check_watch(const struct parse *parse)
{
	const struct mu_cli_options *options = parse->options;
	struct mu_why *why = parse->why;
	bool process = options->pid != 0 || options->watch.search.name != NULL;

	if (!options->watch.wanted)
		return MU_OK;
	if (!process && options->command == NULL)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "nothing to watch" MU_CURE
		    "give -p PID, -p NAME, --unit=NAME or -- COMMAND");
	if (process && options->command != NULL)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "-p PID and -- COMMAND: one of them at a time");
	if (options->writer == &mu_writer_html)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "--format=html: a watch is text or json");
	if (options->html != NULL && strcmp(options->html, "-") == 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "--html=-: the page of a watch is a file");
	if (options->by == MU_BY_BLOCK)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "--by=block: a watch compares groups");
	return check_rounds(parse);
}

static enum mu_status
parse_all(struct parse *parse, int argc, char **argv)
{
	struct mu_cli_options *options = parse->options;
	struct mu_text words = { options->by_option, sizeof(options->by_option),
		0 };
	enum mu_status status = take_flags(parse, argc, argv);

	if (status != MU_OK)
		return status;
	leave_time(options);
	if (is_given(parse, MU_CLI_OPT_HELP))
		options->subject = MU_CLI_HELP;
	else if (is_given(parse, MU_CLI_OPT_VERSION))
		options->subject = MU_CLI_VERSION;
	if (options->subject != MU_CLI_NONE)
		return MU_OK;
	mu_options_reach_words(&options->library, &words);
	if (options->since != NULL)
		mu_text_add(&words, "%sonly what was lost since %s",
		    words.length > 0 ? ", " : "",
		    mu_safe_argument(options->since).text);
	status = take_rest(parse, argc, argv);
	if (status == MU_OK)
		status = check_watch(parse);
	if (status == MU_OK)
		status = cli_subject_choose(
		    options, is_given(parse, MU_CLI_OPT_DOCTOR), parse->why);
	if (status == MU_OK)
		status = check_baseline(parse);
	if (status == MU_OK && options->children &&
	    (options->save != NULL || options->core_out != NULL))
		return mu_why(parse->why, MU_ERR_ARGUMENT,
		    "--%s writes one process, and --children checks several",
		    options->save != NULL ? "save" : "core-out");
	return status == MU_OK ? check_subject(parse) : status;
}

enum mu_status
mu_cli_options_parse(struct mu_cli_options *options, const char *environment,
    struct mu_text *warnings, int argc, char **argv, struct mu_why *why)
{
	struct parse parse = { .options = options, .why = why };

	start_with(options, environment, warnings);
	if (argc > 1 && strcmp(argv[1], "watch") == 0) {
		options->watch.wanted = true;
		argc--;
		argv++;
	}
	return parse_all(&parse, argc, argv);
}

const char *
mu_cli_option_name(size_t index)
{
	return index < NUM_FLAGS ? flags[index].option.name : NULL;
}
