#include "lib/cli/options.h"

#include <getopt.h>
#include <string.h>

#include "lib/cli/flags.h"
#include "lib/cli/misspelt.h"
#include "lib/look/read.h"
#include "lib/term/safe_text.h"
#include "mu/text.h"

#define WATCH_EVERY_MS 60000
#define WATCH_ROUNDS 5
#define BASELINE_LIMIT 10000 /* groups */

#define LONG 256 /* above letters: an index of mu_cli_flags */

struct parse {
	struct mu_cli_options *options;
	bool given[MU_CLI_NUM_FLAGS];
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
		return (options->pid != 0 ||
			   options->watch.search.name != NULL) &&
		    !doctor;
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
choose_subject(struct mu_cli_options *options, bool doctor, struct mu_why *why)
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
		    "nothing to look at" MU_CURE
		    "give a PID, --core FILE or a COMMAND");
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
subject_words(struct mu_text *text, unsigned wanted)
{
	size_t i;

	for (i = 0; i < NUM_SUBJECTS; i++) {
		if (wanted & 1u << subjects[i].subject)
			mu_text_add(text, "%s%s",
			    text->length > 0 ? " or " : "", subjects[i].words);
	}
}

/* VALUE: of getopt_long(). */
static const struct mu_cli_flag *
flag_of(int value)
{
	const struct mu_cli_flag *flag;

	if (value >= LONG)
		return &mu_cli_flags[value - LONG];
	for (flag = mu_cli_flags; flag->name != NULL; flag++)
		if (flag->letter != 0 && flag->letter == value)
			return flag;
	return NULL;
}

static bool
is(const struct mu_cli_flag *flag, const char *name)
{
	return strcmp(flag->name, name) == 0;
}

static bool
is_given(const struct parse *parse, const char *name)
{
	size_t i = 0;

	while (!is(&mu_cli_flags[i], name))
		i++;
	return parse->given[i];
}

static enum mu_status
take(struct parse *parse, const struct mu_cli_flag *flag, const char *text)
{
	const struct mu_cli_value value = { flag, text };

	return flag->take(parse->options, &value, parse->why);
}

/*
 * An option that getopt_long() does not know, as written in ARGUMENT; optopt
 * has details.
 */
static enum mu_status
unknown(struct parse *parse, const char *argument)
{
	const struct mu_cli_flag *flag = optopt != 0 ? flag_of(optopt) : NULL;

	if (flag != NULL)
		return mu_why(parse->why, MU_ERR_ARGUMENT,
		    "--%s takes no value", flag->name);
	if (optopt == 0)
		return mu_cli_misspelt(argument, parse->why);
	return mu_why(parse->why, MU_ERR_ARGUMENT, "no such option: -%s",
	    mu_safe_argument((char[]) { (char)optopt, '\0' }).text);
}

static enum mu_status
no_value(struct parse *parse)
{
	const struct mu_cli_flag *flag = flag_of(optopt);

	return mu_why(parse->why, MU_ERR_ARGUMENT,
	    "--%s needs a value after it", flag != NULL ? flag->name : "?");
}

/*
 * Take the word after FLAG: the second heap dump, or the optional word of
 * --doctor and --symbolize. Options may follow.
 */
static enum mu_status
take_behind(
    struct parse *parse, const struct mu_cli_flag *flag, int argc, char **argv)
{
	bool diff = is(flag, "diff");
	bool wanted = diff
	    ? parse->options->diff_after == NULL
	    : optarg == NULL && (is(flag, "doctor") || is(flag, "symbolize"));
	const char *word;

	if (!wanted || optind >= argc)
		return MU_OK;
	word = argv[optind];
	if (word[0] == '-' && (diff || word[1] != '\0'))
		return MU_OK;
	optind++;
	return take(parse, flag, word);
}

