"""What a release is made of: the distributions, the same bytes twice, the bill of materials, the tag, and the news."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import zipfile
from typing import TYPE_CHECKING

import pytest

from tools import install_trial, news, release, sbom
from tools.distributions import build, distributions, require_pinned_builder
from tools.places import PACKAGES, ROOT

if TYPE_CHECKING:
    from pathlib import Path

DIGEST = hashlib.sha256(b"").hexdigest()
LOCK = f"""\
left-pad==1.0 \\
    --hash=sha256:{DIGEST}
only-elsewhere==2 ; sys_platform == 'win32' \\
    --hash=sha256:{"a" * 64} \\
    --hash=sha256:{"b" * 64}
right-pad==1.0 \\
    --hash=sha256:{DIGEST}
up-pad==1.0 \\
    --hash=sha256:{DIGEST}
"""


def project(folder: Path, name: str, needs: str = "", extras: str = "") -> None:
    """A distribution of one module."""
    package = folder / "src" / name.replace("-", "_")
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "script.py").write_text("print('hello')\n")
    (package / "script.py").chmod(0o755)
    (folder / "pyproject.toml").write_text(f"""\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "{name}"
version = "1.2"
license = "MIT"
classifiers = ["Programming Language :: Python :: 3.11"]
dependencies = [{needs}]
[project.optional-dependencies]
{extras}
[tool.hatch.build.targets.wheel]
packages = ["src/{package.name}"]
[tool.tacit]
release-checks = ["true"]
""")


@pytest.fixture
def several(tmp_path: Path) -> Path:
    root = tmp_path / "several"
    project(
        root / "packages" / "core", "first-part", '"left-pad>=1"', 'web = ["right-pad"]\nsky = ["up-pad"]'
    )
    project(
        root / "packages" / "room",
        "second-part",
        '"first-part[Web]==1.2"',
        'all = ["second-part[high]"]\nhigh = ["first-part[sky]"]',
    )
    (root / "pyproject.toml").write_text("[tool.ruff]\n")
    return root


def test_each_package_is_a_distribution_and_what_an_sdist_unpacks_to_is_one(
    several: Path, tmp_path: Path
) -> None:
    ours = distributions(ROOT)
    assert [own.name for own in ours] == [f"tacit-{name}" for name in PACKAGES]
    assert all(own.pythons and own.checks for own in ours)
    assert [(own.name, own.stem, own.requires) for own in distributions(several)] == [
        ("first-part", "first_part-1.2", ("left-pad>=1",)),
        ("second-part", "second_part-1.2", ("first-part[Web]==1.2",)),
    ]
    project(tmp_path / "alone", "first-part")
    assert [own.folder for own in distributions(tmp_path / "alone")] == [tmp_path / "alone"]


def test_what_is_proved_of_an_extra_is_proved_of_one_that_there_is() -> None:
    ours = {own.name: own for own in distributions(ROOT)}
    assert all(own.checks_with.keys() <= own.extras.keys() for own in ours.values())
    assert ours["tacit-core"].checks_with["journal"]
    assert ours["tacit-room"].checks_with["agent"]
    for own in ours.values():
        for line in (line for lines in (own.checks, *own.checks_with.values()) for line in lines):
            parsed = subprocess.run(["sh", "-enc", line], capture_output=True, text=True, check=False)
            assert parsed.returncode == 0, (own.name, parsed.stderr)


def test_all_of_ours_have_one_version_and_ask_for_each_other_by_it() -> None:
    ours = {own.name: own for own in distributions(ROOT)}
    for own in ours.values():
        for need in (*own.requires, *(need for some in own.extras.values() for need in some)):
            name, extras = sbom.name_and_extras(need)
            if name in ours and name != own.name:
                assert need.endswith(f"=={own.version}"), need
            assert name not in ours or extras <= ours[name].extras.keys(), need


def test_each_is_built_to_the_same_bytes_whatever_the_modes_and_the_hour(
    several: Path, tmp_path: Path
) -> None:
    sums = []
    for number, mask in enumerate((0o022, 0o077)):
        for path in several.rglob("*"):
            path.chmod(0o755 & ~mask if path.is_dir() or path.name == "script.py" else 0o644 & ~mask)
            os.utime(path, (number * 86_400 + 1_000_000_000,) * 2)
        out = tmp_path / f"out{number}"
        for own in distributions(several):
            build(own, out, "wheel", "sdist", epoch=1_700_000_000)
        sums.append({path.name: release.digest(path) for path in out.iterdir()})
    assert len(sums[0]) == 4
    assert sums[0] == sums[1]
    with zipfile.ZipFile(release.wheel_of(distributions(several)[0], tmp_path / "out0")) as wheel:
        assert {info.date_time[:3] for info in wheel.infolist()} == {(2023, 11, 14)}


def test_the_wheel_that_an_sdist_makes_is_the_wheel(several: Path, tmp_path: Path) -> None:
    own = distributions(several)[0]
    build(own, tmp_path, "wheel", "sdist", epoch=1_700_000_000)
    (tmp_path / "a").mkdir()
    release.require_same_from_sdist(own, tmp_path, tmp_path / "a", 1_700_000_000)
    [unpacked] = (tmp_path / "a").glob("sdist-*/*")
    assert unpacked.name == own.stem
    assert not (unpacked / "packages").exists(), "it is of its own folder alone"
    release.wheel_of(own, tmp_path).write_bytes(b"another")
    (tmp_path / "b").mkdir()
    with pytest.raises(SystemExit, match="the sdist makes another wheel"):
        release.require_same_from_sdist(own, tmp_path, tmp_path / "b", 1_700_000_000)


def test_what_is_not_committed_is_not_in_it(tmp_path: Path) -> None:
    tree = release.checked_out(tmp_path / "tree")
    kept = {path.relative_to(tree).as_posix() for path in tree.rglob("*") if not path.is_dir()}
    assert kept == set(release.git("ls-tree", "-r", "--name-only", "HEAD").splitlines())


def test_another_builder_than_the_pinned_is_refused(tmp_path: Path) -> None:
    require_pinned_builder(ROOT / "locks" / "run.txt")
    (tmp_path / "lock").write_text("hatchling==0.1 \\\n")
    with pytest.raises(SystemExit, match="the lock has another"):
        require_pinned_builder(tmp_path / "lock")


def test_every_line_of_every_lock_has_hashes_and_names_no_host() -> None:
    for path in (ROOT / "locks").iterdir():
        text = path.read_text()
        pinned = sbom.libraries(text)
        assert len(pinned) == len(re.findall(r"(?m)^\S", text)), path.name
        assert all(library.hashes for library in pinned)
        assert "".join(f"{library.line}\n" for library in pinned) == text
        assert "://" not in text


def test_the_bill_of_materials_names_what_is_needed_with_hashes_and_licences(several: Path) -> None:
    ours = dict.fromkeys(distributions(several), DIGEST)
    text = sbom.document(ours, sbom.libraries(LOCK), 1_700_000_000)
    assert text == sbom.document(ours, sbom.libraries(LOCK), 1_700_000_000)
    bill = json.loads(text)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    parts = {part["name"]: part for part in bill["components"]}
    assert list(parts) == ["first-part", "second-part", "left-pad", "only-elsewhere", "right-pad", "up-pad"]
    assert parts["left-pad"]["scope"] == "required"
    assert parts["right-pad"]["scope"] == "required", "by an extra of ours that another of ours asks for"
    assert parts["up-pad"]["scope"] == "optional", "by an extra that an extra of an extra asks for"
    assert parts["only-elsewhere"]["scope"] == "excluded"
    assert [it["content"] for it in parts["only-elsewhere"]["hashes"]] == ["a" * 64, "b" * 64]
    needs = {part["ref"]: part["dependsOn"] for part in bill["dependencies"]}
    assert needs["pkg:pypi/second-part@1.2"] == ["pkg:pypi/first-part@1.2"]
    assert needs["pkg:pypi/first-part@1.2"] == [
        "pkg:pypi/left-pad@1.0", "pkg:pypi/right-pad@1.0", "pkg:pypi/up-pad@1.0",
    ]  # fmt: skip
    assert set(needs) == {part["bom-ref"] for part in bill["components"]} | {"tacit"}


def test_of_what_is_installed_here_the_licence_is_known_and_what_it_needs() -> None:
    pinned = sbom.libraries((ROOT / "locks" / "run.txt").read_text())
    known = {library.name: library for library in pinned}
    assert known["aiohttp"].licence == {"expression": "Apache-2.0 AND MIT"}
    assert "yarl" in known["aiohttp"].requires
    scope = sbom.scopes(distributions(ROOT), pinned)
    assert (scope["yarl"], scope["mcp"], scope["hatchling"]) == ("required", "optional", "excluded")
    # Asked for by an extra of the core that the room asks for, and by those that they ask for.
    assert {scope[name] for name in ("aiohttp", "apsw", "click", "prometheus-client")} == {"required"}
    built = sbom.reached(pinned, ["hatchling", "editables"])
    assert {name for name, part in scope.items() if part == "excluded"} == built


def test_a_need_of_ours_is_resolved_by_its_extras(several: Path) -> None:
    ours = distributions(several)
    assert sbom.resolved(ours, ["first-part"]) == {"first-part", "left-pad"}
    assert sbom.resolved(ours, ["second-part"]) == {"second-part", "first-part", "left-pad", "right-pad"}
    assert sbom.resolved(ours, ["second_part[all] ==1.2"]) - {"up-pad"} == sbom.resolved(
        ours, ["second-part"]
    )
    assert sbom.resolved(ours, ["stranger[web]>=2; sys_platform != 'win32'"]) == {"stranger"}
    with pytest.raises(SystemExit, match="first-part has no extra 'wbe'"):
        sbom.resolved(ours, ["first-part[wbe]"])


def test_a_release_names_all_six_by_their_hashes_and_whatever_they_need(tmp_path: Path) -> None:
    """The files of this folder, once each; whether they come out the same twice is the release's own question."""
    for own in distributions(ROOT):
        build(own, tmp_path, "wheel", "sdist", epoch=1_700_000_000)
    ours = distributions(ROOT)
    release.describe(ours, ROOT, tmp_path, 1_700_000_000)
    lines = {
        library.name: library for library in sbom.libraries((tmp_path / release.REQUIREMENTS).read_text())
    }
    for own in ours:
        wheel = release.wheel_of(own, tmp_path)
        assert lines[own.name].hashes == (release.digest(wheel),)
        with zipfile.ZipFile(wheel) as files:
            held = {name for name in files.namelist() if not name.split("/")[0].endswith(".dist-info")}
        source = own.folder / "src"
        kept = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
        assert held == {name for name in kept if "__pycache__" not in name}
    asked = sbom.resolved(ours, [own.name for own in ours])
    assert asked <= lines.keys()
    assert "hatchling" not in lines
    sums = (tmp_path / release.SUMS).read_text().splitlines()
    assert len(sums) == 2 * len(ours) + 2


