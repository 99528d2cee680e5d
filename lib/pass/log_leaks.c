#include "lib/pass/log_leaks.h"

#include <string.h>

#include "lib/report/frame_names.h"
#include "lib/state/library.h"
#include "lib/writers/frame_line.h"
#include "lib/writers/writer.h"
#include "mu/sys.h"

/* Text of one entry: usually 16 frames of 200 bytes. */
#define ENTRY_SIZE 8192

/*
 * Text that is not logged yet: of one entry, or of all that are to be
 * symbolized.
 */
struct pending {
	const struct mu_log *log;
	char *bytes; /* ENTRY, or a mapping */
	size_t size, length;
	char entry[ENTRY_SIZE];
};

static void
flush(void *ctx)
{
	struct pending *pending = ctx;

	if (pending->length > 0)
		mu_log_text(pending->log, MU_LOG_ERROR, pending->bytes,
		    pending->length);
	pending->length = 0;
}

static void
release(struct pending *pending)
{
	if (pending->bytes != pending->entry)
		mu_sys_munmap(pending->bytes, pending->size);
	pending->bytes = pending->entry;
	pending->size = sizeof(pending->entry);
}

/* Returns false if memory is exhausted. */
static bool
grow(struct pending *pending, size_t least)
{
	size_t length = pending->length, size = pending->size;
	long memory;

	while (size < least)
		size *= 2;
	memory = mu_sys_mmap(
	    NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
	if (mu_sys_failed(memory))
		return false;
	memcpy((void *)memory, pending->bytes, length);
	release(pending);
	pending->bytes = (char *)memory;
	pending->size = size;
	return true;
}

static void
put(void *ctx, const char *bytes, size_t length)
{
	struct pending *pending = ctx;

	if (length > pending->size - pending->length &&
	    !grow(pending, pending->length + length)) {
		flush(pending);
		if (length > pending->size)
			length = pending->size;
	}
	memcpy(pending->bytes + pending->length, bytes, length);
	pending->length += length;
}

/* Write a frame as a record, so that the reader can look it up. */
static bool
put_frame(void *ctx, size_t number, const struct mu_symbol *symbol)
{
	struct pending *pending = ctx;
	struct {
		struct mu_log_record head;
		char bytes[MU_LOG_RECORD_MAX];
	} record = { .head.kind = MU_LOG_RECORD_FRAME };
	const char *name = symbol->function != NULL ? symbol->function : "";
	size_t path_size = strlen(symbol->module) + 1;
	size_t name_size = strlen(name) + 1;
	struct mu_log_frame frame = {
		.offset = symbol->offset,
		.into = symbol->into,
		.number = (uint32_t)number,
		.path_size = (uint16_t)path_size,
		.name_size = (uint16_t)name_size,
	};
	struct mu_text text = { pending->bytes, pending->size, 0 };
	struct mu_out line = mu_out_text(&text);
	char *path = record.bytes + sizeof(frame);

	record.head.size = sizeof(frame) + path_size + name_size;
	if (record.head.size > MU_LOG_RECORD_MAX)
		return false;
	flush(pending);
	memcpy(record.bytes, &frame, sizeof(frame));
	memcpy(path, symbol->module, path_size);
	memcpy(path + path_size, name, name_size);
	mu_frame_line_symbol(&line, number, 0, symbol);
	mu_log_record(pending->log, MU_LOG_ERROR, &record.head, pending->bytes,
	    text.length);
	return true;
}

/*
 * Have the command symbolize all entries at once; if that fails, log them as
 * they are.
 */
static void
flush_symbolized(struct pending *pending)
{
	struct mu_symbolizer *symbolizer = &mu_library.symbolizer;
	struct mu_symbolized named;

	if (mu_symbolizer_run(
		symbolizer, pending->bytes, pending->length, &named)) {
		mu_log_text(
		    pending->log, MU_LOG_ERROR, named.text, named.length);
		mu_symbolized_release(&named);
		return;
	}
	if (named.why != NULL)
		mu_log(
		    pending->log, MU_LOG_WARNING, "symbolize=1: %s", named.why);
	flush(pending);
}

void
mu_log_leaks(
    const struct mu_pass *pass, const struct UnreachableMemoryInfo *info)
{
	const struct mu_shown shown = { .contents = pass->request->contents,
		.fold = mu_library.options.group,
		.style = MU_STYLE_PLAIN };
	struct mu_frame_names names = { .opened = false };
	struct mu_report report = { .info = *info,
		.entries = pass->result.entries,
		.names = mu_frame_names(&names) };
	struct pending pending = { .log = &pass->image.job.log,
		.size = ENTRY_SIZE };
	struct mu_out out = { .put = put, .ctx = &pending };

	if (pass->image.job.log.silent)
		return;
	pending.bytes = pending.entry;
	/* A reader of records names frames itself. */
	if (pass->image.job.log.records)
		out.frame = put_frame;
	if (pass->image.job.log.records || mu_library.symbolizer.path == NULL)
		out.end_entry = flush;
	mu_writer_log.write(&out, &report, &shown);
	if (pending.length > 0)
		flush_symbolized(&pending);
	release(&pending);
	mu_frame_names_close(&names);
}
