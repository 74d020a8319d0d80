"""Days in English: weekdays, dates, weeks, months, and the stretches between them.

`day` reads what stands at one place of a sentence and gives dates, never a guess: a date whose weekday is
wrong, that does not exist or that has passed becomes a question (A2ACP-075, A2ACP-076). Weeks begin on
Monday; "next Friday" is the Friday of the next week. Knows nothing of clocks and zones: `today` is an
argument.
"""

from __future__ import annotations

from datetime import MAXYEAR, date
from typing import TYPE_CHECKING, Final

from tacit.agent.scheduling.dates.items import COUNTED, DATE, FRAME, WEEKDAY, Day, Doubt, Found, Part, Past
from tacit.agent.scheduling.dates.words import (
    DAY_WORDS,
    MONTH_NAMES,
    MONTH_WORDS,
    MONTHS,
    NOT_A_CLOCK,
    ORDINALS,
    OTHER_WORDS_TOO,
    PARTS,
    WEEK_WORDS,
    WEEKDAY_NAMES,
    WEEKDAYS,
)
from tacit.agent.scheduling.dates.zones import later

if TYPE_CHECKING:
    from tacit.agent.scheduling.dates.tokens import Sentence

LONGEST: Final = 62
"""Days of the longest stretch that is read; nobody means a longer one day by day."""
ROLLED_OVER: Final = 330
"""A date without a year that would be further ahead than this has just passed: it is asked."""
_LEADS: Final = frozenset({"on", "in", "for", "during", "over", "at", "sometime", "of", "about", "around"})
_BEFORE_SHORT_NAMES: Final = frozenset(
    {"on", "this", "next", "or", "and", "to", "by", "until", "before", "after", "from", "-", "–", "coming"}  # noqa: RUF001
)
_TO: Final = frozenset({"to", "until", "till", "through", "thru", "-", "–", "—"})  # noqa: RUF001
_CLOCK_LEADS: Final = frozenset(
    {"at", "from", "between", "until", "till", "after", "before", "by", "@", "about", "-"}
)
_TODAY: Final = {"today": 0, "tomorrow": 1, "tmr": 1, "tmrw": 1, "tomorow": 1, "tommorow": 1, "tommorrow": 1}
_SHADES: Final = {"early": (0, 3), "later": (3, 7), "late": (3, 7), "mid": (2, 4)}


def day(sentence: Sentence, at: int, today: date) -> Found | None:
    """The days named at this place, with the words that lead to them."""
    word = sentence.word(at)
    past = _past(sentence, at)
    if past is not None:
        return past
    if word in {"every", "each"}:
        named = _single(sentence, at + 1, today)
        if named is not None or sentence.word(at + 1) in DAY_WORDS | WEEK_WORDS | MONTH_WORDS:
            end = named.end if named is not None else at + 2
            return Found((Doubt("This can be arranged once, not as a series: which day is meant?"),), end)
    if word in {"by", "until", "till", "before"} or _no_later(sentence, at):
        after = at + 1 if word in {"by", "until", "till", "before"} else at + 3
        behind = after + (sentence.word(after) == "the")
        if sentence.says(behind, "end", "of"):
            # Up to the end is up to the last day, whichever word says so.
            return _up_to(_led(sentence, behind + 2, today), today, without=False)
        return _up_to(_led(sentence, after, today), today, without=word == "before")
    if word in {"after", "since"}:
        return _beyond(_led(sentence, at + 1, today))
    if word in {"from", "starting", "between"}:
        start = at + 1 + (sentence.word(at + 1) in {"on", "from"})
        return _stretch(sentence, start, today, openly=word != "between")
    return _stretch(sentence, at, today, openly=False, single=True)


def _no_later(sentence: Sentence, at: int) -> bool:
    return sentence.says(at, "no", "later", "than") or sentence.says(at, "not", "later", "than")


def following(start: date, length: int) -> tuple[date, ...]:
    """So many days, one after the other."""
    return _days(start, length)


