#include "lib/watch/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/term/fold.h"
#include "lib/term/new_file.h"
#include "lib/term/output.h"
#include "lib/term/safe_text.h"
#include "lib/watch/journal.h"
#include "lib/watch/spark.h"
#include "mu/report_file.h"
#include "mu/sys.h"

/* Others read it: the collector is another user. */
#define PROMETHEUS_MODE 0644

#define WIDE 122     /* columns for a line with bars */
#define WIDE_LAST 60 /* for those below the verdict */
#define MESSAGE 2048 /* bytes */

static FILE *
open_file(const char *path, struct mu_why *why)
{
	const char *reason = "no memory";
	FILE *file = NULL;
	int fd = mu_report_file_open(path, 0, &reason);

	if (fd >= 0) {
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
		(void)!ftruncate(fd, 0); /* a FIFO has no length */
		file = fdopen(fd, "w");
		if (file == NULL)
			close(fd);
	}
	if (file == NULL)
		mu_why(why, MU_ERR_RESOURCES, "%s cannot be written: %s",
		    mu_safe_argument(path).text, reason);
	return file;
}

enum mu_status
mu_watch_outputs_open(struct mu_watch_outputs *outputs, FILE *lines,
    const char *path, const char *csv, struct mu_why *why)
{
	struct mu_out table;

	outputs->lines = lines;
	outputs->columns = path == NULL ? mu_fold_width(fileno(lines)) : 0;
	if (outputs->syslog && mu_journal_find(why) != MU_OK)
		return MU_ERR_RESOURCES;
	if (path != NULL) {
		outputs->file = open_file(path, why);
		if (outputs->file == NULL)
			return MU_ERR_RESOURCES;
		outputs->lines = outputs->file;
	}
	if (csv == NULL)
		return MU_OK;
	outputs->csv = open_file(csv, why);
	if (outputs->csv == NULL)
		return MU_ERR_RESOURCES;
	table = mu_out_file(outputs->csv);
	mu_watch_csv_head(&table);
	return MU_OK;
}

void
mu_watch_outputs_close(struct mu_watch_outputs *outputs)
{
	if (outputs->file != NULL)
		fclose(outputs->file);
	if (outputs->csv != NULL)
		fclose(outputs->csv);
}

/* Replace the file at PATH by what PUT writes of WHAT, at once. */
static bool
replace_file(const char *path, void (*put)(FILE *out, const void *what),
    const void *what, mode_t mode, struct mu_why *why)
{
	struct mu_new_file new;
	FILE *text = NULL;
	bool written = false;
	int copy;

	if (mu_new_file_open(&new, path, why) != MU_OK)
		return false;
	copy = dup(new.fd);
	if (copy >= 0)
		text = fdopen(copy, "w");
	if (text != NULL) {
		put(text, what);
		written = mu_output_flush(text);
		fclose(text);
	} else if (copy >= 0) {
		close(copy);
	}
	if (!written)
		mu_why(why, MU_ERR_RESOURCES, "%s cannot be written: %s",
		    mu_safe_argument(path).text, strerror(errno));
	written = written && mu_new_file_commit(&new, mode, why) == MU_OK;
	mu_new_file_close(&new);
	return written;
}

static void
put_prometheus(FILE *text, const void *look)
{
	const struct mu_out out = mu_out_file(text);

	mu_watch_prometheus(&out, look);
}

static void
put_page(FILE *text, const void *page)
{
	mu_watch_page(text, page);
}

bool
mu_watch_outputs_page(const struct mu_watch_outputs *outputs,
    const struct mu_watch_page *page, struct mu_why *why)
{
	return outputs->html == NULL ||
	    replace_file(outputs->html, put_page, page, 0600, why);
}

/* A head before the first line, and the date when it changes. */
static void
put_head(struct mu_watch_outputs *outputs, const struct mu_out *out,
    uint64_t real_ns)
{
	time_t seconds = (time_t)(real_ns / MU_NS_PER_SEC);
	char date[32];
	struct tm tm;

	localtime_r(&seconds, &tm);
	if (tm.tm_mday == outputs->day)
		return;
	outputs->day = tm.tm_mday;
	strftime(date, sizeof(date), "%F", &tm);
	mu_put(out, "%s\n", date);
	mu_watch_text_head(out, outputs->columns >= WIDE);
}

static bool
flush_lines(const struct mu_watch_outputs *outputs, struct mu_why *why)
{
	errno = 0;
	if (mu_output_flush(outputs->lines) &&
	    (outputs->csv == NULL || mu_output_flush(outputs->csv)))
		return true;
	mu_why(why, MU_ERR_RESOURCES, "a line could not be written%s%s",
	    errno == 0 ? "" : ": ", errno == 0 ? "" : strerror(errno));
	return false;
}

