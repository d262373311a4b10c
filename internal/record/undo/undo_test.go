package undo

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd/hookd/internal/base/hooktest"
	"github.com/hookd/hookd/internal/events"
	"github.com/hookd/hookd/internal/facts"
	"github.com/hookd/hookd/internal/hooks/when"
	"github.com/hookd/hookd/wire"
)

// a lineTest is a shell line that is run for real and taken back.
type lineTest struct {
	name, before, line string
	word               string // that is said before; "" = kept
	lost               string // a part of what does not come back is named so
	made               string // a file that the line makes, and that stays
	part               bool   // an undo of its undo brings back a part, and says so
	held               bool   // the vault has another name of a file that stays
	inRepo             bool
	root               bool   // only root can compare
	needs              string // a program
}

// lines are the commands of agents, and the files that they destroy.
var lines = []lineTest{
	{name: "a file", before: "echo old > a", line: "rm a"},
	{name: "a file outside of the folder", before: "mkdir in; echo old > a", line: "cd in && rm ../a"},
	{name: "a folder", before: "mkdir -p d/e/f d/empty; echo 1 > d/1; echo 2 > d/e/2; chmod 640 d/1; chmod 711 d/e", line: "rm -rf d"},
	{name: "a folder with links, a FIFO and sockets", before: `mkdir d; echo x > d/x; ln d/x d/y; ln -s x d/l; ln -s /nowhere d/m; mkfifo d/p; ` + socket("d/s"), line: "rm -rf d", needs: "python3"},
	{name: "a hard link", before: "echo old > a; ln a b", line: "rm a"},
	{name: "a hard link that is written over", before: "echo old > a; ln a b", line: "echo new > a"},
	{name: "a hard link is deleted, the other is written to", before: "echo old > a; ln a b", line: "rm a; echo more >> b"},
	{name: "a hard link is written to, the other is deleted", before: "echo old > b; ln b a", line: "echo more >> a; rm b"},
	{name: "a hard link is replaced, the other is written to", before: "echo old > a; ln a b; echo x > x", line: "mv x a; echo more >> b"},
	{name: "both hard links are written to and deleted", before: "echo old > a; ln a b; echo x > x", line: "cp x a; rm a b"},
	{name: "a hard link of three is deleted, two are written to", before: "echo old > a; ln a b; ln a c", line: "rm b; echo 1 >> a; echo 2 >> c"},
	{name: "hard links in two folders", before: "mkdir d e; echo old > d/a; ln d/a e/a; ln d/a b", line: "rm -rf d; echo new > e/a; rm b"},
	{name: "a hard link is moved, the other is written to", held: true, before: "echo old > a; ln a b", line: "mv a c; echo more >> b"},
	{name: "written over", before: "echo old > a; chmod 600 a", line: "echo new > a"},
	{name: "appended", before: "echo old > a", line: "echo more >> a"},
	{name: "clobbered", before: "echo old > a", line: "echo new >| a"},
	{name: "both streams", before: "echo old > a", line: "ls /nowhere &> a; true"},
	{name: "a read and write", before: "echo old > a", line: "echo n 1<> a"},
	{name: "cp over", before: "echo old > a; echo new > b", line: "cp b a"},
	{name: "cp into a folder", before: "mkdir d; echo old > d/b; echo new > b", line: "cp b d"},
	{name: "cp of a folder over one", before: "mkdir -p d/s s; echo old > d/s/b; echo new > s/b", line: "cp -r s d"},
	{name: "cp of all of a folder", before: "mkdir d s; echo old > d/b; echo new > s/b; echo 3 > d/c", line: "cp -r s/. d"},
	{name: "cp of all of a tree", before: "mkdir -p d/e s/e; echo old > d/e/b; echo new > s/e/b", line: "cp -r s/. d/"},
	{name: "find with rm at its end", before: "mkdir -p d/e; echo 1 > d/1; echo 2 > d/e/2", line: "find d -type f -exec rm {} +"},
	{name: "find to rm", before: "mkdir -p d/e; echo 1 > d/1; echo 2 > d/e/2", line: "find d -type f | xargs rm"},
	{name: "find of two names to a loop", before: "mkdir -p d/e; echo 1 > d/e/1.a; echo 2 > d/2.b", line: `find d -name '*.a' -o -name '*.b' | while read f; do rm "$f"; done`},
	{name: "ls to a loop", before: "mkdir d; echo 1 > d/1; echo 2 > d/2", line: `ls d | while read f; do rm "d/$f"; done`},
	{name: "ls to xargs with a mark", before: "mkdir d; echo 1 > d/1; echo 2 > d/2", line: "ls d | xargs -I{} rm d/{}"},
	{name: "rsync of a folder's contents", before: "mkdir -p s/e d/e; echo new2 > s/e/a; echo old > d/e/a; echo 3 > d/b", line: "rsync -a --inplace s/ d/", needs: "rsync"},
	{name: "setfattr", before: "echo old > a; setfattr -n user.note -v 1 a || true", line: "setfattr -x user.note a; true", needs: "setfattr"},
	{name: "cp over a link", before: "echo old > t; ln -s t a; echo new > b", line: "cp b a"},
	{name: "mv over", before: "echo old > a; echo new > b", line: "mv b a"},
	{name: "mv to a new name", before: "echo old > a", line: "mv a b"},
	{name: "mv into a folder", before: "mkdir d; echo old > a", line: "mv a d"},
	{name: "mv into a folder over", before: "mkdir d; echo old > d/a; echo new > a", line: "mv a d/"},
	{name: "mv of a folder", before: "mkdir -p d/e f; echo old > d/e/a", line: "mv d f"},
	{name: "mv of many", before: "mkdir d; echo 1 > 1; echo 2 > 2", line: "mv 1 2 d"},
	{name: "mv, and then written to", before: "echo old > a", line: "mv a b && echo more >> b"},
	{name: "install", before: "echo old > a; echo new > b", line: "install -m 755 b a"},
	{name: "ln -sf", before: "echo old > a; echo new > b", line: "ln -sf b a"},
	{name: "ln -sfn over a link", before: "echo 1 > t; echo 2 > u; ln -s t a", line: "ln -sfn u a"},
	{name: "tee", before: "echo old > a", line: "echo new | tee a"},
	{name: "tee -a", before: "echo old > a; echo old > b", line: "echo new | tee -a a b"},
	{name: "truncate", before: "echo old > a", line: "truncate -s 0 a"},
	{name: "dd", before: "echo old > a", line: "dd if=/dev/zero of=a bs=1 count=2"},
	{name: "sort -o", before: "printf 'b\\na\\n' > a", line: "sort -o a a"},
	{name: "shred", before: "echo old > a", line: "shred a"},
	{name: "shred -u", before: "echo old > a", line: "shred -u a"},
	{name: "sed -i", before: "echo old > a", line: "sed -i s/old/new/ a"},
	{name: "sed -i that changes nothing", before: "echo old > a; touch -d 2020-01-01 a", line: "sed -i s/none/new/ a"},
	{name: "sed -i with a backup", before: "echo old > a", line: "sed -i.bak s/old/new/ a", made: "a.bak"},
	{name: "sed to another file", before: "echo old > a; echo keep > b", line: "sed s/old/new/ a > b"},
	{name: "perl -i", before: "echo old > a", line: "perl -pi -e s/old/new/ a", word: Part, lost: "what else", needs: "perl"},
	{name: "gzip", before: "echo old > a", line: "gzip a", made: "a.gz"},
	{name: "a pattern", before: "touch 1.log 2.log 3.txt .4.log; echo x > 1.log", line: "rm *.log"},
	{name: "braces", before: "echo 1 > a1; echo 2 > a2", line: "rm a{1,2}"},
	{name: "a question mark", before: "echo 1 > a1; echo 2 > a2", line: "rm a?"},
	{name: "all of a folder", before: "mkdir -p d/e; echo 1 > d/1; echo 2 > d/.2", line: "rm -rf d/*"},
	{name: "find -delete", before: "mkdir -p d/e; echo 1 > d/1.tmp; echo 2 > d/e/2.tmp; echo 3 > d/3", line: "find . -name '*.tmp' -delete"},
	{name: "find -exec rm", before: "mkdir -p d/e; echo 1 > d/1.tmp; echo 2 > d/e/2.tmp", line: "find d -name '*.tmp' -exec rm {} +"},
	{name: "find a folder -delete", before: "mkdir -p d/e; echo 1 > d/1; echo 2 > d/e/2", line: "find d -delete"},
	{name: "rmdir", before: "mkdir -m 750 d", line: "rmdir d"},
	{name: "unlink", before: "echo old > a", line: "unlink a"},
	{name: "a name with a line break", before: "echo old > $'a\\nb'", line: "rm $'a\\nb'"},
	{name: "a name with a dash", before: "echo old > ./-a", line: "rm -- -a"},
	{name: "a name that is no UTF-8", before: "mkdir d; echo old > d/$'\\xff\\xfe'", line: "rm -r d"},
	{name: "a long name", before: "mkdir d; echo old > d/" + strings.Repeat("n", 255), line: "rm -r d"},
	{name: "a sparse file", before: "mkdir d; truncate -s 20M d/a; echo x >> d/a", line: "rm -r d"},
	{name: "a sparse file that is written over", before: "truncate -s 20M a; echo x >> a", line: "echo n > a"},
	{
		name: "data where a sparse file had a hole", before: "truncate -s 20M a; echo x >> a; ln a b",
		line: "dd if=/dev/zero bs=4096 count=1 | tr '\\000' n | dd of=a bs=4096 seek=100 conv=notrunc",
	},
	{name: "an empty file", before: ": > a", line: "echo n > a"},
	{name: "no permissions", before: "echo old > a; chmod 000 a", line: "rm -f a", root: true},
	{name: "setuid", before: "echo old > a; chmod 4755 a", line: "rm -f a"},
	{name: "chmod", before: "mkdir d; echo 1 > d/1; chmod 640 d/1", line: "chmod -R 777 d"},
	{name: "a subshell", before: "mkdir d; echo old > d/a; echo old > a", line: "(cd d && rm a); rm a"},
	{name: "bash -c", before: "echo old > a", line: "bash -c 'rm a'"},
	{name: "env and nice", before: "echo old > a", line: "env X=1 nice rm a"},
	{name: "both branches", before: "echo old > a; echo old > b", line: "if true; then rm a; else rm b; fi"},
	{name: "a loop", before: "echo 1 > 1; echo 2 > 2", line: "for f in 1 2; do rm $f; done"},
	{name: "a variable", before: "mkdir d; echo old > d/a", line: "D=d; rm -r $D"},
	{name: "the home folder", before: "mkdir -p home/x; echo old > home/x/a", line: "rm -r ~/x"},
	{name: "what a link with a slash leads to", before: "mkdir d; echo old > d/a; ln -s d l", line: "rm -rf l/; true"},
	{name: "a link", before: "mkdir d; echo old > d/a; ln -s d l", line: "rm l"},
	{name: "python", before: "mkdir d; echo old > d/a", line: `python3 -c 'import shutil; shutil.rmtree("d")'`, word: Part, lost: "what else", needs: "python3"},
	{name: "a script in a repository", inRepo: true, word: Part, lost: "its repository is kept", before: "echo .env > .gitignore; echo key > .env; echo new > new; mkdir -p s/t; echo mine > s/t/x; " +
		`printf 'rm -rf s .env; echo bad > tracked; rm new' > clean.sh`, line: "bash clean.sh"},
	{name: "make in a repository", inRepo: true, word: Part, lost: "its repository is kept", before: `printf 'clean:\n\trm -rf gone new\n' > Makefile; echo new > new`, line: "make -s clean", needs: "make"},
	{name: "tar over", before: "echo new > a; tar cf t.tar a; echo old > a", line: "tar xf t.tar"},
	{name: "patch", before: "printf 'old\\n' > a; printf -- '--- a\\n+++ a\\n@@ -1 +1 @@\\n-old\\n+new\\n' > p", line: "patch -p0 < p", needs: "patch"},
	{name: "a build folder, and a secret in it", inRepo: true, line: "rm -rf node_modules",
		before: "echo node_modules > .gitignore; echo '{}' > package.json; mkdir -p node_modules/x; echo k > node_modules/.env; echo 1 > node_modules/x/1; rm -r node_modules/x"},
	{name: "an ignored secret", inRepo: true, before: "echo .env > .gitignore; echo key > .env", line: "rm .env"},
	{name: "git clean", inRepo: true, before: "echo '*.o' > .gitignore; echo 1 > a.o; echo 2 > new; mkdir -p n/m; echo 3 > n/m/3; echo key > .env", line: "git clean -fdx -q"},
	{name: "git clean without ignored files", inRepo: true, before: "echo '*.o' > .gitignore; echo 1 > a.o; echo 2 > new", line: "git clean -fd -q"},
	{name: "git checkout .", inRepo: true, before: "echo mine > tracked", line: "git checkout -q ."},
	{name: "git checkout of a file", inRepo: true, before: "echo mine > tracked", line: "git checkout -q -- tracked"},
	{name: "git restore", inRepo: true, before: "echo mine > tracked; rm gone", line: "git restore .", made: "gone"},
	{name: "git reset --hard", inRepo: true, before: "echo mine > tracked; echo staged > new; git add new", line: "git reset -q --hard"},
	{name: "git stash -u and drop", inRepo: true, before: "echo mine > tracked; echo new > new", line: "git stash -q -u && git stash drop -q"},
	{name: "git reset to a commit", inRepo: true, before: "echo 3 > tracked; echo 4 > gone; echo 5 > new; git rm -q --cached gone; git add new; git commit -qam second; echo mine > tracked", line: "git reset -q --hard HEAD~1"},
	{name: "git reset of a file that is assumed unchanged", inRepo: true, before: "git update-index --assume-unchanged tracked; echo mine > tracked", line: "git reset -q --hard"},
	{
		name: "git restore of a file that is assumed unchanged", inRepo: true, line: "cd d && git restore :/",
		before: "mkdir d; cd d; git update-index --assume-unchanged ../tracked; echo mine > ../tracked",
	},
	{
		name: "git checkout of a file that git skips", inRepo: true, line: "git checkout -q HEAD~1 -- tracked",
		before: "echo 3 > tracked; git commit -qam second; git update-index --skip-worktree tracked; " +
			"echo mine > tracked",
	},
	{
		name: "git merge --abort", inRepo: true, line: "git merge --abort",
		before: "git checkout -q -b side; echo s > tracked; git commit -qam s; git checkout -q -; echo m > tracked; " +
			"git commit -qam m; git merge side || true; echo half > tracked",
	},
	{
		name: "git checkout in a sparse working tree", inRepo: true, line: "git checkout -q -f",
		before: "mkdir in out; echo 1 > in/a; echo 1 > out/a; git add .; git commit -qm d; " +
			"git sparse-checkout set in; echo mine > in/a; mkdir -p out; echo mine > out/a",
	},
	{name: "a linked working tree", inRepo: true, before: "git worktree add -q ../wt2; echo mine > ../wt2/tracked", line: "cd ../wt2 && git reset -q --hard"},
	{
		name: "git submodule deinit", inRepo: true, line: "git submodule --quiet deinit -f sub",
		before: "git init -q ../m; git -C ../m config user.email a@b.c; git -C ../m config user.name n; " +
			"git -C ../m commit -q --allow-empty -m x; echo o > ../m/f; git -C ../m add f; " +
			"git -C ../m commit -qm f; git -c protocol.file.allow=always submodule --quiet add ../m sub; " +
			"git commit -qm sub; echo mine > sub/f; echo new > sub/new",
	},
	{
		name: "git rm of a submodule", inRepo: true, line: "git rm -q -f sub",
		before: "git init -q ../m; git -C ../m config user.email a@b.c; git -C ../m config user.name n; " +
			"git -C ../m commit -q --allow-empty -m x; echo o > ../m/f; git -C ../m add f; " +
			"git -C ../m commit -qm f; git -c protocol.file.allow=always submodule --quiet add ../m sub; " +
			"git commit -qm sub; echo mine > sub/f; echo new > sub/new",
	},
	{name: "git clean of a path", inRepo: true, before: "mkdir d; echo 1 > d/1; echo 2 > 2", line: "git clean -fdq d"},
	{name: "git update-ref", inRepo: true, before: "git branch side", line: "git update-ref -d refs/heads/side"},
	{name: "git tag -d", inRepo: true, before: "git tag -a -m x v1", line: "git tag -d v1"},
	{name: "git remote remove", inRepo: true, before: "git remote add o /nowhere; git update-ref refs/remotes/o/x HEAD", line: "git remote remove o"},
	{name: "git worktree remove", inRepo: true, before: "git worktree add -q ../wt; echo mine > ../wt/tracked", line: "git worktree remove --force ../wt"},
	{name: "git ls-files to rm", inRepo: true, before: "mkdir d; echo 1 > d/1; git add d; git commit -qm d", line: "git ls-files d | xargs rm"},
	{name: "git reset", inRepo: true, before: "echo new > new; git add new", line: "git reset -q"},
	{name: "git reset to a commit, files stay", inRepo: true, before: "echo 3 > tracked; git commit -qam second", line: "git reset -q HEAD~1"},
	{name: "git rm", inRepo: true, line: "git rm -q -f tracked"},
	{name: "git branch -D", inRepo: true, before: "git branch -q side", line: "git branch -q -D side"},
	{name: "git -C", before: "git init -q r; cd r; git config user.email a@b.c; git config user.name n; echo old > a; git add a; git commit -qm a; echo mine > a", line: "git -C r checkout -q ."},
	{name: "extended attributes", before: "echo old > a; " + attribute("a"), line: "rm a", needs: "python3"},
	{name: "extended attributes of a file written over", before: "echo old > a; " + attribute("a"), line: "echo new > a", needs: "python3"},
	{name: "extended attributes of a folder", before: "mkdir d; echo old > d/a; " + attribute("d"), line: "rm -rf d", needs: "python3"},
	{name: "times to the nanosecond", before: "echo old > a; touch -d '2001-02-03 04:05:06.123456789' a", line: "echo new > a"},
	{name: "a time before 1970", before: "echo old > a; touch -d '1960-02-03' a", line: "echo new > a"},
	{name: "set-group-ID and sticky folders", before: "mkdir d d/g d/t; echo old > d/g/a; chmod 2775 d/g; chmod 1777 d/t", line: "rm -rf d"},
	{name: "a folder that is closed to its owner", before: "mkdir -p d/e; echo old > d/e/a; chmod 500 d/e", line: "chmod 700 d/e; rm -rf d"},
	{name: "another owner", before: "mkdir d; echo old > d/a; chown 1234:4321 d/a; chown 4321:1234 d", line: "rm -rf d", root: true},
	{name: "another owner, written over", before: "echo old > a; chown 1234:4321 a; chmod 4751 a", line: "echo new > a", root: true},
	{name: "a link to a folder that is replaced", before: "mkdir d e; ln -s d l", line: "ln -sfn e l"},
	{name: "a FIFO", before: "mkfifo p; chmod 640 p", line: "rm p"},
	{name: "holes at both ends", before: "truncate -s 8M a; printf x | dd of=a bs=1 seek=4000000 conv=notrunc status=none", line: "echo n > a"},
	{name: "two names in one folder", before: "mkdir d; echo old > d/a; ln d/a d/b; ln d/a c", line: "rm -rf d"},
	{name: "an open file", before: "echo old > a; exec 9< a", line: "rm a"},
	{name: "a folder and a new one in its place", before: "mkdir d; echo old > d/a", line: "rm -rf d; mkdir d; echo new > d/b", made: "d/b"},
	{name: "a file and a folder in its place", before: "echo old > a", line: "rm a; mkdir a"},
	{name: "renamed twice", before: "echo old > a", line: "mv a b; mv b c"},
	{name: "swapped", before: "echo 1 > a; echo 2 > b", line: "mv a c; mv b a; mv c b"},
	{name: "folders swapped", before: "mkdir a b; echo 1 > a/x; echo 2 > b/y", line: "mv a c; mv b a; mv c b"},
	{name: "three round", part: true, held: true, before: "echo 1 > a; echo 2 > b; echo 3 > c", line: "mv c t; mv b c; mv a b; mv t a"},
	{name: "moved and deleted", before: "echo old > a", line: "mv a b; rm b"},
	{name: "a folder moved and deleted", before: "mkdir -p d/e; echo old > d/e/a", line: "mv d t; rm -rf t"},
	{name: "a folder moved into one that is deleted", before: "mkdir -p d/e t; echo old > d/e/a", line: "mv d t; rm -rf t"},
	{name: "made writable and deleted", before: "echo old > a; chmod 400 a", line: "chmod 600 a; rm a"},
	{name: "made writable and written over", before: "echo old > a; chmod 400 a", line: "chmod 600 a; echo new > a"},
	{name: "a tree made writable and deleted", before: "mkdir d; echo old > d/a; chmod 400 d/a; chmod 500 d", line: "chmod -R u+w d && rm -rf d"},
	{name: "deleted and a link in its place", before: "mkdir d; echo old > d/a; mkdir e", line: "rm -r d; ln -s e d"},
	{name: "a pattern of other letters", before: "mkdir d; echo 1 > d/.a; echo 2 > d/b", line: "rm -rf d/.[!.]*"},
	{name: "a pattern of a class", before: "mkdir d; echo 1 > d/1; echo 2 > d/[:b", line: "rm -rf d/[[:digit:]]*"},
	{name: "a pattern of all but one", before: "mkdir d; echo 1 > d/a; echo 2 > d/keep", line: "shopt -s extglob\nrm d/!(keep)"},
	{name: "a pattern beside a brace", before: "echo 1 > 'a{b'", line: "rm 'a{'*"},
	{name: "back by cd -", before: "mkdir d; echo 1 > d/a; echo 2 > a", line: "cd d && rm a && cd - && rm a"},
	{name: "back by popd", before: "mkdir d; echo 1 > d/a; echo 2 > a", line: "pushd d && rm a && popd && rm a"},
	{name: "a folder that is not known", before: "mkdir d; echo 1 > d/a", line: "if true; then cd d; fi; rm a", word: Part, lost: "what else"},
	{name: "find behind links", before: "mkdir d t; echo 1 > t/a; ln -s ../t d/l", line: "find -L d -type f -delete", word: Part, lost: "find follows links"},
	{name: "tar in a folder", before: "mkdir d; echo new > a; tar cf t.tar a; echo old > d/a", line: "tar xf t.tar -C d"},
	{name: "tar of files that go", before: "echo x > a; tar cf t.tar a; echo old > a", line: "tar --remove-files -cf t.tar a"},
	{name: "sed -i of a link", before: "echo old > a; ln -s a l", line: "sed -i s/old/new/ l"},
	{name: "a file that a script of sed names", before: "echo old > out; echo new > in", line: "sed -n 'w out' in"},
	{name: "an output of git", inRepo: true, before: "echo old > a", line: "git diff --output=a"},
	{name: "the repository with its .git", before: "git init -q r; echo x > r/x", line: "rm -rf r"},
}