def _past(sentence: Sentence, at: int) -> Found | None:
    word = sentence.word(at)
    if word == "yesterday":
        return Found((Past(),), at + 1)
    if word in {"last", "past", "previous"}:
        after = sentence.word(at + 1)
        if (
            after in WEEKDAYS
            or after in PARTS
            or after in MONTHS
            or after in {"week", "weekend", "month", "year"}
        ):
            return Found((Past(),), at + 2)
    counted = sentence.number(at)
    if counted is not None and sentence.word(counted[1] + 1) == "ago":
        return Found((Past(),), counted[1] + 2)
    return None


def _led(sentence: Sentence, at: int, today: date) -> Found | None:
    """A single naming of days, behind words such as `on` or `at the`."""
    place = at
    while sentence.word(place) in _LEADS and place < at + 2:
        found = _single(sentence, place, today)
        if found is not None:
            return found
        place += 1
    return _single(sentence, place, today)


def _stretch(sentence: Sentence, at: int, today: date, *, openly: bool, single: bool = False) -> Found | None:
    number = at + (sentence.word(at) == "on")
    number += sentence.word(number) == "the"
    listed = _numbered(sentence, number, today, between=not openly and not single)
    if listed is not None:
        return listed
    first = _led(sentence, at, today)
    if first is None or not isinstance(first.items[0], Day):
        return first if single or openly else None
    join = sentence.word(first.end)
    if join in _TO or (join == "and" and not openly and not single):
        last = _led(sentence, first.end + 1, today)
        if last is not None and isinstance(last.items[0], Day) and len(first.items) == 1:
            return _between(first.items[0], last.items[0], last.end)
    if single:
        return first
    if openly:
        start = first.items[0].dates[0]
        return Found((Day(_days(start, 7), FRAME), *first.items[1:]), first.end)
    return None


def _between(first: Day, last: Day, end: int) -> Found:
    start, stop = first.dates[0], last.dates[-1]
    if stop < start and last.kind == WEEKDAY:
        stop = later(stop, 7)
    if stop < start:
        question = f"{spoken(stop)} is before {spoken(start)}: which days are meant?"
        return Found((Doubt(question, contradiction=True),), end)
    return Found((Day(_days(start, min((stop - start).days + 1, LONGEST)), FRAME),), end)


def _up_to(found: Found | None, today: date, *, without: bool) -> Found | None:
    if found is None or not isinstance(found.items[0], Day):
        return found
    dates = found.items[0].dates
    stop = later(dates[0], -1) if without and dates[0] > today else dates[-1]
    return Found(
        (Day(_days(today, min((stop - today).days + 1, LONGEST)), FRAME), *found.items[1:]), found.end
    )


def _beyond(found: Found | None) -> Found | None:
    if found is None or not isinstance(found.items[0], Day):
        return found
    return Found((Day(_days(later(found.items[0].dates[-1], 1), 7), FRAME),), found.end)


def _single(sentence: Sentence, at: int, today: date) -> Found | None:
    word = sentence.word(at)
    if word in _TODAY:
        return _then_weekday(sentence, Found((Day((later(today, _TODAY[word]),)),), at + 1))
    if word == "tonight":
        return Found((Day((today,)), Part("night", PARTS["night"])), at + 1)
    for words in (("the", "day", "after", "tomorrow"), ("day", "after", "tomorrow")):
        if sentence.says(at, *words):
            return Found((Day((later(today, 2),)),), at + len(words))
    return (
        _named_weekday(sentence, at, today)
        or _date(sentence, at, today)
        or _counted(sentence, at, today)
        or _frame(sentence, at, today)
    )


# Weekdays.


def weekday_at(sentence: Sentence, at: int) -> int | None:
    """The weekday that stands there, where the word is one and nothing else."""
    word = sentence.word(at).removesuffix("'s")
    found = WEEKDAYS.get(word)
    if found is None or word not in OTHER_WORDS_TOO:
        return found
    capital = sentence.tokens[at].written[0].isupper()
    return found if capital or sentence.word(at - 1) in _BEFORE_SHORT_NAMES else None


