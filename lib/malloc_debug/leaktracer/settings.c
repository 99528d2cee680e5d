#include "lib/malloc_debug/leaktracer/settings.h"

#include "lib/state/options.h"
#include "lib/state/options_token.h"

#define DEFAULT_FILE "leaks.out"
#define MAX_STATUS 255

struct leaktracer_settings leaktracer_settings;

struct reader {
	struct leaktracer_settings *settings;
	const char *(*look_up)(const char *name);
	void (*say)(const char *name, const char *value, const char *expected);
};

static const char *
text(struct reader *reader, const char *name)
{
	const char *value = reader->look_up(name);

	if (value != NULL)
		reader->settings->given = true;
	return value;
}

static bool
is_set(struct reader *reader, const char *name)
{
	return text(reader, name) != NULL;
}

static int
signal_number(struct reader *reader, const char *name)
{
	const char *value = text(reader, name);
	int signo = value == NULL ? 0 : mu_options_signal(value);

	if (value != NULL && signo == 0)
		reader->say(name, value,
		    "a signal that can be caught, such as USR1, SIGUSR2,"
		    " RTMIN+5 or 36");
	return signo;
}

/* 0 if it is not set, or invalid. */
static size_t
number(struct reader *reader, const char *name, size_t least, size_t most,
    const char *expected)
{
	const char *value = text(reader, name);
	struct mu_token word;
	uint64_t n = 0;

	if (value == NULL)
		return 0;
	word = (struct mu_token) { value, strlen(value) };
	if (mu_token_number(word, most, &n) && n >= least)
		return n;
	reader->say(name, value, expected);
	return 0;
}

static const char *
file_name(struct reader *reader, const char *name)
{
	const char *value = text(reader, name);

	if (value == NULL || value[0] != '\0')
		return value;
	reader->say(name, value, "the name of a file");
	return NULL;
}

/*
 * As in the original: at exit the file of ONEXIT takes precedence over that of
 * AUTO, and without either there is no report.
 */
static void
read_files(struct reader *reader)
{
	struct leaktracer_settings *settings = reader->settings;
	const char *automatic =
	    file_name(reader, "LEAKTRACER_AUTO_REPORTFILENAME");
	const char *at_exit =
	    file_name(reader, "LEAKTRACER_ONEXIT_REPORTFILENAME");

	settings->signal_report =
	    file_name(reader, "LEAKTRACER_ONSIG_REPORTFILENAME");
	if (settings->signal_report == NULL)
		settings->signal_report = DEFAULT_FILE;
	settings->start = is_set(reader, "LEAKTRACER_ONSTART_STARTALLTHREAD") ||
	    automatic != NULL;
	if (is_set(reader, "LEAKTRACER_ONEXIT_REPORT") || automatic != NULL)
		settings->exit_report = at_exit != NULL ? at_exit : automatic;
}

void
leaktracer_settings_read(struct leaktracer_settings *settings,
    const char *(*look_up)(const char *name),
    void (*say)(const char *name, const char *value, const char *expected))
{
	struct reader reader = { settings, look_up, say };

	*settings = (struct leaktracer_settings) { 0 };
	settings->signals[LEAKTRACER_ROLE_START] =
	    signal_number(&reader, "LEAKTRACER_ONSIG_STARTALLTHREAD");
	settings->signals[LEAKTRACER_ROLE_STOP] =
	    signal_number(&reader, "LEAKTRACER_ONSIG_STOPALLTHREAD");
	settings->signals[LEAKTRACER_ROLE_REPORT] =
	    signal_number(&reader, "LEAKTRACER_ONSIG_REPORT");
	read_files(&reader);
	settings->exit_code =
	    (int)number(&reader, "LEAKTRACER_EXIT_CODE_ON_LEAKS", 0, MAX_STATUS,
		"an exit status from 1 to 255, or 0 for that of the program");
	settings->frames = number(&reader, "LEAKTRACER_STACK_DEPTH", 1, 256,
	    "a number of frames from 1 to 256");
	settings->only_unreachable =
	    is_set(&reader, "LEAKTRACER_ONLY_UNREACHABLE");
	settings->banner = look_up("LEAKTRACER_NOBANNER") == NULL;
}
