/*
 * A buffer of lines, and a cache of names of frames: the loader searches all
 * symbols of a module for each address.
 */
#include "lib/malloc_debug/checks/report.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>

#include "lib/malloc_debug/checks/symbolize.h"
#include "lib/malloc_debug/state/kept_stderr.h"
#include "lib/malloc_debug/unwind/gone_modules.h"
#include "lib/malloc_debug/unwind/script_lines.h"
#include "lib/malloc_debug/unwind/stack_depot.h"
#include "mu/sys.h"
#include "mu/text.h"

#define TEXT_BYTES ((size_t)64 << 10)
#define SYMBOLIZED_BYTES ((size_t)8 << 20) /* for one process */
#define LINE_MOST 1024
#define NAMES ((size_t)1 << 14)

struct report_name {
	uint64_t frame; /* of the depot; 0 = unused */
	uint64_t rel_pc, offset;
	const char *module, *symbol; /* the loader's; NULL = unknown */
};

static void
flush(struct report *report)
{
	if (report->text == report->line)
		kept_stderr_write(report->text, report->used);
	else
		symbolize_write(report->text, report->used);
	report->used = 0;
}

static void *
map(size_t size)
{
	long memory = mu_sys_mmap(
	    NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);

	return mu_sys_failed(memory) ? NULL : (void *)memory;
}

void
report_begin(struct report *report)
{
	report->used = 0;
	report->program[0] = '\0';
	report->names = map(NAMES * sizeof(struct report_name));
	report->size = symbolize_active() ? SYMBOLIZED_BYTES : TEXT_BYTES;
	report->text = map(report->size);
	if (report->text == NULL) {
		report->text = report->line;
		report->size = sizeof(report->line);
	}
}

void
report_end(struct report *report)
{
	flush(report);
	if (report->text != report->line)
		mu_sys_munmap(report->text, report->size);
	if (report->names != NULL)
		mu_sys_munmap(
		    report->names, NAMES * sizeof(struct report_name));
}

void
report_line(struct report *report, const char *format, ...)
{
	struct mu_text text;
	va_list args;

	if (report->size - report->used < LINE_MOST)
		flush(report);
	text = (struct mu_text) { report->text + report->used,
		report->size - report->used - 1, 0 };
	mu_text_add(&text, "malloc_debug: ");
	va_start(args, format);
	text.length += mu_text_vformat(
	    text.buffer + text.length, text.size - text.length, format, args);
	va_end(args);
	if (text.length >= text.size)
		text.length = text.size - 1;
	report->used += text.length;
	report->text[report->used++] = '\n';
}

static void
look_up(struct report_name *name, uint64_t frame)
{
	uint64_t told = gone_modules_frame(frame), pc = mu_frame_address(told);
	const struct mu_recorded_module *gone = gone_modules_of(told);
	struct link_map *map_of = NULL;
	Dl_info info;

	*name = (struct report_name) { .frame = frame, .rel_pc = pc };
	if (gone != NULL) {
		name->rel_pc = pc - gone->bias;
		name->module = (const char *)(uintptr_t)gone->path;
		return;
	}
	if (dladdr1((void *)(uintptr_t)pc, &info, (void **)&map_of,
		RTLD_DL_LINKMAP) == 0)
		return;
	/*
	 * The address as in nm and addr2line; the base of the mapping is not 0
	 * there.
	 */
	name->rel_pc = pc - map_of->l_addr;
	name->module = map_of->l_name;
	name->symbol = info.dli_sname;
	name->offset = pc - (uintptr_t)info.dli_saddr;
}

/* The program itself has an empty name in the loader's list. */
static const char *
module_of(struct report *report, const struct report_name *name)
{
	long n;

	if (name->module == NULL)
		return "<unknown>";
	if (name->module[0] != '\0')
		return name->module;
	if (report->program[0] == '\0') {
		n = mu_sys4(SYS_readlinkat, AT_FDCWD,
		    (long)"/proc/thread-self/exe", (long)report->program,
		    sizeof(report->program) - 1);
		mu_text_format(report->program + (n < 0 ? 0 : n), 2, "%s",
		    n <= 0 ? "?" : "");
	}
	return report->program;
}

static void
report_frame(struct report *report, size_t index, uint64_t frame)
{
	struct report_name fresh = { 0 }, *name = &fresh;
	struct script_line line;

	if (script_line_get(frame, &line)) {
		report_line(report, "  #%02zu  %s %s:%u", index, line.function,
		    line.file, line.line);
		return;
	}
	if (report->names != NULL)
		name = &report->names[(frame ^ frame >> 14) % NAMES];
	if (name->frame != frame)
		look_up(name, frame);
	if (name->symbol == NULL)
		report_line(report, "  #%02zu  pc %016zx  %s", index,
		    (size_t)name->rel_pc, module_of(report, name));
	else
		report_line(report, "  #%02zu  pc %016zx  %s (%s+%zu)", index,
		    (size_t)name->rel_pc, module_of(report, name), name->symbol,
		    (size_t)name->offset);
}

void
report_frames(struct report *report, const uint64_t *frames, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		report_frame(report, i, frames[i]);
}

void
report_stack(struct report *report, const char *title, uint32_t stack)
{
	const struct mu_stack *found = stack_depot_get(stack);

	if (found == NULL || found->num_frames == 0)
		return;
	report_line(report, "%s", title);
	report_frames(report, found->frames, found->num_frames);
}
