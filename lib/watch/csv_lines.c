#include <string.h>

#include "lib/term/safe_text.h"
#include "lib/watch/lines.h"
#include "mu/utc.h"

void
mu_watch_csv_head(const struct mu_out *out)
{
	mu_put(out,
	    "time,pid,rss_bytes,pss_bytes,heap_live_bytes,heap_lost_bytes,"
	    "heap_free_bytes,new_lost_bytes,pause_ns,status,restarted,"
	    "reason\n");
}

/* What is not known is empty. */
static void
put_count(const struct mu_out *out, bool known, uint64_t count)
{
	if (known)
		mu_put(out, "%llu", (unsigned long long)count);
	mu_put(out, ",");
}

static void
put_quoted(const struct mu_out *out, const char *text)
{
	char safe[MU_SAFE_SIZE(256)];
	const char *at = mu_safe_for_terminal(text, safe, sizeof(safe));
	size_t length;

	mu_put(out, "\"");
	for (; *at != '\0'; at += length) {
		length = strcspn(at, "\"");
		if (length == 0) {
			mu_put(out, "\"\"");
			length = 1;
		} else {
			out->put(out->ctx, at, length);
		}
	}
	mu_put(out, "\"");
}

void
mu_watch_csv_look(const struct mu_out *out, const struct mu_watch_look *look)
{
	bool checked = mu_watch_look_checked(look);

	mu_put(out, "%s,%d,", mu_utc_ms(look->real_ns).text, look->pid);
	put_count(out, look->rss > 0, look->rss);
	put_count(out, look->pss > 0, look->pss);
	put_count(out, checked, look->live);
	put_count(out, checked, look->lost);
	put_count(out, checked, look->held_free);
	put_count(out, checked, look->new_lost);
	put_count(out, true, look->pause_ns);
	mu_put(out, "%s,%d,", mu_status_word(look->status), look->restarted);
	put_quoted(out, look->reason);
	mu_put(out, "\n");
}