def _named_weekday(sentence: Sentence, at: int, today: date) -> Found | None:
    which = sentence.word(at)
    place = at + 1 if which in {"this", "next", "coming", "the"} else at
    if which == "the" and sentence.word(place) in {"coming", "next"}:
        which, place = sentence.word(place), place + 1
    number = weekday_at(sentence, place)
    if number is None:
        return None
    ahead = (number - today.weekday()) % 7
    if which == "next" and not _of_a_week(sentence, place + 1):
        ahead = number - today.weekday() + 7
    found = Day((later(today, ahead),), WEEKDAY if which != "next" else DATE)
    return _with_date(sentence, place + 1, today, number) or Found((found,), place + 1)


def _of_a_week(sentence: Sentence, at: int) -> bool:
    place = at + (sentence.word(at) == "of")
    return sentence.says(place, "next", "week")


def _with_date(sentence: Sentence, at: int, today: date, weekday: int) -> Found | None:
    """`Friday 27 March`, `Friday, the 27th`: the date, where it is a Friday."""
    place = at
    while sentence.word(place) in {",", "the", "on", "("} and place < at + 2:
        place += 1
    found = _date(sentence, place, today) or (_of_month(sentence, place, today) if place == at else None)
    if found is None or not isinstance(found.items[0], Day):
        return found
    end = found.end + (sentence.word(place - 1) == "(" and sentence.word(found.end) == ")")
    return Found((_agreeing(found.items[0].dates[0], weekday),), end)


def _of_month(sentence: Sentence, at: int, today: date) -> Found | None:
    """The 27 of `Friday 27`: too high to be an hour, and counting nothing."""
    if sentence.kind(at) != "number" or sentence.word(at + 1) in NOT_A_CLOCK | _TO:
        return None
    number = sentence.tokens[at].numbers[0]
    return Found((_nth(number, today),), at + 1) if 24 < number <= 31 else None


def _agreeing(named: date, weekday: int) -> Day | Doubt:
    if named.weekday() == weekday:
        return Day((named,))
    right = WEEKDAY_NAMES[named.weekday()]
    question = f"{_written(named)} is a {right}, not a {WEEKDAY_NAMES[weekday]}: which day is meant?"
    return Doubt(question, contradiction=True)


# Dates.


def _date(sentence: Sentence, at: int, today: date) -> Found | None:
    """A date in one of its spellings, with a weekday behind it where there is one."""
    found = (
        _in_figures(sentence, at, today)
        or _day_first(sentence, at, today)
        or _month_first(sentence, at, today)
    )
    return found if found is None else _then_weekday(sentence, found)


def _then_weekday(sentence: Sentence, found: Found) -> Found:
    """`27 March (Friday)`, `tomorrow, Tuesday`: one day said twice; where `or` follows, several days."""
    if not isinstance(found.items[0], Day):
        return found
    bracket = sentence.word(found.end) == "("
    place = found.end + (bracket or sentence.word(found.end) == ",")
    number = weekday_at(sentence, place)
    if number is None or sentence.word(place + 1) in {"or", "and", ",", "/"} | _TO:
        return found
    end = place + 1 + (bracket and sentence.word(place + 1) == ")")
    return Found((_agreeing(found.items[0].dates[0], number),), end)


def _in_figures(sentence: Sentence, at: int, today: date) -> Found | None:
    kind = sentence.kind(at)
    if kind == "point":
        return _point_as_date(sentence, at)
    if kind not in {"iso", "dotted", "slash"}:
        return None
    numbers = sentence.tokens[at].numbers
    if kind == "iso":
        return Found((_dated(numbers[2], numbers[1], numbers[0], today),), at + 1)
    year = numbers[2] if len(numbers) == 3 else 0
    year += 2000 if 0 < year < 100 else 0
    first, second = numbers[:2]
    if kind == "dotted":
        return Found((_dated(first, second, year, today),), at + 1) if 1 <= second <= 12 else None
    readings = [(d, m) for d, m in ((first, second), (second, first)) if 1 <= m <= 12 and 1 <= d <= 31]
    if len(set(readings)) == 1:
        return Found((_dated(*readings[0], year, today),), at + 1)
    if len(readings) == 2 and (
        year or sentence.word(at - 1) in {"on", "by", "before", "after", "until", "from"}
    ):
        spoken_readings = " or ".join(f"{d} {MONTH_NAMES[m - 1]}" for d, m in readings)
        return Found((Doubt(f"Is {spoken_readings} meant?"),), at + 1)
    return None


