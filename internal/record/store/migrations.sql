-- Each step brings the schema to the next version, PRAGMA user_version. Steps are only ever appended, each behind a
-- line that says so.

-- Numbers of events and runs are the rows' own keys, so that both tables only
-- grow at their end and are read in order without an index. Indexes of runs
-- end in that key too, which gives newest first within one hook or session.

CREATE TABLE state (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	epoch   TEXT    NOT NULL, -- names the sequence of numbers
	seq     INTEGER NOT NULL, -- no number above it was given away
	pruned  INTEGER NOT NULL, -- up to here rows may have been deleted
	counted INTEGER NOT NULL, -- up to here rows are in the counts
	runs    INTEGER NOT NULL,
	events  INTEGER NOT NULL
) STRICT;

-- While something is pending, data is whole. What history keeps when
-- nothing is any more stands in later and later_data.
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
) STRICT;

CREATE TABLE pending (
	seq     INTEGER NOT NULL,
	ord     INTEGER NOT NULL, -- order of registration
	hook    TEXT    NOT NULL,
	attempt INTEGER NOT NULL,
	due     INTEGER NOT NULL, -- 0 = now
	run_id  TEXT    NOT NULL, -- of an attempt under way
	started INTEGER NOT NULL,
	PRIMARY KEY (seq, ord)
) STRICT, WITHOUT ROWID;

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
) STRICT;
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

-- What happened to a hook in an hour and in a day, so that statistics need not
-- read the runs.
CREATE TABLE spans (
	length    INTEGER NOT NULL, -- seconds
	start     INTEGER NOT NULL, -- seconds since 1970
	hook      TEXT    NOT NULL,
	runs      INTEGER NOT NULL,
	failures  INTEGER NOT NULL,
	blocked   INTEGER NOT NULL,
	durations BLOB    NOT NULL,
	PRIMARY KEY (length, start, hook)
) STRICT, WITHOUT ROWID;

