"""A fake language model for tests: it listens on loopback and says what the prompt tells it to.

It implements what coding agents need of five formats, whole and streamed:

    POST …/chat/completions                                OpenAI chat completions
    POST …/responses                                       OpenAI responses
    POST …/messages, …/messages/count_tokens               Anthropic messages
    POST …/models/X:generateContent, :streamGenerateContent, :countTokens   Gemini
    POST …/api/chat, …/api/generate                        Ollama
    GET  …/models, …/models/X, …/api/tags, …/api/version   lists of models

Any prefix of the path and any key will do.  What the model says is written into the prompt:

    [[say some text]]            stream that text
    [[think some text]]          stream it as reasoning, where the format has that
    [[tool NAME {"a": 1}]]       call tool NAME with those JSON arguments
    [[&tool NAME {...}]]         the same, beside the call before it
    [[tools]]                    say the names of the tools that were offered
    [[sleep 1.5]]                wait before continuing
    [[slow 40 0.1 word]]         stream `word0 word1 …` 40 times, 0.1 s apart
    [[hang]]                     say nothing more until the client leaves or the server closes
    [[error 429 message]]        answer with that HTTP status
    [[flaky 2 429 0.5 message]]  answer with it twice, with that Retry-After, and then continue
    [[garbage]]                  answer 200 with something that is not an answer
    [[drop]]                     close the connection in the middle
    [[stop max_tokens]]          end for that reason: max_tokens or refusal
    [[usage 9000 50]]            say that so many tokens went in and out

A tool call ends the model's turn; what follows it is said when the tool's result comes.  In a
[[say]], `$RESULT` is the newest tool result.  The directives in force are those of the newest
text of a user that has any, and in one text those after an [[error]] or [[drop]], since agents
glue a failed prompt and the next one together.  How far they are used up is read off the
messages that follow, so the server remembers nothing of a conversation, but for the format
that makes it (`previous_response_id`) and the count of [[flaky]].  Without directives the answer
is `default`; a request without tools gets `title`, or the smallest value of its schema.
"""

from tests.fake_llm.server import FakeLLM, serve

__all__ = ["FakeLLM", "serve"]