def _point_as_date(sentence: Sentence, at: int) -> Found | None:
    """`12.03` with nothing before it that tells a date from a time; prices are neither."""
    first, second = sentence.tokens[at].numbers
    if (
        not 1 <= first <= 31
        or not 1 <= second <= 12
        or sentence.word(at + 1) in NOT_A_CLOCK | {"€", "£", "$"}
    ):
        return None
    if sentence.word(at - 1) in _CLOCK_LEADS | {"€", "£", "$"}:
        return None
    return Found((Doubt(f"Is {first} {MONTH_NAMES[second - 1]} meant, or a time of the day?"),), at + 1)


def _day_first(sentence: Sentence, at: int, today: date) -> Found | None:
    """`28 March`, `the 28th of March 2026`, `the 28th`."""
    article = sentence.word(at) == "the"
    place = at + article
    number, ordinal = _day_number(sentence, place)
    if number == 0:
        return None
    month_at = place + 1 + (sentence.word(place + 1) == "of")
    month = MONTHS.get(sentence.word(month_at))
    if month is None:
        figures = sentence.kind(place) == "ordinal" or article
        if ordinal and figures and sentence.kind(place) == "ordinal":
            return Found((_nth(number, today),), place + 1)
        return None
    year, end = _year(sentence, month_at + 1)
    return Found((_dated(number, month, year, today),), end)


def _month_first(sentence: Sentence, at: int, today: date) -> Found | None:
    """`March 28th`, `March the 28th, 2026`; a range `March 27-29` is read elsewhere."""
    month = MONTHS.get(sentence.word(at))
    if month is None:
        return None
    place = at + 1 + (sentence.word(at + 1) == ".")
    place += sentence.word(place) == "the"
    number, _ = _day_number(sentence, place)
    if number == 0:
        return None
    year, end = _year(
        sentence, place + 1 + (sentence.word(place + 1) == "," and sentence.kind(place + 2) == "number")
    )
    if not year:
        end = place + 1
        last, _ = _day_number(sentence, end + 1)
        if sentence.word(end) in _TO and last > number and sentence.word(end + 2) not in NOT_A_CLOCK:
            return _listed(list(range(number, last + 1)), month, 0, today, end + 2)
    return Found((_dated(number, month, year, today),), end)


def _day_number(sentence: Sentence, at: int) -> tuple[int, bool]:
    kind = sentence.kind(at)
    if kind in {"number", "ordinal"}:
        value = sentence.tokens[at].numbers[0]
        return (value if 1 <= value <= 31 else 0), kind == "ordinal"
    value = ORDINALS.get(sentence.word(at), 0)
    return value, value > 0


def _year(sentence: Sentence, at: int) -> tuple[int, int]:
    if sentence.kind(at) == "number" and 1900 <= sentence.tokens[at].numbers[0] <= MAXYEAR:
        return sentence.tokens[at].numbers[0], at + 1
    return 0, at


def _numbered(sentence: Sentence, at: int, today: date, *, between: bool) -> Found | None:
    """`27 to 29 March`, `6, 7 or 8 April`: several numbers before one month, with those `between` them."""
    numbers, place, ranged = [_day_number(sentence, at)[0]], at + 1, between
    while numbers[-1] and sentence.word(place) in _TO | {"or", "and", ",", "/"} and len(numbers) < 8:
        ranged = ranged or sentence.word(place) in _TO
        place += 1 + (sentence.word(place + 1) in {"or", "and", "the"})
        numbers.append(_day_number(sentence, place)[0])
        place += 1
    place += sentence.word(place) == "of"
    month = MONTHS.get(sentence.word(place))
    if month is None or len(numbers) < 2 or not all(numbers):
        return None
    year, end = _year(sentence, place + 1)
    wanted = list(range(numbers[0], numbers[-1] + 1)) if ranged and len(numbers) == 2 else numbers
    return _listed(wanted, month, year, today, end)


