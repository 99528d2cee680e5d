#include "heapwalk/memory/forked.h"

#include <string.h>

#include "heapwalk/memory/wiped.h"
#include "heapwalk/subject/lines.h"
#include "mu/text.h"

#define FLAGS "VmFlags:"

/* "Anonymous:          1024 kB": bytes, if LINE begins with KEY. */
static bool
take_bytes(const char *line, const char *end, const char *key, uint64_t *bytes)
{
	size_t length = strlen(key);
	uint64_t number = 0;

	if ((size_t)(end - line) <= length || memcmp(line, key, length) != 0)
		return false;
	for (line += length; line < end && *line == ' ';)
		line++;
	for (; line < end && *line >= '0' && *line <= '9'; line++)
		number = number * 10 + (uint64_t)(*line - '0');
	*bytes = number << 10;
	return true;
}

/* True if a userfaultfd watches missing pages, writes or minor faults. */
static bool
is_watched(const char *line, size_t length)
{
	return mu_vm_flag(line, length, "um") ||
	    mu_vm_flag(line, length, "uw") || mu_vm_flag(line, length, "ui");
}

/* "VmFlags: rd wr mr mw me dc ac sd ": the last line of a mapping */
static void
end_mapping(struct mu_forked *forked, const char *line, const char *end)
{
	uint64_t all = forked->anonymous + forked->swapped;
	uint64_t huge = forked->huge_here;

	forked->wiped |= mu_vm_flag(line, (size_t)(end - line), "wf") &&
	    !mu_vm_flag(line, (size_t)(end - line), "dp");
	forked->watched |= is_watched(line, (size_t)(end - line));
	forked->missing |= mu_vm_flag(line, (size_t)(end - line), "um") &&
	    !mu_vm_flag(line, (size_t)(end - line), "sh") &&
	    forked->resident + forked->swapped < forked->size;
	if (mu_vm_flag(line, (size_t)(end - line), "dc")) {
		forked->dontfork += all;
		if (all >= MU_FORKED_LARGE)
			forked->dontfork_large += all;
	} else {
		forked->pooled |=
		    mu_vm_flag(line, (size_t)(end - line), "ht") &&
		    !mu_vm_flag(line, (size_t)(end - line), "ms");
		forked->huge += huge < all ? huge : all;
		forked->small += huge < all ? all - huge : 0;
		if (all > 0 && forked->resident > forked->anonymous &&
		    !mu_vm_flag(line, (size_t)(end - line), "sh"))
			forked->files += forked->resident - forked->anonymous;
	}
	forked->anonymous = forked->swapped = forked->huge_here = 0;
	forked->size = forked->resident = 0;
}

void
mu_forked_parse(struct mu_forked *forked, const char *text, size_t length)
{
	const char *end = text + length, *newline;

	for (; text < end; text = newline + 1) {
		newline = memchr(text, '\n', (size_t)(end - text));
		if (newline == NULL)
			return;
		if (take_bytes(text, newline, "Size:", &forked->size) ||
		    take_bytes(text, newline, "Rss:", &forked->resident) ||
		    take_bytes(
			text, newline, "Anonymous:", &forked->anonymous) ||
		    take_bytes(
			text, newline, "AnonHugePages:", &forked->huge_here) ||
		    take_bytes(text, newline, "Swap:", &forked->swapped))
			continue;
		if ((size_t)(newline - text) >= sizeof(FLAGS) - 1 &&
		    memcmp(text, FLAGS, sizeof(FLAGS) - 1) == 0)
			end_mapping(forked, text, newline);
	}
}

struct finding {
	struct mu_forked *forked;
	bool any;
};

static bool
take_lines(void *ctx, const char *lines, size_t length)
{
	struct finding *finding = ctx;

	finding->any = true;
	mu_forked_parse(finding->forked, lines, length);
	return false;
}

bool
mu_forked_find(struct mu_forked *forked, pid_t pid)
{
	struct mu_forked found = { 0 };
	struct finding finding = { .forked = &found };
	char path[64];

	mu_text_format(path, sizeof(path), "/proc/%d/smaps", pid);
	mu_lines_search(path, take_lines, &finding);
	if (finding.any)
		*forked = found;
	return finding.any;
}

enum mu_status
mu_forked_note_missing(pid_t pid, struct mu_why *why)
{
	struct mu_forked forked = { 0 };

	mu_forked_find(&forked, pid);
	return mu_forked_judge_missing(&forked, why);
}

enum mu_status
mu_forked_judge_missing(const struct mu_forked *forked, struct mu_why *why)
{
	if (!forked->missing)
		return MU_OK;
	return mu_why(why, MU_PARTIAL,
	    "memory that a userfaultfd provides is not there yet: what only it"
	    " refers to may be among these");
}
