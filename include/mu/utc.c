#include "mu/utc.h"

#include <stdbool.h>

#include "mu/sys.h"
#include "mu/text.h"

static bool
is_leap(unsigned year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

struct mu_utc
mu_utc(uint64_t seconds)
{
	static const unsigned char lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31,
		30, 31, 30, 31 };
	unsigned of_day = (unsigned)(seconds % 86400), year = 1970, month = 0;
	uint64_t day = seconds / 86400, length;
	struct mu_utc utc;

	for (; day >= (length = is_leap(year) ? 366 : 365) && year < 9999;
	     year++)
		day -= length;
	for (; month < 11; month++) {
		length = lengths[month] + (month == 1 && is_leap(year));
		if (day < length)
			break;
		day -= length;
	}
	mu_text_format(utc.text, sizeof(utc.text),
	    "%04u-%02u-%02uT%02u:%02u:%02uZ", year, month + 1,
	    (unsigned)(day % 31) + 1, of_day / 3600, of_day / 60 % 60,
	    of_day % 60);
	return utc;
}

struct mu_utc
mu_utc_ms(uint64_t ns)
{
	struct mu_utc seconds = mu_utc(ns / MU_NS_PER_SEC), utc;

	mu_text_format(utc.text, sizeof(utc.text), "%.19s.%03uZ", seconds.text,
	    (unsigned)(ns % MU_NS_PER_SEC / MU_NS_PER_MS));
	return utc;
}