// socket is a command that makes one.
func socket(path string) string {
	return `python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("` + path + `")'`
}

// attribute is a command that gives a path an extended attribute.
func attribute(path string) string {
	return `python3 -c 'import os; os.setxattr("` + path + `", "user.hookd", b"\x00\xffold")'`
}

// repository is how a test in a repository begins.
const repository = "git init -q; git config user.email a@b.c; git config user.name n; echo 1 > tracked; echo 2 > gone; " +
	"git add tracked gone; git commit -qm first; "

func TestLinesComeBack(t *testing.T) {
	for i, on := range fileSystems(t) {
		share := 20
		if i == 0 {
			share = 2
		}
		t.Run(on.name, func(t *testing.T) {
			for n, l := range lines {
				if n%share != i && !hooktest.All() {
					continue // `make test-all` tries each line on each of them
				}
				if on.slow && (l.inRepo || strings.Contains(l.line+l.before, "python3")) {
					continue // what git and python do is the same on each
				}
				t.Run(l.name, func(t *testing.T) {
					t.Parallel()
					l.run(t, on)
				})
			}
		})
	}
}

// What cannot be taken back is said before the call, and no rule takes it for undoable.
func TestWhatCannotComeBackIsSaidBefore(t *testing.T) {
	for line, lost := range map[string]string{
		"docker volume rm shop": "shop", "docker system prune --volumes -f": "", "docker compose down -v": "",
		"dropdb shop": "", "psql -c 'DROP TABLE orders'": "", "mysql -e 'DELETE FROM orders'": "", "redis-cli FLUSHALL": "",
		"kubectl delete ns shop": "", "helm uninstall shop": "", "terraform destroy -auto-approve": "",
		"aws s3 rm s3://shop --recursive": "", "gcloud compute instances delete web": "",
		"zfs destroy tank/home": "",
		"ssh host rm -rf /srv":  "", "docker exec web rm -rf /data": "",
		"git push --force origin main": "", "npm publish": "what else",
		"python3 -c 'import shutil; shutil.rmtree(\"d\")'": "what else", "./clean.sh": "what else",
		"eval \"$(cat x)\"": "what else", "cat list | xargs rm": "what else", "rm -rf \"$(cat x)\"": "what else",
		"git gc --prune=now": "", "git reflog expire --expire=now --all": "",
	} {
		v := newVaultTest(t)
		v.write("d/a", "old")
		r := v.k.Keep(call(v.work), factsOf(line, v.work))
		if len(r.Lost) == 0 || r.Word == Kept || !strings.Contains(fmt.Sprint(r.Lost), lost) {
			t.Errorf("%s: %+v", line, r)
		}
		if lost != "what else" && r.Undoable() {
			t.Errorf("%s is taken for undoable: %+v", line, r)
		}
	}
}

