"""What nothing reaches is found; what a table, a text, a decorator or a library reaches is not called dead."""

from __future__ import annotations

import pytest

from tools import reach

MAIN = "from shop import till\n\n\ndef main():\n    till.open_shop()\n"


@pytest.fixture
def dead(tmp_path):
    """What is dead in a package `shop` of these modules, entered at `shop.main:main`."""

    def find(**modules: str) -> set[str]:
        folder = tmp_path / "src" / "shop"
        folder.mkdir(parents=True)
        (tmp_path / "docs").mkdir()
        (tmp_path / "pyproject.toml").write_text('[project.scripts]\nshop = "shop.main:main"\n')
        texts = {"__init__": "", "main": MAIN} | modules
        page = texts.pop("page", "")
        (tmp_path / "docs" / "page.md").write_text(page)
        for name, text in texts.items():
            (folder / f"{name}.py").write_text(text)
        return set(reach.unreached(tmp_path, "shop")[0])

    return find


def test_a_function_without_a_caller_is_dead_and_so_is_what_only_it_calls(dead):
    till = "def open_shop():\n    used()\n\ndef used(): pass\n\ndef lonely():\n    friend()\n\ndef friend(): pass\n"
    assert dead(till=till) == {"shop.till:lonely", "shop.till:friend"}


def test_a_name_elsewhere_or_inside_a_function_hides_nothing(dead):
    till = (
        "from shop import other\n\ndef open_shop():\n    permitted = other.permitted()\n    return permitted, other.x.failed\n"
        "\ndef permitted(): pass\n\ndef failed(): pass\n"
    )
    assert dead(till=till, other="x = None\n\ndef permitted(): pass\n") == {
        "shop.till:permitted",
        "shop.till:failed",
    }


LIVE = {
    "a table": "def open_shop():\n    return TABLE['a']()\n\ndef a(): pass\n\nTABLE = {'a': a}\n",
    "a table of texts": "from importlib import import_module\n\ndef open_shop():\n    m, _, n = TABLE['a'].partition(':')\n"
    "    return getattr(import_module(m), n)()\n\nTABLE = {'a': 'shop.till:a'}\n\ndef a(): pass\n",
    "a module by its text": "from importlib import import_module\n\ndef open_shop():\n"
    "    return import_module('shop.till').a()\n\ndef a(): pass\n",
    "a decorator": "import click\n\ndef open_shop(): pass\n\n@click.command()\ndef a(): pass\n",
    "a library": "import logging\n\ndef open_shop():\n    return Quiet()\n\nclass Quiet(logging.Filter):\n"
    "    def filter(self, record): return False\n",
    "a special method": "def open_shop():\n    return Box()\n\nclass Box:\n    def __len__(self): return a()\n\ndef a(): pass\n",
    "a port": "from typing import Protocol\n\nclass Port(Protocol):\n    def go(self): ...\n\nclass One:\n"
    "    def go(self): pass\n\ndef open_shop():\n    run(One())\n\ndef run(port: Port):\n    port.go()\n",
    "a base's method": "class Base:\n    def go(self): self.step()\n    def step(self): pass\n\nclass One(Base):\n"
    "    def step(self): pass\n\ndef open_shop():\n    One().go()\n",
    "a member's type": "import msgspec\n\nclass Inner(msgspec.Struct):\n    def __post_init__(self): pass\n\n"
    "class Outer(msgspec.Struct):\n    inner: 'Inner | None'\n\ndef open_shop():\n    msgspec.json.decode(b'', type=Outer)\n",
    "an import in a function": "def open_shop():\n    from shop.till import a as b\n    b()\n\ndef a(): pass\n",
    "a call at import": "def open_shop(): pass\n\ndef a(): pass\n\nSIZE = a()\n",
    "a mixin's sibling": "class Base:\n    def go(self): pass\n\nclass Mixin:\n    def run(self): self.go()\n\n"
    "class Both(Mixin, Base): pass\n\ndef open_shop():\n    Both().run()\n",
    "a static method": "class One:\n    def go(self): pass\n    @staticmethod\n    def run(one): one.go()\n\n"
    "def open_shop():\n    One.run(One())\n",
    "a class inside a method": "class One:\n    def run(self):\n        class Two:\n            def go(self): self.other.step()\n"
    "            def here(self): return self.far\n        return Two\n\nclass Three:\n    def step(self): pass\n    def far(self): pass\n\n"
    "def open_shop():\n    One().run(), Three()\n",
    "a program as a text": "import sys\n\ndef open_shop():\n    return [sys.executable, '-c', 'from shop.till import a; a()']\n\n"
    "def a(): pass\n",
    "a module that is started": "import sys\n\ndef open_shop():\n    return [sys.executable, '-m', 'shop.till']\n\n"
    "def a(): pass\n\nif __name__ == '__main__':\n    a()\n",
    "a closure": "def open_shop():\n    def inner():\n        return a()\n    return inner\n\ndef a(): pass\n",
}


@pytest.mark.parametrize("text", LIVE.values(), ids=LIVE.keys())
def test_what_runs_is_not_called_dead(dead, text):
    assert dead(till=text) == set()


def test_a_method_lives_by_its_own_class_not_by_another_of_that_name(dead):
    till = (
        "class One:\n    def go(self): self._step()\n    def _step(self): pass\n\nclass Two:\n    def go(self): pass\n"
        "    def _step(self): pass\n\ndef open_shop():\n    One().go()\n    Two()\n"
    )
    assert dead(till=till) == {"shop.till:Two._step"}


def test_a_class_that_nobody_makes_is_dead_as_one(dead):
    till = "class Ghost:\n    def go(self): pass\n\ndef open_shop():\n    print('x').go()\n"
    assert dead(till=till) == {"shop.till:Ghost"}


def test_what_a_package_exports_and_what_a_page_imports_is_reached_with_what_it_returns(dead):
    api = (
        "class Hub:\n    def call(self): pass\n    @property\n    def files(self) -> Files: return Files()\n"
        "    def _own(self): pass\n\nclass Files:\n    def upload(self): pass\n\ndef shown(): pass\n\ndef hidden(): pass\n"
    )
    found = dead(
        __init__='from shop.api import Hub\n\n__all__ = ["Hub"]\n',
        till="def open_shop(): pass\n",
        api=api,
        page="```python\nfrom shop.api import shown\n```\n",
    )
    assert found == {"shop.api:Hub._own", "shop.api:hidden"}


def test_an_import_for_the_type_checker_reaches_nothing(dead):
    till = (
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from shop.other import Thing\n\n"
        "def open_shop(thing: Thing | None = None): pass\n"
    )
    assert dead(till=till, other="class Thing:\n    pass\n") == {"shop.other:Thing"}
