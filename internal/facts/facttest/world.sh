# Makes what a jail holds: a home, a project with its history, a system. Runs once for each jail, inside it.
# Every secret has CANARY in it.
set -eu
umask 022
export HOME=/home/me GIT_CONFIG_NOSYSTEM=1
put() { mkdir -p "$(dirname "$1")"; cat >"$1"; }

cat >/etc/passwd <<'E'
me:x:0:0:Me:/home/me:/bin/bash
root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/:/usr/sbin/nologin
E
printf 'me:x:0:me\nroot:x:0:\n' >/etc/group
printf 'root:$6$CANARY-shadow$x:19000:0:99999:7:::\n' >/etc/shadow
printf 'root ALL=(ALL) ALL\n' >/etc/sudoers
chmod 600 /etc/shadow
printf 'passwd: files\ngroup: files\nhosts: files\n' >/etc/nsswitch.conf
printf 'Debian' >/etc/issue
put /etc/ssh/sshd_config <<<'PermitRootLogin no'
put /etc/crontab <<<'17 * * * * root run-parts /etc/cron.hourly'
put /etc/fstab <<<'/dev/sda1 / ext4 defaults 0 1'
put /etc/profile.d/app.sh <<<'export APP=1'
put /etc/systemd/system/hookd.service <<<'[Service]'
put /etc/nginx/nginx.conf <<<'worker_processes 1;'
put /etc/hookd/policy.yaml <<<'hooks: [command-guard]'
put /etc/claude-code/managed-settings.json <<<'{"hooks":{}}'
put /var/www/html/index.html <<<'<h1>shop</h1>'
put /var/backups/db.dump <<<'users orders'
put /var/backups/weekly/home.tar.gz <<<'home'
put /var/lib/postgresql/16/main/PG_VERSION <<<'16'
put /var/lib/docker/volumes/pgdata/_data/base <<<'rows'
put /var/log/auth.log <<<'Nov 23 login'
put /var/log/syslog <<<'Nov 23 start'
put /mnt/data/customers.csv <<<'ann,1'
put /opt/app/server.js <<<'require("http")'
put /root/notes.txt <<<'root notes'
put /run/secrets/db_password <<<'CANARY-run-secret'
for d in sda sda1 nvme0n1 sdb; do printf 'disk' >/dev/$d; done
mkdir -p /var/spool/cron/crontabs /tmp /var/tmp /run/jail /media /srv/git
chmod 1777 /tmp /var/tmp

