"""What people read at the terminal."""

from __future__ import annotations

from tacit.cli.show import plain


def test_a_message_cannot_drive_the_terminal_and_keeps_its_letters_joined():
    joined = "👩\u200d👩\u200d👧 \u0645\u06cc\u200c\u062e\u0648"
    assert plain(f"{joined}\n") == f"{joined}\n"
    assert plain("\x1b[31mred\x00 \u202eright to left") == ("⟨U+001B⟩[31mred⟨U+0000⟩ ⟨U+202E⟩right to left")
