/*
 * The small readers of /proc on any text: smaps, mountinfo, an epoll set's
 * fdinfo, timers. No fault, and the same answer for a whole text and for a file
 * that is read one buffer at a time.
 *
 * Input: which reader, two numbers of a device, the text.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heapwalk/memory/wiped.h"
#include "heapwalk/subject/lines.h"
#include "heapwalk/subject/tmpfs.h"
#include "ptrace/live/kernel_values.h"
#include "tests/support/fuzz/fuzz_input.h"

#define TEXT_MAX (64u << 10)
#define LINE_MAX_SEEN 8000 /* longer ones come through a file cut */
#define RANGES 8

/* A copy that has no byte more: a sanitizer sees what is read behind it. */
static char *
copy_text(const struct fuzz_input *input)
{
	char *text = malloc(input->size + (input->size == 0));

	require(text != NULL);
	memcpy(text, input->data, input->size);
	return text;
}

static bool
has_long_line(const struct fuzz_input *input)
{
	size_t i, length = 0;

	for (i = 0; i < input->size; i++) {
		length = input->data[i] == '\n' ? 0 : length + 1;
		if (length > LINE_MAX_SEEN)
			return true;
	}
	return false;
}

/* Hand the text to FOUND as a file. */
static bool
search_file(const struct fuzz_input *input,
    bool (*found)(void *ctx, const char *lines, size_t length), void *ctx)
{
	int fd = memfd_create("text", MFD_CLOEXEC);
	char path[64];
	bool any;

	require(fd >= 0);
	require(write(fd, input->data, input->size) == (ssize_t)input->size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	any = mu_lines_search(path, found, ctx);
	close(fd);
	return any;
}

static bool
wiped_lines(void *ctx, const char *lines, size_t length)
{
	mu_wiped_parse(ctx, lines, length);
	return false;
}

static void
read_smaps(const struct fuzz_input *input, const char *text)
{
	struct mu_range ranges[RANGES] = { 0 }, again[RANGES] = { 0 };
	struct mu_wiped wiped = { .ranges = ranges, .max = RANGES };
	struct mu_wiped file = { .ranges = again, .max = RANGES };
	size_t i;

	mu_wiped_parse(&wiped, text, input->size);
	for (i = 0; i < RANGES; i++)
		require(i < wiped.count ? ranges[i].begin < ranges[i].end
					: ranges[i].end == 0);
	if (has_long_line(input))
		return;
	search_file(input, wiped_lines, &file);
	require(file.count == wiped.count);
	require(memcmp(ranges, again, sizeof(ranges)) == 0);
}

struct device {
	unsigned major, minor;
};

static bool
mount_lines(void *ctx, const char *lines, size_t length)
{
	const struct device *device = ctx;

	return mu_tmpfs_parse(lines, length, device->major, device->minor);
}

static void
read_mountinfo(
    const struct fuzz_input *input, const char *text, struct device *device)
{
	bool tmpfs =
	    mu_tmpfs_parse(text, input->size, device->major, device->minor);

	if (!has_long_line(input))
		require(search_file(input, mount_lines, device) == tmpfs);
}

static void
read_kernel_values(const struct fuzz_input *input, const char *text,
    bool (*parse)(const char *text, size_t length, struct mu_words *words))
{
	struct mu_arena arena;
	struct mu_words words = { .arena = &arena };
	size_t i, lines = 0;

	mu_arena_open(&arena, (size_t)64 << 20);
	require(parse(text, input->size, &words));
	for (i = 0; i < input->size; i++)
		lines += input->data[i] == '\n';
	require(words.count <= lines);
	for (i = 0; i < words.count; i++)
		require(mu_word_plausible(words.words[i]));
	mu_arena_close(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	unsigned reader = (unsigned)fuzz_take(&input, 1) % 4;
	struct device device;
	char *text;

	device.major = (unsigned)fuzz_take(&input, 1);
	device.minor = (unsigned)fuzz_take(&input, 1);
	if (input.size > TEXT_MAX)
		return 0;
	text = copy_text(&input);
	if (reader == 0)
		read_smaps(&input, text);
	else if (reader == 1)
		read_mountinfo(&input, text, &device);
	else
		read_kernel_values(&input, text,
		    reader == 2 ? mu_kernel_values_parse_epoll
				: mu_kernel_values_parse_timers);
	free(text);
	return 0;
}
