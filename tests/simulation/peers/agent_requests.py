"""Steps of the agent in which its client does the work: files, commands, forms."""

from accord.agent import Turn
from accord.agent.tools.elicitation import FormField
from accord.errors import RateLimited, RequestCancelled, SpawnFailed
from accord.machine import AccessDenied
from tests.simulation.event_log import Chronicle, Run
from tests.simulation.peers.client_services import Services
from tests.simulation.plan import Step

PATH = "/notes.txt"
# What may be refused for good reasons: by the user, or over a bound that the world has set.
_REFUSED = (AccessDenied, RateLimited)


async def use_file(
    chronicle: Chronicle, services: Services, turn: Turn, run: Run, step: Step
) -> None:
    """Write and read: what is found is what was written last, and nothing that was refused."""
    may_be = services.files.may_be
    place = (turn.session.id, PATH)
    before = may_be.get(place, {None})
    for number in range(step.count):
        text = f"{turn.text}.{run.number}.{number} 漢\n"
        # Until it is answered, either may be there; also when nobody waits for the answer.
        may_be[place] = before | {text}
        try:
            await turn.write_text(PATH, text)
        except _REFUSED:
            may_be[place] = before
        else:
            may_be[place] = {text}
        before = may_be[place]
    found: str | None = None
    try:
        found = await turn.read_text(PATH)
    except FileNotFoundError:
        pass
    except _REFUSED:
        return
    if found not in before:
        chronicle.wrong(f"{turn.text} found {found!r} in its file, which may have {before}")


async def run_command(chronicle: Chronicle, turn: Turn, run: Run, step: Step, number: int) -> None:
    """Run it in the client's terminal: what came of it is what the command did."""
    code, text = number % 2, f"output of {turn.text}.{run.number}.{number}"
    timeout = step.seconds / 2 if step.count > 1 else None
    try:
        done = await turn.run("run", f"{step.seconds}", f"{code}", text, timeout=timeout)
    except (*_REFUSED, SpawnFailed, RequestCancelled) as error:
        bounded = isinstance(error, RateLimited) or isinstance(error.__cause__, RateLimited)
        denied = isinstance(error, AccessDenied | RequestCancelled)
        chronicle.check(bounded or denied, f"{turn.text} could not run its command: {error!r}")
        return
    if done.denied or done.cancelled:
        return
    ended = (done.exit_code, done.signal)
    killed = (None, "SIGKILL")
    fits = ended == (code, None) or (done.timed_out and ended == killed)
    if not fits or done.output != text:
        chronicle.wrong(f"{turn.text}: the command ended {code} with {text!r}, told was {done}")


async def fill_form(
    chronicle: Chronicle, services: Services, decides: str, turn: Turn, run: Run, number: int
) -> None:
    """Ask the user: the answer is what was typed."""
    message = f"{turn.text}.{run.number}.{number}?"
    try:
        answer = await turn.ask(message, word=FormField())
    except RateLimited:
        return
    typed = services.user.typed.get(message)
    match answer.action:
        case "accept":
            if answer.values != {"word": typed}:
                chronicle.wrong(f"{message} was answered {typed!r}, heard was {answer}")
        case "decline":
            chronicle.check(decides == "no", f"{message} was declined, and the user did not")
        case "cancel":
            asked = turn.text[:2] in chronicle.cancelled or chronicle.cancels_at
            closed = decides == "never" or asked or turn.is_cancelled or chronicle.broken
            chronicle.check(bool(closed), f"{message} was closed, and nobody did that")
        case "unsupported":
            chronicle.wrong(f"{message} was not asked, and the client can show forms")
