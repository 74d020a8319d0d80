"""Plain, slow Ed25519 arithmetic, to make the signatures that no honest signer makes. For tests alone."""

import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
IDENTITY = (0, 1)


def add(one, other):
    (x1, y1), (x2, y2) = one, other
    cross = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + cross, P - 2, P) % P
    return x, (y1 * y2 + x1 * x2) * pow(1 - cross, P - 2, P) % P


def times(scalar, point):
    found = IDENTITY
    for bit in f"{scalar:b}":
        found = add(found, found)
        if bit == "1":
            found = add(found, point)
    return found


def encode(point):
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")


def with_y(y, sign=0):
    """A point of the curve with that y; None when there is none."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P:
        return None
    return (x if x & 1 == sign else P - x), y


def decode(encoding):
    value = int.from_bytes(encoding, "little")
    return with_y(value % 2**255, value >> 255)


BASE = with_y(4 * pow(5, P - 2, P) % P)
TORSION = with_y(
    int.from_bytes(
        bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
    )
)
"""A point of order eight: its multiples are all the points of small order."""


def hashed(r, public, message):
    return int.from_bytes(hashlib.sha512(r + public + message).digest(), "little") % L


def signed(r, public, message, secret, nonce):
    """A signature whose R and key are spelt as given, whatever they are."""
    s = (nonce + hashed(r, public, message) * secret) % L
    return r + s.to_bytes(32, "little")


def message_with(r, public, fits):
    """A message whose hash has the wanted remainder."""
    return next(text for n in range(10_000) if fits(hashed(r, public, text := b"message %d" % n)))
