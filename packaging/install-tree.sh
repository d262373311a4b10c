#!/bin/sh
# Puts what is in FOLDER into PREFIX: hookd, hookd-bridge, hookd-fleet and hookd-fleet-server
# if FOLDER has them, man pages (man/) and completions, which hookd writes. With --remove it takes that out
# again, and nothing else. A program that runs is replaced by renaming: it runs on as it was.
#   install-tree.sh FOLDER PREFIX
#   install-tree.sh --remove PREFIX
set -eu
umask 022

from=$1
prefix=$2
man=$prefix/share/man/man1
bash=$prefix/share/bash-completion/completions/hookd
zsh=$prefix/share/zsh/site-functions/_hookd
fish=$prefix/share/fish/vendor_completions.d/hookd.fish

if [ "$from" = --remove ]; then
	rm -f "$prefix/bin/hookd" "$prefix/bin/hookd-bridge" "$prefix/bin/hookd-fleet" "$prefix/bin/hookd-fleet-server" "$bash" "$zsh" "$fish" "$man/hookd.1" "$man"/hookd-*.1 "$man/hookd.1.gz" "$man"/hookd-*.1.gz
	echo "removed hookd from $prefix"
	exit
fi

mkdir -p "$prefix/bin" "$man" "${bash%/*}" "${zsh%/*}" "${fish%/*}"
for name in hookd hookd-bridge hookd-fleet hookd-fleet-server; do
	[ -e "$from/$name" ] || [ "${name#hookd-fleet}" = "$name" ] || continue
	cp "$from/$name" "$prefix/bin/$name.new"
	chmod 755 "$prefix/bin/$name.new"
	mv "$prefix/bin/$name.new" "$prefix/bin/$name"
done
rm -f "$man/hookd.1" "$man"/hookd-*.1 "$man/hookd.1.gz" "$man"/hookd-*.1.gz # pages of commands that are gone
for page in "$from"/man/*.1 "$from"/man/*.1.gz; do
	if [ -e "$page" ]; then
		cp "$page" "$man/"
	fi
done
"$prefix/bin/hookd" completion bash >"$bash"
"$prefix/bin/hookd" completion zsh >"$zsh"
"$prefix/bin/hookd" completion fish >"$fish"

echo "installed hookd and hookd-bridge into $prefix/bin, man pages and completions into $prefix/share"
case :$PATH: in
*:"$prefix/bin":*) echo "next: hookd init" ;;
*) echo "next: $prefix/bin/hookd init" ;;
esac
