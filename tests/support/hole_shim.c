/*
 * A library whose segments are far apart: between them and behind the end of
 * its file the loader leaves closed mappings (Makefile: max-page-size).
 */
static int value = 1;

int
hole_value(void)
{
	return value++;
}
