"""Where nothing can be written each way of writing leaves what was there, and goes on later."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import kill_runs
import pytest
from extras import needed
from kill_runs import WAYS, Trial, found
from power_cuts import BAD, cut, has_strace

from relbase.cli.group import run

resource = pytest.importorskip("resource")

# What fails, and with what: no new file gets its name, or is made.
FAULTS: Final = {
    "full": (errno.ENOSPC, ("link", "replace")),
    "read-only": (errno.EROFS, ("open", "mkdir")),
    "forbidden": (errno.EACCES, ("open", "mkdir")),
    "limit": (errno.EFBIG, ()),
}


@pytest.fixture(scope="module", params=WAYS)
def trial(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trial:
    if request.param == "Parquet":
        needed("pyarrow")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kill_runs, "FILES", 8)
        return Trial(request.param, tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize("fault", FAULTS)
def test_what_was_there_stays(
    trial: Trial,
    fault: str,
    each_system: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if each_system == "Windows" and "/cur/" in trial.made[0][0] and "-o" in trial.command:
        pytest.skip("Windows allows no colon in a name")
    number, names = FAULTS[fault]
    monkeypatch.chdir(trial.top.parent)
    trial.make()
    monkeypatch.chdir(trial.top)
    command = ["1" if word == "2" else word for word in trial.command]
    with monkeypatch.context() as broken, limited(1000 if fault == "limit" else -1):
        for name in names:
            broken.setattr(os, name, failing(getattr(os, name), number))
        status = run(command)
    assert status in {3, 4}
    assert os.strerror(number) in capsys.readouterr().err
    there = found(trial.top)
    assert there.files.items() >= trial.before.items()
    assert there.files.keys() <= trial.after.keys()
    assert not there.left
    assert run(command) == 0
    assert trial.is_done


def failing(real: Any, number: int) -> Any:
    """What fails for new files alone."""

    def fail(*arguments: Any, **more: Any) -> Any:
        name = os.fspath(arguments[0])
        is_new = real is os_mkdir or name.endswith("relbase-tmp")
        if is_new and (real is not os_open or arguments[1] & os.O_CREAT):
            raise OSError(number, os.strerror(number))
        return real(*arguments, **more)

    return fail


os_mkdir, os_open = os.mkdir, os.open


@contextmanager
def limited(size: int) -> Iterator[None]:
    """Let no file be longer, as a quota does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft if size < 0 else size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.long
@pytest.mark.skipif(not has_strace(), reason="strace records no run here")
@pytest.mark.parametrize("way", ["in place", "Maildir", "mbox"])
def test_what_was_there_or_its_successor_is_on_the_disk_whenever_the_power_is_cut(
    way: str, tmp_path: Path
) -> None:
    counts = cut(way, tmp_path / "t")
    assert counts["states"] > 100
    assert not BAD & {*counts}
