#!/bin/sh
# Builds a release: for each of SYSTEMS and ARCHS an archive of the programs, man
# pages, completions and licences, one each of hookd-fleet and hookd-fleet-server, an npm package and a
# Python wheel; for Linux a .deb and a .rpm of each archive as well; the npm package that
# picks one of those of the systems, install.sh, the archive of the sources, the Homebrew
# formula that builds from it, and SHA256SUMS over everything in DIST. VERSION is the tag's. Needs Go and a POSIX system; nfpm comes
# as a module, pinned in packaging/tools. With the same VERSION and
# SOURCE_DATE_EPOCH all files are the same again. The programs are built with the
# Go named below, whose standard library has no known vulnerability;
# GOTOOLCHAIN=local builds with the one installed.
set -eu
umask 022
cd "$(dirname "$0")/.."

DIST=${DIST:-dist}
SYSTEMS=${SYSTEMS:-linux darwin}
ARCHS=${ARCHS:-amd64 arm64}
VERSION=${VERSION:-$(git describe --tags 2>/dev/null || echo "0.0.0-dev+$(git rev-parse --short HEAD 2>/dev/null || echo unknown)")}
VERSION=${VERSION#v}
COMMIT=$(git rev-parse HEAD 2>/dev/null || true)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
STAMP=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M.%S 2>/dev/null || date -u -r "$SOURCE_DATE_EPOCH" +%Y%m%d%H%M.%S)
GOTOOLCHAIN=${GOTOOLCHAIN:-go1.26.11+auto} # raise it when `make vuln` says so
GOFLAGS="${GOFLAGS:-} -trimpath -gcflags=all=-dwarf=false" # as make build has it: each package is compiled once
export VERSION SOURCE_DATE_EPOCH GOTOOLCHAIN GOFLAGS CGO_ENABLED=0
mkdir -p "$DIST"
DIST=$(cd "$DIST" && pwd)

# build DIR PROGRAM... builds programs for GOOS and GOARCH.
build() {
	dir=$1
	shift
	for name in "$@"; do
		entry=
		[ "$name" != hookd-bridge ] || entry=$(sh packaging/entry.sh)
		go build -buildvcs=false -ldflags "-s -w -X main.version=$VERSION -X main.commit=$COMMIT $entry" -o "$dir/" "./cmd/$name"
	done
}

# sbom FILE PROGRAM... writes what programs are made of, as CycloneDX JSON.
sbom() {
	file=$DIST/$1
	shift
	go run ./packaging/notices -sbom "$file" -version "$VERSION" "$@"
}

# alone PROGRAM SYSTEM ARCH makes the archive of a program that only a fleet needs.
alone() {
	own=$work/$1-$VERSION-$2-$3
	mkdir -p "$own"
	GOOS=$2 GOARCH=$3 build "$own" "$1"
	sbom "${own##*/}.cdx.json" "$own/$1"
	cp LICENSE THIRD_PARTY "$own/"
	pack "$own" "$DIST/${own##*/}.tar.gz"
}

# pack FOLDER FILE makes an archive that differs only when its files do.
pack() {
	case $(tar --version) in
	*GNU*) owner='--owner=0 --group=0' ;;
	*) owner='--uid=0 --gid=0' ;;
	esac
	find "$1" -exec env TZ=UTC0 touch -t "$STAMP" {} +
	# shellcheck disable=SC2086 # two options
	(cd "$(dirname "$1")" && find "$(basename "$1")" -type f | LC_ALL=C sort | tar --format=ustar --numeric-owner $owner -cf - -T -) | gzip -9n >"$2"
}

# npm NAME VERSION REST FILE makes an npm package of what is in $work/npm/package.
npm() {
	printf '{\n  "name": "%s",\n  "version": "%s",\n  "description": "Runs people'\''s hooks for AI agents",\n  "license": "MIT",\n  "repository": "github:hookd/hookd",\n%s\n}\n' \
		"$1" "$2" "$3" >"$work/npm/package/package.json"
	cp LICENSE "$work/npm/package/"
	pack "$work/npm/package" "$4"
	rm -rf "$work/npm"
}

