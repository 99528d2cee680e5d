// Smart pointers, functions, optional and variant values.
#include <any>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "told.hh"

namespace net
{

struct Packet {
	unsigned char bytes[100] = {};
	long sent = 1234567;
	std::shared_ptr<Packet> next;
};

struct Key {
	std::string text = "a key that is longer than fifteen";
	int number = 7;
};

struct Peer {
	std::shared_ptr<Packet> first;
	std::weak_ptr<Packet> last;
	std::unique_ptr<Key> key;
	std::unique_ptr<long[]> times;
	std::function<long()> notify;
	std::optional<std::vector<long>> maybe;
	std::variant<int, std::vector<Key>> either;
	std::any any;
	std::string name = "a peer that has a long name";
};

struct Session : std::enable_shared_from_this<Session> {
	std::unique_ptr<Peer> peer;
	long opened = 99, closed = 0;
};

} // namespace net

using namespace net;

static std::vector<std::unique_ptr<Peer>> held_peers;
static std::shared_ptr<Session> held_session;

static Peer *
make_peer(const char *what)
{
	auto peer = tell_new(what, "net::Peer", new Peer);
	long big[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

	peer->first = std::make_shared<Packet>();
	peer->first->next = std::make_shared<Packet>();
	peer->last = peer->first->next;
	peer->key.reset(tell_new(what, "net::Key", new Key));
	peer->times.reset(new long[30]);
	for (int i = 0; i < 30; i++)
		peer->times[i] = 1000000 + i;
	tell(what, peer->times.get(), "long[*]");
	peer->notify = [big] { return big[3]; };
	peer->maybe.emplace(40, 3);
	tell(what, peer->maybe->data(), "long[40]|elements of a std::vector");
	peer->either = std::vector<Key>(4);
	tell(what, std::get<1>(peer->either).data(), "net::Key[4]|elements of a std::vector");
	return peer;
}

static __attribute__((noinline)) void
fill()
{
	held_session = std::make_shared<Session>();
	held_session->peer.reset(make_peer("held"));
	for (int i = 0; i < 10; i++)
		held_peers.emplace_back(make_peer("held"));
	for (int i = 0; i < 5; i++)
		mu_hide(make_peer("lost"));
	for (int i = 0; i < 5; i++) {
		auto session = new std::shared_ptr<Session>(
		    std::make_shared<Session>());
		(*session)->peer.reset(make_peer("lost"));
		mu_hide(tell_new(
		    "lost", "std::shared_ptr<net::Session>", session));
	}
}

int
main()
{
	also("char[*]");
	also("long[*]");
	also("net::Packet with its shared_ptr control block");
	also("net::Session with its shared_ptr control block");
	also("*shared_ptr control block*");
	also("net::Peer*[*]");
	also("std::unique_ptr<net::Peer*>[*]");
	also("std::_Sp_counted_ptr_inplace<net::*");
	also("make_peer*::*lambda*");
	also("*lambda*");
	also("*$_0*");
	also("net::Key[*]");
	also("elements of a std::vector");
	fill();
	keep(held_peers);
	keep(held_session);
	return stay();
}
