#include "lib/writers/status_word.h"

#include "mu/status.h"

static const struct row {
	const char *word, *cure;
} rows[] = {
#define ROW(id, public, word, name, cure, command_cure, advice) \
	{ #word, command_cure },
	MU_STATUS_LIST(ROW)
#undef ROW
};

const char *
mu_status_word(int status)
{
	return (unsigned)status < MU_STATUS_COUNT ? rows[status].word
						  : "unknown";
}

const char *
mu_status_word_cure(int status)
{
	return (unsigned)status < MU_STATUS_COUNT ? rows[status].cure : "";
}
