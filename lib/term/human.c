#include "lib/term/human.h"

#include <stdio.h>

struct mu_human
mu_human_bytes(uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB",
		"TiB", "PiB", "EiB" };
	struct mu_human human;
	double value = (double)bytes;
	unsigned unit = 0;

	if (bytes < 1024) {
		snprintf(human.text, sizeof(human.text), "%u byte%s",
		    (unsigned)bytes, bytes == 1 ? "" : "s");
		return human;
	}
	/* From 1023.95 on the value would be printed as 1024.0. */
	while (value >= 1023.95 && unit + 1 < sizeof(units) / sizeof(*units)) {
		value /= 1024;
		unit++;
	}
	snprintf(human.text, sizeof(human.text), "%.1f %s", value, units[unit]);
	return human;
}

struct mu_human
mu_human_time(uint64_t ns)
{
	struct mu_human human;
	double value = (double)ns;

	if (ns < 1000)
		snprintf(human.text, sizeof(human.text), "%u ns", (unsigned)ns);
	else if (value < 999.5e3)
		snprintf(
		    human.text, sizeof(human.text), "%.0f us", value / 1e3);
	else if (value < 999.95e6)
		snprintf(
		    human.text, sizeof(human.text), "%.1f ms", value / 1e6);
	else
		snprintf(human.text, sizeof(human.text), "%.2f s", value / 1e9);
	return human;
}

struct mu_human
mu_human_percent(uint64_t part, uint64_t whole)
{
	struct mu_human human;
	double percent;

	percent = whole == 0 ? 0 : (double)part * 100 / (double)whole;
	if (part > 0 && percent < 1)
		snprintf(human.text, sizeof(human.text), "less than 1%%");
	else if (part < whole && percent > 99)
		snprintf(human.text, sizeof(human.text), "more than 99%%");
	else
		snprintf(human.text, sizeof(human.text), "%.0f%%", percent);
	return human;
}
