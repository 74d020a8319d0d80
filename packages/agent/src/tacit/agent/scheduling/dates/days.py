"""Days in English: weekdays, dates, weeks, months, and the stretches between them.

`day` reads what stands at one place of a sentence and gives dates, never a guess: a date whose weekday is
wrong, that does not exist or that has passed becomes a question (A2ACP-075, A2ACP-076). Weeks begin on
Monday; "next Friday" is the Friday of the next week. Knows nothing of clocks and zones: `today` is an
argument.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from tacit.a2acp.packets.dates import (
    MONTH_OF,
    MONTHS,
    TO,
    Mention,
    date_at,
    day_number,
    resolved,
    spelt,
    spoken,
    weekday_at,
    weekday_behind,
    weekday_fault,
    year_at,
)
from tacit.agent.scheduling.dates.items import COUNTED, DATE, FRAME, WEEKDAY, Day, Doubt, Found, Part, Past
from tacit.agent.scheduling.dates.words import DAY_WORDS, MONTH_WORDS, NOT_A_CLOCK, PARTS, WEEK_WORDS
from tacit.agent.scheduling.dates.zones import later

if TYPE_CHECKING:
    from tacit.a2acp.packets.tokens import Sentence

LONGEST: Final = 62
"""Days of the longest stretch that is read; nobody means a longer one day by day."""
ROLLED_OVER: Final = 330
"""A date without a year that would be further ahead than this has just passed: it is asked."""
_LEADS: Final = frozenset({"on", "in", "for", "during", "over", "at", "sometime", "of", "about", "around"})
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
            weekday_at(sentence, at + 1) is not None
            or after in PARTS
            or after in MONTH_OF
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
    if join in TO or (join == "and" and not openly and not single):
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
    if sentence.kind(at) != "number" or sentence.word(at + 1) in NOT_A_CLOCK | TO:
        return None
    number = sentence.tokens[at].numbers[0]
    return Found((_nth(number, today),), at + 1) if 24 < number <= 31 else None


def _agreeing(named: date, weekday: int) -> Day | Doubt:
    fault = weekday_fault(weekday, named)
    return Doubt(f"{fault}: which day is meant?", contradiction=True) if fault else Day((named,))


# Dates.


def _date(sentence: Sentence, at: int, today: date) -> Found | None:
    """A date in one of its spellings, with a weekday behind it where there is one."""
    found = (
        _in_figures(sentence, at, today)
        or _month_and_days(sentence, at, today)
        or _in_words(sentence, at, today)
        or _day_alone(sentence, at, today)
    )
    return found if found is None else _then_weekday(sentence, found)


def _then_weekday(sentence: Sentence, found: Found) -> Found:
    """`27 March (Friday)`, `tomorrow, Tuesday`: one day said twice; where `or` follows, several days."""
    if not isinstance(found.items[0], Day):
        return found
    weekday, end = weekday_behind(sentence, found.end)
    return found if weekday is None else Found((_agreeing(found.items[0].dates[0], weekday),), end)


def _in_words(sentence: Sentence, at: int, today: date) -> Found | None:
    """`2026-03-28`, `28 March`, `the 28th of March 2026`, `March 28th`."""
    read = date_at(sentence, at)
    return None if read is None else Found((_dated(read[0], today),), read[1])


def _day_alone(sentence: Sentence, at: int, today: date) -> Found | None:
    """`the 28th`."""
    place = at + (sentence.word(at) == "the")
    number = day_number(sentence, place) if sentence.kind(place) == "ordinal" else 0
    return Found((_nth(number, today),), place + 1) if number else None


def _month_and_days(sentence: Sentence, at: int, today: date) -> Found | None:
    """`March 27-29`."""
    read = date_at(sentence, at)
    if read is None or sentence.word(at) not in MONTH_OF or read[0].year or sentence.word(read[1]) not in TO:
        return None
    first, last, end = read[0].day or 0, day_number(sentence, read[1] + 1), read[1] + 2
    if last <= first or sentence.word(end) in NOT_A_CLOCK:
        return None
    return _listed(list(range(first, last + 1)), read[0], today, end)


def _in_figures(sentence: Sentence, at: int, today: date) -> Found | None:
    kind = sentence.kind(at)
    if kind == "point":
        return _point_as_date(sentence, at)
    if kind not in {"dotted", "slash"}:
        return None
    numbers = sentence.tokens[at].numbers
    year = numbers[2] if len(numbers) == 3 else 0
    year = year + (2000 if 0 < year < 100 else 0) or None
    first, second = numbers[:2]
    if kind == "dotted":
        named = _dated(Mention(None, year, second, first), today)
        return Found((named,), at + 1) if 1 <= second <= 12 else None
    readings = [(d, m) for d, m in ((first, second), (second, first)) if 1 <= m <= 12 and 1 <= d <= 31]
    if len(set(readings)) == 1:
        number, month = readings[0]
        return Found((_dated(Mention(None, year, month, number), today),), at + 1)
    if len(readings) == 2 and (
        year or sentence.word(at - 1) in {"on", "by", "before", "after", "until", "from"}
    ):
        spoken_readings = " or ".join(f"{d} {MONTHS[m - 1]}" for d, m in readings)
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
    return Found((Doubt(f"Is {first} {MONTHS[second - 1]} meant, or a time of the day?"),), at + 1)


def _numbered(sentence: Sentence, at: int, today: date, *, between: bool) -> Found | None:
    """`27 to 29 March`, `6, 7 or 8 April`: several numbers before one month, with those `between` them."""
    numbers, place, ranged = [day_number(sentence, at)], at + 1, between
    while numbers[-1] and sentence.word(place) in TO | {"or", "and", ",", "/"} and len(numbers) < 8:
        ranged = ranged or sentence.word(place) in TO
        place += 1 + (sentence.word(place + 1) in {"or", "and", "the"})
        numbers.append(day_number(sentence, place))
        place += 1
    place += sentence.word(place) == "of"
    month = MONTH_OF.get(sentence.word(place))
    if month is None or len(numbers) < 2 or not all(numbers):
        return None
    year, end = year_at(sentence, place + 1)
    wanted = list(range(numbers[0], numbers[-1] + 1)) if ranged and len(numbers) == 2 else numbers
    return _listed(wanted, Mention(None, year, month, None), today, end)


def _listed(numbers: list[int], month: Mention, today: date, end: int) -> Found:
    days = [_dated(month._replace(day=number), today) for number in numbers]
    doubts = [found for found in days if isinstance(found, Doubt)]
    if doubts or not days:
        return Found(tuple(doubts[:1]) or (Doubt("Which days are meant?"),), end)
    return Found((Day(tuple(found.dates[0] for found in days if isinstance(found, Day))),), end)


def _dated(mention: Mention, today: date) -> Day | Doubt:
    """A date that is not over; without a year the next one of that name."""
    named = resolved(mention, today)
    if isinstance(named, str) or not (mention.year or named.year <= today.year + 1):
        return Doubt("That date does not exist: which day is meant?", contradiction=True)
    if named < today:
        return Doubt("That date has passed: which day is meant?")
    if not mention.year and (named - today).days > ROLLED_OVER:
        without_year = f"{named.day} {MONTHS[named.month - 1]}"
        return Doubt(f"{without_year} has just passed: is {spelt(named)} meant?")
    return Day((named,))


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
    elif word in MONTH_OF and (which in {"this", "next"} or sentence.word(at - 1) in {"in", "of", "during"}):
        year = today.year + (MONTH_OF[word] < today.month)
        named = _real(year, MONTH_OF[word], 1)
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
