#!/bin/sh
# Checks the types of the page's modules and lints them, with the versions that package.json names. Without npm, or
# without a registry, it says so and passes: the page itself needs neither.
set -eu
cd "$(dirname "$0")"
if ! command -v npm >/dev/null; then
	echo "SKIP-TOOL npm: not installed"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp package.json "$work"
if ! (cd "$work" && npm install --prefer-offline --fetch-retries=0 --fetch-timeout=20000 \
	--ignore-scripts --no-audit --no-fund --no-package-lock >/dev/null 2>"$work/why"); then
	echo "SKIP-TOOL npm: $(tail -1 "$work/why")"
	exit 0
fi
"$work/node_modules/.bin/tsc" -p .
"$work/node_modules/.bin/oxlint" assets/*.js
