"""What fits a page of a terminal."""


def assert_fits_a_page(text: str) -> None:
    assert "\x1b" not in text  # no colour
    assert max(map(len, text.splitlines())) <= 80
