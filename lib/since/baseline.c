#include "lib/since/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/term/out.h"
#include "lib/term/output.h"
#include "lib/term/safe_text.h"
#include "lib/writers/group_key.h"
#include "mu/array.h"

#define HEAD \
	"# memunreachable baseline 1: groups of lost blocks that are known\n"

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
add(struct mu_keys *keys, const char *key)
{
	char *copy;

	if (!mu_array_room(keys->items, keys->count, keys->max, 64, SIZE_MAX))
		return false;
	copy = strdup(key);
	if (copy != NULL)
		keys->items[keys->count++] = copy;
	return copy != NULL;
}

/* Sort, and drop what is there twice. */
static void
sort(struct mu_keys *keys)
{
	size_t i, kept = 0;

	if (keys->count > 0)
		qsort(keys->items, keys->count, sizeof(*keys->items), compare);
	for (i = 0; i < keys->count; i++)
		if (kept > 0 &&
		    strcmp(keys->items[kept - 1], keys->items[i]) == 0)
			free(keys->items[i]);
		else
			keys->items[kept++] = keys->items[i];
	keys->count = kept;
}

static bool
has(const struct mu_keys *keys, const char *key)
{
	return keys->count > 0 &&
	    bsearch(&key, keys->items, keys->count, sizeof(*keys->items),
		compare) != NULL;
}

/* Lines that begin with # say nothing. */
static bool
read_lines(struct mu_keys *keys, FILE *file)
{
	char *line = NULL;
	size_t room = 0;
	bool ok = true;

	while (ok && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] != '\0' && line[0] != '#')
			ok = add(keys, line);
	}
	free(line);
	sort(keys);
	return ok && !ferror(file);
}

enum mu_status
mu_baseline_open(
    struct mu_baseline *baseline, const char *file, struct mu_why *why)
{
	FILE *lines;
	bool ok;

	*baseline = (struct mu_baseline) { .file = file };
	if (file == NULL)
		return MU_OK;
	lines = fopen(file, "re");
	ok = lines != NULL && read_lines(&baseline->known, lines);
	if (!ok)
		mu_why(why, MU_ERR_ARGUMENT, "cannot read %s: %s",
		    mu_safe_argument(file).text, strerror(errno));
	if (lines != NULL)
		fclose(lines);
	return ok ? MU_OK : MU_ERR_ARGUMENT;
}

static void
judge_group(struct mu_baseline *baseline, const struct mu_groups_at *at,
    size_t index, struct mu_report *report)
{
	char key[MU_GROUP_KEY] = "";
	struct mu_text text = { key, sizeof(key), 0 };
	struct mu_report_baseline *judged = report->baseline;

	mu_group_key(&text, at, &report->names);
	if (!add(&baseline->lost, key))
		baseline->error = ENOMEM;
	judged->known[index] = has(&baseline->known, key);
	if (!judged->known[index])
		return;
	judged->groups++;
	judged->blocks += at->group.num_blocks;
	judged->bytes += at->group.total_bytes;
}

void
mu_baseline_judge(struct mu_baseline *baseline, struct mu_report *report)
{
	struct mu_report_baseline *judged = calloc(1, sizeof(*judged));
	struct mu_groups_at at;
	size_t i = 0;

	report->baseline = judged;
	if (judged != NULL)
		judged->known = calloc(
		    report->entries.num_groups + 1, sizeof(*judged->known));
	if (judged == NULL || judged->known == NULL) {
		baseline->error = ENOMEM;
		return;
	}
	judged->file = baseline->file;
	if (report->groups.num_total > report->groups.count)
		baseline->error = E2BIG;
	if (report->groups.count == 0)
		return;
	mu_groups_open(&at, &report->entries);
	while (mu_groups_next(&at) != NULL)
		judge_group(baseline, &at, i++, report);
	sort(&baseline->lost);
}

bool
mu_baseline_knows_all(const struct mu_report *report)
{
	size_t i, known = 0;

	for (i = 0; i < report->groups.count; i++)
		known += mu_report_known(report, i);
	return known > 0 && known == report->groups.num_total;
}

void
mu_baseline_gone(const struct mu_baseline *baseline, FILE *out)
{
	size_t i;

	for (i = 0; i < baseline->known.count; i++) {
		if (has(&baseline->lost, baseline->known.items[i]))
			continue;
		fputs("No longer lost, and in ", out);
		mu_print_safe(out, baseline->file);
		fputs(" still: ", out);
		mu_print_safe(out, baseline->known.items[i]);
		fputc('\n', out);
	}
}

int
mu_baseline_write(struct mu_baseline *baseline, int fd)
{
	int copy = dup(fd), error = baseline->error;
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	size_t i;

	if (out != NULL)
		fputs(HEAD, out);
	for (i = 0; out != NULL && i < baseline->lost.count; i++)
		fprintf(out, "%s\n", baseline->lost.items[i]);
	if (error == 0 && (out == NULL || !mu_output_flush(out)))
		error = errno;
	if (out != NULL)
		fclose(out);
	else if (copy >= 0)
		close(copy);
	if (error != 0)
		(void)!ftruncate(fd, 0);
	return error;
}

static void
free_keys(struct mu_keys *keys)
{
	size_t i;

	for (i = 0; i < keys->count; i++)
		free(keys->items[i]);
	free(keys->items);
	*keys = (struct mu_keys) { .count = 0 };
}

void
mu_baseline_close(struct mu_baseline *baseline)
{
	free_keys(&baseline->known);
	free_keys(&baseline->lost);
}
