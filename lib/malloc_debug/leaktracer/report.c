#include "lib/malloc_debug/leaktracer/report.h"

#include <unistd.h>

#include "lib/malloc_debug/dumps/output_file.h"
#include "lib/malloc_debug/leaktracer/late.h"
#include "lib/malloc_debug/leaktracer/lines.h"
#include "lib/malloc_debug/leaktracer/modules.h"
#include "lib/malloc_debug/leaktracer/preview.h"
#include "lib/malloc_debug/state/state.h"
#include "lib/malloc_debug/unwind/script_lines.h"
#include "lib/malloc_debug/unwind/stack_depot.h"
#include "mu/sys.h"
#include "mu/text.h"

void
leaktracer_report_begin(struct leaktracer_report *report, bool unreachable)
{
	*report = (struct leaktracer_report) { 0 };
	if (unreachable)
		leaktracer_reach_find(&report->reach);
	leaktracer_rows_find(
	    &report->rows, report->reach.checked ? &report->reach : NULL);
}

void
leaktracer_report_end(struct leaktracer_report *report)
{
	leaktracer_rows_free(&report->rows);
	leaktracer_reach_free(&report->reach);
}

static void
print_first_line(leaktracer_sink *sink, void *ctx)
{
	char line[128];

	sink(ctx, line,
	    leaktracer_first_line(
		line, sizeof(line), mu_sys_real_ns(), mu_sys_now_ns()));
}

static void
print_remark(leaktracer_sink *sink, void *ctx, const char *remark)
{
	char line[512];
	size_t length = mu_text_format(line, sizeof(line), "# %s\n", remark);

	if (remark[0] != '\0')
		sink(ctx, line, length);
}

static void
print_remarks(
    const struct leaktracer_report *report, leaktracer_sink *sink, void *ctx)
{
	uint32_t flags =
	    __atomic_load_n(&memunreachable_recorded.flags, __ATOMIC_RELAXED);

	if (report->reach.checked)
		print_remark(sink, ctx, "unreachable blocks only");
	print_remark(sink, ctx, report->reach.remark);
	if (report->rows.missing || (flags & MU_RECORDED_STOPPED) != 0)
		print_remark(
		    sink, ctx, "memory was short: records are missing");
}

static void
print_row(const struct leaktracer_row *row, unsigned width,
    leaktracer_sink *sink, void *ctx)
{
	const struct mu_stack *stack = stack_depot_get(row->stack);
	unsigned char data[LEAKTRACER_DATA];
	char text[LEAKTRACER_LINE];
	struct leaktracer_line line = {
		.time_ns = row->time_ns,
		.width = width,
		.size = row->size,
		.data = data,
	};

	if (stack != NULL) {
		line.frames = stack->frames;
		line.num_frames = (uint16_t)script_calls(stack);
	}
	line.num_data = row->size < sizeof(data) ? row->size : sizeof(data);
	if (row->begin != 0)
		line.num_data =
		    leaktracer_preview(row->begin, data, line.num_data);
	else
		leaktracer_late_data(row->late, data);
	sink(ctx, text, leaktracer_line(text, sizeof(text), &line));
}

void
leaktracer_report_print(
    const struct leaktracer_report *report, leaktracer_sink *sink, void *ctx)
{
	unsigned width = leaktracer_width(mu_sys_now_ns());
	size_t i;

	print_first_line(sink, ctx);
	leaktracer_modules(sink, ctx);
	print_remarks(report, sink, ctx);
	for (i = 0; i < report->rows.count; i++)
		print_row(&report->rows.rows[i], width, sink, ctx);
}

static void
into_file(void *ctx, const char *text, size_t length)
{
	output_file_write(ctx, text, length);
}

static void
say_failed(const char *name)
{
	char line[PATH_MAX + 64];
	size_t length = mu_text_format(
	    line, sizeof(line), "Failed to write to \"%s\"\n", name);

	mu_sys_write(STDERR_FILENO, line,
	    length < sizeof(line) ? length : sizeof(line) - 1);
}

bool
leaktracer_report_write(
    const struct leaktracer_report *report, const char *name)
{
	struct output_file out;
	int error = name == NULL ? EINVAL : output_file_make(&out, name);

	if (error == 0) {
		leaktracer_report_print(report, into_file, &out);
		error = output_file_end(&out, name);
	}
	if (error != 0)
		say_failed(name != NULL ? name : "");
	return error == 0;
}
