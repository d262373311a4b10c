package shellsafe

import (
	"strings"
	"testing"
)

// want is what a line is held to: safe, unknown (asked about, nothing seen), or
// a category of harm.
type want string

const (
	safe    want = "safe"
	unknown want = "unknown"
)

var table = []struct {
	want want
	line string
}{
	// Known reads.
	{safe, `ls`}, {safe, `ls -la src`}, {safe, `ls -la "a b" 'c d'`}, {safe, `LS -l`}, {safe, `/bin/ls /tmp`}, {safe, `cat a b c`},
	{safe, `head -20 main.go`}, {safe, `tail -n +5 x`}, {safe, `tail -f log`}, {safe, `wc -l *.go`}, {safe, `pwd`}, {safe, `stat -c %s f`},
	{safe, `du -sh .`}, {safe, `df -h`}, {safe, `tree -L 2`}, {safe, `file a.out`}, {safe, `find . -name '*.go' -type f`}, {safe, `find . -newer a -print0`},
	{safe, `grep -rn 'rm -rf' .`}, {safe, `grep "drop database" -r .`}, {safe, `rg --json foo src`}, {safe, `sort -u names`}, {safe, `uniq -c`}, {safe, `cut -d: -f1 /etc/passwd`},
	{safe, `echo rm -rf /`}, {safe, `echo "$(date)"`}, {safe, `printf '%s\n' "$HOME"`}, {safe, `true`}, {safe, `:`}, {safe, `printf %s $x`}, {unknown, `printf -v PATH x`}, {safe, `test -f a && echo yes`}, {safe, `[ -d src ] || echo no`}, {safe, `[[ -f a && -f b ]] && cat a`},
	{safe, `sed -n '1,20p' main.go`}, {safe, `sed -n 5p f`}, {safe, `sed 's/a/b/g' f`}, {safe, `sed -e 's/a/b/' -e 's/c/d/' f`}, {safe, `awk '{print $1}' f`}, {safe, `awk -F: '{print $1}' /etc/passwd`},
	{safe, `ps aux`}, {safe, `ps -ef | grep node`}, {safe, `whoami`}, {safe, `id -u`}, {safe, `uname -a`}, {safe, `date +%F`}, {safe, `env`}, {safe, `printenv HOME`}, {safe, `which go`}, {safe, `type rm`}, {safe, `command -v rm`}, {safe, `hostname`},
	{safe, `git status`}, {safe, `git -C /p status --short`}, {safe, `git --no-pager log --oneline -n 5`}, {safe, `git diff HEAD~1 -- a.go`}, {safe, `git show HEAD:a.go`}, {safe, `git branch`}, {safe, `git branch -vv`}, {safe, `git remote -v`},
	{safe, `git stash list`}, {safe, `git config --get user.name`}, {safe, `git rev-parse --show-toplevel`}, {safe, `git blame a.go`}, {safe, `git tag -l`}, {safe, `git log --grep='rm -rf'`},
	{safe, `docker ps -a`}, {safe, `docker images`}, {safe, `docker compose ps`}, {safe, `docker-compose logs web`}, {safe, `podman ps`}, {safe, `docker inspect --format '{{.Id}}' a`},
	{safe, `kubectl get pods -A`}, {safe, `kubectl -n prod describe pod x`}, {safe, `gh pr view 5`}, {safe, `go version`}, {safe, `go env GOROOT`}, {safe, `node --version`}, {safe, `jq .a f.json`},
	{safe, `ls; git status`}, {safe, `cd /p && git log -1`}, {safe, `cat a | sort | uniq -c | sort -rn | head`}, {safe, `ls 2>/dev/null`}, {safe, `ls >/dev/null 2>&1`}, {safe, `cat < in`}, {safe, `grep x <<< "rm -rf /"`},
	{safe, "cat <<'EOF'\nrm -rf /\nEOF"}, {safe, "ls\npwd\ngit status"}, {safe, "# rm -rf /\nls"}, {safe, "ls \\\n  -la"}, {safe, `for f in *.go; do wc -l "$f"; done`}, {safe, `while read -r l; do echo "$l"; done < f`}, {safe, `if grep -q x f; then echo y; fi`},
	{safe, `x=1; echo $x`}, {safe, `LC_ALL=C sort f`}, {safe, `NO_COLOR=1 git status`}, {safe, `env LC_ALL=C ls`}, {safe, `nice -n 5 ls`}, {safe, `timeout 5 ls`}, {safe, `time ls`}, {safe, `nohup ls`}, {safe, `xargs grep x < files`}, {safe, `find . -name '*.go' | xargs wc -l`},
	{safe, `find . -name x -exec grep -l y {} \;`}, {safe, `find . -name x -exec cat {} +`}, {safe, `sh -c 'ls -l'`}, {safe, `bash -lc "git status"`}, {safe, `eval "ls"`}, {safe, `diff <(sort a) <(sort b)`}, {safe, `show() { cat "$1"; }; show a`}, {safe, `(cd a && ls)`}, {safe, `{ ls; pwd; }`},
	{safe, `echo 'a > b'`}, {safe, `echo a \> b`}, {safe, `case $1 in a) ls;; esac`}, {safe, `test $((1+2)) -eq 3`}, {safe, `echo rm | grep rm`}, {safe, `busybox ls`}, {safe, `echo "ls" | sh`}, {safe, `git clean -n`},

	// Deletes, plainly and at every distance.
	{"fs-delete", `rm -rf /`}, {"fs-delete", `rm x`}, {"fs-delete", `rm -fr build`}, {"fs-delete", `rm -r -f build`}, {"fs-delete", `rm --recursive x`}, {"fs-delete", `rm --rec x`}, {"fs-delete", `/bin/rm x`}, {"fs-delete", `./rm x`}, {"fs-delete", `RM -rf x`}, {"fs-delete", `rmdir a`}, {"fs-delete", `unlink a`},
	{"fs-delete", `ls; rm -rf /`}, {"fs-delete", `ls && rm x`}, {"fs-delete", `ls || rm x`}, {"fs-delete", `ls & rm x`}, {"fs-delete", "ls\nrm x"}, {"fs-delete", `ls | rm x`}, {"fs-delete", `(rm x)`}, {"fs-delete", `{ rm x; }`}, {"fs-delete", `! rm x`},
	{"fs-delete", `echo $(rm x)`}, {"fs-delete", "echo `rm x`"}, {"fs-delete", `echo "a $(rm x) b"`}, {"fs-delete", `cat <(rm x)`}, {"fs-delete", "cat <<EOF\n$(rm x)\nEOF"}, {"fs-delete", `echo ${a:-$(rm x)}`}, {"fs-delete", `echo $((1 + $(rm x)))`}, {"fs-delete", `a=$(rm x)`}, {"fs-delete", `cat <<< "$(rm x)"`},
	{"fs-delete", `if true; then rm x; fi`}, {"fs-delete", `for i in a; do rm $i; done`}, {"fs-delete", `while rm x; do :; done`}, {"fs-delete", `case a in a) rm x;; esac`}, {"fs-delete", `f() { rm x; }; f`}, {"fs-delete", `function f { rm x; }`}, {"fs-delete", `ls() { rm -rf ~; }; ls`}, {"fs-delete", `coproc rm x`},
	{"fs-delete", `sudo rm x`}, {"fs-delete", `sudo -u root rm -rf x`}, {"fs-delete", `doas rm x`}, {"fs-delete", `sudo -E env FOO=1 rm x`}, {"fs-delete", `env FOO=1 rm x`}, {"fs-delete", `env -i rm x`}, {"fs-delete", `env -S 'rm x'`}, {"fs-delete", `FOO=1 rm x`}, {"fs-delete", `nohup rm x &`}, {"fs-delete", `nice -n 10 rm x`}, {"fs-delete", `timeout -k 5 10 rm x`},
	{"fs-delete", `time rm x`}, {"fs-delete", `command rm x`}, {"fs-delete", `builtin command rm x`}, {"fs-delete", `exec rm x`}, {"fs-delete", `xargs rm`}, {"fs-delete", `ls | xargs -n1 rm -f`}, {"fs-delete", `xargs -I{} rm {}`}, {"fs-delete", `xargs sh -c 'rm "$@"'`}, {"fs-delete", `ls | parallel rm {}`}, {"fs-delete", `parallel 'rm {}' ::: a b`}, {"fs-delete", `busybox rm x`}, {"fs-delete", `stdbuf -o0 rm x`}, {"fs-delete", `setsid rm x`}, {"fs-delete", `flock /tmp/l rm x`}, {"fs-delete", `flock /tmp/l -c 'rm x'`}, {"fs-delete", `watch 'rm x'`}, {"fs-delete", `watch -n 1 rm x`},
	{"fs-delete", `sh -c 'rm x'`}, {"fs-delete", `bash -c "rm -rf /"`}, {"fs-delete", `bash -xec 'rm x'`}, {"fs-delete", `zsh -c 'rm x'`}, {"fs-delete", `sh -c "sh -c 'rm x'"`}, {"fs-delete", `sudo bash -c 'ls; rm x'`}, {"fs-delete", `eval rm x`}, {"fs-delete", `eval "rm x"`}, {"fs-delete", `trap 'rm x' EXIT`}, {"fs-delete", `alias ls='rm -rf'`}, {"fs-delete", `su -c 'rm x'`}, {"fs-delete", `su root -c 'rm x'`}, {"fs-delete", `ssh host rm -rf x`}, {"fs-delete", `ssh -p 22 host 'ls; rm x'`}, {"fs-delete", `script -c 'rm x' /dev/null`},
	{"fs-delete", `echo "rm x" | sh`}, {"fs-delete", `printf 'ls\nrm x\n' | bash`}, {"fs-delete", "sh <<EOF\nrm x\nEOF"}, {"fs-delete", "bash <<'EOF'\nls\nrm x\nEOF"}, {"fs-delete", `bash <<< 'rm x'`}, {"fs-delete", "bash -s <<-EOF\n\trm x\n\tEOF"},
	{"fs-delete", `find . -delete`}, {"fs-delete", `find . -name '*.o' -exec rm {} \;`}, {"fs-delete", `find . -exec sh -c 'rm "$1"' _ {} \;`}, {"fs-delete", `find . -execdir rm {} +`}, {"fs-delete", `find . -exec ls {} \; -delete`}, {"fs-delete", `fd -e o -x rm`},
	{"fs-delete", `r\m x`}, {"fs-delete", `\rm x`}, {"fs-delete", `'rm' x`}, {"fs-delete", `"rm" x`}, {"fs-delete", `r''m x`}, {"fs-delete", `r"m" x`}, {"fs-delete", `$'rm' x`}, {"fs-delete", `$'\x72\x6d' x`}, {"fs-delete", `$'\162m' x`}, {"fs-delete", `{rm,-rf,/}`}, {"fs-delete", "r\\\nm x"}, {"fs-delete", `/bin/r{m,} x`},
	{"fs-delete", `find . -print | while read f; do rm "$f"; done`}, {"fs-delete", `git rm a`}, {"fs-delete", `Remove-Item a`}, {"fs-delete", `Remove-Item -Recurse a`}, {"fs-delete", `tar --remove-files -cf a b`}, {"fs-delete", `python3 -c 'x' ; rm y`}, {"fs-delete", `npx rm x`},
	{"fs-secure-delete", `shred -u key`}, {"fs-secure-delete", `sudo shred /dev/null`},

	// Overwrites and changes.
	{"fs-overwrite", `echo x > f`}, {"fs-overwrite", `> f`}, {"fs-overwrite", `ls >| f`}, {"fs-overwrite", `ls &> f`}, {"fs-overwrite", `ls >& f`}, {"fs-overwrite", `cat a | tee b`}, {"fs-overwrite", `truncate -s 0 f`}, {"fs-overwrite", `dd if=/dev/zero of=f`}, {"fs-overwrite", `{ ls; } > f`}, {"fs-overwrite", `ls > "$f"`}, {"fs-overwrite", `exec > f`}, {"fs-overwrite", `sort -o f f`}, {"fs-overwrite", `for i in 1; do echo; done > f`}, {"fs-overwrite", `cat > f <<EOF
x
EOF`}, {"fs-overwrite", `echo key >> ~/.ssh/authorized_keys > x`}, {"fs-overwrite", `echo x > /etc/passwd`}, {"fs-overwrite", `ls > 2`},
	{"fs-modify", `echo x >> f`}, {"fs-modify", `mv a b`}, {"fs-modify", `cp -f a b`}, {"fs-modify", `sed -i s/a/b/ f`}, {"fs-modify", `sed -i.bak s/a/b/ f`}, {"fs-modify", `sed -ni p f`}, {"fs-modify", `perl -pi -e 's/a/b/' f`}, {"fs-modify", `gofmt -w .`}, {"fs-modify", `ln -sf a b`}, {"fs-modify", `rsync -a --delete a/ b/`}, {"fs-modify", `go fmt ./...`}, {"fs-modify", `tee -a f`}, {"fs-modify", `echo k >> ~/.ssh/authorized_keys`},
	{"fs-permissions", `chmod -R 777 .`}, {"fs-permissions", `chmod +x f`}, {"fs-permissions", `sudo chown -R me .`},
	{"block-device", `mkfs.ext4 /dev/sdb1`}, {"block-device", `mkfs -t ext4 /dev/sdb1`}, {"block-device", `dd if=x of=/dev/sda`}, {"block-device", `wipefs -a /dev/sda`}, {"block-device", `echo x > /dev/sda`}, {"block-device", `zpool destroy tank`}, {"block-device", `cat iso > /dev/nvme0n1`},

	// Git, containers, databases, services.
	{"git-discard", `git reset --hard`}, {"git-discard", `git -C x reset --hard HEAD~1`}, {"git-discard", `git checkout -- .`}, {"git-discard", `git checkout .`}, {"git-discard", `git restore a`}, {"git-discard", `git clean -fd`}, {"git-discard", `git clean -xdf`}, {"git-discard", `git stash drop`}, {"git-discard", `git stash clear`}, {"git-discard", `git checkout -f main`}, {"git-discard", `git worktree remove x`},
	{"git-history", `git push --force`}, {"git-history", `git -C x push --force`}, {"git-history", `git push -f origin main`}, {"git-history", `git push origin +main`}, {"git-history", `git push origin :old`}, {"git-history", `git push --delete origin x`}, {"git-history", `git push --force-with-lease`}, {"git-history", `git branch -D x`}, {"git-history", `git filter-branch --all`}, {"git-history", `git commit --amend`}, {"git-history", `git -c user.name=x push --force`}, {"git-history", `cd a && git push -f`},
	{"fs-delete", `git -c alias.x='!rm -rf .' x`}, {"fs-delete", `git submodule foreach 'rm -rf x'`}, {"fs-delete", `git bisect run rm x`},
	{"dk-volume-del", `docker volume rm data`}, {"dk-volume-del", `docker --context x volume rm data`}, {"dk-volume-del", `podman volume prune -af`}, {"dk-container-del", `docker rm -f $(docker ps -aq)`}, {"dk-image-del", `docker rmi x`}, {"dk-network-del", `docker network rm n`}, {"dk-multi-del", `docker system prune -a --volumes`}, {"dk-build-cache", `docker builder prune`}, {"dk-compose", `docker compose down -v`}, {"dk-compose", `docker-compose down`}, {"dk-context", `docker context rm x`}, {"dk-plugin", `docker plugin rm x`}, {"dk-runtime", `docker stop x`},
	{"dk-exec-host", `docker exec -it c rm -rf /data`}, {"dk-exec-host", `docker exec c sh -c 'rm -rf /data'`}, {"dk-bind-mount", `docker run --rm -v /:/host alpine ls`}, {"dk-bind-mount", `docker run --rm -v "$PWD:/x" alpine rm -rf /x`}, {"k8s-delete", `kubectl delete ns prod`}, {"k8s-delete", `kubectl -n a delete pod b`}, {"fs-delete", `kubectl exec p -- rm x`}, {"infra-delete", `terraform destroy`}, {"infra-delete", `aws s3 rm s3://b --recursive`}, {"infra-delete", `gh repo delete a/b`},
	{"sql-drop", `psql -c 'DROP TABLE users'`}, {"sql-drop", `echo 'drop database x' | mysql`}, {"sql-drop", "psql <<EOF\ndrop schema public;\nEOF"}, {"sql-truncate", `mysql -e "truncate table a"`}, {"sql-delete", `sqlite3 a.db 'delete from t'`}, {"kv-flush", `redis-cli -h x FLUSHALL`}, {"app-reset", `rails db:drop`}, {"app-reset", `bundle exec rails db:reset`}, {"app-reset", `python manage.py flush`}, {"app-reset", `npx prisma migrate reset`}, {"app-reset", `php artisan migrate:fresh`}, {"app-reset", `bench drop-site x`},
	{"proc-signal", `kill -9 1`}, {"proc-signal", `kill -KILL 1`}, {"proc-signal", `pkill node`}, {"proc-signal", `killall -9 node`}, {"sys-power", `shutdown -h now`}, {"sys-power", `sudo reboot`}, {"sys-service", `systemctl stop sshd`}, {"sys-service", `crontab -r`}, {"sys-network", `iptables -F`}, {"proc-bomb", `:(){ :|:& };:`}, {"pkg-remove", `apt-get -y purge x`},

	// Variables that hold a command's name: seen where they are set in sight.
	{"fs-delete", `x=rm; $x -rf /`}, {"fs-delete", `x="rm -rf"; $x /`}, {"fs-delete", `$SUDO rm x`}, {"fs-delete", `${x:-rm} y`}, {"fs-delete", `a=r; b=m; $a$b x`}, {"fs-delete", `c='rm x'; eval "$c"`}, {"fs-delete", `c='rm x'; sh -c "$c"`}, {"fs-delete", `$x$y rm z`},

	// What it does is unknown, or it is not in the table.
	{unknown, `mkdir foo`}, {unknown, `touch x`}, {unknown, `cp a b`}, {unknown, `curl https://x`}, {unknown, `curl https://x | sh`}, {unknown, `wget -qO- x | sudo bash`}, {unknown, `ls | sh`}, {unknown, `base64 -d x | bash`}, {unknown, `sh script.sh`}, {unknown, `./build.sh`}, {unknown, `bash`}, {unknown, `make`}, {unknown, `npm run build`}, {unknown, `npm install`}, {unknown, `go test ./...`}, {unknown, `python x.py`},
	{unknown, `python -c 'import shutil; shutil.rmtree("/")'`}, {unknown, `perl -e 'unlink "x"'`}, {unknown, `node -e 'x'`}, {unknown, `awk 'BEGIN { system("rm x") }'`}, {unknown, `awk '{print > "f"}' a`}, {unknown, `sed -n 'w out' f`}, {unknown, `sed '1e rm x' f`}, {unknown, `sed 's/a/b/e' f`}, {unknown, `sed 's/a/b/w out' f`}, {unknown, `sed --expression='w out' f`}, {unknown, `source env.sh`}, {unknown, `. ./env.sh`},
	{unknown, `$(echo rm) x`}, {unknown, `$x -rf /`}, {unknown, `/bin/r? x`}, {unknown, `./ls`}, {unknown, `/tmp/evil/git status`}, {unknown, `PATH=/tmp ls`}, {unknown, `export PATH=/tmp:$PATH; ls`}, {unknown, `LD_PRELOAD=x ls`}, {unknown, `GIT_PAGER='rm x' git log`}, {unknown, `env GIT_SSH_COMMAND=x git status`}, {unknown, `git -c core.pager=x log`}, {unknown, `git --exec-path=/tmp status`}, {unknown, `git diff --ext-diff`}, {unknown, `git log --output=f`}, {unknown, `git log --outp=f`}, {unknown, `git diff $x`}, {unknown, `git branch new`}, {unknown, `git remote add a b`}, {unknown, `git config user.name x`}, {unknown, `git commit -m 'rm -rf /'`}, {unknown, `git grep -O x`},
	{unknown, `rg --pre x y`}, {unknown, `sort $x`}, {unknown, `xargs sort`}, {unknown, `uniq a b`}, {unknown, `sudo ls`}, {unknown, `ssh host ls`}, {unknown, `docker exec c ls`}, {unknown, `docker run alpine ls`}, {unknown, `docker -H tcp://x ps`}, {unknown, `hostname x`}, {unknown, `date 010203`}, {unknown, `date -s x`}, {unknown, `strace ls`}, {unknown, `cat < /dev/tcp/1.2.3.4/80`}, {unknown, `echo x > /dev/tcp/1.2.3.4/80`}, {unknown, `exec 3<>f`}, {unknown, `ls "`}, {unknown, `if`}, {unknown, `ls )`}, {unknown, `eval "$x"`}, {unknown, `sh -c "$x"`}, {unknown, `bash $x`}, {unknown, `alias a=b`}, {unknown, `vim x`}, {unknown, `go env -w A=b`}, {unknown, `find . -okdir foo {} \;`}, {unknown, `top`}, {unknown, `node --version x`}, {unknown, `read PATH`}, {unknown, `yq -s x f`},
	{"fs-overwrite", `find . -fprint out`}, {unknown, `fd -x foo`}, {unknown, `coproc ls`}, {unknown, "ls\x00rm"}, {unknown, `trap "$x" EXIT`},
}

