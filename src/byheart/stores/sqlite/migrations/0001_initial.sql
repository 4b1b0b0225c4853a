-- The first layout. A memory's place is `partition << 40 | seq`: a partition's rows lie together, so that loading one
-- is a range read. Ids and seqs come from the counters in `store` and are never used again. Times are microseconds
-- since 1970 UTC, 0 for never.

CREATE TABLE store (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  agent TEXT NOT NULL,
  model TEXT,
  dimensions INTEGER,
  codec TEXT,
  episodes INTEGER NOT NULL DEFAULT 0,
  documents INTEGER NOT NULL DEFAULT 0,
  next_partition INTEGER NOT NULL DEFAULT 1,
  next_seq INTEGER NOT NULL DEFAULT 1,
  next_episode INTEGER NOT NULL DEFAULT 1,
  next_session INTEGER NOT NULL DEFAULT 1,
  next_term INTEGER NOT NULL DEFAULT 1
) STRICT;

-- `version` is `number << 32 | writes`, so a scope that was cleared and filled again cannot repeat a version.
CREATE TABLE partition (
  number INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  user TEXT NOT NULL,
  session TEXT NOT NULL,
  space TEXT NOT NULL,
  version INTEGER NOT NULL,
  episodes INTEGER NOT NULL,
  UNIQUE (kind, user, session, space)
) STRICT;

CREATE TABLE session (
  number INTEGER PRIMARY KEY,
  partition INTEGER NOT NULL,
  name TEXT NOT NULL,
  episodes INTEGER NOT NULL,
  UNIQUE (partition, name)
) STRICT;

CREATE TABLE episode (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  partition INTEGER NOT NULL,
  key TEXT,
  type INTEGER NOT NULL,
  session INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  chunks INTEGER NOT NULL,
  metadata TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX episode_key ON episode (partition, key) WHERE key IS NOT NULL;
CREATE INDEX episode_created ON episode (partition, created_at);
CREATE INDEX episode_expires ON episode (expires) WHERE expires > 0;

CREATE TABLE tag (
  partition INTEGER NOT NULL,
  tag TEXT NOT NULL,
  episode INTEGER NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (partition, tag, episode)
) WITHOUT ROWID, STRICT;
CREATE INDEX tag_episode ON tag (episode, position);

-- What is shown of a memory.
CREATE TABLE memory (
  place INTEGER PRIMARY KEY,
  episode INTEGER NOT NULL,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  part TEXT NOT NULL,
  speaker TEXT,
  role TEXT,
  source_id TEXT,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX memory_part ON memory (episode, part);

-- What is searched of a memory; no text.
CREATE TABLE memory_index (
  place INTEGER PRIMARY KEY,
  episode INTEGER NOT NULL,
  session INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  importance REAL NOT NULL,
  type INTEGER NOT NULL,
  role INTEGER NOT NULL,
  coordinate BLOB NOT NULL,
  term_ids BLOB NOT NULL,
  term_counts BLOB NOT NULL,
  vector BLOB NOT NULL,
  tokens BLOB NOT NULL
) STRICT;

CREATE TABLE access (
  place INTEGER PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT;

-- `documents` is how many memories have the term; at 0 the row goes, for a word is part of the texts it came from.
CREATE TABLE term (
  number INTEGER PRIMARY KEY,
  documents INTEGER NOT NULL,
  text TEXT NOT NULL UNIQUE
) STRICT;

-- Which seqs a write touched; whether they were written or deleted is seen from `memory_index`.
CREATE TABLE change (
  partition INTEGER NOT NULL,
  version INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (partition, version, first)
) WITHOUT ROWID, STRICT;
