/*
 * A library whose segments are far apart: the loader leaves inaccessible
 * mappings between them and after the end of its file (Makefile:
 * max-page-size).
 */
static int value = 1;

int
hole_value(void)
{
	return value++;
}