def test_the_trial_gives_pip_every_wheel_of_ours_as_a_file(several: Path, tmp_path: Path) -> None:
    ours = distributions(several)
    for own in ours:
        (tmp_path / f"{own.stem}-py3-none-any.whl").touch()
    first, second = (str(tmp_path / f"{own.stem}-py3-none-any.whl") for own in ours)
    assert install_trial.wheels_for(ours[0], "web", ours, tmp_path) == [f"{first}[web]"]
    assert install_trial.wheels_for(ours[1], "", ours, tmp_path) == [first, second]
    assert install_trial.wheels_for(ours[1], "all", ours, tmp_path) == [first, f"{second}[all]"]


@pytest.mark.parametrize(
    ("tags", "changes", "waiting", "faults"),
    [
        ([], "", ["news/x.fixed.md"], []),
        (["v1.2"], "# Changelog\n\n## 1.2 (2026-12-01)\n", [], []),
        (["v1.2"], "## 1.2 (unreleased)\n", [], ["no section for 1.2 with its date"]),
        (["v1.3"], "## 1.3 (2026-12-01)\n", [], ["the tag v1.3 stands on version 1.2"]),
        (["v1.2"], "## 1.2 (2026-12-01)\n", ["news/x.fixed.md"], ["news/x.fixed.md is in no section"]),
    ],
)
def test_a_tag_stands_on_the_version_and_the_news_that_it_names(
    tags: list[str], changes: str, waiting: list[str], faults: list[str]
) -> None:
    said = release.tag_faults({"1.2"}, tags, changes, waiting)
    assert len(said) == len(faults)
    assert all(part in line for part, line in zip(faults, said, strict=True))