/* Take the word at OPTIND if it is a saved look. */
static bool
take_look(struct parse *parse, int argc, char **argv)
{
	struct mu_cli_options *options = parse->options;

	if (optind >= argc || options->look != NULL || options->watch.wanted ||
	    (optind > 1 && strcmp(argv[optind - 1], "--") == 0) ||
	    is_given(parse, "doctor") || is_given(parse, "symbolize"))
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
	struct option table[MU_CLI_NUM_FLAGS + 1] = { 0 };
	const struct mu_cli_flag *flag;
	enum mu_status status = MU_OK;
	size_t i;
	int value;

	for (i = 0; i < MU_CLI_NUM_FLAGS; i++)
		table[i] = (struct option) { mu_cli_flags[i].name,
			mu_cli_flags[i].argument, NULL, LONG + (int)i };
	opterr = 0;
	optind = 0; /* glibc: restart the scan */
	while (status == MU_OK) {
		/* '+': stop at COMMAND, whose options are not ours. */
		value = getopt_long(argc, argv, "+:p:o:qhV", table, NULL);
		if (value == -1 && take_look(parse, argc, argv))
			continue;
		if (value == -1)
			break;
		if (value == ':')
			return no_value(parse);
		if (value == '?')
			return unknown(parse, argv[optind - 1]);
		flag = flag_of(value);
		parse->given[flag - mu_cli_flags] = true;
		if (is(flag, "help") && optarg != NULL &&
		    strcmp(optarg, "all") != 0)
			return mu_why(parse->why, MU_ERR_ARGUMENT,
			    "--help=%s: expected all",
			    mu_safe_argument(optarg).text);
		if (is(flag, "help"))
			parse->options->help_all = optarg != NULL;
		if (flag->take == NULL)
			break;
		status = take(parse, flag, optarg);
		if (status == MU_OK)
			status = take_behind(parse, flag, argc, argv);
	}
	return status;
}

static bool
has_subject(const struct parse *parse)
{
	const struct mu_cli_options *options = parse->options;
	bool doctor = is_given(parse, "doctor");
	size_t i;

	if (options->watch.wanted)
		return options->pid != 0 ||
		    options->watch.search.name != NULL ||
		    options->watch.from != NULL;
	for (i = 0; i < NUM_SUBJECTS; i++)
		if (is_wanted(options, doctor, subjects[i].subject))
			return true;
	return false;
}

/*
 * Take the remaining words: COMMAND, a PID, or the word after --doctor or
 * --symbolize.
 */
static enum mu_status
take_rest(struct parse *parse, int argc, char **argv)
{
	struct mu_cli_options *options = parse->options;
	bool dashes = optind > 1 && strcmp(argv[optind - 1], "--") == 0;
	size_t i;

	if (optind >= argc)
		return dashes ? mu_why(parse->why, MU_ERR_ARGUMENT,
				    "there is no COMMAND after --")
			      : MU_OK;
	if (dashes) {
		options->command = argv + optind;
		return MU_OK;
	}
	for (i = 0; i < MU_CLI_NUM_FLAGS; i++)
		if (parse->given[i] && optind + 1 == argc &&
		    (is(&mu_cli_flags[i], "doctor") ||
			is(&mu_cli_flags[i], "symbolize")))
			return take(parse, &mu_cli_flags[i], argv[optind]);
	if (!has_subject(parse) && optind + 1 == argc &&
	    argv[optind][strspn(argv[optind], "0123456789")] == '\0')
		return take(parse, flag_of('p'), argv[optind]);
	if (!has_subject(parse) && argv[optind][0] != '\0') {
		options->command = argv + optind;
		return MU_OK;
	}
	return mu_why(parse->why, MU_ERR_ARGUMENT,
	    "%s is neither an option nor a saved look" MU_CURE
	    "a process is given by -p PID, a command to run"
	    " by -- COMMAND",
	    mu_safe_argument(argv[optind]).text);
}

