/* As cache.c, with a map that leads to objects. */
#include <cstdio>
#include <map>
#include <string>

struct Session {
	std::string user = "a user with a name that is long";
	double weight[6];
};

struct Cache {
	long hits = 0;
	std::map<long, Session *> sessions;
};

static Cache g_cache;

int
main()
{
	char line[16];

	std::puts("ready");
	std::fflush(stdout);
	while (std::fgets(line, sizeof(line), stdin) != nullptr) {
		for (int i = 0; i < 50; i++)
			g_cache.sessions[g_cache.hits++] = new Session;
		std::puts("done");
		std::fflush(stdout);
	}
}
