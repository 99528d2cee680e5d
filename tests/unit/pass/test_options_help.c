/* help=1 and memunreachable(7) name each option. */
#include "lib/state/options.h"
#include "tests/support/suite.h"

TEST(help_names_every_option)
{
	char text[4096] = "";
	struct mu_text help = { text, sizeof(text), 0 };

	mu_options_help(&help);
	ck_assert_uint_lt(help.length, sizeof(text));
#define IN_HELP(kind, field, fallback, words)                                 \
	ck_assert_msg(strstr(text, "\n  " #field " ") != NULL, "%s", #field); \
	ck_assert_ptr_nonnull(strstr(text, words));
	MU_OPTIONS(IN_HELP)
#undef IN_HELP
	ck_assert_ptr_nonnull(strstr(text, "500ms (default 30000ms)\n"));
	ck_assert_ptr_nonnull(strstr(text, "finds leaks (default 23)\n"));
	ck_assert_ptr_nonnull(strstr(text, "stdout (default none)\n"));
	ck_assert_ptr_nonnull(strstr(text, "or 40 (default none)\n"));
}

static char *
manual_text(void)
{
	FILE *file = fopen("man/memunreachable.7", "r");
	char *text = calloc(1, 1 << 20);

	ck_assert_msg(file != NULL && text != NULL,
	    "man/memunreachable.7 cannot be read: run this from the"
	    " project's root");
	ck_assert_uint_gt(fread(text, 1, (1 << 20) - 1, file), 0);
	fclose(file);
	return text;
}

/* Item KEY of the table of options, up to the next; it names FALLBACK. */
static void
assert_in_manual(char *manual, const char *key, const char *fallback)
{
	char item[64], value[64];
	char *at, *end, saved;

	snprintf(item, sizeof(item), "\n.It Cm %s Ns", key);
	at = strstr(manual, item);
	ck_assert_msg(at != NULL, "%s is not in memunreachable(7)", key);
	end = strstr(at + 1, "\n.It ");
	if (end == NULL)
		end = strstr(at + 1, "\n.El");
	ck_assert_ptr_nonnull(end);
	saved = *end;
	*end = '\0';
	snprintf(value, sizeof(value), "\nDefault: %s.", fallback);
	ck_assert_msg(strstr(at, value) != NULL,
	    "memunreachable(7) does not say that %s is %s by default", key,
	    fallback);
	*end = saved;
}

TEST(manual_names_every_option)
{
	char *manual = manual_text();

#define SHOWN_duration_ms(fallback) ((fallback) < 1000 ? #fallback "ms" : "30s")
#define SHOWN_interval_ms(fallback) ((fallback) == 0 ? "0" : "1s")
#define SHOWN_bytes(fallback) "none"
#define SHOWN_level(fallback) #fallback
#define SHOWN_path(fallback) "none"
#define SHOWN_flag(fallback) #fallback
#define SHOWN_signal(fallback) "none"
#define SHOWN_status(fallback) #fallback
#define SHOWN_count(fallback) #fallback
#define SHOWN_mask(fallback) #fallback
#define SHOWN_stop(fallback) "auto"
#define SHOWN_unchecked(fallback) "fail"
#define IN_MANUAL(kind, field, fallback, words) \
	assert_in_manual(manual, #field, SHOWN_##kind(fallback));
	MU_OPTIONS(IN_MANUAL)
#undef IN_MANUAL
	free(manual);
}