/* Refuse an option with this subject, and name those that it goes with. */
static enum mu_status
misplaced(const struct parse *parse, const struct mu_cli_flag *flag)
{
	char list[200] = "";
	struct mu_text text = { list, sizeof(list), 0 };

	subject_words(&text, flag->subjects);
	return mu_why(parse->why, MU_ERR_ARGUMENT, "--%s goes with %s only",
	    flag->name, list);
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

	for (i = 0; i < MU_CLI_NUM_FLAGS; i++) {
		if (parse->given[i] &&
		    !(mu_cli_flags[i].subjects & 1u << options->subject))
			return misplaced(parse, &mu_cli_flags[i]);
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
		.reports = &options->own_reports,
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
leave_time(const struct parse *parse)
{
	struct mu_cli_options *options = parse->options;
	uint64_t least = 4 * options->max_pause_ms;

	options->timeout_given = is_given(parse, "timeout");
	options->max_pause_given = is_given(parse, "max-pause");
	options->limit_given = is_given(parse, "limit");
	if (options->max_pause_given && !options->timeout_given &&
	    options->timeout_ms < least)
		options->timeout_ms = least;
}

/*
 * A baseline has all groups of lost blocks, by stack or shape; suppressions are
 * asked about all groups.
 */
static enum mu_status
check_baseline(const struct parse *parse)
{
	struct mu_cli_options *options = parse->options;

	if (mu_cli_suppresses(options)) {
		if (options->by == MU_BY_BLOCK)
			return mu_why(parse->why, MU_ERR_ARGUMENT,
			    "--by=block: suppressions are of groups");
		if (!options->limit_given)
			options->limit = BASELINE_LIMIT;
	}
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
	static const char *const timed[] = { "every", "count", "duration" };
	size_t i;

	if (parse->options->watch.round == NULL)
		return is_given(parse, "rounds")
		    ? mu_why(parse->why, MU_ERR_ARGUMENT,
			  "--rounds goes with --round only")
		    : MU_OK;
	for (i = 0; i < sizeof(timed) / sizeof(*timed); i++)
		if (is_given(parse, timed[i]))
			return mu_why(parse->why, MU_ERR_ARGUMENT,
			    "--%s has no effect with --round", timed[i]);
	return MU_OK;
}

/* A watch has one process or command, and lines. */
static enum mu_status
check_watch(const struct parse *parse)
{
	const struct mu_cli_options *options = parse->options;
	struct mu_why *why = parse->why;
	int given = (options->pid != 0 || options->watch.search.name != NULL) +
	    (options->command != NULL) + (options->watch.from != NULL);

	if (!options->watch.wanted)
		return MU_OK;
	if (given == 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "nothing to watch" MU_CURE
		    "give -p PID, -p NAME, --unit=NAME or -- COMMAND");
	if (given > 1)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "-p PID, --from=FILE and -- COMMAND: one of them at a time");
	if (options->writer != &mu_writer_text &&
	    options->writer != &mu_writer_json)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "--format=%s: a watch is text or json",
		    options->writer->name);
	if (options->html != NULL && strcmp(options->html, "-") == 0)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "--html=-: the page of a watch is a file");
	if (options->by == MU_BY_BLOCK)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "--by=block: a watch compares groups");
	return check_rounds(parse);
}

/* Formats of which a file has one report. */
static enum mu_status
check_single(const struct parse *parse)
{
	const struct mu_cli_options *options = parse->options;
	const struct mu_writer *single =
	    options->writer->single ? options->writer : NULL;
	size_t i;

	if (!options->children && options->signal == 0)
		return MU_OK;
	for (i = 0; i < options->reports->count; i++)
		if (options->reports->items[i].document.writer->single)
			single = options->reports->items[i].document.writer;
	return single == NULL
	    ? MU_OK
	    : mu_why(parse->why, MU_ERR_ARGUMENT,
		  "%s has one report, and --%s makes several", single->name,
		  options->children ? "children" : "signal");
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
	leave_time(parse);
	if (is_given(parse, "help"))
		options->subject = MU_CLI_HELP;
	else if (is_given(parse, "version"))
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
		status = choose_subject(
		    options, is_given(parse, "doctor"), parse->why);
	if (status == MU_OK)
		status = check_baseline(parse);
	if (status == MU_OK && options->children &&
	    (options->save != NULL || options->core_out != NULL))
		return mu_why(parse->why, MU_ERR_ARGUMENT,
		    "--%s writes one process, and --children checks several",
		    options->save != NULL ? "save" : "core-out");
	if (status == MU_OK)
		status = check_single(parse);
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
