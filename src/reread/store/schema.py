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
    ("005-levels", "ALTER TABLE memories ADD COLUMN levels TEXT NOT NULL DEFAULT '[]'"),
    ("006-warnings", "ALTER TABLE memories ADD COLUMN warnings TEXT NOT NULL DEFAULT '[]'"),
)