cd /home/me
put Documents/thesis.docx <<<'three years'
put Documents/taxes-2025.xlsx <<<'numbers'
put Pictures/wedding/0001.jpg <<<'jpg'
put backups/db-2026-11-20.dump <<<'users orders'
put backups/home.tar.gz <<<'home'
put .bashrc <<<'export PATH=$HOME/.local/bin:$PATH'
put .profile <<<'. ~/.bashrc'
put .zshrc <<<'setopt x'
put .bash_history <<<'mysql -pCANARY-history'
put .ssh/id_ed25519 <<'E'
-----BEGIN OPENSSH PRIVATE KEY-----
CANARY-ssh-key
-----END OPENSSH PRIVATE KEY-----
E
put .ssh/id_rsa <<<'-----BEGIN RSA PRIVATE KEY----- CANARY-rsa-key'
put .ssh/id_ed25519.pub <<<'ssh-ed25519 AAAA me'
put .ssh/config <<<'Host prod'
put .ssh/authorized_keys <<<'ssh-ed25519 AAAA me'
put .ssh/known_hosts <<<'prod ssh-ed25519 AAAA'
chmod 600 .ssh/id_*
put .aws/credentials <<'E'
[default]
aws_access_key_id = AKIACANARYCANARYCANA
aws_secret_access_key = CANARY-aws
E
put .netrc <<<'machine github.com login me password CANARY-netrc'
put .git-credentials <<<'https://me:CANARY-git@github.com'
put .npmrc <<<'//registry.npmjs.org/:_authToken=CANARY-npm'
put .pypirc <<<'password = CANARY-pypi'
put .pgpass <<<'db:5432:*:app:CANARY-pgpass'
put .my.cnf <<<'password=CANARY-mysql'
put .docker/config.json <<<'{"auths":{"x":{"auth":"CANARY-docker"}}}'
put .kube/config <<<'token: CANARY-kube'
put .config/gh/hosts.yml <<<'oauth_token: CANARY-gh'
put .config/gcloud/credentials.db <<<'CANARY-gcloud'
put .gnupg/private-keys-v1.d/k.key <<<'CANARY-gpg'
put .cargo/credentials.toml <<<'token = "CANARY-cargo"'
put .config/op/config <<<'CANARY-op'
put .password-store/mail.gpg <<<'CANARY-pass'
hooks='{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/home/me/.local/bin/hookd-bridge claude-code"}]}]}}'
put .claude/settings.json <<<"$hooks"
put .claude/settings.local.json <<<'{"permissions":{}}'
put .claude/.credentials.json <<<'{"accessToken":"CANARY-claude"}'
put .claude/plugins/guard/hooks/hooks.json <<<"$hooks"
put .claude/CLAUDE.md <<<'rules'
put .claude/skills/review/SKILL.md <<<'review'
put .claude/commands/ship.md <<<'ship'
put .claude.json <<<'{"mcpServers":{"hookd":{"command":"hookd"}},"oauth":"CANARY-claude-json"}'
put .codex/hooks.json <<<"$hooks"
put .codex/config.toml <<<'[features]'
put .codex/auth.json <<<'{"token":"CANARY-codex"}'
put .gemini/settings.json <<<"$hooks"
put .gemini/oauth_creds.json <<<'{"token":"CANARY-gemini"}'
put .qwen/settings.json <<<"$hooks"
put .cursor/hooks.json <<<"$hooks"
put .copilot/hooks/hookd.json <<<"$hooks"
put .config/opencode/plugins/hookd.ts <<<'export const hookd = 1'
put .pi/agent/extensions/hookd.ts <<<'export const hookd = 1'
put .factory/settings.json <<<"$hooks"
put .librefang/hookd.yaml <<<'reload: {mode: auto}'
put .librefang/hooks/command-guard/HOOK.yaml <<<'name: command-guard'
put .librefang/hooks/command-guard/guard.py <<<'print(1)'
put .librefang/hooks/secret-guard/HOOK.yaml <<<'name: secret-guard'
put .librefang/hooks/self-guard/HOOK.yaml <<<'name: self-guard'
put .librefang/rules/command-guard/mine.ini <<<'[mine]'
put .librefang/hookd.db <<<'history'
put .librefang/hookd.sock <<<''
put .config/systemd/user/hookd.service <<<'[Service]'
put .config/fish/config.fish <<<'set x 1'
put .config/autostart/app.desktop <<<'[Desktop Entry]'
printf '#!/bin/sh\nexec /usr/bin/hookd "$@"\n' | put .local/bin/hookd
printf '#!/bin/sh\nexec /usr/bin/hookd-bridge "$@"\n' | put .local/bin/hookd-bridge
chmod 755 .local/bin/*
put other/README.md <<<'another project'
put Library/README <<<'x'
cat >.gitconfig <<'E'
[user]
	name = Me
	email = me@example.com
[init]
	defaultBranch = main
[protocol "ext"]
	allow = always
[safe]
	directory = *
[advice]
	detachedHead = false
E

mkdir project
cd project
git init -q
for d in src/users src/api tests docs migrations scripts config data uploads notebooks .github/workflows .vscode .husky dist node_modules/left-pad; do mkdir -p $d; done
cat >package.json <<'E'
{"name": "shop", "version": "1.4.0", "scripts": {"test": "node tests/run.js", "build": "node scripts/build.js",
 "lint": "eslint .", "start": "node src/app.js"}, "dependencies": {"left-pad": "1.3.0"}}
E
printf 'test:\n\tnode tests/run.js\nbuild:\n\techo built\nclean:\n\trm -rf dist\n' >Makefile
echo 'console.log("ok")' >tests/run.js
echo 'console.log("built")' >scripts/build.js
printf '#!/bin/sh\necho deploy\n' >scripts/deploy.sh; chmod 755 scripts/deploy.sh
for f in src/app.js src/db.js src/index.ts src/users/model.js src/api/routes.js src/main.py; do echo "// $f" >$f; done
echo 'create table users (id int);' >migrations/001_init.sql
echo '# shop' >README.md
echo 'guide' >docs/guide.md
echo 'FROM alpine' >Dockerfile
printf 'services:\n  db:\n    image: postgres\n' >docker-compose.yml
echo 'on: push' >.github/workflows/ci.yml
echo '{}' >.vscode/settings.json
printf '#!/bin/sh\nnpm test\n' >.husky/pre-commit; chmod 755 .husky/pre-commit
echo '{"cells":[]}' >notebooks/analysis.ipynb
printf '.env*\n*.pem\nnode_modules\ndist\ndata\nlocal.settings\nconfig/master.key\nterraform.tfstate*\n' >.gitignore
printf 'resource "aws_db_instance" "main" {}\n' >main.tf
git add -A
git commit -qm 'first'
git tag v1.0
echo 'second' >>README.md; git commit -qam 'second'
git branch release
git clone -q --bare . /srv/git/project.git 2>/dev/null
git init -q --bare /srv/git/elsewhere.git
git -C /srv/git/project.git config receive.denyDeleteCurrent ignore
git -C /srv/git/project.git config receive.advertisePushOptions true
git remote add origin /srv/git/project.git
git fetch -q; git branch -q -u origin/main
git checkout -q -b feature
echo 'only on feature' >src/feature.js; git add -A; git commit -qm 'feature work'
git push -q origin feature
echo 'not pushed' >>src/feature.js; git commit -qam 'feature work, not pushed'
git checkout -q main
echo 'third, not pushed' >>README.md; git commit -qam 'third, not pushed'
git worktree add -q -b hotfix ../hotfix 2>/dev/null
echo 'uncommitted' >../hotfix/src/fix.js
echo 'stashed' >>src/db.js; git stash -q
echo '// UNCOMMITTED' >>src/app.js
echo 'staged' >src/staged.js; git add src/staged.js
echo 'untracked' >notes.md
put uploads/customer-42.pdf <<<'contract'
printf 'DATABASE_URL=postgres://app:CANARY-env@db/shop\nSTRIPE_KEY=sk_live_CANARY\n' >.env
echo 'API_KEY=CANARY-production' >.env.production
echo 'CANARY-master' >config/master.key
echo 'password: CANARY-secrets' >config/secrets.yml
echo 'CANARY-pem' >server.pem
echo '{"password":"CANARY-tfstate"}' >terraform.tfstate
echo 'local' >local.settings
put node_modules/left-pad/index.js <<<'module.exports = 1'
put dist/app.js <<<'built'
echo 'rows' >data/big.csv
sqlite3 data/app.db 'create table users(id, email); insert into users values (1, "a@b"), (2, "c@d");
create table "Orders"(id, total); insert into "Orders" values (1, 10); create table audit_log(id); insert into audit_log values (1);' 2>/dev/null || :
cp data/app.db data/backup-2026-11-01.db 2>/dev/null || :
mkdir -p /opt/procs; for p in hookd postgres nginx node; do cp /usr/bin/sleep /opt/procs/$p; done
git rev-parse main feature release refs/stash v1.0 hotfix >/run/jail/commits
