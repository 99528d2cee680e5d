#include "lib/pass/looks_file.h"

#include <string.h>

#include "lib/state/library.h"
#include "lib/state/log_sink.h"
#include "memunreachable/memunreachable.h"
#include "mu/procfs.h"
#include "mu/report_file.h"
#include "mu/status.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "mu/utc.h"
#include "ptrace/live/proc.h"

#define LINE 1024
#define PATIENCE_NS MU_NS_PER_SEC /* for a FIFO that is full */

/* Resident bytes; 0: not known. */
static uint64_t
read_rss(void)
{
	char status[MU_PROC_STATUS_SIZE];
	int64_t kib = -1;

	if (mu_proc_own_status(status, sizeof(status)) >= 0)
		kib = mu_proc_status_number(status, "\nVmRSS:", 0, 10);
	return kib > 0 ? (uint64_t)kib << 10 : 0;
}

/* A string of JSON; what would need an escape is left out. */
static void
add_string(struct mu_text *text, const char *name, const char *value)
{
	mu_text_add(text, ",\"%s\":\"", name);
	for (; *value != '\0'; value++)
		if (*value >= ' ' && *value < 0x7f && *value != '"' &&
		    *value != '\\')
			mu_text_add(text, "%c", *value);
	mu_text_add(text, "\"");
}

static void
add_look(struct mu_text *text, const struct MemunreachableLook *look)
{
	char program[64];
	bool checked = look->status == MEMUNREACHABLE_COMPLETE ||
	    look->status == MEMUNREACHABLE_PARTIAL;

	mu_text_add(text, "{\"time\":\"%s\",\"pid\":%d,\"rss_bytes\":%zu",
	    mu_utc_ms(mu_sys_real_ns()).text, (int)mu_sys_getpid(),
	    (size_t)read_rss());
	if (mu_procfs_read("/proc/self/comm", program, sizeof(program)) > 0)
		add_string(text, "program", program);
	if (checked)
		mu_text_add(text,
		    ",\"heap_live_bytes\":%zu,\"heap_live_blocks\":%zu"
		    ",\"heap_lost_bytes\":%zu,\"heap_lost_blocks\":%zu"
		    ",\"heap_free_bytes\":%zu",
		    look->live_bytes, look->live_blocks, look->lost_bytes,
		    look->lost_blocks, look->free_bytes);
	mu_text_add(text, ",\"pause_ns\":%zu", (size_t)look->pause_ns);
	add_string(text, "status", mu_status_word(look->status));
	add_string(text, "reason", look->reason);
	mu_text_add(text, "}\n");
}

void
mu_looks_file_add(const struct MemunreachableLook *look)
{
	const char *path = mu_library.options.looks_path, *why = NULL;
	char name[MU_PATH_MAX + 16], line[LINE];
	struct mu_text text = { line, sizeof(line), 0 };
	int fd, error = 0;

	if (path[0] == '\0')
		return;
	add_look(&text, look);
	mu_text_format(name, sizeof(name), "%s.%d", path, (int)mu_sys_getpid());
	fd = mu_report_file_open(name, O_APPEND, &why);
	if (fd >= 0) {
		error = mu_report_file_write(
		    fd, line, strlen(line), mu_sys_now_ns() + PATIENCE_NS);
		mu_sys_close(&fd);
	}
	if (error != 0)
		why = mu_report_file_reason(error);
	if (why != NULL)
		mu_log_sink_line(
		    MU_LOG_WARNING, "cannot write %s: %s", name, why);
}
