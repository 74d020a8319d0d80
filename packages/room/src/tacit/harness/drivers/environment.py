"""What an agent's process may see of the environment it is started in.

The rule owned here: unless a person asks for their own configuration, an agent finds its home, its settings
and its caches in the driver's folder, and of the surroundings only what any program needs to run and to
reach the network. Keys, tokens and settings of other programs stay outside. Telemetry is off either way.

Pure: environments are mappings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_PASSED: Final = frozenset(
    {
        "PATH",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TERM",
        "TMPDIR",
        "USER",
        "LOGNAME",
        "SHELL",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "NODE_EXTRA_CA_CERTS",
        "REQUESTS_CA_BUNDLE",
    }
)
_OURS: Final = "TACIT_"
_QUIET: Final = {"DO_NOT_TRACK": "1"}


def agent_environment(
    parent: Mapping[str, str],
    *,
    home: str,
    use_my_config: bool,
    settings: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The environment of an agent's process. `settings` win over everything that is passed on.

    Variables of our own (`TACIT_…`) are never passed on: they may hold the room's token.
    """
    settings = settings or {}
    if use_my_config:
        passed = {name: value for name, value in parent.items() if not name.startswith(_OURS)}
        return passed | _QUIET | dict(settings)
    passed = {name: value for name, value in parent.items() if name in _PASSED or name.startswith("LC_")}
    homes = {
        "HOME": home,
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "XDG_CACHE_HOME": f"{home}/.cache",
    }
    return passed | homes | _QUIET | dict(settings)
