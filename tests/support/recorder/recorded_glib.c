/*
 * A GLib program without knowledge of the recorder: threads of a pool, hash
 * tables, variants, regular expressions and a main loop, for a while.
 */
#include <glib.h>

#define JOBS 400

static GMutex lock;
static GHashTable *words;
static guint done;

static void
count_words(const char *text)
{
	GRegex *regex = g_regex_new("[a-z]+", G_REGEX_CASELESS, 0, NULL);
	GMatchInfo *match;
	char *word;

	g_regex_match(regex, text, 0, &match);
	while (g_match_info_matches(match)) {
		word = g_match_info_fetch(match, 0);
		g_mutex_lock(&lock);
		g_hash_table_insert(words, word,
		    GINT_TO_POINTER(
			GPOINTER_TO_INT(g_hash_table_lookup(words, word)) + 1));
		g_mutex_unlock(&lock);
		g_match_info_next(match, NULL);
	}
	g_match_info_free(match);
	g_regex_unref(regex);
}

static void
work(gpointer data, gpointer unused)
{
	GString *text = g_string_new(NULL);
	guint number = GPOINTER_TO_UINT(data), i;
	GVariant *variant;
	char *printed;

	(void)unused;
	for (i = 0; i < 20 + number % 50; i++)
		g_string_append_printf(text, "word%c%c %u ",
		    (char)('a' + number % 26), (char)('a' + i % 26), i);
	count_words(text->str);
	variant = g_variant_ref_sink(
	    g_variant_new("(sua{sv})", text->str, number, NULL));
	printed = g_variant_print(variant, TRUE);
	g_variant_unref(variant);
	g_free(printed);
	g_string_free(text, TRUE);
	g_atomic_int_inc(&done);
}

static gboolean
look_after(gpointer loop)
{
	if (g_atomic_int_get(&done) == JOBS)
		g_main_loop_quit(loop);
	return G_SOURCE_CONTINUE;
}

int
main(void)
{
	GMainLoop *loop = g_main_loop_new(NULL, FALSE);
	GThreadPool *pool;
	guint i;

	words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	pool = g_thread_pool_new(work, NULL, 4, TRUE, NULL);
	for (i = 0; i < JOBS; i++)
		g_thread_pool_push(pool, GUINT_TO_POINTER(i + 1), NULL);
	g_timeout_add(10, look_after, loop);
	g_main_loop_run(loop);
	g_thread_pool_free(pool, FALSE, TRUE);
	g_print("%u words\n", g_hash_table_size(words));
	g_hash_table_destroy(words);
	g_main_loop_unref(loop);
	return 0;
}