// The files of another machine are not known: each file that they could replace is kept.
func TestCopiesFromAnotherMachineKeepTheFolder(t *testing.T) {
	for line, files := range map[string]int{
		"rsync -a far:src/ d/": 2, "rsync -a --inplace --delete far:src/ d": 2, "rsync -a far:src/a d/e/": 1,
	} {
		v := newVaultTest(t)
		v.write("d/b", "old")
		v.write("d/e/a", "old")
		r := v.k.Keep(call(v.work), factsOf(line, v.work))
		if r.Files != files || len(r.Lost) > 0 {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

// volume is a file system: where the vault is, and where the files are.
type volume struct {
	name, vault, work string
	slow              bool // only lines of programs that start fast
}

func (l lineTest) run(t *testing.T, on volume) {
	if l.needs != "" {
		if _, err := exec.LookPath(l.needs); err != nil {
			t.Skip("there is no " + l.needs)
		}
	}
	if l.root && os.Getuid() != 0 {
		t.Skip("only root can read the file, to compare it")
	}
	vault, work := tempIn(t, on.vault), tempIn(t, on.work)
	before := l.before
	if l.inRepo {
		before = repository + before
	}
	sh(t, work, before)
	t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+rwX", work).Run() })
	k := newKeeper(t, vault)
	tree := func() map[string]string { return treeOf(t, work) }
	was := tree()
	c := call(work)
	r := k.Keep(c, factsOf(l.line, work))
	want := l.word
	if want == "" {
		want = Kept
	}
	if r.Word != want || !strings.Contains(fmt.Sprint(r.Lost), l.lost) || l.lost == "" && len(r.Lost) > 0 && want == Kept && r.Lost[0].Why != againWords+", by package.json" {
		t.Errorf("before the call: %+v, want %s and %q lost", r, want, l.lost)
	}
	same(t, "keeping changes nothing", withoutNames(treeOf(t, work)), withoutNames(was))
	sh(t, work, l.line)
	k.Ran(c.ID)
	k.waitClosed("s", time.Now().Add(time.Minute))
	ran := treeOf(t, work)
	undo := id()
	back := undoNow(t, k, undo, wire.UndoRequest{Calls: []string{c.ID}, Changed: true})
	if want == Kept && back.Word != wire.UndoAll {
		t.Errorf("undo: %s, %+v", back.Word, back)
	}
	if again := undoNow(t, k, id(), wire.UndoRequest{Calls: []string{c.ID}, Changed: true}); want == Kept && again.ID != "" {
		t.Errorf("the same undo once more has something to do: %+v", again)
	}
	if l.made != "" {
		was[l.made] = ran[l.made]
	}
	if l.made != "" || l.held {
		was, ran = withoutNames(was), withoutNames(ran)
		tree = func() map[string]string { return withoutNames(treeOf(t, work)) }
	}
	same(t, "after the undo", tree(), was)
	if l.part {
		return
	}
	redo := id()
	undoNow(t, k, redo, wire.UndoRequest{Calls: []string{undo}})
	same(t, "after the undo of the undo", tree(), ran)
	undoNow(t, k, id(), wire.UndoRequest{Calls: []string{redo}})
	same(t, "after the undo of that", tree(), was)
}

func undoNow(t *testing.T, k *Keeper, id string, r wire.UndoRequest) wire.UndoAnswer {
	t.Helper()
	a, bad := k.Undo(id, r)
	if bad != nil {
		t.Errorf("undo %v: %v", r.Calls, bad)
	}
	for _, i := range a.Items {
		if i.Does == wire.UndoLeft || i.Does == wire.UndoConflict {
			t.Errorf("undo %v: %s is %s: %s", r.Calls, i.Path, i.Does, i.Why)
		}
	}
	return a
}

func newKeeper(t *testing.T, dir string) *Keeper {
	t.Helper()
	k, err := Open(filepath.Join(dir, "vault"), nil)
	hooktest.Must(t, err)
	s := DefaultSettings()
	s.Wait = 10 * time.Second // a busy machine is slow, and the cases are not about that
	k.Configure(s)
	return k
}

// id is a new id of an event.
func id() string { return events.NewID(time.Now()) }

func call(cwd string) KeptCall {
	return KeptCall{ID: id(), Time: time.Now().UTC(), Session: "s", Tool: "Bash", Cwd: Path(cwd)}
}

func factsOf(line, cwd string) *facts.Facts {
	return facts.Line(line, facts.Env{Cwd: cwd, Home: filepath.Join(cwd, "home"), Links: when.NewDisk()})
}

func sh(t *testing.T, dir, line string) {
	t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

func tempIn(t *testing.T, base string) string {
	t.Helper()
	if base == "" {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(base, "undo")
	hooktest.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// treeOf describes every path below a folder: its kind, owner, permissions, times, other names,
// attributes, bytes. Folders have no times: those of folders that stay are not brought back.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	tree, first := map[string]string{}, map[uint64]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if strings.HasPrefix(d.Name(), ".hookd-vault") {
			return fs.SkipDir
		}
		is, err := look(path)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s %o %d:%d", is.Kind, is.Mode, is.UID, is.GID)
		if strings.HasPrefix(rel, ".git") || strings.HasPrefix(rel, "r/.git") {
			if is.Kind == kindDir || strings.Contains(rel, "objects") || strings.Contains(rel, "logs") ||
				slices.Contains([]string{"ORIG_HEAD", "index", "config", "packed-refs"}, d.Name()) {
				return nil // git makes objects and leaves them, and its index has times of files
			}
		}
		switch is.Kind {
		case kindLink:
			text += " " + string(is.Target)
		case kindFile:
			bytes, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += fmt.Sprintf(" %d %x %s %v", len(bytes), sha256.Sum256(bytes), time.Unix(0, is.MTime), attributesOf(path))
			text += fmt.Sprintf("%s%d", namesWord, is.Names)
			if first[is.Ino] == "" {
				first[is.Ino] = rel
			} else {
				text += " with " + first[is.Ino]
			}
			if sparse := blocks(path) < is.Size/2; sparse {
				text += " sparse"
			}
		}
		tree[rel] = text
		return nil
	})
	hooktest.Must(t, err)
	return tree
}

const namesWord = " names "

// withoutNames is a tree without the number of names of its files: the vault adds one while a call runs.
func withoutNames(tree map[string]string) map[string]string {
	tree = maps.Clone(tree)
	for path, text := range tree {
		if before, rest, has := strings.Cut(text, namesWord); has {
			tree[path] = before + strings.TrimLeft(rest, "0123456789")
		}
	}
	return tree
}

func blocks(path string) int64 {
	var s unix.Stat_t
	if unix.Lstat(path, &s) != nil {
		return 0
	}
	return int64(s.Blocks) * 512
}

func same(t *testing.T, when string, got, want map[string]string) {
	t.Helper()
	paths := slices.Sorted(maps.Keys(want))
	for _, path := range slices.Sorted(maps.Keys(got)) {
		if _, is := want[path]; !is {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		if got[path] != want[path] {
			t.Errorf("%s: %q is\n\t%s, want\n\t%s", when, path, got[path], want[path])
		}
	}
}

// fileSystems are the file systems that the test can use.
func fileSystems(t *testing.T) []volume {
	list := []volume{{name: "one file system"}}
	if is, err := look("/dev/shm"); err == nil && is.Kind == kindDir && unix.Access("/dev/shm", unix.W_OK) == nil {
		list = append(list, volume{"tmpfs", "/dev/shm", "/dev/shm", true}, volume{"two file systems", "", "/dev/shm", true})
	}
	if !hooktest.All() {
		return list
	}
	return append(list, mounted(t)...)
}