def _listed(numbers: list[int], month: int, year: int, today: date, end: int) -> Found:
    days = [_dated(number, month, year, today) for number in numbers]
    doubts = [found for found in days if isinstance(found, Doubt)]
    if doubts or not days:
        return Found(tuple(doubts[:1]) or (Doubt("Which days are meant?"),), end)
    return Found((Day(tuple(found.dates[0] for found in days if isinstance(found, Day))),), end)


def _dated(number: int, month: int, year: int, today: date) -> Day | Doubt:
    """A date that is not over; without a year the next one of that name."""
    for candidate in (year,) if year else (today.year, today.year + 1):
        named = _real(candidate, month, number)
        if named is not None and named >= today:
            if not year and (named - today).days > ROLLED_OVER:
                return Doubt(
                    f"{_written(named, with_year=False)} has just passed: is {_written(named)} meant?"
                )
            return Day((named,))
        if named is None and candidate == (year or today.year + 1):
            return Doubt("That date does not exist: which day is meant?", contradiction=True)
    return Doubt("That date has passed: which day is meant?")


def _nth(number: int, today: date) -> Day | Doubt:
    """The next day of that number in its month."""
    year, month = today.year, today.month
    for _ in range(3):
        named = _real(year, month, number)
        if named is not None and named >= today:
            return Day((named,))
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return Doubt("That date does not exist: which day is meant?", contradiction=True)


# Weeks, weekends, months, so many days.


def _counted(sentence: Sentence, at: int, today: date) -> Found | None:
    """`in 3 days`, `in a fortnight`, `within two weeks`, `the next 5 days`, `a week from now`."""
    within = sentence.word(at) == "within"
    place = at + (sentence.word(at) in {"in", "within"})
    place += sentence.word(place) == "the"
    if sentence.word(place) in {"next", "coming"}:
        within, place = True, place + 1
    if within and sentence.word(place) in DAY_WORDS | {"weeks"}:
        return Found((Day(_days(today, 7 if sentence.word(place) in DAY_WORDS else 14), FRAME),), place + 1)
    few = sentence.word(place) == "few"
    counted = (3, place + 1) if few else sentence.number(place)
    if counted is None:
        return None
    number, unit = counted
    word = sentence.word(unit)
    if word not in DAY_WORDS | WEEK_WORDS | MONTH_WORDS:
        return None
    length = number * (
        1 if word in DAY_WORDS else 7 if word.startswith("week") else 14 if word in WEEK_WORDS else 30
    )
    end, ahead = unit + 1, sentence.word(at) == "in"
    for tail in (("from", "now"), ("from", "today"), ("time",)):
        if sentence.says(end, *tail):
            end, ahead = end + len(tail), True
    if within:
        return Found((Day(_days(today, min(length + 1, LONGEST)), FRAME),), end)
    kind = COUNTED if word in WEEK_WORDS else DATE
    return Found((Day((later(today, length),), kind),), end) if ahead else None