def test_all_distributions_of_a_release_have_one_version() -> None:
    assert "several versions: 1.2, 1.3" in " ".join(release.tag_faults({"1.2", "1.3"}, [], "", []))


def test_a_python_that_is_not_there_or_does_not_run_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], several: Path
) -> None:
    shim = tmp_path / "python3.11"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert install_trial.python("3.11") is None
    assert install_trial.python("3.12") is None
    assert not install_trial.try_all(distributions(several), tmp_path, tmp_path)
    assert "not tried on Python 3.11" in capsys.readouterr().out


def test_the_trial_of_a_distribution_says_which_step_failed(tmp_path: Path) -> None:
    steps = [("a step", ["sh", "-c", "true"]), ("the next", ["sh", "-c", "echo oh no; exit 3"])]
    fault = install_trial._first_fault(steps, tmp_path, {"PATH": os.environ["PATH"]})
    assert fault == "the next ended with 3:\noh no\n"


NEWS = {
    "35.changed.md": "The distribution is\ncalled otherwise.",
    "clock.security.md": "A clock is not believed.",
}


def test_news_are_joined_under_a_version_by_kind() -> None:
    page = news.joined(
        "# Changelog\n\nWords.\n\n## 0.1.0 (2026-01-01)\n\nOld.\n", NEWS, "0.2.0", "2026-12-01"
    )
    assert page == (
        "# Changelog\n\nWords.\n\n## 0.2.0 (2026-12-01)\n\n### Security\n\n- A clock is not believed.\n\n"
        "### Changed\n\n- The distribution is called otherwise.\n\n## 0.1.0 (2026-01-01)\n\nOld.\n"
    )


