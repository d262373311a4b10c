#!/bin/sh
# Gets the files of other authors that the page has: npm packages, unpacked, nothing
# built. Each file is taken as it is; VENDOR then has its version and checksum. Versions
# may be given: `sh update.sh preact@11.2.0 htm@3.1.1`; without any, the newest are taken.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- preact @preact/signals htm axe-core
(cd "$work" && npm init -y >/dev/null && npm install --ignore-scripts --no-audit --no-fund "$@" >/dev/null)

next=$work/VENDOR
sed -n '1,2p' assets/vendor/VENDOR >"$next"
sed -n '3,$p' assets/vendor/VENDOR | while read -r file package version licence path sum; do
	case $file in
	'#'*) echo "$file $package $version $licence $path $sum" | sed 's/ *$//' >>"$next"; continue ;;
	esac
	from=$work/node_modules/$package
	[ -d "$from" ] || { echo "$file $package $version $licence $path $sum" >>"$next"; continue; }
	version=$(sed -n 's/^ *"version": *"\([^"]*\)".*/\1/p' "$from/package.json" | head -1)
	cp "$from/$path" "assets/vendor/$file"
	case $file in
	*testdata*) cp "$from/LICENSE" testdata/axe.LICENSE ;;
	*) cp "$from/LICENSE" "licences/$(echo "$package" | tr -d @ | tr / -)" ;;
	esac
	sum=$(sha256sum "assets/vendor/$file" | cut -d ' ' -f 1)
	printf '%-16s %-22s %-8s %-11s %-24s %s\n' "$file" "$package" "$version" "$licence" "$path" "$sum" >>"$next"
done
cp "$next" assets/vendor/VENDOR
cat "$here/assets/vendor/VENDOR"
echo "Now: make notices, go test ./internal/people/ui, and look at the page."
