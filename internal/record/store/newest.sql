CREATE TABLE state (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	epoch   TEXT    NOT NULL, -- names the sequence of numbers
	seq     INTEGER NOT NULL, -- no number above it was given away
	pruned  INTEGER NOT NULL, -- up to here rows may have been deleted
	counted INTEGER NOT NULL, -- up to here rows are in the counts
	runs    INTEGER NOT NULL,
	events  INTEGER NOT NULL
) STRICT;
CREATE TABLE events (
	seq        INTEGER PRIMARY KEY CHECK (seq > 0),
	id         TEXT    NOT NULL UNIQUE,
	at         INTEGER NOT NULL, -- nanoseconds since 1970
	name       TEXT    NOT NULL,
	size       INTEGER NOT NULL, -- bytes of data as sent
	detail     BLOB    NOT NULL, -- the rest of the envelope, JSON
	redacted   INTEGER NOT NULL, -- secrets are taken out of what history keeps
	kept       INTEGER NOT NULL, -- what data is: 0 nothing, 1 the beginning, 2 all
	later      INTEGER,          -- what kept will be; NULL = it stays
	later_data BLOB,             -- what data will be; NULL = follows from data
	data       BLOB
, more INTEGER NOT NULL DEFAULT 0, later_more INTEGER NOT NULL DEFAULT 0, sum INTEGER) STRICT;
CREATE TABLE dead (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	seq      INTEGER NOT NULL,
	event_id TEXT    NOT NULL,
	event    TEXT    NOT NULL,
	hook     TEXT    NOT NULL,
	attempts INTEGER NOT NULL,
	reason   TEXT    NOT NULL,
	run_id   TEXT    NOT NULL,
	at       INTEGER NOT NULL
) STRICT;
CREATE INDEX dead_seq ON dead (seq);
CREATE TABLE runs (
	seq        INTEGER PRIMARY KEY CHECK (seq > 0),
	id         TEXT    NOT NULL,
	event_id   TEXT    NOT NULL,
	event      TEXT    NOT NULL,
	hook       TEXT    NOT NULL,
	session_id TEXT    NOT NULL,
	agent_id   TEXT    NOT NULL,
	agent_name TEXT    NOT NULL,
	result     TEXT    NOT NULL,
	started    INTEGER NOT NULL,
	ended      INTEGER NOT NULL,
	detail     BLOB    NOT NULL -- the rest of the record, JSON
, tool TEXT NOT NULL DEFAULT '', subject TEXT NOT NULL DEFAULT '', test INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX runs_id ON runs (id);
CREATE INDEX runs_hook ON runs (hook);
CREATE INDEX runs_event ON runs (event);
CREATE INDEX runs_event_id ON runs (event_id);
CREATE INDEX runs_session ON runs (session_id) WHERE session_id <> '';
CREATE INDEX runs_agent_id ON runs (agent_id) WHERE agent_id <> '';
CREATE INDEX runs_agent_name ON runs (agent_name) WHERE agent_name <> '';
CREATE INDEX runs_result ON runs (result) WHERE result <> 'ok';
CREATE TABLE outputs (
	seq      INTEGER PRIMARY KEY,
	out_head BLOB, out_tail BLOB, err_head BLOB, err_tail BLOB
) STRICT;
CREATE TABLE probe (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
CREATE TABLE manifests (
	source TEXT PRIMARY KEY,
	name   TEXT    NOT NULL,
	digest TEXT    NOT NULL,
	text   BLOB    NOT NULL,
	at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE begun (id INTEGER PRIMARY KEY CHECK (id = 1), list TEXT NOT NULL) STRICT;
CREATE TABLE pending (
	seq     INTEGER NOT NULL,
	hook    TEXT    NOT NULL,
	ord     INTEGER NOT NULL, -- order of registration
	attempt INTEGER NOT NULL,
	due     INTEGER NOT NULL, -- 0 = now
	PRIMARY KEY (seq, hook)
) STRICT, WITHOUT ROWID;
CREATE TABLE unused (first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
CREATE TABLE sent (
	seq      INTEGER PRIMARY KEY,
	sender   TEXT    NOT NULL,
	id       TEXT    NOT NULL,
	content  BLOB    NOT NULL, -- digest of what the event says
	at       INTEGER NOT NULL, -- nanoseconds since 1970
	event_id TEXT    NOT NULL,
	detail   BLOB    NOT NULL, -- what the sender was told at once, JSON
	answer   BLOB              -- what it was told later; NULL = it is not known
) STRICT;
CREATE TABLE parts (
	seq   INTEGER NOT NULL, -- of the event
	later INTEGER NOT NULL, -- 1 = of later_data
	n     INTEGER NOT NULL,
	data  BLOB    NOT NULL,
	PRIMARY KEY (seq, later, n)
) STRICT;
CREATE TRIGGER event_released AFTER UPDATE OF later ON events WHEN old.more > 0 OR old.later_more > 0 BEGIN
	DELETE FROM parts WHERE seq = old.seq AND later = 0;
	UPDATE parts SET later = 0 WHERE seq = old.seq;
END;
CREATE TRIGGER event_deleted AFTER DELETE ON events WHEN old.more > 0 OR old.later_more > 0 BEGIN
	DELETE FROM parts WHERE seq = old.seq;
END;
CREATE TABLE decisions (
	seq        INTEGER PRIMARY KEY CHECK (seq > 0),
	event_seq  INTEGER NOT NULL,
	event_id   TEXT    NOT NULL,
	at         INTEGER NOT NULL, -- of the event, nanoseconds since 1970
	event      TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	dialect    TEXT    NOT NULL,
	session_id TEXT    NOT NULL,
	agent_id   TEXT    NOT NULL,
	agent_name TEXT    NOT NULL,
	cwd        TEXT    NOT NULL,
	tool       TEXT    NOT NULL,
	decision   TEXT    NOT NULL,
	shadow     INTEGER NOT NULL, -- hooks in the shadow have something to say
	hooks      TEXT    NOT NULL, -- that decided or watched, each in newlines
	subject    TEXT    NOT NULL,
	reason     TEXT    NOT NULL,
	detail     BLOB    NOT NULL -- the rest of the record, JSON
, guarded TEXT NOT NULL DEFAULT '', part INTEGER NOT NULL DEFAULT 0, ran BLOB) STRICT;
CREATE INDEX decisions_event ON decisions (event_seq);
CREATE INDEX decisions_tool ON decisions (tool) WHERE tool <> '';
CREATE INDEX decisions_session ON decisions (session_id) WHERE session_id <> '';
CREATE INDEX decisions_decision ON decisions (decision) WHERE decision IN ('deny', 'ask');
CREATE VIRTUAL TABLE decisions_text
	USING fts5 (text, content='', contentless_delete=1, detail='none', tokenize='trigram');
CREATE TABLE sessions (
	session_id TEXT    NOT NULL,
	dialect    TEXT    NOT NULL,
	agent_id   TEXT    NOT NULL,
	agent_name TEXT    NOT NULL,
	cwd        TEXT    NOT NULL,
	first      INTEGER NOT NULL, -- nanoseconds since 1970, of events
	last       INTEGER NOT NULL,
	state      TEXT    NOT NULL,
	events     INTEGER NOT NULL,
	tools      INTEGER NOT NULL,
	denials    INTEGER NOT NULL,
	asks       INTEGER NOT NULL,
	tool       TEXT    NOT NULL,
	subject    TEXT    NOT NULL,
	PRIMARY KEY (session_id, dialect)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_last ON sessions (last);
CREATE TABLE spans (
	length    INTEGER NOT NULL, -- seconds
	start     INTEGER NOT NULL, -- seconds since 1970
	by        TEXT    NOT NULL, -- hook, agent or tool
	name      TEXT    NOT NULL,
	runs      INTEGER NOT NULL,
	failures  INTEGER NOT NULL,
	blocked   INTEGER NOT NULL,
	waited    INTEGER NOT NULL, -- nanoseconds
	durations BLOB    NOT NULL,
	PRIMARY KEY (length, start, by, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE asks (id TEXT PRIMARY KEY, detail BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE grants (id TEXT PRIMARY KEY, detail BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE audit (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, text BLOB NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TABLE audit_head (id INTEGER PRIMARY KEY CHECK (id = 1), n INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TABLE outbox (
	n       INTEGER PRIMARY KEY AUTOINCREMENT,
	id      TEXT    NOT NULL UNIQUE,
	subject TEXT    NOT NULL,
	key     TEXT    NOT NULL, -- what stays in order
	at      INTEGER NOT NULL,
	body    BLOB    NOT NULL,
	refused TEXT              -- why the servers never take it; NULL = it waits
) STRICT;
CREATE INDEX outbox_refused ON outbox (n) WHERE refused IS NOT NULL;
CREATE TABLE outbox_size (id INTEGER PRIMARY KEY CHECK (id = 1), bytes INTEGER NOT NULL) STRICT;
CREATE TRIGGER outbox_put AFTER INSERT ON outbox BEGIN UPDATE outbox_size SET bytes = bytes + length(new.body); END;
CREATE TRIGGER outbox_gone AFTER DELETE ON outbox BEGIN UPDATE outbox_size SET bytes = bytes - length(old.body); END;
CREATE TABLE forward (
	target  TEXT PRIMARY KEY,
	through INTEGER NOT NULL, -- decisions up to this number were
	missed  INTEGER NOT NULL, -- decisions that were deleted before
	told    INTEGER NOT NULL, -- how many of them the target knows of
	at      INTEGER NOT NULL  -- when the place moved last
) STRICT, WITHOUT ROWID;
CREATE TABLE journaled (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	segment INTEGER NOT NULL,
	offset  INTEGER NOT NULL
, commits INTEGER NOT NULL DEFAULT 0, sum INTEGER, waiting_events INTEGER NOT NULL DEFAULT 0, waiting_runs INTEGER NOT NULL DEFAULT 0, waiting_bytes INTEGER NOT NULL DEFAULT 0, waiting_sum INTEGER) STRICT;
CREATE TABLE losses (
	id           INTEGER PRIMARY KEY,
	at           INTEGER NOT NULL, -- nanoseconds since 1970
	why          TEXT    NOT NULL,
	path         TEXT    NOT NULL, -- '' = there is no file
	lost         INTEGER NOT NULL, -- accepted runs or events
	more         INTEGER NOT NULL, -- there may be more
	dead_letters INTEGER NOT NULL
) STRICT;
CREATE TABLE epochs (epoch TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE INDEX decisions_guarded ON decisions (guarded) WHERE guarded IN ('not asked', 'disobeyed');
INSERT INTO begun VALUES (1, '[]');
INSERT INTO outbox_size VALUES (1, 0);
INSERT INTO journaled VALUES (1, 1, 0, 0, NULL, 0, 0, 0, NULL);
