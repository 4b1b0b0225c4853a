-- The named queries of the SQLite store. Lists come in as JSON arrays; scopes are compared for equality, column by column.

-- name: begin_read
BEGIN

-- name: begin_write
BEGIN IMMEDIATE

-- name: commit
COMMIT

-- name: rollback
ROLLBACK

-- name: store
SELECT agent, model, dimensions, codec FROM store

-- name: store_create
INSERT INTO store (one, agent) VALUES (1, ?)

-- name: store_bind
UPDATE store SET model = ?, dimensions = ?, codec = ?

-- name: counters
SELECT episodes, documents, next_partition, next_seq, next_episode, next_session, next_term FROM store

-- name: counters_set
UPDATE store SET episodes = ?, documents = ?, next_partition = ?, next_seq = ?, next_episode = ?, next_session = ?,
  next_term = ?

-- name: counters_less
UPDATE store SET episodes = episodes - ?, documents = documents - ?

-- name: partition
SELECT number, version FROM partition WHERE kind = ? AND user = ? AND session = ? AND space = ?

-- name: partition_create
INSERT INTO partition (number, kind, user, session, space, version, episodes) VALUES (?, ?, ?, ?, ?, ?, 0)

-- name: partition_bump
UPDATE partition SET version = version + 1, episodes = episodes + ? WHERE number = ? RETURNING version, episodes

-- name: partition_delete
DELETE FROM partition WHERE number = ?

-- name: partition_all
SELECT number FROM partition

-- name: scopes
SELECT kind, user, session, space FROM partition AS p
WHERE EXISTS (SELECT 1 FROM episode AS e WHERE e.partition = p.number AND (e.expires = 0 OR e.expires > ?))
ORDER BY number

-- name: session
SELECT number FROM session WHERE partition = ? AND name = ?

-- name: session_create
INSERT INTO session (number, partition, name, episodes) VALUES (?, ?, ?, 0)

-- name: session_more
UPDATE session SET episodes = episodes + ? WHERE number = ?

-- name: session_less
UPDATE session SET episodes = episodes - ? WHERE number = ? RETURNING number, episodes

-- name: session_delete
DELETE FROM session WHERE number = ?

-- name: episode_ids_taken
SELECT id FROM episode WHERE id IN (SELECT value FROM json_each(?))

-- name: episode_by_key
SELECT key, number, id, session, type, expires, chunks FROM episode
WHERE partition = ? AND key IN (SELECT value FROM json_each(?))

-- name: episode_add
INSERT INTO episode (number, id, partition, key, type, session, created_at, updated_at, recorded_at, expires, chunks,
  metadata) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: episode_grow
UPDATE episode SET updated_at = ?, chunks = ? WHERE number = ?

-- name: episode_touch
UPDATE episode SET updated_at = ? WHERE number = ?

-- name: episode_numbers
SELECT number FROM episode
WHERE partition = ? AND id IN (SELECT value FROM json_each(?))

-- name: episode_all
SELECT number FROM episode WHERE partition = ?

-- name: episode_expired
SELECT partition, number FROM episode WHERE expires > 0 AND expires <= ?

-- name: episode_beyond
SELECT number FROM episode WHERE partition = ? ORDER BY created_at DESC, number DESC LIMIT -1 OFFSET ?

-- name: episode_older
SELECT number FROM episode WHERE partition = ? AND created_at < ?

-- name: episode_oldest
SELECT partition, number FROM episode WHERE number NOT IN (SELECT value FROM json_each(?))
ORDER BY created_at, number LIMIT ?

-- name: episode_delete
DELETE FROM episode WHERE number IN (SELECT value FROM json_each(?)) RETURNING session

-- name: headers
SELECT e.number, e.id, p.kind, p.user, p.session, p.space, e.type, e.metadata, e.created_at, e.updated_at, e.recorded_at,
  s.name, e.expires, e.chunks,
  (SELECT json_group_array(t.tag ORDER BY t.position) FROM tag AS t WHERE t.episode = e.number)
FROM episode AS e JOIN partition AS p ON p.number = e.partition LEFT JOIN session AS s ON s.number = e.session
WHERE e.number IN (SELECT value FROM json_each(?))

-- name: header_of
SELECT number FROM episode WHERE id = ? AND partition = ? AND (expires = 0 OR expires > ?)

