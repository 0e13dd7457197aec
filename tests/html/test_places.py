"""The rows of the vocabulary by place."""

from relbase.html.foreign import HTML, SVG
from relbase.html.places import ANY, PLACES, VML, attributes_of, by_place
from relbase.html.vocabulary import TABLE


def test_an_element_has_the_rows_of_any_element_and_its_own() -> None:
    found = attributes_of(HTML, b"a").rows
    assert found[b"href"] == PLACES[HTML, b"a", b"href"]
    assert found[b"style"] == PLACES[HTML, ANY, b"style"]
    assert attributes_of(HTML, b"x-unknown") is attributes_of(HTML, ANY)


def test_elements_of_vml_share_their_rows() -> None:
    assert attributes_of(HTML, b"v:fill") is attributes_of(HTML, VML)
    assert attributes_of(SVG, b"v:fill") is attributes_of(SVG, ANY)


def test_what_decides_on_a_row_is_asked_for() -> None:
    assert {b"content", b"http-equiv"} <= attributes_of(HTML, b"meta").asked
    assert b"codebase" in attributes_of(HTML, b"object").asked


def test_each_place_of_the_table_has_its_rows_in_order() -> None:
    assert by_place(TABLE) == PLACES
    assert len(PLACES[HTML, b"meta", b"content"]) > 1
