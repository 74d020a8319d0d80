"""A keyring in a file, for tests with real processes: named by PYTHON_KEYRING_BACKEND and TACIT_TEST_KEYRING."""

import json
import os
import pathlib

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class FileKeyring(KeyringBackend):
    """Everything in one JSON file."""

    priority = 1

    def _path(self):
        return pathlib.Path(os.environ["TACIT_TEST_KEYRING"])

    def _all(self):
        return json.loads(self._path().read_text()) if self._path().exists() else {}

    def get_password(self, service, username):
        return self._all().get(f"{service} {username}")

    def set_password(self, service, username, password):
        self._path().write_text(json.dumps({**self._all(), f"{service} {username}": password}))

    def delete_password(self, service, username):
        left = self._all()
        if left.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError
        self._path().write_text(json.dumps(left))
