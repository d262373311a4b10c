#!/bin/sh
# Builds the packages: a .deb and a .rpm for each of ARCHS, the archive of the
# sources, and the Homebrew formula that builds from it. Needs Go and a POSIX
# system; nfpm comes as a module, pinned in packaging/tools. With the same
# VERSION and SOURCE_DATE_EPOCH all files are the same again. What people are
# given is built with the Go named below, whose standard library has no known
# vulnerability; GOTOOLCHAIN=local builds with the one installed.
set -eu
umask 022
cd "$(dirname "$0")/.."

DIST=${DIST:-dist}
ARCHS=${ARCHS:-amd64 arm64}
VERSION=${VERSION:-$(git describe --tags 2>/dev/null || echo "0.0.0-dev+$(git rev-parse --short HEAD 2>/dev/null || echo unknown)")}
VERSION=${VERSION#v}
COMMIT=$(git rev-parse HEAD 2>/dev/null || true)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
STAMP=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M.%S 2>/dev/null || date -u -r "$SOURCE_DATE_EPOCH" +%Y%m%d%H%M.%S)
GOTOOLCHAIN=${GOTOOLCHAIN:-go1.26.11+auto} # raise it when `make vuln` says so
export VERSION SOURCE_DATE_EPOCH GOTOOLCHAIN CGO_ENABLED=0
mkdir -p "$DIST"
DIST=$(cd "$DIST" && pwd)

# build DIR builds both programs for GOOS and GOARCH.
build() {
	go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION -X main.commit=$COMMIT" -o "$1/" ./cmd/hookd ./cmd/hookd-bridge
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build "$work/here"
go test ./cmd/hookd -run '^TestManPages$' -count=1 -args -man "$work/man" >/dev/null
gzip -9n "$work"/man/*.1

for ARCH in $ARCHS; do
	STAGE=$work/$ARCH
	export ARCH STAGE
	mkdir -p "$STAGE/doc"
	cp -R "$work/man" "$STAGE/man"
	GOOS=linux GOARCH=$ARCH build "$STAGE/bin"
	sed 's,%h/.local/bin/hookd,/usr/bin/hookd,' packaging/systemd/hookd.service >"$STAGE/hookd.service"
	cp packaging/systemd/hookd.socket "$STAGE/"
	for shell in bash zsh fish; do
		"$work/here/hookd" completion "$shell" >"$STAGE/completion.$shell"
	done
	# What the documents name and link to lies where it does in the sources.
	git ls-files README.md ARCHITECTURE.md LICENSE docs packaging/systemd/hardened.conf packaging/prometheus packaging/grafana |
		grep -v '\.go$' | tar -cf - -T - | tar -xf - -C "$STAGE/doc"
	find "$STAGE" -exec env TZ=UTC0 touch -t "$STAMP" {} +
	for kind in deb rpm; do
		go tool -modfile=packaging/tools/go.mod nfpm package -f packaging/nfpm.yaml -p "$kind" -t "$DIST"
	done
done

archive=$DIST/hookd-$VERSION.tar.gz
git archive --format=tar --prefix="hookd-$VERSION/" HEAD | gzip -9n >"$archive"
sum=$( (sha256sum "$archive" 2>/dev/null || shasum -a 256 "$archive") | cut -d' ' -f1)
sed -e 1d -e "s/@VERSION@/$VERSION/g" -e "s/@SHA256@/$sum/" packaging/homebrew/hookd.rb >"$DIST/hookd.rb"
