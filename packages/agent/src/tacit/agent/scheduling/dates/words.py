"""The words of the time grammar, as data: parts of the day, lengths, places with a clock.

Hours are minutes after midnight. Weekdays and months are in `tacit.a2acp.packets.dates`. Knows nothing of
sentences.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tacit.a2acp.packets.dates import MONTH_OF


class Hours(NamedTuple):
    """From minute `start` of a day up to minute `end`."""

    start: int
    end: int


MINUTE_WORDS: Final = frozenset({"m", "min", "mins", "minute", "minutes"})
HOUR_WORDS: Final = frozenset({"h", "hr", "hrs", "hour", "hours"})
DAY_WORDS: Final = frozenset({"day", "days"})
WEEK_WORDS: Final = frozenset({"week", "weeks", "fortnight", "fortnights"})
MONTH_WORDS: Final = frozenset({"month", "months"})
NOT_A_CLOCK: Final = (
    MINUTE_WORDS | HOUR_WORDS | DAY_WORDS | WEEK_WORDS | MONTH_WORDS | MONTH_OF.keys()
    | {
        "year", "years", "people", "persons", "guests", "friends", "of", "pp", "times", "percent", "pounds",
        "euros",
        "dollars", "quid", "km", "miles", "st", "street", "road", "%", "degrees", "other", "and",
    }
)  # fmt: skip
"""After a bare number these say that it counts something."""

PARTS: Final = {
    "morning": Hours(480, 720),
    "afternoon": Hours(720, 1020),
    "evening": Hours(1020, 1320),
    "night": Hours(1020, 1440),
    "lunch": Hours(690, 870),
    "dinner": Hours(1050, 1320),
    "breakfast": Hours(420, 660),
    "day": Hours(540, 1080),
}
PART_WORDS: Final = {
    "morning": "morning", "mornings": "morning", "afternoon": "afternoon", "afternoons": "afternoon",
    "evening": "evening", "evenings": "evening", "night": "night", "nights": "night", "lunchtime": "lunch",
    "dinnertime": "dinner", "daytime": "day",
}  # fmt: skip
SHADES: Final = {
    ("early", "morning"): Hours(360, 540),
    ("late", "morning"): Hours(600, 720),
    ("early", "afternoon"): Hours(720, 870),
    ("late", "afternoon"): Hours(900, 1020),
    ("early", "evening"): Hours(1020, 1140),
    ("late", "evening"): Hours(1200, 1380),
    ("late", "night"): Hours(1260, 1440),
}
PART_PHRASES: Final = {
    ("after", "work"): ("evening", Hours(1020, 1320)),
    ("before", "work"): ("morning", Hours(420, 540)),
    ("after", "lunch"): ("afternoon", Hours(780, 1020)),
    ("before", "lunch"): ("morning", Hours(540, 720)),
    ("after", "breakfast"): ("morning", Hours(540, 720)),
    ("before", "dinner"): ("afternoon", Hours(900, 1080)),
    ("after", "dinner"): ("evening", Hours(1200, 1380)),
    ("at", "lunch"): ("lunch", Hours(690, 870)),
    ("over", "lunch"): ("lunch", Hours(690, 870)),
    ("over", "dinner"): ("dinner", Hours(1050, 1320)),
    ("over", "breakfast"): ("breakfast", Hours(420, 660)),
    ("lunch", "time"): ("lunch", Hours(690, 870)),
    ("dinner", "time"): ("dinner", Hours(1050, 1320)),
    ("during", "the", "day"): ("day", Hours(540, 1080)),
    ("business", "hours"): ("day", Hours(540, 1020)),
    ("office", "hours"): ("day", Hours(540, 1020)),
}
MEALS: Final = {
    "breakfast": Hours(420, 660),
    "brunch": Hours(600, 840),
    "lunch": Hours(690, 870),
    "dinner": Hours(1050, 1320),
    "supper": Hours(1050, 1320),
    "drinks": Hours(1020, 1380),
}
"""Said as what is arranged, not as when: a stated time outweighs them."""

ZONES: Final = {
    "london": "Europe/London", "uk": "Europe/London", "british": "Europe/London", "irish": "Europe/Dublin",
    "dublin": "Europe/Dublin", "lisbon": "Europe/Lisbon", "berlin": "Europe/Berlin",
    "german": "Europe/Berlin",
    "munich": "Europe/Berlin", "hamburg": "Europe/Berlin", "vienna": "Europe/Vienna",
    "zurich": "Europe/Zurich",
    "swiss": "Europe/Zurich", "paris": "Europe/Paris", "french": "Europe/Paris", "madrid": "Europe/Madrid",
    "barcelona": "Europe/Madrid", "rome": "Europe/Rome", "milan": "Europe/Rome",
    "amsterdam": "Europe/Amsterdam",
    "brussels": "Europe/Brussels", "copenhagen": "Europe/Copenhagen", "stockholm": "Europe/Stockholm",
    "oslo": "Europe/Oslo", "helsinki": "Europe/Helsinki", "warsaw": "Europe/Warsaw",
    "prague": "Europe/Prague",
    "budapest": "Europe/Budapest", "athens": "Europe/Athens", "istanbul": "Europe/Istanbul",
    "kyiv": "Europe/Kyiv", "moscow": "Europe/Moscow", "new york": "America/New_York",
    "boston": "America/New_York", "washington": "America/New_York", "miami": "America/New_York",
    "eastern": "America/New_York", "toronto": "America/Toronto", "chicago": "America/Chicago",
    "denver": "America/Denver", "mountain": "America/Denver", "los angeles": "America/Los_Angeles",
    "la": "America/Los_Angeles", "san francisco": "America/Los_Angeles", "seattle": "America/Los_Angeles",
    "pacific": "America/Los_Angeles", "vancouver": "America/Vancouver", "mexico city": "America/Mexico_City",
    "sao paulo": "America/Sao_Paulo", "buenos aires": "America/Argentina/Buenos_Aires",
    "cairo": "Africa/Cairo",
    "lagos": "Africa/Lagos", "nairobi": "Africa/Nairobi", "johannesburg": "Africa/Johannesburg",
    "cape town": "Africa/Johannesburg", "tel aviv": "Asia/Jerusalem", "dubai": "Asia/Dubai",
    "karachi": "Asia/Karachi", "delhi": "Asia/Kolkata", "mumbai": "Asia/Kolkata", "bangalore": "Asia/Kolkata",
    "indian": "Asia/Kolkata", "bangkok": "Asia/Bangkok", "singapore": "Asia/Singapore",
    "hong kong": "Asia/Hong_Kong", "beijing": "Asia/Shanghai", "shanghai": "Asia/Shanghai",
    "tokyo": "Asia/Tokyo", "seoul": "Asia/Seoul", "perth": "Australia/Perth", "sydney": "Australia/Sydney",
    "melbourne": "Australia/Melbourne", "brisbane": "Australia/Brisbane", "auckland": "Pacific/Auckland",
    "central european": "Europe/Berlin", "eastern european": "Europe/Helsinki",
}  # fmt: skip
"""Read before the word `time`."""

ABBREVIATIONS: Final = {
    "UTC": (0, ""), "GMT": (0, ""), "Z": (0, ""), "WET": (0, "Europe/Lisbon"), "WEST": (60, "Europe/Lisbon"),
    "BST": (60, "Europe/London"), "CET": (60, "Europe/Berlin"), "CEST": (120, "Europe/Berlin"),
    "EET": (120, "Europe/Helsinki"), "EEST": (180, "Europe/Helsinki"), "MSK": (180, "Europe/Moscow"),
    "EST": (-300, "America/New_York"), "EDT": (-240, "America/New_York"), "CDT": (-300, "America/Chicago"),
    "MST": (-420, "America/Denver"), "MDT": (-360, "America/Denver"), "PST": (-480, "America/Los_Angeles"),
    "PDT": (-420, "America/Los_Angeles"), "JST": (540, ""), "KST": (540, ""), "SGT": (480, ""), "HKT": (480,
    ""),
    "AEST": (600, "Australia/Sydney"), "AEDT": (660, "Australia/Sydney"), "NZST": (720, "Pacific/Auckland"),
    "NZDT": (780, "Pacific/Auckland"),
}  # fmt: skip
"""Minutes east of Greenwich, and where that is said. Where clocks there show something else on the day
meant, half of all speakers mean the one and half the other, so it is asked."""
REGIONS: Final = {"ET": "America/New_York", "PT": "America/Los_Angeles", "MT": "America/Denver"}
SEVERAL_MEANINGS: Final = frozenset({"IST", "CST", "AST", "ECT"})
