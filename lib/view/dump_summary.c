#include "lib/view/dump_summary.h"

#include <inttypes.h>

#include "lib/view/saturate.h"

uint64_t
mu_dump_view_bytes(const struct mu_dump_view *view)
{
	return mu_saturated_add(
	    view->trees[0].nodes[0].bytes, view->trees[1].nodes[0].bytes);
}

uint64_t
mu_dump_view_blocks(const struct mu_dump_view *view)
{
	return mu_saturated_add(
	    view->trees[0].nodes[0].blocks, view->trees[1].nodes[0].blocks);
}

/*
 * Android's apps are forked from the zygote and inherit older blocks. In a
 * process that was not forked, all blocks are its own here, and the zygote's on
 * Android.
 */
const char *
mu_dump_section_name(size_t section)
{
	return section == 0 ? "Own (z 1; on Android the app's)"
			    : "Inherited (z 0; on Android the zygote's)";
}

struct mu_amount
mu_amount(uint64_t bytes, uint64_t blocks)
{
	struct mu_amount amount;

	snprintf(amount.text, sizeof(amount.text),
	    "%s%" PRIu64 " byte%s in %s%" PRIu64 " block%s",
	    bytes == UINT64_MAX ? "over " : "", bytes, bytes == 1 ? "" : "s",
	    blocks == UINT64_MAX ? "over " : "", blocks,
	    blocks == 1 ? "" : "s");
	return amount;
}

struct mu_percent
mu_percent(uint64_t part, uint64_t whole)
{
	struct mu_percent percent = { "-" };

	if (whole > 0)
		snprintf(percent.text, sizeof(percent.text), "%.1f%%",
		    (double)part * 100 / (double)whole);
	return percent;
}
