#!/bin/sh
# Gets the files of other authors that the page has: npm packages, unpacked, nothing
# built but the editor. Each other file is taken as it is; VENDOR then has its version and checksum. Versions
# may be given: `sh update.sh preact@11.2.0 htm@3.1.1`; without any, the newest are taken.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- preact @preact/signals htm axe-core
(cd "$work" && npm init -y >/dev/null && npm install --ignore-scripts --no-audit --no-fund "$@" >/dev/null)

versionOf() { sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' "$1/package.json" | head -1; }
line() { printf '%-16s %-22s %-8s %-11s %-24s %s\n' "$@"; }

next=$work/VENDOR
sed -n '1,2p' assets/vendor/VENDOR >"$next"
sed -n '3,$p' assets/vendor/VENDOR | while read -r file package version licence path sum; do
	case $file in
	'#'*) echo "$file $package $version $licence $path $sum" | sed 's/ *$//' >>"$next"; continue ;;
	esac
	from=$work/node_modules/$package
	[ -d "$from" ] || { line "$file" "$package" "$version" "$licence" "$path" "$sum" >>"$next"; continue; }
	version=$(versionOf "$from")
	cp "$from/$path" "assets/vendor/$file"
	case $file in
	*testdata*) cp "$from/LICENSE" testdata/axe.LICENSE ;;
	*) cp "$from/LICENSE" "licences/$(echo "$package" | tr -d @ | tr / -)" ;;
	esac
	sum=$(sha256sum "assets/vendor/$file" | cut -d ' ' -f 1)
	line "$file" "$package" "$version" "$licence" "$path" "$sum" >>"$next"
done
# The editor of texts is one file, bundled from the parts of CodeMirror that editor/entry.js names.
(cd "$work" && npm install --ignore-scripts --no-audit --no-fund esbuild @codemirror/state @codemirror/view \
	@codemirror/commands @codemirror/language @codemirror/legacy-modes @codemirror/autocomplete @codemirror/lint \
	@codemirror/merge @lezer/highlight >/dev/null && cp "$here/editor/entry.js" . &&
	./node_modules/esbuild/bin/esbuild entry.js --bundle --minify --format=esm --target=es2022 \
		--legal-comments=none --outfile=codemirror.js >/dev/null)
gzip -9nc "$work/codemirror.js" >assets/vendor/codemirror.js.gz
for p in @codemirror/state @codemirror/view @codemirror/commands @codemirror/language @codemirror/legacy-modes \
	@codemirror/autocomplete @codemirror/lint @codemirror/merge @lezer/highlight @lezer/common @lezer/lr \
	style-mod w3c-keyname crelt @marijn/find-cluster-break; do
	echo "$p $(versionOf "$work/node_modules/$p")"
	echo
	cat "$work/node_modules/$p/LICENSE"
	echo
done >licences/codemirror
sum=$(sha256sum assets/vendor/codemirror.js.gz | cut -d ' ' -f 1)
line codemirror.js.gz codemirror "$(versionOf "$work/node_modules/@codemirror/view")" MIT editor/entry.js "$sum" >"$work/line"
sed '/^codemirror/d' "$next" | sed "/^htm.js/r $work/line" >assets/vendor/VENDOR
cat "$here/assets/vendor/VENDOR"
echo "Now: make notices, go test ./internal/people/ui, and look at the page."