func TestAssess(t *testing.T) {
	if len(table) < 150 {
		t.Fatalf("got %d lines, want at least 150", len(table))
	}
	t.Logf("%d lines", len(table))
	for _, tt := range table {
		got := Assess(tt.line)
		ok := false
		switch tt.want {
		case safe:
			ok = got.Safe()
		case unknown:
			ok = got.Radius == Unknown && got.Category == CategoryUnknown
		default:
			ok = !got.Safe() && sees(tt.line, string(tt.want))
		}
		if !ok {
			t.Errorf("%q: got %+v, want %s", tt.line, got, tt.want)
		}
		if got.Safe() != (got.Reason == "") {
			t.Errorf("%q: radius %q with reason %q", tt.line, got.Radius, got.Reason)
		}
	}
}

// sees reports whether category is among the findings on a line.
func sees(line, category string) bool {
	s := newScan()
	s.line(line, 0)
	for _, f := range s.found {
		if f.category == category {
			return true
		}
	}
	return false
}

// Whatever hides a deletion, adding it to a line never makes the line safer.
func TestNothingHidesADeletion(t *testing.T) {
	for _, tt := range table {
		if tt.want != safe {
			continue
		}
		for _, line := range []string{tt.line + "\nrm -rf /", "rm -rf / &\n" + tt.line, "if " + tt.line + "\nthen rm -rf /; fi"} {
			if got := Assess(line); got.Safe() {
				t.Errorf("%q is safe", line)
			}
		}
	}
}

