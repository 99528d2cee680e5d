#include "lib/watch/replay.h"

#include <bsd/string.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/term/safe_text.h"
#include "mu/sys.h"

#define MAX_LINE ((size_t)1 << 20)

enum mu_status
mu_replay_open(struct mu_replay *replay, const char *path, struct mu_why *why)
{
	replay->path = path;
	replay->file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	if (replay->file == NULL)
		return mu_why(why, MU_ERR_ARGUMENT, "cannot read %s: %s",
		    mu_safe_argument(path).text, strerror(errno));
	return MU_OK;
}

void
mu_replay_close(struct mu_replay *replay)
{
	if (replay->file != NULL && replay->file != stdin)
		fclose(replay->file);
	free(replay->line);
}

/* 0, which no look has, if TEXT is no time as mu_utc_ms() writes it. */
static uint64_t
read_time(const char *text)
{
	const char *rest = NULL;
	unsigned ms = 0;
	time_t seconds;
	struct tm tm;

	memset(&tm, 0, sizeof(tm));
	if (text != NULL)
		rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (rest == NULL ||
	    (strcmp(rest, "Z") != 0 && sscanf(rest, ".%3uZ", &ms) != 1))
		return 0;
	seconds = timegm(&tm);
	return seconds <= 0
	    ? 0
	    : (uint64_t)seconds * MU_NS_PER_SEC + (uint64_t)ms * MU_NS_PER_MS;
}

/* The count NAME of OBJECT; 0 if it is not there or null. */
static uint64_t
count(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));

	return value > 0 ? (uint64_t)value : 0;
}

static int
read_status(const json_t *object)
{
	const char *word = json_string_value(json_object_get(object, "status"));
	int status;

	for (status = 0; word != NULL && status < MU_STATUS_COUNT; status++)
		if (strcmp(word, mu_status_word(status)) == 0)
			return status;
	return -1;
}

static void
copy_text(char *to, size_t size, const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	strlcpy(to, text != NULL ? text : "", size);
}

/*
 * Returns false if OBJECT is no look. Looks follow each other, even where the
 * clock was set back.
 */
static bool
fill(struct mu_replay *replay, struct mu_watch_look *look, const json_t *object)
{
	memset(look, 0, sizeof(*look));
	look->status = read_status(object);
	look->real_ns =
	    read_time(json_string_value(json_object_get(object, "time")));
	if (look->status < 0 || look->real_ns == 0)
		return false;
	if (replay->mono_ns < look->real_ns)
		replay->mono_ns = look->real_ns;
	else
		replay->mono_ns++;
	look->mono_ns = replay->mono_ns;
	look->pid = (pid_t)count(object, "pid");
	look->restarted = json_is_true(json_object_get(object, "restarted"));
	copy_text(look->program, sizeof(look->program), object, "program");
	copy_text(look->reason, sizeof(look->reason), object, "reason");
	look->rss = count(object, "rss_bytes");
	look->pss = count(object, "pss_bytes");
	look->live = count(object, "heap_live_bytes");
	look->live_blocks = count(object, "heap_live_blocks");
	look->lost = count(object, "heap_lost_bytes");
	look->lost_blocks = count(object, "heap_lost_blocks");
	look->held_free = count(object, "heap_free_bytes");
	look->pause_ns = count(object, "pause_ns");
	return true;
}

static enum mu_status
refuse(const struct mu_replay *replay, const char *cause, struct mu_why *why)
{
	return mu_why(why, MU_ERR_ARGUMENT,
	    "%s, line %zu: %s" MU_CURE
	    "watch --format=json and the option looks_path write such a file",
	    mu_safe_argument(replay->path).text, replay->number, cause);
}

enum mu_status
mu_replay_next(struct mu_replay *replay, struct mu_watch_look *look,
    bool *found, struct mu_why *why)
{
	json_t *object;
	ssize_t length;

	*found = false;
	while (!*found &&
	    (length = getline(&replay->line, &replay->size, replay->file)) >
		0) {
		replay->number++;
		if ((size_t)length > MAX_LINE)
			return refuse(replay, "it is too long", why);
		object = json_loadb(
		    replay->line, (size_t)length, JSON_REJECT_DUPLICATES, NULL);
		if (object == NULL && replay->line[length - 1] != '\n')
			break;
		if (!json_is_object(object)) {
			json_decref(object);
			return refuse(replay, "it is no JSON object", why);
		}
		if (json_object_get(object, "verdict") == NULL) {
			*found = fill(replay, look, object);
			if (!*found) {
				json_decref(object);
				return refuse(replay, "it is no look", why);
			}
		}
		json_decref(object);
	}
	return ferror(replay->file) ? refuse(replay, strerror(errno), why)
				    : MU_OK;
}
