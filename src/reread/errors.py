"""Every failure a caller can meet, as one tree.

    Error
    ├── UsageError            the request itself cannot be carried out as written
    │   └── SettingsError     a setting is unknown, out of range or contradicts another
    ├── DocumentError         a source cannot be turned into a document
    │   ├── SourceNotFound    nothing readable stands at that path, address or id
    │   ├── UnsupportedFormat the bytes are of a kind no loader reads
    │   ├── EmptyDocument     the source holds no text
    │   ├── DamagedDocument   the format is known, the content is broken or locked
    │   ├── TooLarge          a size limit was met before the source was read whole
    │   └── FetchError        an address could not be fetched
    ├── ModelError            a language model did not give a usable reply
    │   ├── ModelUnavailable  nothing answers at the endpoint, or it is overloaded
    │   ├── ModelRefused      the endpoint refuses: key, model name, quota, request
    │   ├── ContextExceeded   the prompt is longer than the model's window
    │   ├── MalformedReply    the reply does not have the form that was asked for
    │   └── WeightsMissing    the embedded model is not on this machine
    ├── LibraryError          the library file cannot be opened, read or written
    ├── BudgetReached         a limit set by the user was met; finished work is kept
    └── Cancelled             the user stopped the work; finished work is kept

An error carries one line for people (`str(error)`), a `hint` that says how to mend it, and
`retryable`: whether the same request can succeed when it is sent again unchanged.
"""

from __future__ import annotations


class Error(Exception):
    """Base of everything `reread` raises on purpose."""

    retryable = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def line(self) -> str:
        """What is wrong and how to mend it, in one line."""
        text = f"{self.message}. {self.hint}" if self.hint else self.message
        return " ".join(text.split())


class UsageError(Error):
    """The request itself cannot be carried out as written."""


class SettingsError(UsageError):
    """A setting is unknown, out of range or contradicts another."""


class DocumentError(Error):
    """A source cannot be turned into a document."""


class SourceNotFound(DocumentError):
    """Nothing readable stands at that path, address or id."""


class UnsupportedFormat(DocumentError):
    """The bytes are of a kind that no loader reads."""


class EmptyDocument(DocumentError):
    """The source holds no text."""


class DamagedDocument(DocumentError):
    """The format is known, but the content is broken or locked."""


class TooLarge(DocumentError):
    """A size limit was met before the source was read whole."""


class FetchError(DocumentError):
    """An address could not be fetched."""


class ModelError(Error):
    """A language model did not give a usable reply."""


class ModelUnavailable(ModelError):
    """Nothing answers at the endpoint, or it is overloaded.

    `retry_after_s` is the pause the endpoint asked for, in seconds, None when it named none;
    `answered` is False when no connection came about at all; `overloaded` is True when fewer calls
    at once would help; `worked` is True when the request may have been worked on, and paid for, all
    the same.
    """

    retryable = True

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        retry_after_s: float | None = None,
        answered: bool = True,
        overloaded: bool = False,
        worked: bool = False,
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s
        self.overloaded = overloaded
        self.answered = answered
        self.worked = worked


class ModelRefused(ModelError):
    """The endpoint refuses for good: key, model name, quota or the request itself."""


class ContextExceeded(ModelError):
    """The prompt is longer than the model's window."""


class MalformedReply(ModelError):
    """The reply does not have the form that was asked for.

    `completion` is the whole reply with what it cost, once a wrapper has seen it.
    """

    def __init__(self, message: str, *, reply: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.reply = reply
        self.completion: object | None = None


class WeightsMissing(ModelError):
    """The embedded model is not on this machine."""


class LibraryError(Error):
    """The library file cannot be opened, read or written."""


class BudgetReached(Error):
    """A limit set by the user was met; finished work is kept."""


class Cancelled(Error):
    """The user stopped the work; finished work is kept."""