def _frame(sentence: Sentence, at: int, today: date) -> Found | None:
    place, shade = at + (sentence.word(at) == "the"), ""
    for words, name in _SHADE_WORDS:
        if sentence.says(place, *words):
            shade, place = name, place + len(words)
            break
    place += sentence.word(place) == "the"
    found = _whole_frame(sentence, place, today)
    if found is None or not shade or not isinstance(found.items[0], Day):
        return found if not shade else None
    dates = found.items[0].dates
    if len(dates) > 7:
        third = -(-len(dates) // 3)
        cut = {"early": dates[:third], "mid": dates[third : 2 * third]}.get(shade, dates[2 * third :])
    else:
        low, high = _SHADES[shade]
        cut = tuple(each for each in dates if low <= each.weekday() < high)
    return Found((Day(cut or dates[-1:], FRAME),), found.end)


_SHADE_WORDS: Final = (
    (("early",), "early"), (("late",), "late"), (("later",), "later"), (("beginning", "of"), "early"),
    (("start", "of"), "early"), (("middle", "of"), "mid"), (("mid",), "mid"), (("end", "of"), "late"),
)  # fmt: skip


def _whole_frame(sentence: Sentence, at: int, today: date) -> Found | None:
    monday = later(today, -today.weekday())
    which = sentence.word(at)
    place = at + (which in {"this", "next", "coming", "the"})
    word = sentence.word(place)
    if sentence.says(at, "week", "after", "next"):
        return Found((Day(_days(later(monday, 14), 7), FRAME),), at + 3)
    if sentence.says(at, "weekend", "after", "next"):
        return Found((Day(_days(later(monday, 19), 2), FRAME),), at + 3)
    if word in {"weekday", "weekdays", "workday", "workdays"} or sentence.says(at, "a", "weekday"):
        end = place + 1 + sentence.says(at, "a", "weekday")
        days = tuple(each for each in _days(today, 7) if each.weekday() < 5)
        return Found((Day(days, WEEKDAY),), end)
    if word in {"week", "weekend", "weekends", "month"} and which == word:
        if word == "week" and sentence.word(at + 1) in {"of", "commencing", "beginning"}:
            return _week_of(sentence, at + 2, today)
        if word in {"week", "month"} and sentence.word(at - 1) != "the":
            return None
        which = "this"
    if word == "week":
        start = later(monday, 7) if which in {"next", "coming"} else today
        length = 7 if which in {"next", "coming"} else 7 - today.weekday()
        return Found((Day(_days(start, length), FRAME),), place + 1)
    if word in {"weekend", "weekends"}:
        saturday = later(monday, 12 if which == "next" else 5)
        days = tuple(each for each in (saturday, later(saturday, 1)) if each >= today)
        return Found((Day(days, FRAME),), place + 1)
    return _months(sentence, at, place, which, today)


def _week_of(sentence: Sentence, at: int, today: date) -> Found | None:
    found = _date(sentence, at + (sentence.word(at) == "the"), today)
    if found is None or not isinstance(found.items[0], Day):
        return found
    named = found.items[0].dates[0]
    days = [each for each in _days(later(named, -named.weekday()), 7) if each >= today]
    return Found((Day(tuple(days), FRAME),), found.end)


def _months(sentence: Sentence, at: int, place: int, which: str, today: date) -> Found | None:
    word = sentence.word(place)
    if word == "month" and which in {"this", "next", "coming"}:
        first = today.replace(day=1)
        if which != "this":
            first = later(first, 32).replace(day=1)
    elif word in MONTHS and (which in {"this", "next"} or sentence.word(at - 1) in {"in", "of", "during"}):
        year = today.year + (MONTHS[word] < today.month)
        named = _real(year, MONTHS[word], 1)
        if named is None:
            return None
        first = named
    else:
        return None
    last = later(later(first, 32).replace(day=1), -1)
    start = max(first, today)
    return Found((Day(_days(start, (last - start).days + 1), FRAME),), place + 1)


# Dates as such.


def _real(year: int, month: int, number: int) -> date | None:
    try:
        return date(year, month, number)
    except ValueError:
        return None


def _days(start: date, length: int) -> tuple[date, ...]:
    return tuple(dict.fromkeys(later(start, offset) for offset in range(max(length, 1))))


def _written(named: date, *, with_year: bool = True) -> str:
    year = f" {named.year}" if with_year else ""
    return f"{named.day} {MONTH_NAMES[named.month - 1]}{year}"


def spoken(named: date) -> str:
    """`Friday 27 March 2026`: the weekday is computed, so it is the right one."""
    return f"{WEEKDAY_NAMES[named.weekday()]} {_written(named)}"
