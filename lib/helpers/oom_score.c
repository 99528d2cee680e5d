#include "lib/helpers/oom_score.h"

#include <stdbool.h>
#include <string.h>

#include "mu/procfs.h"
#include "mu/sys.h"
#include "mu/text.h"
#include "ptrace/live/proc.h"

#define OOM_NEVER (-1000)

static const char file[] = "/proc/self/oom_score_adj";

int
mu_oom_score(void)
{
	char text[16];
	const char *at = text;
	ssize_t length = mu_procfs_read(file, text, sizeof(text));
	uint64_t value;
	bool negative;

	if (length <= 0)
		return 0;
	negative = text[0] == '-';
	at += negative;
	if (!mu_proc_number(&at, text + length, 10, &value))
		return 0;
	return negative ? -(int)value : (int)value;
}

static bool
write_score(int score)
{
	char text[16];
	int fd = mu_procfs_open(file, O_WRONLY);
	bool written;

	if (fd < 0)
		return false;
	mu_text_format(text, sizeof(text), "%d", score);
	written = mu_sys_write(fd, text, strlen(text)) > 0;
	mu_sys_close(&fd);
	return written;
}

void
mu_oom_score_set(int score)
{
	write_score(score);
}

void
mu_oom_score_lower(void)
{
	if (!write_score(OOM_NEVER) && mu_oom_score() > 0)
		write_score(0);
}
