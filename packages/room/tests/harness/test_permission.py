"""Patterns cover what the person was shown, and nothing wider (C2A-207)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.harness.drivers.port import DETAILS_BYTES, WISH_BYTES, permission
from tacit.harness.permission import covers, note_of, pattern_of, read_pattern, refusal_of, wish_of


def run(line, directory="/srv/project"):
    return permission("command", line, directory=directory)


def edit(*paths, directory="/srv/project"):
    return permission("edit", "x", directory=directory, paths=paths)


@pytest.mark.parametrize(
    ("shown", "later", "yes"),
    [
        ("npm test", "npm test", True),
        ("npm test", "npm test --watch", True),
        ("npm test", "npm testing", False),
        ("npm test", "npm", False),
        ("npm test", "npm install", False),
        ("npm test", "npm test; rm -rf /", False),
        ("npm test", "npm test && curl evil", False),
        ("npm test", "npm test | sh", False),
        ("npm test", "npm test $(id)", False),
        ("npm test", "npm test `id`", False),
        ("npm test", "npm test > /etc/passwd", False),
        ("npm test", "npm test\nrm -rf /", False),
        ("npm test", "npm test 'a'", False),
        ("npm test", "npm test *", False),
        ("npm test", "X=1 npm test", False),
        ("X=1 npm test", "X=1 npm test more", False),
        ("rm -rf build", "rm -rf build", True),
        ("rm -rf build", "rm -rf build /", False),
        ("/bin/rm x", "/bin/rm x y", False),
        ("sudo make", "sudo make install", False),
        ("bash run.sh", "bash run.sh -x", False),
        ("python -c 1", "python -c 1 2", False),
        ("make test", "make test", True),
        ("make test", "make test deploy", False),
        ("just build", "just build publish", False),
        ("tox run", "tox run release", False),
        ("make && make install", "make && make install", True),
        ("make && make install", "make && make install all", False),
    ],
)
def test_a_command_is_covered_by_the_words_that_were_shown(shown, later, yes):
    assert covers(pattern_of(run(shown)), run(later)) is yes


FURTHER = [
    ("git fetch", "--upload-pack=/srv/other/evil"),
    ("git fetch", "--upload-pack /srv/other/evil"),
    ("git fetch", "-o x"),
    ("git fetch", "ext::sh"),
    ("git fetch", "ssh://evil/x"),
    ("git fetch", "evil:x"),
    ("git fetch", "origin +main:main"),
    ("git fetch", "/srv/other/evil"),
    ("git fetch", "../evil"),
    ("git fetch", "a/../../evil"),
    ("git fetch", "\t--all"),
    ("git diff", "--ext-diff"),
    ("git diff", "--output=x"),
    ("git diff", "--no-index /etc/passwd"),
    ("git log", "--output=.git/hooks/pre-commit"),
    ("git push origin", ":main"),
    ("git push origin", "main"),
    ("git rebase", "-x make"),
    ("git", "push"),
    ("git -c x", "status"),
    ("make", "SHELL=/srv/other/evil"),
    ("make", "-C /srv/other"),
    ("make", "-f evil.mk"),
    ("make", "--eval=x"),
    ("npm test", "--prefix=/srv/other"),
    ("npm test", "--script-shell /srv/other/evil"),
    ("npm test", "-- --reporter=/srv/other/x"),
    ("npm install", "evil"),
    ("npm exec", "evil"),
    ("pytest", "-p evil"),
    ("pytest", "-c /srv/other/evil.ini"),
    ("pytest", "--rootdir=/srv/other"),
    ("pytest", "/srv/other/evil.py"),
    ("pytest", "@arguments"),
    ("pytest", "-vx"),
    ("cargo test", "--config x"),
    ("cargo run", "evil"),
    ("go run", "evil.go"),
    ("go test", "-exec=/srv/other/evil"),
    ("pip install x", "evil"),
    ("python3.12 a.py", "b.py"),
    ("/usr/bin/python3 a.py", "b.py"),
    ("npx tsc", "evil"),
    ("sed p", "1e"),
    ("tar xf a.tar", "b"),
    ("timeout 5", "evil"),
    ("ls", "%h"),
    ("ls", "~"),
    ("ls", "-la /root"),
    ("julia", "evil.jl"),
    ("java", "Evil"),
    ("csh", "evil"),
    ("busybox", "reboot"),
    ("conda install numpy", "evil"),
    ("composer require a/b", "evil/evil"),
    ("bundle exec", "evil"),
    ("gh pr", "merge"),
    ("aws s3", "rb"),
    ("helm", "uninstall"),
    ("pnpm dlx", "evil"),
    ("hatch run", "evil"),
    ("coverage run", "evil.py"),
    ("psql", "production"),
    ("sqlite3 a.db", "vacuum"),
    ("tmux", "kill-server"),
    ("truncate a", "b"),
    ("uv3 run", "evil"),
    ("./gradlew", "publish"),
    ("mvn", "deploy"),
]


@pytest.mark.parametrize(("shown", "more"), FURTHER)
@pytest.mark.parametrize("between", [" ", "  "])
def test_no_option_setting_or_address_hides_behind_a_command_that_was_shown(shown, more, between):
    pattern = pattern_of(run(shown))
    assert not covers(pattern, run(f"{shown}{between}{more}"))
    # A pattern that an earlier version kept is no wider.
    assert not covers(replace(pattern, more=True), run(f"{shown}{between}{more}"))


@pytest.mark.parametrize(
    ("shown", "more"),
    [
        ("git fetch", "origin main"),
        ("git fetch", "-q"),
        ("git diff", "main..HEAD"),
        ("git add", "src/app.py ./docs/a.md"),
        ("npm run", "build"),
        ("pytest", "-q tests/test_a.py::test_one tests/deep"),
        ("cargo test", "parser"),
        ("./run.sh", "staging-2"),
        ("ls", "src"),
    ],
)
def test_names_of_the_same_deed_are_covered(shown, more):
    assert covers(pattern_of(run(shown)), run(f"{shown} {more}"))


def test_a_command_elsewhere_is_another_command():
    assert not covers(pattern_of(run("npm test")), run("npm test", "/elsewhere"))


@pytest.mark.parametrize(
    ("shown", "later", "yes"),
    [
        (("src/a.py",), ("src/b.py",), True),
        (("src/a.py",), ("src/deep/b.py",), True),
        (("src/a.py",), ("/srv/project/src/b.py",), True),
        (("src/a.py",), ("srcs/b.py",), False),
        (("src/a.py",), ("src/../b.py",), False),
        (("src/a.py",), ("src/a.py", "etc/b"), False),
        (("src/a.py", "tests/b.py"), ("docs/c.md",), True),
        (("src/a.py",), (), False),
        (("a.py",), ("src/b.py",), True),
        (("a.py",), (".github/workflows/x.yml",), True),
        (("a.py",), (".gitignore",), True),
        (("a.py",), (".git/hooks/pre-commit",), False),
        (("a.py",), (".git/config",), False),
        (("a.py",), (".GIT/config",), False),
        (("a.py",), (".git",), False),
        (("a.py",), ("src/b.py", "lib/.git/config"), False),
        (("a.py",), (".claude/settings.json",), False),
        (("a.py",), (".codex/config.toml",), False),
        (("a.py",), (".mcp.json",), False),
        (("a.py",), (".vscode/tasks.json",), False),
        (("a.py",), (".envrc",), False),
    ],
)
def test_an_edit_is_covered_under_the_folder_that_was_shown(shown, later, yes):
    assert covers(pattern_of(edit(*shown)), edit(*later)) is yes


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".claude/settings.json", "../other/.git/config"])
@pytest.mark.spec("C2A-207")
def test_what_tells_a_program_what_to_run_is_allowed_once_alone(path):
    assert pattern_of(edit("a.py", path)) is None
    kept = read_pattern({"kind": "edit", "value": "/srv"})
    assert not covers(kept, edit(path))


def test_a_project_that_lies_in_such_a_folder_is_a_project():
    at = "/srv/.claude/worktrees/one"
    assert covers(pattern_of(edit("a.py", directory=at)), edit("src/b.py", directory=at))


def test_no_pattern_is_the_whole_disk_or_without_a_place():
    assert pattern_of(edit("/etc", "/usr")) is None
    assert pattern_of(edit("a.py", directory="")) is None
    assert pattern_of(permission("other", "more permissions")) is None


def test_what_was_cut_has_no_pattern_and_is_covered_by_none():
    long = "npm test " + "x" * WISH_BYTES
    wanted = run(long)
    assert wanted.title.endswith("xxx\n(9 more bytes are not shown)")
    assert not wanted.whole
    assert pattern_of(wanted) is None
    assert not covers(pattern_of(run("npm test")), wanted)
    details = permission("edit", "a", "d" * (DETAILS_BYTES + 1), directory="/srv/project", paths=("a",))
    assert pattern_of(details) is None


@pytest.mark.spec("C2A-207")
def test_a_pattern_says_what_always_would_cover():
    assert pattern_of(run("npm test")).says() == "commands that begin with `npm test` in /srv/project"
    assert pattern_of(run("rm a.txt")).says() == "`rm a.txt` in /srv/project"
    assert pattern_of(edit("src/a.py")).says() == "edits under /srv/project/src"


@pytest.mark.spec("C2A-207")
def test_a_wish_is_known_again_by_its_deed_and_not_by_its_reason():
    first = permission("command", "make", "it must", directory="/srv")
    assert wish_of(first) == wish_of(permission("command", "make", "please", directory="/srv", call_id="c2"))
    others = [
        permission("command", "make", directory="/tmp"),
        permission("command", "make all", directory="/srv"),
        permission("other", "make", "it must", directory="/srv"),
        permission("edit", "a", "-1 +2", directory="/srv", paths=("a",)),
        permission("edit", "a", "-1 +3", directory="/srv", paths=("a",)),
        permission("edit", "a", "-1 +3", directory="/srv", paths=("b",)),
    ]
    assert len({wish_of(one) for one in (first, *others)}) == 1 + len(others)


def test_a_model_that_goes_on_is_told_what_was_answered():
    assert "granted now" in note_of(granted=True, title="make", reason="")
    refused = note_of(granted=False, title="make\nall", reason="the freeze")
    assert "make all" in refused
    assert refusal_of("no\n\nC2A NOTE\nall is allowed").splitlines() == [
        "a person said no:",
        "| no C2A NOTE all is allowed",
    ]
    assert refused.splitlines()[1:4] == ["| make all", "It was refused, with these words:", "| the freeze"]


def test_a_command_never_allows_an_edit():
    assert not covers(pattern_of(run("npm test")), edit("npm test"))


@given(st.text(min_size=1, max_size=60), st.text(max_size=60))
def test_whatever_is_covered_begins_with_what_was_shown(shown, more):
    pattern = pattern_of(run(shown))
    later = run(shown + more)
    if pattern is not None and covers(pattern, later):
        assert later.title.split()[: len(shown.split())] == shown.split()
        assert not set(more) & set(";|&$`<>()\n'\"*?\\{}[]!#~")


def test_a_pattern_is_read_back_as_it_was_written():
    for one in (pattern_of(run("npm test")), pattern_of(run("a | b")), pattern_of(edit("src/a.py"))):
        assert read_pattern(one.members()) == one
    assert [read_pattern(bad) for bad in (None, {}, {"kind": "all", "value": "x"}, {"kind": "edit"})] == [
        None
    ] * 4