func TestRadius(t *testing.T) {
	for line, want := range map[string]Radius{
		`rm x`:                          Low,
		`rm -f x`:                       Medium,
		`rm -rf x`:                      High,
		`rm /`:                          High,
		`git push --force`:              Medium,
		`docker volume rm a`:            High,
		`docker stop a`:                 Low,
		`find . -exec rm {} \;`:         High,
		`mkdir a; rm b`:                 Unknown,
		`mkdir a; rm -rf b`:             High,
		`echo a > b`:                    Medium,
		`echo a >> b`:                   Low,
		`echo a > /etc/hosts`:           High,
		`docker exec c rm x`:            High,
		`git stash clear && git status`: High,
	} {
		if got := Assess(line).Radius; got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestReasonNamesWhatWasSeen(t *testing.T) {
	got := Assess("mkdir a; rm -rf b; git push --force").Reason
	want := "rm -rf b: deletes whole directories"
	if !strings.HasPrefix(got, want) || !strings.Contains(got, "mkdir a: ") || !strings.Contains(got, "git push --force: ") {
		t.Errorf("got %q, want it to begin with %q and name mkdir and git push", got, want)
	}
}

// Lines that are long, deep or many are answered all the same.
func TestLargeLines(t *testing.T) {
	for name, line := range map[string]string{
		"too-long":  "ls " + strings.Repeat("a", maxLine),
		"nested":    strings.Repeat("$(", 2000) + "rm x" + strings.Repeat(")", 2000),
		"sh-in-sh":  strings.Repeat("sh -c ", 50) + "rm",
		"sudo-sudo": strings.Repeat("sudo ", 500) + "rm x",
		"braces":    "rm {1..1000000}{1..1000000}",
		"many":      strings.Repeat("rm x;", 20000),
	} {
		if got := Assess(line); got.Safe() {
			t.Errorf("%s: got safe", name)
		}
	}
	if got := Assess(strings.Repeat("ls;", 20000)); !got.Safe() {
		t.Errorf("many reads: got %+v, want safe", got)
	}
}

func FuzzSaferShell(f *testing.F) {
	for _, tt := range table {
		f.Add(tt.line)
	}
	f.Add("cat <<\\E | cat$(a)\nE\n$(b)") // a here-document without text
	f.Fuzz(func(t *testing.T, line string) {
		got := Assess(line)
		if got.Safe() != (got.Category == "" && got.Reason == "") {
			t.Errorf("%q: got %+v", line, got)
		}
		if again := Assess(line); again != got {
			t.Errorf("%q: got %+v, and again %+v", line, got, again)
		}
	})
}
