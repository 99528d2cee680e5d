#include "lib/view/html_text.h"

#include "lib/term/safe_text.h"

#define TEXT_SIZE 4096 /* longer texts are cut */

void
mu_html_text(FILE *out, const char *text)
{
	char safe[TEXT_SIZE];
	const char *p = mu_safe_for_terminal(text, safe, sizeof(safe));

	for (; *p != '\0'; p++) {
		switch (*p) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(*p, out);
		}
	}
}
