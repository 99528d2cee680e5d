#include "lib/malloc_debug/leaktracer/lines.h"

#include <stdbool.h>

#include "lib/malloc_debug/unwind/gone_modules.h"
#include "mu/arch/unwind.h"
#include "mu/sys.h"
#include "mu/text.h"

#define NS_PER_US 1000
#define LOWEST_CODE 4096 /* lower values are not changed */

unsigned
leaktracer_width(uint64_t ns)
{
	uint64_t seconds = ns / MU_NS_PER_SEC;
	unsigned width = 1;

	while ((seconds /= 10) != 0)
		width++;
	return width;
}

/* The return address before the capture moved it into the call instruction. */
static uint64_t
return_address(uint64_t frame)
{
	return frame < LOWEST_CODE ? frame : frame + MU_UNWIND_CALL;
}

static void
add_stack(struct mu_text *text, const struct leaktracer_line *record)
{
	size_t i;

	for (i = 0; i < record->num_frames; i++)
		mu_text_add(text, "%s0x%lx", i == 0 ? "" : " ",
		    (unsigned long)return_address(
			gone_modules_frame(record->frames[i])));
}

static void
add_data(struct mu_text *text, const struct leaktracer_line *record)
{
	size_t i;
	unsigned char c;

	for (i = 0; i < record->num_data; i++) {
		c = record->data[i];
		mu_text_add(text, "%c", c >= ' ' && c <= '~' ? c : '.');
	}
}

size_t
leaktracer_line(char *line, size_t size, const struct leaktracer_line *record)
{
	struct mu_text text = { line, size, 0 };
	uint64_t seconds = record->time_ns / MU_NS_PER_SEC;
	unsigned zeros = leaktracer_width(record->time_ns);

	mu_text_add(&text, "leak, time=");
	for (; zeros < record->width; zeros++)
		mu_text_add(&text, "0");
	mu_text_add(&text, "%lu.%06u, stack=", (unsigned long)seconds,
	    (unsigned)(record->time_ns % MU_NS_PER_SEC / NS_PER_US));
	add_stack(&text, record);
	mu_text_add(&text, ", size=%lu, data=", (unsigned long)record->size);
	add_data(&text, record);
	mu_text_add(&text, "\n");
	return text.length;
}

size_t
leaktracer_first_line(
    char *line, size_t size, uint64_t real_ns, uint64_t monotonic_ns)
{
	bool negative = real_ns < monotonic_ns;
	uint64_t ns =
	    negative ? monotonic_ns - real_ns : real_ns - monotonic_ns;

	return mu_text_format(line, size,
	    "# LeakTracer report diff_utc_mono=%s%lu.%06u\n",
	    negative ? "-" : "", (unsigned long)(ns / MU_NS_PER_SEC),
	    (unsigned)(ns % MU_NS_PER_SEC / NS_PER_US));
}