def test_a_version_that_is_described_already_gets_its_date_and_what_came_since() -> None:
    page = news.joined("# Changelog\n\n## 0.1.0 (unreleased)\n\nThe first.\n", {}, "0.1.0", "2026-12-01")
    assert page == "# Changelog\n\n## 0.1.0 (2026-12-01)\n\nThe first.\n"
    page = news.joined(
        "# C\n\n## 0.1.0 (unreleased)\n\nThe first.\n\n## 0.0.1 (2025-01-01)\n", NEWS, "0.1.0", "2026-12-01"
    )
    assert page.startswith("# C\n\n## 0.1.0 (2026-12-01)\n\nThe first.\n\n### Security\n")
    assert page.endswith("otherwise.\n\n## 0.0.1 (2025-01-01)\n")


def test_news_are_named_after_their_kind_and_short() -> None:
    assert news.faults(NEWS) == []
    assert len(news.faults({"x.rant.md": "Words.", "y.fixed.md": "", "z.fixed.md": "x" * 401})) == 3
    assert news.faults(news.fragments(ROOT / "news")) == []


def test_the_changelog_says_what_a_version_is_in_one_page() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    first = re.split(r"(?m)^## ", text)[1]
    assert len(first.split()) < 700
    [own] = {own.version for own in distributions(ROOT)}
    assert f"## {own} (" in text
    assert subprocess.run(["git", "check-ignore", "-q", "dist/x"], cwd=ROOT, check=False).returncode == 0