/* Write OBJECT as one line. Returns false without memory. */
static bool
put_object(const struct mu_out *out, const json_t *object)
{
	char *text = json_dumps(object, JSON_ENSURE_ASCII);

	if (text == NULL)
		return false;
	out->put(out->ctx, text, strlen(text));
	out->put(out->ctx, "\n", 1);
	free(text);
	return true;
}

static void
log_look(const struct mu_watch_look *look, const json_t *object)
{
	char message[MESSAGE];
	struct mu_text text = { message, sizeof(message), 0 };
	const struct mu_out out = mu_out_text(&text);

	mu_watch_text_message(&out, look);
	mu_journal_send(!mu_watch_look_checked(look) ? LOG_WARNING
		: look->new_lost > 0                 ? LOG_NOTICE
						     : LOG_INFO,
	    message, object);
}

/* Its first line. */
static void
log_verdict(const struct mu_watch_result *result, const json_t *object)
{
	char message[MESSAGE];
	struct mu_text text = { message, sizeof(message), 0 };
	const struct mu_out out = mu_out_text(&text);
	const char *program =
	    json_string_value(json_object_get(object, "program"));
	int priority = LOG_INFO;

	if (result->verdict == MEMUNREACHABLE_VERDICT_GROWTH)
		priority = LOG_NOTICE;
	else if (result->verdict == MEMUNREACHABLE_VERDICT_LEAK ||
	    result->verdict == MEMUNREACHABLE_VERDICT_UNCHECKED)
		priority = LOG_WARNING;
	mu_put_safe(&out, program);
	mu_put(&out, "[%lld]: ",
	    (long long)json_integer_value(json_object_get(object, "pid")));
	mu_watch_verdict_text(&out, result);
	message[strcspn(message, "\n")] = '\0';
	mu_journal_send(priority, message, object);
}

static bool
put_look(struct mu_watch_outputs *outputs, const struct mu_watch_look *look,
    const struct mu_series *series, uint64_t next_ns)
{
	const struct mu_out out = mu_out_file(outputs->lines);
	json_t *object = NULL;
	bool ok = true;

	if (outputs->json || outputs->syslog) {
		object = mu_watch_json_look(look, next_ns);
		ok = object != NULL;
	}
	if (ok && outputs->syslog)
		log_look(look, object);
	if (!outputs->json) {
		put_head(outputs, &out, look->real_ns);
		mu_watch_text_look(
		    &out, look, outputs->columns >= WIDE ? series : NULL);
	} else if (ok) {
		ok = put_object(&out, object);
	}
	json_decref(object);
	return ok;
}

bool
mu_watch_outputs_look(struct mu_watch_outputs *outputs,
    const struct mu_watch_look *look, const struct mu_series *series,
    uint64_t next_ns, struct mu_why *why)
{
	struct mu_out table;

	if (!put_look(outputs, look, series, next_ns)) {
		mu_why(why, MU_ERR_NO_MEMORY, "no memory for a line");
		return false;
	}
	if (outputs->csv != NULL) {
		table = mu_out_file(outputs->csv);
		mu_watch_csv_look(&table, look);
	}
	return flush_lines(outputs, why) &&
	    (outputs->prometheus == NULL ||
		/* The collector reads names that end with ".prom". */
		replace_file(outputs->prometheus, put_prometheus, look,
		    PROMETHEUS_MODE, why));
}

bool
mu_watch_outputs_verdict(struct mu_watch_outputs *outputs,
    const struct mu_watch_result *result, const struct mu_series *series,
    const struct mu_rounds *rounds, const struct mu_watch_look *last,
    struct mu_why *why)
{
	const struct mu_out out = mu_out_file(outputs->lines);
	json_t *object = mu_watch_json_verdict(result, series, rounds, last);
	bool ok = object != NULL;

	if (ok && outputs->syslog)
		log_verdict(result, object);
	if (outputs->json) {
		ok = ok && put_object(&out, object);
	} else {
		if (rounds != NULL)
			mu_rounds_text(&out, rounds);
		mu_watch_verdict_text(&out, result);
		mu_watch_text_stale(&out, series);
		if (outputs->columns >= WIDE_LAST)
			mu_spark_lines(&out, series, result);
		ok = true;
	}
	json_decref(object);
	if (!ok)
		mu_why(why, MU_ERR_NO_MEMORY, "no memory for the verdict");
	return ok && flush_lines(outputs, why);
}