# npm_system SYSTEM ARCH says as node does which machine that is.
npm_system() {
	case $2 in
	amd64) echo "$1-x64" ;;
	*) echo "$1-$2" ;;
	esac
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build "$work/here" hookd hookd-bridge
go run -tags man ./cmd/hookd "$work/man"
gzip -9n "$work"/man/*.1

for shell in bash zsh fish; do
	"$work/here/hookd" completion "$shell" >"$work/completion.$shell"
done

optional=
for system in $SYSTEMS; do
	for ARCH in $ARCHS; do
		folder=$work/hookd-$VERSION-$system-$ARCH
		mkdir -p "$folder/completions"
		if [ "$system-$ARCH" = "$(go env GOOS)-$(go env GOARCH)" ]; then
			cp "$work/here/hookd" "$work/here/hookd-bridge" "$folder/"
		else
			GOOS=$system GOARCH=$ARCH build "$folder" hookd hookd-bridge
		fi
		sbom "hookd-$VERSION-$system-$ARCH.cdx.json" "$folder/hookd" "$folder/hookd-bridge"
		for name in hookd-fleet hookd-fleet-server; do alone $name "$system" "$ARCH"; done
		cp LICENSE README.md THIRD_PARTY packaging/install-tree.sh "$folder/"
		cp -R "$work/man" "$folder/man"
		for shell in bash zsh fish; do
			cp "$work/completion.$shell" "$folder/completions/hookd.$shell"
		done
		pack "$folder" "$DIST/hookd-$VERSION-$system-$ARCH.tar.gz"
		go run ./packaging/wheel -version "$VERSION" -system "$system-$ARCH" -date "$SOURCE_DATE_EPOCH" "$folder" "$DIST" >/dev/null

		node=$(npm_system "$system" "$ARCH")
		mkdir -p "$work/npm/package/bin"
		cp "$folder/hookd" "$folder/hookd-bridge" "$work/npm/package/bin/"
		cp THIRD_PARTY "$work/npm/package/"
		npm "@hookd/$node" "$VERSION" "  \"os\": [\"$system\"],
  \"cpu\": [\"${node#*-}\"]" "$DIST/hookd-npm-$node-$VERSION.tgz"
		optional="${optional:+$optional, }\"@hookd/$node\": \"$VERSION\""
		[ "$system" = linux ] || continue

		STAGE=$work/$ARCH
		export ARCH STAGE
		mkdir -p "$STAGE/bin" "$STAGE/doc"
		cp "$folder/hookd" "$folder/hookd-bridge" "$STAGE/bin/"
		for name in hookd-fleet hookd-fleet-server; do cp "$work/$name-$VERSION-$system-$ARCH/$name" "$STAGE/bin/"; done
		cp -R "$work/man" "$STAGE/man"
		cp "$work"/completion.* packaging/systemd/hookd.socket "$STAGE/"
		sed 's,%h/.local/bin/hookd,/usr/bin/hookd,' packaging/systemd/hookd.service >"$STAGE/hookd.service"
		# What the documents name and link to lies where it does in the sources.
		git ls-files README.md ARCHITECTURE.md CONTRIBUTING.md LICENSE THIRD_PARTY docs packaging/systemd/hardened.conf packaging/prometheus packaging/grafana |
			grep -v -e '\.go$' -e '^docs/gallery/' | tar -cf - -T - | tar -xf - -C "$STAGE/doc"
		go run ./packaging/gallery "$STAGE/doc/docs/gallery" # each hook whole
		find "$STAGE" -exec env TZ=UTC0 touch -t "$STAMP" {} +
		for kind in deb rpm; do
			for config in packaging/nfpm.yaml packaging/nfpm-fleet.yaml packaging/nfpm-fleet-server.yaml; do
				go tool -modfile=packaging/tools/go.mod nfpm package -f "$config" -p "$kind" -t "$DIST"
			done
		done
	done
done

mkdir -p "$work/npm/package/bin"
for name in hookd hookd-bridge; do
	cp packaging/npm/hookd.js "$work/npm/package/bin/$name.js"
	chmod 755 "$work/npm/package/bin/$name.js"
done
cp README.md "$work/npm/package/"
npm hookd "$VERSION" "  \"engines\": {\"node\": \">=18\"},
  \"bin\": {\"hookd\": \"bin/hookd.js\", \"hookd-bridge\": \"bin/hookd-bridge.js\"},
  \"optionalDependencies\": {$optional}" "$DIST/hookd-npm-$VERSION.tgz"

cp packaging/install.sh "$DIST/install.sh"
archive=$DIST/hookd-$VERSION.tar.gz
git archive --format=tar --prefix="hookd-$VERSION/" HEAD | gzip -9n >"$archive"
sum=$( (sha256sum "$archive" 2>/dev/null || shasum -a 256 "$archive") | cut -d' ' -f1)
sed -e 1d -e "s/@VERSION@/$VERSION/g" -e "s/@SHA256@/$sum/" packaging/homebrew/hookd.rb >"$DIST/hookd.rb"

cd "$DIST"
find . -type f ! -name SHA256SUMS | sed 's,^\./,,' | LC_ALL=C sort | while read -r file; do
	sha256sum "$file" 2>/dev/null || shasum -a 256 "$file"
done >"$work/SHA256SUMS"
cp "$work/SHA256SUMS" .
