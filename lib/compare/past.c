#include "lib/compare/past.h"

#include <bsd/string.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/look/read.h"
#include "lib/since/json_file.h"
#include "lib/term/out.h"
#include "lib/term/safe_text.h"
#include "lib/watch/group_name.h"
#include "lib/writers/json_report.h"
#include "lib/writers/writer.h"
#include "mu/array.h"

#define LOST_MOST 10000 /* groups of a look */
#define LARGE ((uint64_t)128 << 10)
#define LARGE_NAME "blocks of 128.0 KiB or more"

bool
mu_past_is(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char first[16] = "";
	ssize_t length = fd < 0 ? 0 : pread(fd, first, sizeof(first) - 1, 0);

	if (fd >= 0)
		close(fd);
	return (length > 0 && first[strspn(first, " \t\r\n")] == '{') ||
	    mu_look_file_is(path);
}

int
mu_past_compare(const void *a, const void *b)
{
	const struct mu_past_group *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->key, y->key);
}

static uint64_t
count_of(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));

	return value < 0 ? 0 : (uint64_t)value;
}

/* KEY is copied. */
static bool
add(struct mu_past *past, const char *key, enum mu_past_kind kind,
    uint64_t bytes, uint64_t blocks)
{
	char *copy;

	if (!mu_array_room(past->groups, past->count, past->max, 64, SIZE_MAX))
		return false;
	copy = strdup(key);
	if (copy != NULL)
		past->groups[past->count++] =
		    (struct mu_past_group) { copy, kind, bytes, blocks };
	return copy != NULL;
}

/* A report of an older command has no keys. */
static bool
add_lost(struct mu_past *past, const json_t *report)
{
	const json_t *groups = json_object_get(report, "groups"), *group;
	const char *key;
	size_t i;

	for (i = 0; i < json_array_size(groups); i++) {
		group = json_array_get(groups, i);
		key = json_string_value(json_object_get(group, "key"));
		if (key == NULL ||
		    !add(past, key, MU_PAST_LOST,
			count_of(group, "total_bytes"),
			count_of(group, "blocks")))
			return false;
	}
	past->missing = count_of(report, "num_groups");
	past->missing -= past->missing < i ? past->missing : i;
	return json_is_array(groups);
}

/* Large blocks of no known type are one group: a table grows by moving. */
static void
name_live(char name[MU_WATCH_NAME], const char *type, uint64_t size)
{
	const struct mu_in_use in_use = {
		.size = size, .type = type, .certain = true
	};

	if (type == NULL && size >= LARGE)
		strlcpy(name, LARGE_NAME, MU_WATCH_NAME);
	else
		mu_watch_name_live(name, &in_use);
}

static bool
add_live(struct mu_past *past, const json_t *report)
{
	const json_t *all = json_object_get(report, "in_use"), *one;
	char name[MU_WATCH_NAME];
	size_t i;

	past->has[MU_PAST_LIVE] = json_is_array(all);
	for (i = 0; i < json_array_size(all); i++) {
		one = json_array_get(all, i);
		name_live(name, json_string_value(json_object_get(one, "type")),
		    count_of(one, "size"));
		if (!add(past, name, MU_PAST_LIVE, count_of(one, "bytes"),
			count_of(one, "count")))
			return false;
	}
	return true;
}

/* What a report does not say: only of looks. */
static bool
add_held(struct mu_past *past, const struct mu_explained *explained)
{
	const struct mu_collection *one;
	size_t i, count = explained == NULL ? 0 : explained->num_collections;

	past->has[MU_PAST_HELD] = count > 0;
	for (i = 0; i < count; i++) {
		one = &explained->collections[i];
		if (!add(past, one->name, MU_PAST_HELD, one->bytes,
			one->elements))
			return false;
	}
	return true;
}

/* Groups that have the same key are one. */
static void
merge(struct mu_past *past)
{
	struct mu_past_group *groups = past->groups;
	size_t i, kept = 0;

	if (past->count > 0)
		qsort(groups, past->count, sizeof(*groups), mu_past_compare);
	for (i = 0; i < past->count; i++) {
		if (kept == 0 ||
		    mu_past_compare(&groups[kept - 1], &groups[i]) != 0) {
			groups[kept++] = groups[i];
			continue;
		}
		groups[kept - 1].bytes += groups[i].bytes;
		groups[kept - 1].blocks += groups[i].blocks;
		free(groups[i].key);
	}
	past->count = kept;
}

static enum mu_status
take(struct mu_past *past, const json_t *report, struct mu_why *why)
{
	uint64_t bytes = count_of(report, "allocation_bytes");
	uint64_t blocks = count_of(report, "num_allocations");

	if (!add_lost(past, report) || !add_live(past, report))
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s is no report of a check by this command",
		    mu_safe_argument(past->path).text);
	merge(past);
	past->lost_bytes = count_of(report, "leak_bytes");
	past->lost_blocks = count_of(report, "num_leaks");
	if (past->lost_bytes > bytes || past->lost_blocks > blocks)
		return mu_why(why, MU_ERR_ARGUMENT,
		    "%s contradicts itself: more is lost than there is",
		    mu_safe_argument(past->path).text);
	past->live_bytes = bytes - past->lost_bytes;
	past->live_blocks = blocks - past->lost_blocks;
	return MU_OK;
}

/* NULL: there is no memory. */
static json_t *
report_object(const struct mu_report *report)
{
	const struct mu_shown shown = { .contents = false };
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	json_t *object = NULL;
	struct mu_out out;
	bool ok;

	if (file == NULL)
		return NULL;
	out = mu_out_file(file);
	ok = mu_json_report(&out, report, &shown);
	if (fclose(file) == 0 && ok)
		object = json_loadb(text, size, 0, NULL);
	free(text);
	return object;
}

static enum mu_status
show_look(struct mu_past *past, const struct mu_check *check, json_t **object,
    struct mu_why *why)
{
	struct mu_report report = { .stop = "" };
	struct mu_check own = *check;
	enum mu_status status;

	own.look = past->path;
	own.explain =
	    (struct mu_explain) { .in_use = true, .collections = true };
	own.limit = LOST_MOST;
	own.list = false;
	own.by = MU_BY_STACK;
	status = mu_check_look_file(&own, &report);
	if (!mu_status_usable(status))
		mu_why(why, status, "%s", report.info.reason);
	else if (add_held(past, report.explained))
		*object = report_object(&report);
	mu_check_release(&report);
	if (!mu_status_usable(status))
		return status;
	return *object != NULL
	    ? MU_OK
	    : mu_why(why, MU_ERR_NO_MEMORY, "no memory for what %s has",
		  mu_safe_argument(past->path).text);
}

enum mu_status
mu_past_open(struct mu_past *past, const char *path,
    const struct mu_check *check, struct mu_why *why)
{
	json_t *report = NULL;
	enum mu_status status = MU_OK;

	*past = (struct mu_past) { .path = path };
	if (mu_look_file_is(path)) {
		status = show_look(past, check, &report, why);
	} else {
		report = mu_json_file_read(path, why);
		if (report == NULL)
			status = MU_ERR_ARGUMENT;
	}
	if (status == MU_OK)
		status = take(past, report, why);
	json_decref(report);
	return status;
}

void
mu_past_close(struct mu_past *past)
{
	size_t i;

	for (i = 0; i < past->count; i++)
		free(past->groups[i].key);
	free(past->groups);
	*past = (struct mu_past) { .count = 0 };
}
