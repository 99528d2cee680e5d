/* newlocale() without freelocale(); setlocale() keeps what it sets. */
#include <locale.h>
#include <stdlib.h>

#include "tests/corpus/support/corpus.h"

static NOINLINE locale_t
make_locale(int mask)
{
	locale_t loc = newlocale(mask, "C.UTF-8", (locale_t)0);

	if (loc == (locale_t)0)
		corpus_skip("no locale C.UTF-8");
	return corpus_use(loc);
}

static NOINLINE void
set_and_leave(void)
{
	setlocale(LC_ALL, "C.UTF-8");
	uselocale(duplocale(LC_GLOBAL_LOCALE));
}

void
corpus_scenario(void)
{
	set_and_leave();
	freelocale(make_locale(LC_ALL_MASK));
	corpus_keep(make_locale(LC_CTYPE_MASK | LC_TIME_MASK));
	corpus_lose("locale");
	make_locale(LC_CTYPE_MASK | LC_TIME_MASK);
	duplocale(make_locale(LC_COLLATE_MASK));
}
