// Plain structures of C++: trees, graphs with cycles, tables of pointers.
#include <map>
#include <string>
#include <vector>

#include "told.hh"

struct Value {
	std::string text = "the text of a value, longer than fifteen";
	double weight = 1.5;
};

struct Node {
	Node *left = nullptr, *right = nullptr, *parent = nullptr;
	Value *value = nullptr;
	int depth = 0;
};

struct Vertex {
	long number;
	std::vector<Vertex *> neighbours;
	std::string name = "a vertex that has a long name";
};

struct Graph {
	std::vector<Vertex *> all;
	std::map<std::string, Vertex *> by_name;
	Node *tree = nullptr;
};

static Graph held_graph;

static Node *
grow(const char *what, Node *parent, int depth)
{
	Node *node = tell_new(what, "Node", new Node);

	node->parent = parent;
	node->depth = depth;
	node->value = tell_new(what, "Value", new Value);
	if (depth > 0) {
		node->left = grow(what, node, depth - 1);
		node->right = grow(what, node, depth - 1);
	}
	return node;
}

static void
fill_graph(Graph &graph, const char *what)
{
	for (int i = 0; i < 12; i++) {
		auto vertex = tell_new(what, "Vertex", new Vertex);
		vertex->number = 1000 + i;
		graph.all.push_back(vertex);
		graph.by_name["a name that is longer than fifteen " +
		    std::to_string(i)] = vertex;
	}
	for (int i = 0; i < 12; i++)
		for (int j = 1; j < 4; j++)
			graph.all[i]->neighbours.push_back(
			    graph.all[(i + j) % 12]);
	graph.tree = grow(what, nullptr, 4);
}

static __attribute__((noinline)) void
fill()
{
	fill_graph(held_graph, "held");
	for (int i = 0; i < 3; i++) {
		auto graph = tell_new("lost", "Graph", new Graph);
		fill_graph(*graph, "lost");
		mu_hide(graph);
	}
}

int
main()
{
	also("char[*]");
	also("Vertex*[*]");
	also("std::*node of *");
	also("std::map or std::set node");
	also("elements of a std::vector");
	fill();
	keep(held_graph);
	return stay();
}
