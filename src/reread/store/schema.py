"""The library's tables, as an ordered list of named migrations.

A migration that was released is never changed; a new one is appended. Each is applied once and
recorded by name, so a library made by an older version opens under a newer one.
"""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, str], ...] = (
    (
        "001-documents-calls-memories",
        """
        CREATE TABLE documents (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            text TEXT NOT NULL,
            paragraphs TEXT NOT NULL,
            origin TEXT NOT NULL,
            media_type TEXT NOT NULL,
            coverage TEXT NOT NULL,
            bibliography TEXT NOT NULL,
            words INTEGER NOT NULL,
            added_at TEXT NOT NULL
        );
        CREATE TABLE aliases (
            origin TEXT PRIMARY KEY,
            document_id TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            at TEXT NOT NULL
        );
        CREATE TABLE calls (
            key TEXT PRIMARY KEY,
            document_id TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            model TEXT NOT NULL,
            prompt TEXT NOT NULL,
            text TEXT NOT NULL,
            prompt_tokens INTEGER,
            completion_tokens INTEGER,
            seconds REAL NOT NULL,
            at TEXT NOT NULL
        );
        CREATE INDEX calls_by_document ON calls(document_id);
        CREATE TABLE memories (
            key TEXT PRIMARY KEY,
            document_id TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            model TEXT NOT NULL,
            settings TEXT NOT NULL,
            prompts TEXT NOT NULL,
            pages TEXT NOT NULL,
            gists TEXT NOT NULL,
            fallbacks TEXT NOT NULL,
            usage TEXT NOT NULL,
            at TEXT NOT NULL
        );
        CREATE INDEX memories_by_document ON memories(document_id);
        """,
    ),
    (
        "002-versions",
        """
        CREATE TABLE versions (
            origin TEXT NOT NULL,
            document_id TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            at TEXT NOT NULL,
            PRIMARY KEY (origin, document_id)
        );
        CREATE INDEX versions_by_document ON versions(document_id);
        INSERT INTO versions SELECT origin, document_id, at FROM aliases
        """,
    ),
    (
        "003-ledger-facts",
        """
        CREATE TABLE ledger (
            document_id TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            work TEXT NOT NULL,
            question TEXT,
            model TEXT NOT NULL,
            calls INTEGER NOT NULL,
            cached_calls INTEGER NOT NULL,
            prompt_tokens INTEGER NOT NULL,
            completion_tokens INTEGER NOT NULL,
            cached_tokens INTEGER NOT NULL,
            reasoning_tokens INTEGER NOT NULL,
            words_in INTEGER NOT NULL,
            words_out INTEGER NOT NULL,
            seconds REAL NOT NULL,
            cost REAL,
            at TEXT NOT NULL
        );
        CREATE INDEX ledger_by_document ON ledger(document_id);
        CREATE TABLE facts (
            about TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (about, name)
        )
        """,
    ),
    (
        "004-shared-calls",
        """
        CREATE TABLE shared (
            key TEXT NOT NULL REFERENCES calls(key) ON DELETE CASCADE,
            document_id TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            PRIMARY KEY (key, document_id)
        );
        CREATE INDEX shared_by_document ON shared(document_id)
        """,
    ),
    ("005-levels", "ALTER TABLE memories ADD COLUMN levels TEXT NOT NULL DEFAULT '[]'"),
    ("006-warnings", "ALTER TABLE memories ADD COLUMN warnings TEXT NOT NULL DEFAULT '[]'"),
    (
        "010-thoughts",
        # Whatever an item rests on has a smaller number than itself, and numbers are never used
        # again, so no item can rest on itself. A page's text stays in its document alone.
        """
        CREATE TABLE items (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            kind TEXT NOT NULL CHECK (kind IN ('page', 'gist', 'thought')),
            level REAL NOT NULL,
            text TEXT NOT NULL,
            lost INTEGER NOT NULL DEFAULT 0,
            about TEXT NOT NULL,
            at TEXT NOT NULL
        );
        CREATE INDEX items_by_kind ON items(kind);
        CREATE TABLE places (
            item INTEGER NOT NULL REFERENCES items(number) ON DELETE CASCADE,
            document_id TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            start INTEGER NOT NULL,
            end INTEGER NOT NULL,
            PRIMARY KEY (item, document_id, start)
        ) WITHOUT ROWID;
        CREATE INDEX places_by_document ON places(document_id);
        CREATE TABLE sources (
            item INTEGER NOT NULL REFERENCES items(number) ON DELETE CASCADE,
            source INTEGER NOT NULL REFERENCES items(number) ON DELETE CASCADE,
            PRIMARY KEY (item, source),
            CHECK (source < item)
        ) WITHOUT ROWID;
        CREATE INDEX sources_by_source ON sources(source);
        CREATE TABLE roots (
            item INTEGER NOT NULL REFERENCES items(number) ON DELETE CASCADE,
            page INTEGER NOT NULL REFERENCES items(number) ON DELETE CASCADE,
            PRIMARY KEY (item, page)
        ) WITHOUT ROWID;
        CREATE INDEX roots_by_page ON roots(page);
        CREATE TABLE embedders (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            calibration TEXT
        );
        CREATE TABLE vectors (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            item INTEGER NOT NULL REFERENCES items(number) ON DELETE CASCADE,
            embedder INTEGER NOT NULL REFERENCES embedders(number) ON DELETE CASCADE,
            part INTEGER NOT NULL,
            vector BLOB NOT NULL,
            UNIQUE (item, embedder, part)
        );
        CREATE TABLE said_in (
            item INTEGER NOT NULL REFERENCES items(number) ON DELETE CASCADE,
            key TEXT NOT NULL,
            PRIMARY KEY (item, key)
        ) WITHOUT ROWID;
        CREATE TABLE asked (
            key TEXT PRIMARY KEY,
            document_id TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            question TEXT NOT NULL,
            used TEXT NOT NULL,
            kept TEXT,
            at TEXT NOT NULL
        );
        CREATE INDEX asked_by_document ON asked(document_id);
        CREATE TABLE comparisons (
            id TEXT PRIMARY KEY,
            document_id TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            record TEXT NOT NULL,
            vote TEXT,
            at TEXT NOT NULL
        )
        """,
    ),
    (
        "011-about-several",
        # A question of several documents: `name` is its key in `asked`, the id of a comparison, or
        # its work in the ledger.
        """
        CREATE TABLE about (
            name TEXT NOT NULL,
            document_id TEXT NOT NULL REFERENCES documents(id) ON DELETE CASCADE,
            PRIMARY KEY (name, document_id)
        ) WITHOUT ROWID;
        CREATE INDEX about_by_document ON about(document_id);
        CREATE INDEX said_in_by_key ON said_in(key)
        """,
    ),
)