-- name: recent
SELECT e.created_at, e.number FROM episode AS e
WHERE e.partition = :partition AND (e.expires = 0 OR e.expires > :now)
  AND (:types IS NULL OR e.type IN (SELECT value FROM json_each(:types)))
  AND (:wanted = 0 OR :wanted = (
    SELECT count(*) FROM tag AS t WHERE t.episode = e.number AND t.tag IN (SELECT value FROM json_each(:tags))))
ORDER BY e.created_at DESC, e.number DESC LIMIT :limit

-- name: counts
SELECT type, count(*), sum(chunks), min(created_at), max(created_at) FROM episode
WHERE partition = ? AND (expires = 0 OR expires > ?) GROUP BY type

-- name: tag_add
INSERT OR IGNORE INTO tag (partition, tag, episode, position) VALUES (?, ?, ?, ?)

-- name: tag_remove
DELETE FROM tag WHERE partition = ? AND tag = ? AND episode = ?

-- name: tag_last
SELECT coalesce(max(position), -1) FROM tag WHERE episode = ?

-- name: tag_delete
DELETE FROM tag WHERE (partition, tag, episode) IN (
  SELECT partition, tag, episode FROM tag WHERE episode IN (SELECT value FROM json_each(?)))

-- name: tags
SELECT DISTINCT t.tag FROM tag AS t WHERE t.partition = :partition AND EXISTS (
  SELECT 1 FROM episode AS e WHERE e.number = t.episode AND (e.expires = 0 OR e.expires > :now))

-- name: tagged
SELECT m.place FROM memory AS m WHERE m.episode IN (
  SELECT t.episode FROM tag AS t JOIN episode AS e ON e.number = t.episode
  WHERE t.partition = :partition AND t.tag IN (SELECT value FROM json_each(:tags))
    AND (e.expires = 0 OR e.expires > :now)
  GROUP BY t.episode HAVING count(*) = :wanted)
ORDER BY m.place

-- name: tagged_any
SELECT m.place FROM episode AS e JOIN memory AS m ON m.episode = e.number
WHERE e.partition = :partition AND (e.expires = 0 OR e.expires > :now) ORDER BY m.place

