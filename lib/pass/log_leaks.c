#include "lib/pass/log_leaks.h"

#include <string.h>

#include "lib/report/backtrace.h"
#include "lib/report/text.h"
#include "lib/state/library.h"
#include "mu/sys.h"

/* Of one leak: 16 frames of 200 bytes, mostly. */
#define BLOCK_SIZE 8192

static void
add_leaks(struct mu_text *text, const struct mu_pass *pass,
    const struct UnreachableMemoryInfo *info, struct mu_frame_names *names)
{
	bool contents = pass->request->contents;
	struct mu_entries_at at;
	const struct Leak *leak;

	mu_entries_open(&at, &pass->entries);
	while ((leak = mu_entries_next(&at)) != NULL)
		if (!mu_report_is_unsampled(info, leak))
			mu_report_leak(text, leak, contents, names);
}

/* All of them at once, by the command. False: as they are, then. */
static bool
log_symbolized(const struct mu_pass *pass,
    const struct UnreachableMemoryInfo *info, struct mu_frame_names *names)
{
	const struct mu_log *log = &pass->log;
	struct mu_symbolizer *symbolizer = &mu_library.symbolizer;
	struct mu_text text = { NULL, 0, 0 };
	struct mu_symbolized named;
	size_t size;
	long memory;
	bool done;

	/* The reader of records names them itself. */
	if (symbolizer->path == NULL || log->silent || log->records)
		return false;
	add_leaks(&text, pass, info, names);
	size = text.length + 1;
	memory = mu_sys_mmap(
	    NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
	if (mu_sys_failed(memory))
		return false;
	text = (struct mu_text) { (char *)memory, size, 0 };
	add_leaks(&text, pass, info, names);
	done = text.length < size &&
	    mu_symbolizer_run(symbolizer, text.buffer, text.length, &named);
	if (done) {
		mu_log_text(log, MU_LOG_ERROR, named.text, named.length);
		mu_symbolized_release(&named);
	} else if (text.length < size && named.why != NULL)
		mu_log(log, MU_LOG_WARNING, "symbolize=1: %s", named.why);
	mu_sys_munmap((void *)memory, size);
	return done;
}

/* An entry longer than BLOCK is formatted in mapped memory, or cut. */
static void
log_long(const struct mu_log *log, const struct Leak *leak, bool contents,
    struct mu_frame_names *names, char block[BLOCK_SIZE], size_t length)
{
	size_t size = length + 1;
	long memory = mu_sys_mmap(
	    NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
	struct mu_text text = { (char *)memory, size, 0 };

	if (mu_sys_failed(memory)) {
		mu_log_text(log, MU_LOG_ERROR, block, BLOCK_SIZE - 1);
		return;
	}
	mu_report_leak(&text, leak, contents, names);
	mu_log_text(log, MU_LOG_ERROR, text.buffer,
	    text.length < size ? text.length : size - 1);
	mu_sys_munmap((void *)memory, size);
}

static void
log_leak(const struct mu_log *log, const struct Leak *leak, bool contents,
    struct mu_frame_names *names)
{
	char block[BLOCK_SIZE];
	struct mu_text text = { block, sizeof(block), 0 };

	mu_report_leak(&text, leak, contents, names);
	if (text.length < sizeof(block))
		mu_log_text(log, MU_LOG_ERROR, block, text.length);
	else
		log_long(log, leak, contents, names, block, text.length);
}

/* LINE: room for the frame as text. */
static void
log_frame(const struct mu_log *log, size_t number,
    const struct mu_frame_place *place, char line[BLOCK_SIZE])
{
	struct {
		struct mu_log_record head;
		char bytes[MU_LOG_RECORD_MAX];
	} record = { .head.kind = MU_LOG_RECORD_FRAME };
	struct mu_log_frame frame = {
		.offset = place->offset,
		.into = place->into,
		.number = (uint32_t)number,
		.name_size = (uint16_t)(strlen(place->name) + 1),
	};
	struct mu_text text = { line, BLOCK_SIZE, 0 };
	size_t path_size = place->path == NULL ? 0 : strlen(place->path) + 1;
	char *path = record.bytes + sizeof(frame);

	mu_frame_text(&text, number, place);
	record.head.size = sizeof(frame) + path_size + frame.name_size;
	if (path_size == 0 || record.head.size > MU_LOG_RECORD_MAX) {
		mu_log_text(log, MU_LOG_ERROR, line, text.length);
		return;
	}
	frame.path_size = (uint16_t)path_size;
	memcpy(record.bytes, &frame, sizeof(frame));
	memcpy(path, place->path, path_size);
	memcpy(path + path_size, place->name, frame.name_size);
	mu_log_record(log, MU_LOG_ERROR, &record.head, line, text.length);
}

/* Frames as records, which their reader can look up; the rest is text. */
static void
log_records(const struct mu_log *log, const struct Leak *leak, bool contents,
    struct mu_frame_names *names)
{
	size_t i, count = mu_backtrace_count(&leak->backtrace);
	char block[BLOCK_SIZE];
	struct mu_text text = { block, sizeof(block), 0 };

	mu_report_block(&text, leak, contents);
	mu_log_text(log, MU_LOG_ERROR, block, text.length);
	for (i = 0; i < count; i++)
		log_frame(log, i,
		    mu_frame_find(
			names, mu_backtrace_frame(&leak->backtrace, i)),
		    block);
	text.length = 0;
	mu_report_cut(&text, &leak->backtrace);
	mu_log_text(log, MU_LOG_ERROR, block, text.length);
}

void
mu_log_leaks(
    const struct mu_pass *pass, const struct UnreachableMemoryInfo *info)
{
	struct mu_frame_names names = { .opened = false };
	bool done = log_symbolized(pass, info, &names);
	bool contents = pass->request->contents;
	struct mu_entries_at at;
	const struct Leak *leak;

	mu_entries_open(&at, &pass->entries);
	while (!done && (leak = mu_entries_next(&at)) != NULL)
		if (!mu_report_is_unsampled(info, leak))
			(pass->log.records ? log_records : log_leak)(
			    &pass->log, leak, contents, &names);
	mu_frame_names_close(&names);
}
