#!/bin/sh
# The files for fleets, read by what they are for: Prometheus' rules give the
# alerts they should, the dashboard asks for metrics that there are, and
# Kubernetes takes the pod.
set -u
. tests/support/script_setup.sh
fleet=lib/glue/fleet

# The metrics that a look writes.
metrics() {
	sed -n 's/^\t\t{ "\([a-z_]*\)", .*/memunreachable_\1/p' \
		lib/watch/prometheus.c | sort
}

name=metrics
metrics >"$work/metrics"
[ "$(wc -l <"$work/metrics")" -ge 8 ] || fail "$(cat "$work/metrics")"
for file in alerts.yaml dashboard.json; do
	grep -o 'memunreachable_[a-z_]*' $fleet/$file | sort -u >"$work/asked"
	[ -s "$work/asked" ] || fail "$file asks for nothing"
	comm -23 "$work/asked" "$work/metrics" >"$work/unknown"
	[ ! -s "$work/unknown" ] || fail "$file: $(cat "$work/unknown")"
done

name=alerts
if command -v promtool >/dev/null; then
	sed "s|RULES|$PWD/$fleet/alerts.yaml|" tests/live/glue/fleet_alerts.yaml \
		>"$work/alerts.yaml"
	for rules in "check rules $fleet/alerts.yaml" \
	    "test rules $work/alerts.yaml"; do
		# shellcheck disable=SC2086 # words
		promtool $rules >"$work/out" 2>&1 || fail "$(cat "$work/out")"
	done
else
	echo "SKIPPED: fleet: no promtool" >&2
fi

# Each expression of a panel as a rule, which promtool parses.
name=dashboard
python3 - $fleet/dashboard.json >"$work/panels.yaml" <<'END' || fail "not JSON"
import json, sys
board = json.load(open(sys.argv[1]))
ids = [p["id"] for p in board["panels"]]
assert len(set(ids)) == len(ids) and board["schemaVersion"] >= 36
for one in board["panels"]:
    at = one["gridPos"]
    assert at["x"] + at["w"] <= 24 and at["h"] > 0, one["title"]
print("groups: [{name: panels, rules: [")
for number, target in enumerate(t for p in board["panels"] for t in p["targets"]):
    print(json.dumps({"record": "panel%d" % number, "expr": target["expr"]}) + ",")
print("]}]")
END
if command -v promtool >/dev/null; then
	promtool check rules "$work/panels.yaml" >"$work/out" 2>&1 ||
		fail "$(cat "$work/out")"
fi

name=pod
if command -v kubectl >/dev/null; then
	kubectl label --local --dry-run=client -o json -f $fleet/kubernetes.yaml \
		a=b >"$work/pod" 2>"$work/out" || fail "$(cat "$work/out")"
	# What kubectl does not know it drops.
	for word in shareProcessNamespace runAsUser SYS_PTRACE hostPath 256Mi; do
		grep -q $word "$work/pod" || fail "no $word"
	done
else
	echo "SKIPPED: fleet: no kubectl" >&2
fi
exit $((failures > 0))
