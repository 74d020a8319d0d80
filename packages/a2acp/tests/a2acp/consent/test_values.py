import pytest

from tacit.a2acp.consent import values


@pytest.mark.spec("A2ACP-121")
@pytest.mark.parametrize(
    "text",
    [
        "7-8 Market Place, Reading RG1 2EG", "rg1 2eg", "RG12EG", "\uff32\uff27\uff11 \uff12\uff25\uff27", "12 High Street", "12a high st",
        "come to 221B Baker Street please", "Hauptstraße 12", "Kirchgasse 4a", "12 rue de Rivoli", "Via Roma 5",
        "51.4543, -0.9781", "51.4543 -0.9781", "geo:51.45,-0.97", "51°27'", "9C3XFXV9+3H", "///filled.count.soap",
        "https://maps.google.com/?q=x", "10115 Berlin", "CH-8001 Zürich", "CA 94103", "94103-1234", "1012 AB",
        "K1A 0B1", "postcode: 90210", "Flat 3", "12 High\u200b Str\u200beet",
    ],
)  # fmt: skip
def test_postcodes_streets_and_coordinates_are_specific_places(text):
    assert values.is_place(text)
    assert values.tells_place(["nothing", {"inner": [text]}])


@pytest.mark.parametrize(
    "text",
    [
        "anywhere within 20 min drive of Reading centre", "central Reading", "Reading", "the Dopo", "5 minute walk",
        "18:00+00:00/21:00+00:00", "2026-03-27", "Friday 27 March 2026 Dinner", "GBP 30", "PT1H30M", "£20-40pp",
        "Europe/London", "2 adults", "no restrictions", "3rd of May", "2pm 1st choice", "Following week - Wednesday 1 April",
        "2 km walk from here", "100% attendance > longer window", "about 20.50, 30.75 each",
    ],
)  # fmt: skip
def test_an_area_a_time_or_a_price_is_no_specific_place(text):
    assert not values.is_place(text)


@pytest.mark.parametrize(
    "value", [[51.4543, -0.9781], {"x": 51.4543, "y": -0.9781}, ["12 High", "Street"], ["RG1", "2EG"]]
)
def test_a_place_in_pieces_shows_when_they_are_read_together(value):
    assert values.tells_place(value)


@pytest.mark.parametrize(
    "text", ["2026-03-27", "18:00", "6pm", "Thursdays", "1 April", "April 1", "half past six", "tonight"]
)
def test_days_and_hours_are_times(text):
    assert values.tells_time({"a": [text]})


@pytest.mark.parametrize(
    "text", ["most evenings", "central Reading", "within 20 min", "may be", "vegetarian"]
)
def test_a_habit_is_no_time(text):
    assert not values.tells_time(text)


@pytest.mark.parametrize(
    "zone", ["Europe/London", "UTC", "+01:00", "UTC+1", "America/Argentina/Salta", "CET"]
)
def test_zones_are_zones(zone):
    assert values.is_zone(zone)


@pytest.mark.parametrize("text", ["I am ill", "Europe/London and I am ill", "", 5, "free 18:00-21:00", None])
def test_other_texts_are_no_zones(text):
    assert not values.is_zone(text)
