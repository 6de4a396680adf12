"""Every language model behaves the same, and every server's refusal is understood."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from command import NOWHERE
from endpoint import MODEL, Endpoint, Fault

from reread.errors import (
    ContextExceeded,
    MalformedReply,
    ModelRefused,
    ModelUnavailable,
    SettingsError,
)
from reread.llm import choose
from reread.llm.compatible import Compatible
from reread.llm.reasoning import without_reasoning
from reread.llm.scripted import Scripted
from reread.llm.wrappers import Retrying, validated
from reread.ports import Model
from reread.text import estimate_tokens
from reread.types import Call, PromptId

TEXT = "Anna found the map. " * 20
SCHEMA = {"type": "object", "properties": {"pages": {"type": "array"}}}


def a_call(**changes: Any) -> Call:
    call = Call(
        prompt=PromptId(name="gist-page", version=1, digest="d"),
        system="You are a careful reader.",
        user=f"{TEXT}\n\n----\nShorten the passage above.",
        parse=lambda completion: completion.text.upper(),
        max_tokens=200,
    )
    return replace(call, **changes)


def behind(endpoint: Endpoint, **changes: Any) -> Compatible:
    values: dict[str, Any] = {
        "name": f"openai:{MODEL}",
        "model": MODEL,
        "base_url": endpoint.base_url,
        "api_key": "secret-key-of-mine",
        "timeout_s": 10.0,
    }
    return Compatible(**(values | changes))


# -- the same for every model -------------------------------------------------------------------


@pytest.fixture(params=["scripted", "endpoint"])
def model(request: pytest.FixtureRequest) -> Iterator[Model]:
    if request.param == "scripted":
        yield Scripted()
        return
    with Endpoint() as endpoint:
        yield behind(endpoint)


def test_a_model_has_a_name_a_window_and_room_for_calls(model: Model) -> None:
    assert ":" in model.name
    assert model.capabilities.context_tokens == 8_192
    assert model.capabilities.workers >= 1
    assert model.capabilities.profile in ("default", "paper", "embedded")


def test_a_reply_comes_with_what_it_took(model: Model) -> None:
    done = model.complete(a_call())
    assert done.text.startswith("Anna found the map.")
    assert done.finish_reason == "stop"
    assert not done.cached
    assert done.prompt_tokens is not None
    assert done.completion_tokens is not None
    assert done.prompt_tokens > done.completion_tokens > 0
    assert validated(a_call(), done).value == done.text.upper()


def test_the_same_call_gets_the_same_reply(model: Model) -> None:
    assert model.complete(a_call()).text == model.complete(a_call()).text


def test_several_threads_may_call_at_once(model: Model) -> None:
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda _: model.complete(a_call()).text, range(16)))
    assert len(set(texts)) == 1


def test_tokens_are_counted_with_more_for_more(model: Model) -> None:
    assert 0 < model.count_tokens("word") < model.count_tokens("word " * 50)
    assert model.count_tokens("") <= 1


# -- failures are told apart --------------------------------------------------------------------


def failure(fault: Fault, **changes: Any) -> Exception:
    with Endpoint(faults=[fault] * 4) as endpoint, pytest.raises(Exception) as caught:  # noqa: PT011
        behind(endpoint, **changes).complete(a_call())
    return caught.value


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        (Fault(status=401, message="Incorrect API key"), ModelRefused, "OPENAI_API_KEY"),
        (Fault(status=403, message="no access"), ModelRefused, "OPENAI_API_KEY"),
        (Fault(status=402, message="Insufficient Balance"), ModelRefused, "quota"),
        (Fault(status=404, message="no model"), ModelRefused, f"It offers {MODEL}"),
        (Fault(status=400, message="reader is not a valid model ID"), ModelRefused, "--model"),
        (Fault(status=404, body={"error": "model 'x' not found"}), ModelRefused, "x' not found"),
        (Fault(status=429, message="slow down"), ModelUnavailable, "429"),
        (Fault(status=429, message="m", code="insufficient_quota"), ModelRefused, "quota"),
        (Fault(status=429, message="You exceeded your current quota"), ModelRefused, "quota"),
        (Fault(status=500, message="oops"), ModelUnavailable, "oops"),
        (Fault(status=503, message="loading model"), ModelUnavailable, "loading"),
        (Fault(status=418, message="teapot"), ModelRefused, "teapot"),
        (Fault(status=422, body={"detail": [{"msg": "field x"}]}), ModelRefused, "field x"),
        (
            Fault(status=502, text="<html><title>Bad Gateway</title></html>"),
            ModelUnavailable,
            "Bad Gateway",
        ),
        (Fault(status=307, headers={"Location": "http://elsewhere/"}), ModelRefused, "elsewhere"),
        (
            Fault(status=200, text="<html>hello</html>", content_type="text/html"),
            ModelRefused,
            "/v1",
        ),
        (Fault(status=200, body={"choices": []}), ModelUnavailable, "without any content"),
        (Fault(status=200, body={"error": {"message": "upstream"}}), ModelUnavailable, "upstream"),
        (Fault(status=200, body=[1, 2]), ModelRefused, "/v1"),
        (Fault(status=200, text="{not json"), ModelUnavailable, ""),
        (Fault(breaks=True), ModelUnavailable, "broke"),
        (Fault(breaks=True, half=True), ModelUnavailable, "broke"),
    ],
    ids=lambda value: None if isinstance(value, type | str) else f"{value.status} {value.message}",
)
def test_failures_have_their_kind_and_say_how_to_mend_them(
    fault: Fault, kind: type[Exception], said: str
) -> None:
    error = failure(fault)
    assert type(error) is kind
    assert said in error.line  # type: ignore[attr-defined]
    assert "\n" not in error.line  # type: ignore[attr-defined]


def test_the_key_is_in_no_message() -> None:
    error = failure(Fault(status=401, message="wrong key: secret-key-of-mine"))
    assert "secret-key-of-mine" not in f"{error!r} {error}"


def test_a_refused_connection_is_told_from_a_slow_one() -> None:
    with pytest.raises(ModelUnavailable) as refused:
        Compatible(name="n", model=MODEL, base_url=NOWHERE, context_tokens=8_192).complete(a_call())
    assert not refused.value.answered
    assert "OPENAI_BASE_URL" in refused.value.line
    slow = failure(Fault(hangs_s=1.0), timeout_s=0.03, context_tokens=8_192)
    assert isinstance(slow, ModelUnavailable)
    assert slow.answered
    assert "--timeout" in slow.line


def test_the_window_is_not_guessed_when_nothing_answers() -> None:
    with pytest.raises(ModelUnavailable, match="no model server answers"):
        _ = Compatible(name="n", model=MODEL, base_url=NOWHERE).capabilities
    with Endpoint(listing=503) as endpoint, pytest.raises(ModelUnavailable, match="503"):
        _ = behind(endpoint).capabilities


def test_a_server_that_is_still_loading_is_waited_for_when_its_window_is_asked() -> None:
    with Endpoint(listing=503) as endpoint:

        def loaded(seconds: float) -> None:
            endpoint.listing = 200

        model = Retrying(behind(endpoint), sleep=loaded)
        assert model.capabilities.context_tokens == 8_192


@pytest.mark.parametrize(
    ("headers", "message", "pause_s"),
    [
        ({"Retry-After": "7"}, "slow down", 7.0),
        ({"Retry-After-Ms": "1500"}, "slow down", 1.5),
        ({}, "Rate limit reached. Please try again in 1m2.5s.", 62.5),
        ({}, "Please try again in 6ms. Add a payment method at the billing page.", 0.006),
        (
            {},
            "Requests have exceeded token rate limit of your pricing tier. Please retry after 20 "
            "seconds. See quotaincrease.",
            20.0,
        ),
        ({}, "Rate limit reached for tokens per minute. Visit settings/billing.", None),
    ],
)
def test_a_rate_limit_passes_and_says_when(
    headers: dict[str, str], message: str, pause_s: float | None
) -> None:
    error = failure(Fault(status=429, message=message, headers=headers))
    assert isinstance(error, ModelUnavailable)
    assert error.retry_after_s == (None if pause_s is None else pytest.approx(pause_s))


def test_a_pause_until_a_date_is_understood() -> None:
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 30))
    error = failure(Fault(status=503, headers={"Retry-After": date}))
    assert isinstance(error, ModelUnavailable)
    assert 25 < (error.retry_after_s or 0) <= 31


def test_a_pause_of_hours_is_not_waited_for() -> None:
    error = failure(Fault(status=429, message="daily limit", headers={"Retry-After": "7200"}))
    assert isinstance(error, ModelRefused)


def test_retrying_keeps_the_pause_and_sends_again() -> None:
    pauses: list[float] = []
    faults = [
        Fault(breaks=True),
        Fault(status=429, headers={"Retry-After": "3"}),
        Fault(status=500),
    ]
    with Endpoint(faults=faults) as endpoint:
        done = Retrying(behind(endpoint), sleep=pauses.append).complete(a_call())
        assert done.text
        assert len(endpoint.seen) == 4
    assert pauses[1] >= 3
    assert len(pauses) == 3


def test_a_kept_connection_that_was_closed_costs_neither_a_pause_nor_the_call() -> None:
    with Endpoint() as endpoint:
        model = behind(endpoint)
        model.complete(a_call())
        for _ in range(3):
            endpoint.faults = [Fault(breaks=True)]
            assert model.complete(a_call()).text
        assert len(endpoint.seen) == 7
        endpoint.faults = [Fault(breaks=True), Fault(breaks=True)]  # the second on a new one
        with pytest.raises(ModelUnavailable, match="broke"):
            model.complete(a_call())


def test_a_kept_connection_that_breaks_while_the_server_works_is_an_error() -> None:
    with Endpoint() as endpoint:
        model = behind(endpoint)
        model.complete(a_call())
        endpoint.faults = [Fault(breaks=True, hangs_s=1.2)]
        with pytest.raises(ModelUnavailable, match="broke"):
            model.complete(a_call())
        assert len(endpoint.seen) == 2


@pytest.mark.parametrize("status", [401, 402, 403, 404])
def test_what_waiting_cannot_mend_is_sent_once(status: int) -> None:
    with Endpoint(faults=[Fault(status=status)] * 5) as endpoint:
        with pytest.raises(ModelRefused):
            Retrying(behind(endpoint), sleep=lambda _: None).complete(a_call())
        assert len(endpoint.seen) == 1


# -- the window ---------------------------------------------------------------------------------

TOO_LONG = [
    # OpenAI, vLLM and those that copied them
    (
        400,
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens "
        "(4400 in the messages, 600 in the completion). Please reduce the length of the messages.",
        4096,
    ),
    (
        400,
        "'max_tokens' or 'max_completion_tokens' is too large: 600. This model's maximum context "
        "length is 4096 tokens and your request has 4000 input tokens (600 > 4096 - 4000).",
        4096,
    ),
    # llama.cpp, old and new
    (400, "the request exceeds the available context size. try increasing it", None),
    (400, "request (5000 tokens) exceeds the available context size (4096 tokens)", 4096),
    # Ollama
    (400, "the input length exceeds the context length", None),
    # TGI
    (
        422,
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4400 "
        "`inputs` tokens and 600 `max_new_tokens`",
        4096,
    ),
    (422, "Input validation error: `inputs` must have less than 4096 tokens. Given: 4400", 4096),
    # gateways to Anthropic, Mistral, Google, xAI, SGLang, LM Studio, Bedrock
    (400, "prompt is too long: 208310 tokens > 4096 maximum", 4096),
    (
        400,
        "input length and `max_tokens` exceed context limit: 3900 + 600 > 4096, decrease input "
        "length or `max_tokens` and try again",
        4096,
    ),
    (
        400,
        "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 4096 maximum "
        "context length",
        4096,
    ),
    (
        400,
        "The input token count (12000) exceeds the maximum number of tokens allowed (4096).",
        4096,
    ),
    (
        400,
        "This model's maximum prompt length is 4,096 but the request contains 5378 tokens.",
        4096,
    ),
    (400, "The input (5000 tokens) is longer than the model's context length (4096 tokens).", 4096),
    (
        400,
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is "
        "loaded with context length of only 4096 tokens, which is not enough.",
        4096,
    ),
    (400, "Input is too long for requested model.", None),
    (413, "payload too big", None),
    # Cohere, OpenRouter, Cerebras, Fireworks, Azure, TabbyAPI, llama-cpp-python, DashScope, Zhipu
    (
        400,
        "too many tokens: total number of tokens in the prompt cannot exceed 4096 - received 5378. "
        "Try using a shorter prompt, or enable prompt truncating.",
        4096,
    ),
    (
        400,
        "This endpoint's maximum context length is 4096 tokens. However, you requested about 5378 "
        "tokens (4778 of text input, 600 in the output). Please reduce the length of either one.",
        4096,
    ),
    (
        400,
        "Please reduce the length of the messages or completion. Current length is 5378 while "
        "limit is 4096",
        4096,
    ),
    (400, "The prompt is too long: 5378, model maximum context length: 4096", 4096),
    (
        400,
        "This model's maximum context length is 4096 tokens. However, your messages resulted in "
        "5378 tokens.",
        4096,
    ),
    (400, "Prompt length 5378 is greater than max_seq_len 4096", 4096),
    (400, "Requested tokens (5378) exceed context window of 4096", 4096),
    (400, "Range of input length should be [1, 4096]", 4096),
    (400, "Prompt exceeds max length", None),
    # Moonshot, GitHub Models, OpenAI's newer models, Groq, vLLM, Ollama
    (400, "Invalid request: Your request exceeded model token limit: 4096", 4096),
    (413, "Request body too large for gpt-4o model. Max size: 4096 tokens.", 4096),
    (400, "Your input exceeds the context window of this model. Please adjust your input.", None),
    (400, "Please reduce the length of the messages or completion.", None),
    (
        400,
        "The decoder prompt (length 5378) is longer than the maximum model length of 4096. Make "
        "sure that `max_model_len` is no smaller than the number of text tokens.",
        4096,
    ),
    (400, "max_tokens must be at least 1, got -1282.", None),
    (400, "prompt too long; exceeded max context length by 1282 tokens", None),
    (500, "input is too large to process. increase the physical batch size", None),
    (429, "Request too large for gpt on tokens per min (TPM): Limit 4096, Requested 5000.", 4096),
]


@pytest.mark.parametrize(("status", "message", "limit"), TOO_LONG, ids=lambda v: str(v)[:40])
def test_a_prompt_too_long_is_understood_in_any_wording(
    status: int, message: str, limit: int | None
) -> None:
    with Endpoint(faults=[Fault(status=status, message=message)]) as endpoint:
        model = behind(endpoint)
        assert model.capabilities.context_tokens == 8_192
        with pytest.raises(ContextExceeded) as caught:
            model.complete(a_call())
        assert "--context-tokens" in caught.value.line
        assert caught.value.retryable == (limit is not None)
        assert model.capabilities.context_tokens == (limit or 8_192)
        model.complete(a_call())
        assert "max_tokens" in endpoint.seen[-1].body  # nothing was taken for a refused parameter


def test_the_field_that_llama_cpp_names_the_window_in() -> None:
    error = {"message": "exceeds the available context size", "n_ctx": 2048, "code": 400}
    with Endpoint(faults=[Fault(status=400, body={"error": error})]) as endpoint:
        model = behind(endpoint)
        with pytest.raises(ContextExceeded):
            model.complete(a_call())
        assert model.capabilities.context_tokens == 2_048


def test_text_that_takes_more_tokens_than_estimated_is_counted_higher_afterwards() -> None:
    message = "This model's maximum context length is 8192 tokens, you requested 9000"
    with Endpoint(faults=[Fault(status=400, message=message)]) as endpoint:
        model = behind(endpoint)
        before = model.count_tokens(TEXT)
        with pytest.raises(ContextExceeded) as caught:
            model.complete(a_call())
        assert caught.value.retryable
        assert model.count_tokens(TEXT) > before
        assert model.capabilities.context_tokens == 8_192


def test_a_prompt_that_was_cut_silently_is_noticed() -> None:
    with Endpoint(cut=2_048) as endpoint:
        model = behind(endpoint)
        long = a_call(user="word " * 4_000)
        with pytest.raises(ContextExceeded, match="cuts prompts silently") as caught:
            model.complete(long)
        assert "OLLAMA_CONTEXT_LENGTH" in caught.value.line
        model.complete(a_call())


@pytest.mark.parametrize("usage", [True, False])
def test_servers_that_count_nothing_are_taken_as_they_are(usage: bool) -> None:
    with Endpoint(usage=usage, cut=0) as endpoint:
        done = behind(endpoint).complete(a_call(user="word " * 4_000))
        assert done.prompt_tokens is None


def test_a_window_said_by_the_user_is_not_asked_for() -> None:
    with Endpoint(window=100) as endpoint:
        assert behind(endpoint, context_tokens=5_000).capabilities.context_tokens == 5_000
        assert not endpoint.paths


# -- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refused", "absent", "present"),
    [
        (["max_tokens"], {"max_tokens"}, {"max_completion_tokens", "temperature"}),
        (["max_tokens", "max_completion_tokens"], {"max_tokens", "max_completion_tokens"}, set()),
        (["temperature"], {"temperature"}, {"max_tokens", "response_format"}),
        (["response_format"], {"response_format"}, {"max_tokens", "temperature"}),
        (
            ["max_tokens", "temperature", "response_format"],
            {"max_tokens", "temperature", "response_format"},
            {"max_completion_tokens"},
        ),
    ],
)
def test_a_refused_parameter_is_changed_once_and_remembered(
    refused: list[str], absent: set[str], present: set[str]
) -> None:
    with Endpoint(refuses=refused) as endpoint:
        model = behind(endpoint)
        model.complete(a_call(schema=SCHEMA))
        assert len(endpoint.seen) == 1 + len(refused)
        model.complete(a_call(schema=SCHEMA))
        assert len(endpoint.seen) == 2 + len(refused)
        body = endpoint.seen[-1].body
        assert not absent & body.keys()
        assert present <= body.keys()


def test_chances_are_asked_for_where_words_are_weighed_and_given_up_where_refused() -> None:
    weighing = a_call(weighs=("yes", "no"))
    with Endpoint() as endpoint:
        behind(endpoint).complete(a_call())
        behind(endpoint).complete(weighing)
        asked = [seen.body.get("logprobs") for seen in endpoint.seen]
        assert (asked, endpoint.seen[-1].body["top_logprobs"]) == ([None, True], 10)
    with Endpoint(refuses=["logprobs", "top_logprobs"]) as endpoint:
        behind(endpoint).complete(weighing)
        assert len(endpoint.seen) == 3
        assert not {"logprobs", "top_logprobs"} & endpoint.seen[-1].body.keys()


@pytest.mark.parametrize(
    ("status", "message", "parameter"),
    [
        (
            400,
            "Invalid schema for response_format 'gist': schema must have a type",
            "response_format",
        ),
        (400, "This response_format type is unavailable now", "response_format"),
        (
            400,
            "The provided JSON schema contains features not supported by xgrammar",
            "response_format",
        ),
        (400, "Unsupported value: 'temperature' does not support 0 with this model", "temperature"),
        (422, "Extra inputs are not permitted: max_tokens", "max_tokens"),
    ],
)
def test_other_wordings_of_a_refused_parameter(status: int, message: str, parameter: str) -> None:
    with Endpoint(faults=[Fault(status=status, message=message)]) as endpoint:
        behind(endpoint).complete(a_call(schema=SCHEMA))
        assert parameter in endpoint.seen[0].body
        assert parameter not in endpoint.seen[1].body


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "System role not supported"),
        (500, "Jinja Exception: System role not supported"),
        (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
        (400, "Developer instruction is not enabled for models/gemma-3"),
    ],
)
def test_a_refused_system_role_moves_into_the_message(status: int, message: str) -> None:
    with Endpoint(faults=[Fault(status=status, message=message)]) as endpoint:
        behind(endpoint).complete(a_call())
        (only,) = endpoint.seen[1].body["messages"]
        assert only["role"] == "user"
        assert only["content"].startswith("You are a careful reader.")


def test_threads_that_learn_the_same_refusal_at_once_leave_out_nothing_else() -> None:
    gate = threading.Barrier(6)

    def reply(phase: str, user: str) -> str:
        return "A short reply."

    with Endpoint(refuses=["max_tokens"], delay_s=0.1, reply=reply) as endpoint:
        model = behind(endpoint)

        def ask(number: int) -> None:
            gate.wait()
            model.complete(a_call(user=f"{number} {TEXT}"))

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(ask, range(6)))
        model.complete(a_call())
        assert "max_completion_tokens" in endpoint.seen[-1].body


# -- replies ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<think>hm, let me see</think>The answer.", "The answer."),
        ("\n<think>\n\n</think>\n\nThe answer.", "The answer."),
        ("<thinking>hm</thinking>\nThe answer.", "The answer."),
        ("let me see\n</think>\n\nThe answer.", "The answer."),
        ("<think>never closed", ""),
        ("The tag <think> opens reasoning.", "The tag <think> opens reasoning."),
        ("It has <think>a</think>\nand more.", "It has <think>a</think>\nand more."),
        ("The tag </think> closes it.", "The tag </think> closes it."),
        ("plain", "plain"),
    ],
)
def test_reasoning_is_removed_from_the_head_only(text: str, kept: str) -> None:
    assert without_reasoning(text) == kept


def test_a_reply_cut_at_its_length_is_not_taken() -> None:
    body = {
        "choices": [{"index": 0, "message": {"content": None}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 200, "total_tokens": 209},
    }
    with Endpoint(faults=[Fault(status=200, body=body)]) as endpoint:
        done = behind(endpoint).complete(a_call())
    assert done.text == ""
    with pytest.raises(MalformedReply, match="length"):
        validated(a_call(), done)


def test_lone_surrogates_and_odd_text_reach_the_endpoint_and_come_back() -> None:
    with Endpoint(reply=lambda phase, user: "caf\u00e9 \U0001f600 \ud83d") as endpoint:
        assert behind(endpoint).complete(a_call()).text.startswith("caf\u00e9 \U0001f600")


def test_the_estimate_grows_with_every_script() -> None:
    for text in ("word " * 10, "\u6f22\u5b57" * 10, "\U0001f600" * 10, "123456" * 5):
        assert estimate_tokens(text) >= 10


# -- where things are sent ----------------------------------------------------------------------


def test_a_server_on_this_machine_is_never_reached_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    with Endpoint() as endpoint:
        assert behind(endpoint).complete(a_call()).text


@pytest.mark.parametrize(
    "address", ["localhost:8000", "ftp://x/v1", "http://", "http://[1/v1", "x"]
)
def test_an_address_that_is_none_is_refused_before_anything_is_sent(
    address: str, tmp_path: Any
) -> None:
    with Endpoint() as endpoint, pytest.raises(SettingsError, match="OPENAI_BASE_URL"):
        choose(endpoint.config(tmp_path, base_url=address))


def test_a_key_with_odd_characters_is_refused_and_a_line_end_forgiven(tmp_path: Any) -> None:
    with Endpoint(key="right-key") as endpoint:
        with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
            choose(endpoint.config(tmp_path, api_key="right\u2013key"))
        model = choose(endpoint.config(tmp_path, api_key="right-key\n"))
        assert model.complete(a_call()).text


def test_where_servers_name_their_window() -> None:
    from reread.llm import windows

    pages: dict[str, Any] = {}

    def asked(model: str) -> int | None:
        return windows.asked("http://h/v1", model, pages.get)

    assert asked("m") is None
    pages["http://h/api/v0/models"] = {"data": [{"id": "m", "loaded_context_length": 5_000}]}
    assert asked("m") == 5_000
    pages.clear()
    pages["http://h/props"] = {"default_generation_settings": {"n_ctx": 6_000}}
    assert asked("m") == 6_000
    pages.clear()
    pages["http://h/api/ps"] = {"models": [{"name": "m:latest", "context_length": 7_000}]}
    assert asked("m:latest") == 7_000
    assert asked("m") == 7_000
    assert asked("other") == windows.OLLAMA_TOKENS
    assert windows.declared([{"id": "m", "meta": {"n_ctx": 9}}], "m") == 9
    assert windows.declared([{"id": "m", "max_model_len": "9"}], "m") is None


def test_a_server_that_runs_here_is_found_and_said(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from reread.llm import found

    with Endpoint() as endpoint, Endpoint(listing=404) as other:
        ports = [("Nothing", 9), ("Other", other.port), ("Mine", endpoint.port)]
        server = found.running(ports)
        assert server == found.Found(server="Mine", base_url=endpoint.base_url, model=MODEL)
        real = found.running
        monkeypatch.setattr(found, "running", lambda: server)
        model = choose(endpoint.config(tmp_path, model=None, base_url=None, api_key="elsewhere"))
        assert model.name == f"openai:{MODEL}"
        assert model.complete(a_call()).text
        assert f"using {MODEL} of the Mine at {endpoint.base_url}" in caplog.text
    assert real(ports) is None


def test_models_that_do_not_write_here_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    from reread.llm import found

    names = ["nomic-embed-text", "gpt-oss:120b-cloud", "whisper-1", "bge-m3", "mine", "qwen3:4b"]
    pages: dict[str, Any] = {
        "http://127.0.0.1:11434/v1/models": {"data": [{"id": name} for name in names]},
        "http://127.0.0.1:11434/api/tags": {
            "models": [{"name": "mine", "remote_host": "https://elsewhere"}, {"name": "qwen3:4b"}]
        },
    }
    monkeypatch.setattr(found, "_fetch", pages.get)
    monkeypatch.setattr(found, "_listens", lambda port: True)
    server = found.running()
    assert server is not None
    assert (server.server, server.model) == ("Ollama", "qwen3:4b")


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("http://h/api/ps", {"models": [{"name": "second"}]}),
        (
            "http://h/api/v0/models",
            {
                "data": [
                    {"id": "first", "state": "not-loaded", "type": "llm"},
                    {"id": "second", "state": "loaded", "type": "llm"},
                    {"id": "third", "state": "loaded", "type": "embeddings"},
                ]
            },
        ),
    ],
    ids=["Ollama", "LM Studio"],
)
def test_a_model_that_is_loaded_comes_first(address: str, page: object) -> None:
    from reread.llm import found

    listed = {"data": [{"id": "third"}, {"id": "first"}, {"id": "second"}]}
    names = found.usable("http://h", {"http://h/v1/models": listed, address: page}.get)
    assert names[0] == "second"
    assert ("third" in names) == (address == "http://h/api/ps")
    assert found.usable("http://h", {"http://h/v1/models": listed}.get) == [
        "third",
        "first",
        "second",
    ]


def test_connections_are_kept_between_calls() -> None:
    with Endpoint() as endpoint:
        model = behind(endpoint)
        for _ in range(5):
            model.complete(a_call())
        assert len({s.peer for s in endpoint.seen}) == 1
