#!/bin/sh
# Installs hookd from a release, for your user alone and without a compiler:
#   curl -fsSL https://github.com/hookd/hookd/releases/latest/download/install.sh | sh
#   … | sh -s -- --version 1.2.3 --prefix /opt/hookd
# It fetches the archive of this system and SHA256SUMS, and installs nothing unless
# the checksum fits. It never asks for root, starts nothing and changes no file
# outside of the prefix (~/.local). HOOKD_RELEASES is the address of the releases.
set -eu
umask 022

main() {
	releases=${HOOKD_RELEASES:-https://github.com/hookd/hookd/releases}
	version=latest
	prefix=${HOME:-}/.local
	while [ $# -gt 0 ]; do
		case $1 in
		--version) version=${2:?--version wants a version} && shift 2 ;;
		--prefix) prefix=${2:?--prefix wants a folder} && shift 2 ;;
		-h | --help) usage && return ;;
		*) fail "unknown option $1: see --help" ;;
		esac
	done
	case $prefix in
	/.local) fail "HOME is not set: give a folder with --prefix" ;;
	/*) ;;
	*) fail "the prefix $prefix is no absolute path" ;;
	esac
	case $version in
	latest) from=$releases/latest/download ;;
	*) from=$releases/download/v${version#v} ;;
	esac
	system=$(system_of "$(uname -s)" "$(uname -m)")

	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' INT TERM HUP
	fetch "$from/SHA256SUMS" "$work/SHA256SUMS"
	line=$(grep -E "^[0-9a-f]{64}  hookd-[0-9][0-9A-Za-z.+-]*-$system\.tar\.gz\$" "$work/SHA256SUMS") ||
		fail "the release at $from has no archive for $system"
	[ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "the release at $from has several archives for $system"
	want=${line%%  *}
	archive=${line#*  }
	case $version in
	latest | "$(printf %s "$archive" | sed "s/^hookd-//; s/-$system\.tar\.gz\$//")" | "v$(printf %s "$archive" | sed "s/^hookd-//; s/-$system\.tar\.gz\$//")") ;;
	*) fail "the release at $from has $archive, not version $version" ;;
	esac

	echo "fetching $archive"
	fetch "$from/$archive" "$work/$archive"
	have=$(sum_of "$work/$archive")
	[ "$have" = "$want" ] || fail "the checksum of $archive is $have, not $want: nothing was installed"
	tar -xzf "$work/$archive" -C "$work"
	folder=$work/${archive%.tar.gz}
	sh "$folder/install-tree.sh" "$folder" "$prefix"
}

usage() {
	echo "usage: install.sh [--version VERSION] [--prefix DIR]"
	echo "installs hookd into DIR, ~/.local by default; VERSION is the latest by default"
}

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

# system_of SYSTEM MACHINE names the archive of what uname says.
system_of() {
	case $1 in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no archive for $1: build it from the sources" ;;
	esac
	case $2 in
	x86_64 | amd64) echo "$os-amd64" ;;
	aarch64 | arm64) echo "$os-arm64" ;;
	*) fail "there is no archive for $2: build it from the sources" ;;
	esac
}

# fetch URL FILE
fetch() {
	if command -v curl >/dev/null; then
		curl -fsSL --retry 3 -o "$2" "$1" || fail "cannot fetch $1"
	elif command -v wget >/dev/null; then
		wget -q -O "$2" "$1" || fail "cannot fetch $1"
	else
		fail "curl or wget is needed"
	fi
}

# sum_of FILE
sum_of() {
	if command -v sha256sum >/dev/null; then
		sha256sum "$1" | cut -d' ' -f1
	elif command -v shasum >/dev/null; then
		shasum -a 256 "$1" | cut -d' ' -f1
	else
		fail "sha256sum or shasum is needed to check what was fetched"
	fi
}

main "$@" # the last line: a script that came only in part does nothing
