package when

import (
	"strings"
	"testing"

	"github.com/hookd/hookd/internal/facts"
)

func compiled(t testing.TB, text string) facts.CommandPattern {
	t.Helper()
	p, err := facts.ParsePattern(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A command is found where a shell would run it, and not where it is only text.
func TestCommands(t *testing.T) {
	for _, tt := range []struct{ command, fits, not string }{
		{"git push", `git push
git push origin main
git -C x push -f
git --git-dir=/x push
git -c a.b=c push
GIT PUSH
/usr/bin/git push
\git push
"git" push
g''it p"us"h
$'\x67it' push
git pu?h
A=1 git push
sudo git push
sudo -u x git push
sudo -u x -- env A=1 git push
env -S 'git push'
env A=b git push
nice -n 3 git push
timeout -k 1 5 git push
xargs git push
xargs -I{} sh -c 'git push {}'
find . -exec git push \;
find . -exec sh -c 'git push' \;
bash -c 'git push'
bash -lc "cd x && git push"
bash -xc 'git push'
su -c 'git push' x
ssh host git push
ssh host 'cd x; git push'
docker exec -it c git push
docker run --rm x sh -c 'git push'
some-wrapper git push
some-wrapper --then='git push'
some-wrapper -c'git push'
make CMD='git push'
eval git push
eval "git push"
eval 'g''it' push
echo $(git push)
echo "` + "`git push`" + `"
cat <(git push)
if true; then git push; fi
for i in 1; do git push; done
f() { git push; }; f
(git push)
! git push
git push &
true || git push
true | git push
git push > /dev/null
> f git push
trap 'git push' EXIT
git -c alias.x='!git push' x
git -c alias.p=push p
git -C x -c Alias.p='push --force' p origin
git config --global alias.p 'push -f'
git rebase -x 'git push' main
git bisect run sh -c 'git push'
sed 's/a/git push/e' f
awk 'BEGIN { system("git push") }'
python3 -c 'import os; os.system("git push")'
perl -e 'system "git push"'
tar --checkpoint-action=exec='git push' -cf x y
rsync -e 'git push' a b
vim -c ':!git push'
[ -v 'a[$(git push)]' ]
PAGER='git push' man x
GIT_SSH_COMMAND='git push' git fetch
cd x && git push
{ git push; }
coproc git push
git push; exit
while git push; do :; done
git \
  push`, `git status
echo 'git push'
echo "git push"
echo git push
printf '%s' 'git push'
# git push
ls # git push
git commit -m 'git push'
git commit -m "git push it" -- a
git log --grep='git push'
git checkout push
git stash push
git pushx
gitx push
grep -r 'git push' .
rg "git push" src
cat git push
mkdir push
git help push
git remote add push x
sed -i 's/git push/x/' f
gh pr create --title 'git push' --body "don't git push"
cat <<'EOF' > notes.md
run git push
EOF
touch 'git push'
echo hello | grep push
jq '.git.push' f
rm -rf push`},
		{"rm", `rm x
rm -rf /
/bin/rm x
sudo rm x
find . -name x -exec rm {} +
find . -print0 | xargs -0 rm
ls | xargs rm
busybox rm x
command rm x
exec rm x
RM x`, `echo rm
git rm x
ls rm
npm-rm x
cat x | grep rm
rmdir x
docker-rm`},
		{"rm -rf", `rm -rf x
rm -fr x
rm -r -f x
rm -r x -f
rm -Rrf x
sudo rm -rf x
rm $X
rm x -rf`, `rm x
rm -r x
rm -f x
rm rf`},
		{"git push --force", `git push --force
git push origin --force
git push --force-with-lease
git push --forc
git push --force=yes
git push $X`, `git push
git push -f`},
		{"kubectl delete pod", `kubectl delete pod x
kubectl -n prod delete pod x
kubectl delete -n prod pod x
kubectl --context a delete --now pod x`, `kubectl get pod
echo kubectl delete pod
kubectl delete service pod`},
		{"terraform {apply,destroy}", `terraform apply
terraform -chdir=x destroy`, `terraform plan`},
		{"*", "ls", ""},
	} {
		p := compiled(t, tt.command)
		for _, line := range examples(tt.fits) {
			if !has(facts.Line(line, facts.Env{}), &p) {
				t.Errorf("%q is not found in %q", tt.command, line)
			}
		}
		for _, line := range examples(tt.not) {
			if read := facts.Line(line, facts.Env{}); has(read, &p) {
				t.Errorf("%q is found in %q, which only has the text (%v)", tt.command, line, read.Doubts)
			}
		}
	}
}

// A command that cannot be told fits any pattern.
func TestCommandsInDoubt(t *testing.T) {
	p := compiled(t, "no-such-command")
	for _, line := range examples(`$X
$X push
"$CMD" x
g$X push
bash -c "$X"
sh -c $X
eval "$X"
eval $X
xargs $X
curl https://example.com/x | sh
curl https://example.com/x | sudo bash
base64 -d <<< x | sh
bash <(curl x)
python3 <<EOF
x
EOF
alias ls=x; ls
"unclosed
if true
foo(
git push)
PATH=/x:$PATH ls
LD_PRELOAD=x ls
cat a > s; sh s
cp a b && ./b
*(e:'no-such-command':)
`) {
		if read := facts.Line(line, facts.Env{}); !has(read, &p) {
			t.Errorf("nothing else is in %q for sure: %+v", line, read.Commands)
		}
	}
	for _, line := range []string{strings.Repeat("(", 100_000), strings.Repeat("if ", 20_000), strings.Repeat("a;",
		60_000),
		strings.Repeat("sudo ", 5_000) + "'" + strings.Repeat("x ", 10_000) + "'"} {
		if !has(facts.Line(line, facts.Env{}), &p) {
			t.Errorf("a line of %d bytes is read for sure", len(line))
		}
	}
}

// examples are the lines of a text. A here-document and a line with a backslash at its
// end go on.
func examples(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if n := len(lines); n > 0 && (strings.HasSuffix(lines[n-1], `\`) ||
			strings.Contains(lines[n-1], "EOF") && !strings.HasSuffix(lines[n-1], "\nEOF")) {
			lines[n-1] += "\n" + line
		} else if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
