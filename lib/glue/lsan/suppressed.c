#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/glue/lsan/lsan.h"
#include "lib/since/pattern.h"
#include "memunreachable/memunreachable.h"

__attribute__((weak, visibility("default"))) const char *
__lsan_default_suppressions(void);

__attribute__((weak)) const char *
__lsan_default_suppressions(void)
{
	return "";
}

struct pattern {
	const char *text;
	size_t bytes, blocks;
};

/* In one piece with its texts, which malloc does not know. */
struct lsan_suppressed {
	size_t count;
	struct pattern items[];
};

/* -1: there is none. */
static int
open_file(const char *name, size_t *size)
{
	int fd = name[0] == '\0' ? -1 : open(name, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (name[0] != '\0' && fd < 0)
		fprintf(stderr,
		    "LeakSanitizer: failed to read suppressions"
		    " file '%s'\n",
		    name);
	*size = fd >= 0 && fstat(fd, &st) == 0 ? (size_t)st.st_size : 0;
	return fd;
}

static void
read_all(int fd, char *text, size_t size)
{
	ssize_t n;

	while (size > 0 && (n = read(fd, text, size)) > 0) {
		text += n;
		size -= (size_t)n;
	}
}

/* Lines "leak:PATTERN"; others say nothing. */
static void
add_lines(struct lsan_suppressed *suppressed, char *text)
{
	char *line;

	while ((line = strsep(&text, "\r\n")) != NULL) {
		line += strspn(line, " \t");
		if (strncmp(line, "leak:", 5) == 0 && line[5] != '\0')
			suppressed->items[suppressed->count++].text = line + 5;
	}
}

struct lsan_suppressed *
lsan_suppressed_read(const char *file)
{
	const char *own = __lsan_default_suppressions();
	size_t length = own != NULL ? strlen(own) : 0, more, most, size;
	int fd = open_file(file, &more);
	struct lsan_suppressed *suppressed;
	char *text;

	size = length + strlen("\n") + more + 1;
	most = size / strlen("leak:x\n") + 1;
	suppressed = memunreachable_unsearched_alloc(
	    sizeof(*suppressed) + most * sizeof(*suppressed->items) + size);
	if (suppressed != NULL) {
		text = (char *)&suppressed->items[most];
		if (own != NULL)
			memcpy(text, own, length + 1);
		text[length] = '\n';
		read_all(fd, text + length + 1, more);
		add_lines(suppressed, text);
	}
	if (fd >= 0)
		close(fd);
	return suppressed;
}

bool
lsan_suppressed_has(struct lsan_suppressed *suppressed,
    const char *const *functions, const char *const *modules, size_t count,
    size_t bytes, size_t blocks)
{
	struct pattern *item;
	size_t i, j;

	for (i = 0; suppressed != NULL && i < suppressed->count; i++) {
		item = &suppressed->items[i];
		for (j = 0; j < count; j++)
			if (mu_suppression_matches(item->text, functions[j]) ||
			    mu_suppression_matches(item->text, modules[j])) {
				item->bytes += bytes;
				item->blocks += blocks;
				return true;
			}
	}
	return false;
}

void
lsan_suppressed_print(const struct lsan_suppressed *suppressed, FILE *out)
{
	static const char rule[] =
	    "-----------------------------------------------------\n";
	bool any = false;
	size_t i;

	for (i = 0; suppressed != NULL && i < suppressed->count; i++) {
		const struct pattern *item = &suppressed->items[i];

		if (item->blocks == 0)
			continue;
		if (!any)
			fprintf(out,
			    "%sSuppressions used:\n"
			    "  count      bytes template\n",
			    rule);
		any = true;
		fprintf(out, "%7zu %10zu %s\n", item->blocks, item->bytes,
		    item->text);
	}
	if (any)
		fprintf(out, "%s\n", rule);
}

void
lsan_suppressed_free(struct lsan_suppressed *suppressed)
{
	memunreachable_unsearched_free(suppressed);
}
