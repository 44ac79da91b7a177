"""Modes, the plan and tasks, as the client sees them."""

from pathlib import Path

import pytest

from accord.agent.session.plan import PlanHandle
from accord.builtin.tools.tool_call import ToolResult
from accord.builtin.tools.toolbox import Toolbox
from tests.builtin.tools.bench import Work, bench, everywhere, text


@everywhere
async def test_read_only_refuses_and_says_how_to_change_it(tmp_path: Path, variant: str) -> None:
    """Brief: read-only refuses edits and commands."""
    (tmp_path / "a.txt").write_text("a")
    async with bench(tmp_path, variant) as b:
        await b.set_mode("read-only")
        assert (await b.use(lambda t: t.read("a.txt"))).ok
        works: list[Work] = [
            lambda t: t.edit("a.txt", "a", "b"),
            lambda t: t.write("b.txt", "b"),
            lambda t: t.delete("a.txt"),
            lambda t: t.move("a.txt", "b.txt"),
            lambda t: t.edit_many({"a.txt": "b"}, "why", "Change it"),
            lambda t: t.run("touch made"),
        ]
        for work in works:
            result = await b.use(work)
            assert "Choose another mode" in text(result, ok=False)
            assert result.denied == "mode"
            assert b.last()["status"] == "failed"
        assert b.asked == []
        assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


@everywhere
async def test_auto_edit_asks_for_commands_only_and_full_access_for_nothing(
    tmp_path: Path, variant: str
) -> None:
    """Issue: modes change real policy."""
    async with bench(tmp_path, variant) as b:
        await b.set_mode("auto-edit")
        assert (await b.use(lambda t: t.write("a.txt", "a"))).ok
        assert b.asked == []
        assert (await b.use(lambda t: t.run("true"))).ok
        assert len(b.asked) == 1
        await b.set_mode("full-access")
        assert (await b.use(lambda t: t.run("true"))).ok
        assert len(b.asked) == 1


async def test_what_git_would_run_is_asked_for_like_a_command(tmp_path: Path) -> None:
    """A hook that is written unasked would be a command that is run unasked."""
    (tmp_path / ".git").mkdir()
    async with bench(tmp_path) as b:
        await b.set_mode("auto-edit")
        b.answer = "reject_once"
        for path in (".git/hooks/pre-commit", ".git/config"):
            refused = await b.use(lambda t, p=path: t.write(p, "x"))  # type: ignore[misc]
            assert refused.denied == "user"
        assert (await b.use(lambda t: t.write(".gitignore", "x"))).ok
        assert len(b.asked) == 2


async def test_the_switch_approves_what_would_be_asked(tmp_path: Path) -> None:
    """Issue: config options include auto-approval."""
    async with bench(tmp_path) as b:

        async def work(tools: Toolbox) -> ToolResult:
            await tools.context.turn.set_option("auto_approve", True)
            return await tools.run("echo x")

        assert (await b.use(work)).ok
        assert b.asked == []


@everywhere
@pytest.mark.parametrize("chosen", ["ask", "auto-edit", "stay"])
async def test_leaving_plan_mode_asks(tmp_path: Path, variant: str, chosen: str) -> None:
    """Issue: a plan mode whose exit asks permission."""
    async with bench(tmp_path, variant) as b:
        await b.set_mode("plan")
        refused = await b.use(lambda t: t.write("a.txt", "a"))
        assert "not possible while planning" in text(refused, ok=False)
        b.answer = chosen

        async def leave(tools: Toolbox) -> tuple[ToolResult, str | None]:
            return await tools.leave_plan("1. Write it"), tools.context.mode

        result, mode = await b.use(leave)
        assert result.ok is (chosen != "stay")
        assert mode == ("plan" if chosen == "stay" else chosen)
        assert b.last()["kind"] == "switch_mode"
        assert "1. Write it" in str(b.last()["content"])
        assert "leaving plan mode" in b.reasons()


async def test_plan_mode_is_left_only_from_it_and_with_a_plan(tmp_path: Path) -> None:
    """Misuse by a model is a failure it can read."""
    async with bench(tmp_path) as b:
        assert "not in plan mode" in text(await b.use(lambda t: t.leave_plan("x")), ok=False)
        await b.set_mode("plan")
        assert "no plan" in text(await b.use(lambda t: t.leave_plan(" ")), ok=False)


@everywhere
async def test_a_plan_is_shown_whole(tmp_path: Path, variant: str) -> None:
    """Issue: plan."""
    async with bench(tmp_path, variant) as b:

        async def work(tools: Toolbox) -> ToolResult:
            result = await tools.plan(["Find it", {"content": "Fix it", "status": "in_progress"}])
            assert isinstance(result.data, PlanHandle)
            await result.data.complete(0)
            return result

        assert (await b.use(work)).text == "The plan is shown: 2 entries, 2 still open."
        kind = "plan_update" if variant == "v2" else "plan"
        last = b.client.updates(kind)[-1]
        entries = last["plan"]["entries"] if variant == "v2" else last["entries"]
        assert [(e["content"], e["status"]) for e in entries] == [
            ("Find it", "completed"),
            ("Fix it", "in_progress"),
        ]
        for wrong in (
            [],
            [""],
            [{"content": "a", "status": "odd"}],
            [{"content": "a", "priority": "x"}],
        ):
            assert not (await b.use(lambda t, w=wrong: t.plan(w))).ok  # type: ignore[misc]


async def test_a_task_may_look_but_not_change(tmp_path: Path) -> None:
    """Issue: task (a sub-run, read-only by default)."""
    (tmp_path / "a.txt").write_text("found")
    async with bench(tmp_path) as b:
        assert "need a model" in text(await b.use(lambda t: t.task("look")), ok=False)

        async def run(prompt: str, tools: Toolbox) -> str:
            read, written = await tools.read("a.txt"), await tools.write("b.txt", "b")
            assert written.denied == "mode"
            nested = await tools.task("again")
            return f"{prompt}: {read.data} {nested.ok}"

        b.run_task = run
        await b.set_mode("full-access")
        result = await b.use(lambda t: t.task("look at a.txt"))
        assert result.text == "look at a.txt: found False"
        assert not (tmp_path / "b.txt").exists()
        assert "needs a prompt" in text(await b.use(lambda t: t.task(" ")), ok=False)


async def test_the_specs_name_methods_with_these_arguments() -> None:
    """Contract: TOOLS is data for the model brain."""
    import inspect

    from accord.builtin.tools.tool_definitions import TOOLS

    assert len({spec.name for spec in TOOLS}) == len(TOOLS)
    for spec in TOOLS:
        parameters = inspect.signature(getattr(Toolbox, spec.method)).parameters
        properties = spec.parameters["properties"]
        assert set(properties) == set(parameters) - {"self"}
        required = {n for n, p in parameters.items() if p.default is p.empty} - {"self"}
        assert required == set(spec.parameters["required"])
