# shellcheck shell=sh disable=SC2034,SC2154 # others set and use what is here
# For tests of pages: a headless browser, behind script_setup.sh.
browser=
for candidate in chromium chromium-browser google-chrome; do
	[ -n "$browser" ] || browser=$(command -v "$candidate")
done

# The document of PAGE after its script, to $work/dom; errors to $work/errors.
look() {
	HOME=$work timeout 300 "$browser" --headless --no-sandbox --disable-gpu \
	    --disable-dev-shm-usage --user-data-dir="$work/profile" \
	    --enable-logging=stderr --virtual-time-budget=10000 \
	    --dump-dom "file://$1" >"$work/dom" 2>"$work/errors"
	! grep CONSOLE "$work/errors" || fail "$1: a script error"
}
