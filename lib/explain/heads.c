#include "lib/explain/heads.h"

#include "heapwalk/explain/edges.h"

static void
reach(struct mu_routes *routes, uint32_t node, uint32_t head)
{
	if (routes->parents[node] != MU_NO_NODE)
		return;
	routes->parents[node] = head;
	routes->order[routes->num_order++] = node;
}

void
mu_heads_open(struct mu_heads *heads, struct mu_routes *routes, uint32_t *list,
    struct mu_deadline *deadline)
{
	*heads = (struct mu_heads) {
		.routes = routes,
		.deadline = deadline,
		.list = list,
		.num_routed = routes->num_order,
	};
}

void
mu_heads_add(struct mu_heads *heads, uint32_t block)
{
	struct mu_routes *routes = heads->routes;
	size_t next = routes->num_order;
	uint32_t at, target;

	if (routes->parents[block] != MU_NO_NODE)
		return;
	heads->list[heads->count++] = block;
	reach(routes, block, block);
	while (next < routes->num_order &&
	    !mu_deadline_passed(heads->deadline, 8)) {
		at = routes->graph->cells[routes->order[next++]];
		while (mu_edges_next(routes->graph, &at, &target))
			reach(routes, target, block);
	}
}

/* Only later ones may lead to one in the list: these are followed first. */
void
mu_heads_keep(struct mu_heads *heads)
{
	struct mu_routes *routes = heads->routes;
	uint32_t *list = heads->list, head;
	size_t i, count = heads->count;

	for (i = heads->num_routed; i < routes->num_order; i++)
		routes->parents[routes->order[i]] = MU_NO_NODE;
	routes->num_order = heads->num_routed;
	for (i = 0; i < count / 2; i++) {
		head = list[i];
		list[i] = list[count - 1 - i];
		list[count - 1 - i] = head;
	}
	heads->count = 0;
	for (i = 0; i < count; i++)
		mu_heads_add(heads, list[i]);
}
