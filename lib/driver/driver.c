#include "lib/driver/driver.h"

#include "mu/sys.h"

#define MAX_LOOKS 5

/* True if TIMES the time of the last look is left after a nap of NAP_NS. */
static bool
is_left(const struct mu_driver *driver, unsigned times, uint64_t nap_ns)
{
	uint64_t now = mu_sys_now_ns();

	return now + nap_ns + times * (now - driver->begin_ns) <
	    driver->deadline_ns;
}

/*
 * Another look is assumed to take as long as the last one. If that look gave an
 * answer, twice the time must be left, so that the answer is not lost at the
 * deadline.
 */
static bool
has_time(const struct mu_driver *driver, uint64_t nap_ns)
{
	return is_left(driver, mu_look_checked(&driver->look) ? 2 : 1, nap_ns);
}

/* Look until the heap can be checked, or further tries are pointless. */
static void
look_until_checked(struct mu_driver *driver)
{
	const struct mu_look_ops *ops = driver->ops;
	struct mu_look *look = &driver->look;
	struct mu_tries tries = { 0 };

	*look = (struct mu_look) { .status = MU_OK };
	if (ops->begin != NULL)
		look->status = ops->begin(driver->subject, &look->why);
	if (look->status != MU_OK)
		return;
	for (;;) {
		driver->tries++;
		driver->begin_ns = mu_sys_now_ns();
		*look = (struct mu_look) { .status = MU_OK };
		ops->look(driver->subject, look);
		if (ops->again == NULL || !has_time(driver, 0) ||
		    !ops->again(driver->subject, look, &tries) ||
		    !has_time(driver, tries.nap_ns))
			return;
		ops->forget(driver->subject);
		mu_sys_sleep_ns(tries.nap_ns);
	}
}

/* A signal handler may end a sleep early; without a clock the loop must end. */
static void
sleep_for(uint64_t span_ns)
{
	uint64_t now = mu_sys_now_ns(), end_ns = now + span_ns;

	do
		mu_sys_sleep_ns(now == 0 ? span_ns : end_ns - now);
	while (now != 0 && (now = mu_sys_now_ns()) < end_ns);
}

/* A block that is lost at two unrelated moments is a leak. */
static void
look_again(struct mu_driver *driver)
{
	const struct mu_look_ops *ops = driver->ops;
	struct mu_look *look = &driver->look;
	enum mu_status first = look->status, status;
	bool changing = look->changing;
	struct mu_why why = look->why, more;

	status = ops->remember(driver->subject, look, &more);
	if (status != MU_OK) {
		look->status = status;
		look->why = more;
		look->changing = false;
		return;
	}
	ops->forget(driver->subject);
	sleep_for(driver->confirm_ns);
	look_until_checked(driver);
	/*
	 * If memory did not change during the second look, that look was exact.
	 */
	if (look->status == MU_OK && first == MU_PARTIAL && !changing) {
		look->status = first;
		look->why = why;
	}
}

/*
 * While memory changes, a look that refutes a candidate is not the last one: a
 * pointer that moves fast can be missed twice. Leaks of another program are not
 * candidates.
 */
static bool
is_last(const struct mu_look *look, size_t before)
{
	if (look->first)
		return !look->doubtful;
	return !look->changing || !mu_look_checked(look) ||
	    look->num_leaks >= before || look->num_leaks == 0;
}

void
mu_driver_run(struct mu_driver *driver)
{
	struct mu_look *look = &driver->look;
	unsigned looks = 1;
	size_t before;

	look_until_checked(driver);
	if (driver->ops->again == NULL || !look->doubtful)
		return;
	/* What a second look has to decide is no answer before it. */
	if (driver->ops->late != NULL && !is_left(driver, 1, 0)) {
		driver->ops->late(driver->subject, look);
		return;
	}
	do {
		looks++;
		before = look->num_leaks;
		look_again(driver);
	} while (looks < MAX_LOOKS && has_time(driver, driver->confirm_ns) &&
	    !is_last(look, before));
	if (look->first && look->doubtful && look->status == MU_OK)
		look->status = mu_why(&look->why, MU_PARTIAL,
		    "the process executed another program before each look:"
		    " some of these may be in use");
}