-- name: memory_add
INSERT INTO memory (place, episode, position, id, part, speaker, role, source_id, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: memory_parts
SELECT episode, part FROM memory WHERE episode IN (SELECT value FROM json_each(?))

-- name: memory_parts_taken
SELECT DISTINCT m.episode, m.part FROM json_each(?) AS e CROSS JOIN memory AS m
WHERE m.episode = e.value ->> 0 AND m.part = e.value ->> 1

-- name: memory_of
SELECT m.episode, m.position, m.id, m.speaker, m.role, m.source_id, m.text, i.timestamp, i.importance, i.coordinate, a.at
FROM memory AS m JOIN memory_index AS i ON i.place = m.place LEFT JOIN access AS a ON a.place = m.place
WHERE m.episode IN (SELECT value FROM json_each(?)) ORDER BY m.place

-- name: vectors_of
SELECT i.vector FROM memory AS m JOIN memory_index AS i ON i.place = m.place WHERE m.episode = ? ORDER BY m.place

-- name: memory_read
SELECT m.place, m.episode, m.position, m.id, m.speaker, m.role, m.source_id, m.text, i.timestamp, i.importance,
  i.coordinate, a.at
FROM memory AS m JOIN memory_index AS i ON i.place = m.place LEFT JOIN access AS a ON a.place = m.place
WHERE m.place IN (SELECT value FROM json_each(?)) AND (i.expires = 0 OR i.expires > ?)

-- name: memory_forget
SELECT m.place, i.term_ids, m.text FROM memory AS m JOIN memory_index AS i ON i.place = m.place
WHERE m.episode IN (SELECT value FROM json_each(?))

-- name: memory_delete
DELETE FROM memory WHERE place = ?

-- name: index_add
INSERT INTO memory_index (place, episode, session, timestamp, expires, importance, type, role, coordinate, term_ids,
  term_counts, vector, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: index_delete
DELETE FROM memory_index WHERE place = ?

-- name: index_range
SELECT place & 0xFFFFFFFFFF, episode, session, timestamp, expires, importance, type, role, coordinate, term_ids,
  term_counts, vector, tokens
FROM memory_index WHERE place BETWEEN ? AND ? ORDER BY place

-- name: access_range
SELECT place & 0xFFFFFFFFFF, at FROM access WHERE place BETWEEN ? AND ?

-- name: access_set
INSERT INTO access (place, at) SELECT i.place, :at FROM memory_index AS i
WHERE i.place IN (SELECT value FROM json_each(:places))
ON CONFLICT (place) DO UPDATE SET at = max(at, excluded.at) RETURNING place & 0xFFFFFFFFFF

-- name: access_delete
DELETE FROM access WHERE place = ?

-- name: term_stats
SELECT text, number, documents FROM term WHERE text IN (SELECT value FROM json_each(?))

-- name: term_texts
SELECT number, text FROM term WHERE number IN (SELECT value FROM json_each(?))

-- name: documents
SELECT documents FROM store

-- name: term_add
INSERT INTO term (number, documents, text) VALUES (?, ?, ?)

-- name: term_more
UPDATE term SET documents = documents + ? WHERE number = ?

-- name: term_less
UPDATE term SET documents = documents - ? WHERE number = ?

-- name: term_delete
DELETE FROM term WHERE number IN (SELECT value FROM json_each(?)) AND documents <= 0 RETURNING text

-- name: change_add
INSERT INTO change (partition, version, first, last) VALUES (?, ?, ?, ?)

-- name: change_prune
DELETE FROM change WHERE partition = ? AND version <= ?

-- name: change_delete
DELETE FROM change WHERE partition = ?

-- name: change_since
SELECT first, last FROM change WHERE partition = ? AND version > ?

-- name: some_texts
SELECT text FROM (SELECT text FROM memory LIMIT ?1) UNION ALL SELECT text FROM (SELECT text FROM term LIMIT ?1)

-- name: wipe
DELETE FROM partition; DELETE FROM session; DELETE FROM episode; DELETE FROM tag; DELETE FROM memory;
DELETE FROM memory_index; DELETE FROM access; DELETE FROM term; DELETE FROM change;
UPDATE store SET episodes = 0, documents = 0

-- name: vacuum
VACUUM

-- name: truncate_wal
PRAGMA wal_checkpoint(TRUNCATE)

-- name: schema
SELECT name FROM sqlite_schema

-- name: roots
SELECT rootpage FROM sqlite_schema WHERE rootpage > 1

-- name: live_strings
SELECT text FROM memory UNION ALL SELECT text FROM term UNION ALL SELECT tag FROM tag
UNION ALL SELECT concat_ws(char(10), id, part, speaker, role, source_id) FROM memory
UNION ALL SELECT concat_ws(char(10), id, key, metadata) FROM episode
UNION ALL SELECT name FROM session UNION ALL SELECT concat_ws(char(10), user, session, space) FROM partition
UNION ALL SELECT concat_ws(char(10), agent, model, codec) FROM store UNION ALL SELECT sql FROM sqlite_schema

-- name: integrity_check
PRAGMA integrity_check(20)

-- name: quick_check
PRAGMA quick_check(20)

-- name: journal_mode
PRAGMA journal_mode

-- name: check_rows
SELECT (SELECT count(*) FROM memory),
  (SELECT count(*) FROM memory AS m WHERE NOT EXISTS (SELECT 1 FROM memory_index AS i WHERE i.place = m.place)),
  (SELECT count(*) FROM memory_index AS i WHERE NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.place = i.place)),
  documents, (SELECT count(*) FROM episode), episodes
FROM store

-- name: check_term_ids
SELECT term_ids FROM memory_index

-- name: check_terms
SELECT number, documents FROM term

-- name: check_episodes
SELECT
  (SELECT count(*) FROM episode AS e WHERE e.chunks <> (SELECT count(*) FROM memory AS m WHERE m.episode = e.number)),
  (SELECT count(*) FROM tag AS t WHERE NOT EXISTS (
    SELECT 1 FROM episode AS e WHERE e.number = t.episode AND e.partition = t.partition)),
  (SELECT count(*) FROM session AS s LEFT JOIN (
    SELECT session, count(*) AS counted FROM episode GROUP BY session) AS e ON e.session = s.number
   WHERE s.episodes IS NOT e.counted),
  (SELECT count(*) FROM partition AS p WHERE p.episodes <> (
    SELECT count(*) FROM episode AS e WHERE e.partition = p.number))