-- Numbers of events and runs that were not kept: they came too fast, or nothing
-- could be written.
CREATE TABLE lost (first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;

CREATE TABLE probe (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT; -- is there room?

CREATE TABLE manifests (
	source TEXT PRIMARY KEY,
	name   TEXT    NOT NULL,
	digest TEXT    NOT NULL,
	text   BLOB    NOT NULL,
	at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- next step

-- A pending run is found by its whole key, and the attempts under way are one
-- row, a JSON list: an attempt costs no statement of its own.

CREATE TABLE begun (id INTEGER PRIMARY KEY CHECK (id = 1), list TEXT NOT NULL) STRICT;
INSERT INTO begun SELECT 1,
	json_group_array(json_object('seq', seq, 'hook', hook, 'run_id', run_id, 'started', started))
	FROM pending WHERE run_id <> '';

ALTER TABLE pending RENAME TO pending1;
CREATE TABLE pending (
	seq     INTEGER NOT NULL,
	hook    TEXT    NOT NULL,
	ord     INTEGER NOT NULL, -- order of registration
	attempt INTEGER NOT NULL,
	due     INTEGER NOT NULL, -- 0 = now
	PRIMARY KEY (seq, hook)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO pending SELECT seq, hook, ord, attempt, due FROM pending1 ORDER BY seq, ord;
DROP TABLE pending1;

-- next step

-- Every number that was given is the number of a record, or missing. So only the numbers
-- that were reserved and never given are noted. Earlier numbers are taken as never
-- given, except for the ones known to be lost.

CREATE TABLE unused (first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
INSERT INTO unused SELECT seq + 1, next - 1 FROM
	(SELECT seq, lead(seq) OVER (ORDER BY seq) AS next FROM
		(SELECT 0 AS seq UNION ALL SELECT seq FROM events
			UNION ALL SELECT seq FROM runs UNION ALL SELECT seq + 1 FROM state))
	WHERE next > seq + 1 AND NOT EXISTS (SELECT 1 FROM lost WHERE first < next AND last > seq);
DROP TABLE lost;

-- next step

-- The ids that senders gave their events are found again when they are sent
-- again after a restart. They have a table of their own: an event may be pruned
-- before its id expires.

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

-- next step

-- A large payload stands in several rows: its beginning in that of the event, and
-- so many bytes more in parts.

ALTER TABLE events ADD COLUMN more INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN later_more INTEGER NOT NULL DEFAULT 0;
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

-- next step

-- Decisions are read by the values that people ask for: one tool, one session, a call not
-- let through, the event. Text in them is found by way of decisions_text; for less
-- than three characters they are read themselves.

ALTER TABLE runs ADD COLUMN tool TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN subject TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN test INTEGER NOT NULL DEFAULT 0; -- it was only tried: in no list

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
) STRICT;
CREATE INDEX decisions_event ON decisions (event_seq);
CREATE INDEX decisions_tool ON decisions (tool) WHERE tool <> '';
CREATE INDEX decisions_session ON decisions (session_id) WHERE session_id <> '';
CREATE INDEX decisions_decision ON decisions (decision) WHERE decision IN ('deny', 'ask');
CREATE VIRTUAL TABLE decisions_text
	USING fts5 (text, content='', contentless_delete=1, detail='none', tokenize='trigram');
CREATE TABLE indexed (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL) STRICT;
INSERT INTO indexed VALUES (1, 0);

-- What is known of each session of an agent, so that it need not be read from
-- its events.
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

-- Spans are those of a hook, an agent or a tool, and know how long answers were
-- waited for.
ALTER TABLE spans RENAME TO spans4;
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
INSERT INTO spans SELECT length, start, 'hook', hook, runs, failures, blocked, 0, durations FROM spans4;
DROP TABLE spans4;

-- next step

-- Questions that are held, and answers that are remembered.

CREATE TABLE asks (id TEXT PRIMARY KEY, detail BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE grants (id TEXT PRIMARY KEY, detail BLOB NOT NULL) STRICT, WITHOUT ROWID;

-- next step

-- The audit chain: each record is bound to the record before it by its hash. The head finds
-- records that were removed at the end.

CREATE TABLE audit (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, text BLOB NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TABLE audit_head (id INTEGER PRIMARY KEY CHECK (id = 1), n INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;

-- next step

-- Messages for the other machines of a fleet, until their servers have them.

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
INSERT INTO outbox_size VALUES (1, 0);
CREATE TRIGGER outbox_put AFTER INSERT ON outbox BEGIN UPDATE outbox_size SET bytes = bytes + length(new.body); END;
CREATE TRIGGER outbox_gone AFTER DELETE ON outbox BEGIN UPDATE outbox_size SET bytes = bytes - length(old.body); END;

-- next step

-- Up to where decisions were handed on to each target of `forward`.

CREATE TABLE forward (
	target  TEXT PRIMARY KEY,
	through INTEGER NOT NULL, -- decisions up to this number were
	missed  INTEGER NOT NULL, -- decisions that were deleted before
	told    INTEGER NOT NULL, -- how many of them the target knows of
	at      INTEGER NOT NULL  -- when the place moved last
) STRICT, WITHOUT ROWID;

-- next step

-- Events are accepted by way of a journal beside the database: all that comes before this place in it
-- is in the database.

CREATE TABLE journaled (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	segment INTEGER NOT NULL,
	offset  INTEGER NOT NULL
) STRICT;
INSERT INTO journaled VALUES (1, 1, 0);

-- next step

-- The text of decisions is indexed with them, a block of numbers together; see textBlock.
-- Rows that the versions before have indexed are right as they are; other rows are indexed here.

INSERT INTO decisions_text (rowid, text) SELECT max(seq), group_concat(subject || char(10) || reason, char(10))
	FROM decisions WHERE seq > (SELECT seq FROM indexed) GROUP BY seq / 64;
DROP TABLE indexed;

-- next step

-- Lost and set-aside parts, until a person has taken them back; and the names that the sequence of
-- numbers had, by which the journal is known. commits counts transactions: it shows that SQLite has
-- left out the end of a damaged log. sum is the sum of an event while the event is pending.

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
ALTER TABLE journaled ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE journaled ADD COLUMN sum INTEGER; -- of the row
ALTER TABLE events ADD COLUMN sum INTEGER;

-- next step

-- The guard of a call, its end, and whether another decision about the same call says everything
-- that a decision says. Nothing of this is known for decisions before this step.

ALTER TABLE decisions ADD COLUMN guarded TEXT NOT NULL DEFAULT '';
ALTER TABLE decisions ADD COLUMN part INTEGER NOT NULL DEFAULT 0;
ALTER TABLE decisions ADD COLUMN ran BLOB; -- JSON; NULL = no result was reported
CREATE INDEX decisions_guarded ON decisions (guarded) WHERE guarded IN ('not asked', 'disobeyed');

-- next step

-- How much is pending, so that opening a database need not read it. waiting_sum is the sum of the three
-- numbers; NULL = they have to be counted.

ALTER TABLE journaled ADD COLUMN waiting_events INTEGER NOT NULL DEFAULT 0;
ALTER TABLE journaled ADD COLUMN waiting_runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE journaled ADD COLUMN waiting_bytes INTEGER NOT NULL DEFAULT 0; -- of payload
ALTER TABLE journaled ADD COLUMN waiting_sum INTEGER;

-- next step

-- A run that denied says so: it said block before. The index of ends but ok finds those runs.

UPDATE runs SET result = 'deny' WHERE result = 'block' AND result <> 'ok';
