/* regcomp() without regfree(): automata full of arrays and back links. */
#include <regex.h>
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE regex_t *
compile(void)
{
	regex_t *re = malloc(sizeof(*re));
	regmatch_t match[3];

	if (regcomp(re, "^([a-z]+|[0-9]{2,3})-(x|y)*\\1$", REG_EXTENDED) ||
	    regexec(re, "abc-xyabc", 3, match, 0) != 0)
		abort();
	return corpus_use(re);
}

void
corpus_scenario(void)
{
	corpus_keep(compile());
	corpus_lose("regex");
	compile();
}
