"""Formulas in LaTeX as MathML for pages and as Unicode for terminals, from one parsed tree."""

from __future__ import annotations

import html as markup
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from xml.etree import ElementTree as Tree

# Mathematics stands between single dollars, a displayed formula between double ones.
MATHEMATICS = re.compile(r"\$\$(?P<display>.+?)\$\$|\$(?P<inline>[^$]+?)\$", re.DOTALL)

SUBSCRIPTS = dict(zip("0123456789+−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"))
SUPERSCRIPTS = dict(
    zip(
        "0123456789+−=()abcdefghijklmnoprstuvwxyzT⊤′*∗",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀᵀ′**",
    )
)
# Combining marks for what stands above one letter.
ACCENTS = {"^": "\u0302", "~": "\u0303", "¯": "\u0304", "―": "\u0304", "˙": "\u0307", "→": "\u20d7"}

# A tight unary minus follows one of these, or nothing.
OPENING = set("([{|‖,=<>≤≥≠≈∼∈+−·×/→⇒:;")
LOOSE = set("+−=<>≤≥≠≈∼~≃≅≲≳≜⟂⊥∣∝∈∉⊂⊆→⇒⇔↦≪≫≍≡≺≻⪯⪰∪∩×⊗⊙⊕±∧∨∀∃")


def mathml(latex: str, display: bool = False) -> str:
    """A formula as a MathML element; as a block of its own where `display`.

    Raises:
        ValueError: for LaTeX that cannot be parsed, with the formula.
    """
    return Tree.tostring(_parsed(latex, display), encoding="unicode")


def _parsed(latex: str, display: bool = False) -> Tree.Element:
    """The tree of a formula, its symbols as letters: the parser writes them as references.

    Its own text of the tree resolves references, those of `<` and `&` too, into letters of HTML.
    """
    from latex2mathml.converter import convert_to_element

    try:
        tree = convert_to_element(latex, display="block" if display else "inline")
    except Exception as error:  # the parser raises errors of many classes
        raise ValueError(f"not a formula: {latex!r} ({type(error).__name__}: {error})") from None
    for node in tree.iter():
        node.text = node.text and markup.unescape(node.text)
    return tree


def plain(latex: str) -> str:
    """A formula in one line of Unicode: fractions with a slash, indices where Unicode has them.

    Raises:
        ValueError: for LaTeX that cannot be parsed, with the formula.
    """
    spaced = _row(list(_parsed(latex)))
    return re.sub(r"\s+", " ", spaced).strip()


def html(text: str) -> str:
    """Paragraphs with mathematics between dollars, as HTML with MathML."""
    paragraphs = (
        _replaced(paragraph, markup.escape, mathml) for paragraph in text.strip().split("\n\n")
    )
    return "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)


def text(source: str) -> str:
    """The same as plain text with Unicode mathematics, every paragraph in one line."""
    paragraphs = (
        _replaced(paragraph, str, lambda latex, display: plain(latex))
        for paragraph in source.strip().split("\n\n")
    )
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _replaced(paragraph: str, words: Callable, formula: Callable[[str, bool], str]) -> str:
    """A paragraph, its words and its formulas each turned into what is wanted.

    What is no formula stays as it stands: in a user's words, dollars may be dollars.
    """
    parts, end = [], 0
    for found in MATHEMATICS.finditer(paragraph):
        display = found["display"]
        parts.append(words(paragraph[end : found.start()]))
        try:
            parts.append(formula(display or found["inline"], display is not None))
        except ValueError:
            parts.append(words(found[0]))
        end = found.end()
    return "".join([*parts, words(paragraph[end:])])


def _name(node: Tree.Element) -> str:
    return node.tag.rpartition("}")[2]


def _of(node: Tree.Element) -> str:
    name, children = _name(node), list(node)
    if name in ("mi", "mn", "mo", "mtext"):
        return node.text or ""
    if name == "mspace":
        return " " if float(node.get("width", "0").removesuffix("em") or 0) > 0.25 else ""
    if name == "mfrac":
        top, bottom = (_of(child) for child in children)
        if node.get("linethickness") == "0":  # a binomial, within brackets of its own
            return f"{top.strip()} over {bottom.strip()}"
        return f"{_grouped(top)}/{_grouped(bottom)}"
    if name == "msqrt":
        return f"√{_grouped(_row(children), always=True)}"
    if name == "mroot":
        return f"{_raised(_of(children[1]))}√{_grouped(_of(children[0]), always=True)}"
    if name in ("msub", "munder"):
        return _of(children[0]) + _lowered(_of(children[1]))
    if name in ("msup", "msubsup", "munderover"):
        return _of(children[0]) + "".join(
            turn(_of(child)) for turn, child in zip(_turns(name), children[1:])
        )
    if name == "mover":
        return _under(_of(children[0]), _of(children[1]))
    if name == "mtable":
        return "; ".join(_of(row) for row in children)
    if name == "mtr":
        return ", ".join(_of(cell) for cell in children)
    return _row(children)


def _turns(name: str) -> Sequence[Callable[[str], str]]:
    return (_raised,) if name == "msup" else (_lowered, _raised)


def _row(children: Sequence[Tree.Element]) -> str:
    """Symbols side by side, with space about relations and names of functions."""
    line, after_word, after_fraction, start = "", False, False, 0
    for child in _words(children):
        new = _of(child)
        if after_fraction and (new[:1].isalnum() or new[:1] in "([{√∑∏"):
            line = f"{line[:start]}({line[start:]})"
        before, start = line.rstrip()[-1:], len(line)
        unary = new in ("+", "−") and (not before or before in OPENING)
        word = _is_word(child)
        apart = line and (word and (before.isalnum() or before in ")]}|‖ᵀ"))
        if _name(child) == "mo" and new in LOOSE and not unary:
            new = f" {new} "
        elif new in (",", ";", ":"):
            new = f"{new} "
        elif apart or (after_word and (new[:1].isalnum() or new[:1] in "∑∏√‖|")):
            new = f" {new}"
        line, after_fraction = line + new, _is_fraction(child)
        after_word = word or _name(child) in ("msqrt", "mroot")
    return line


def _words(children: Sequence[Tree.Element]) -> Iterator[Tree.Element]:
    """The symbols, with upright letters side by side joined into one word."""
    upright: list[Tree.Element] = []
    for child in [*children, Tree.Element("end")]:
        if _name(child) == "mi" and child.get("mathvariant") == "normal":
            upright.append(child)
            continue
        if upright:
            word = Tree.Element("mi")
            word.text = "".join(letter.text or "" for letter in upright)
            yield word
            upright = []
        if child.tag != "end":
            yield child


def _is_fraction(node: Tree.Element) -> bool:
    return _name(node) == "mfrac" and node.get("linethickness") != "0"


def _is_word(node: Tree.Element) -> bool:
    """Whether this is the name of a function such as log, or one with an index such as min."""
    children = list(node)
    if children:
        return _is_word(children[0])
    name = node.text or ""
    return _name(node) in ("mo", "mi") and len(name) > 1 and name.isalpha()


def _grouped(part: str, always: bool = False) -> str:
    """In brackets where it is more than one symbol or number, or a function of something."""
    part = part.strip()
    letter = r"[^\W\d_][\u0300-\u036f]*[′*⁰-₟²³¹ᵀᵢⱼ]*(_(\w[⁰-₟²³¹]*|[a-z]+[⁰-₟²³¹]*))?"
    simple = re.fullmatch(rf"[\d.]+|{letter}|\([^()]*\)|[a-z]+\([^()]*\)", part)
    return part if simple and not (always and part[0].islower() and len(part) > 3) else f"({part})"


def _raised(part: str) -> str:
    return _shifted(part, SUPERSCRIPTS, "^")


def _lowered(part: str) -> str:
    return _shifted(part, SUBSCRIPTS, "_")


def _shifted(part: str, letters: dict[str, str], mark: str) -> str:
    tight = part.replace(" ", "") if not re.search(r"[a-z]{2}", part) else part.strip()
    word = len(tight) > 2 and tight.isalpha()
    if not word and all(letter in letters for letter in tight):
        return "".join(letters[letter] for letter in tight)
    return mark + (tight if word or len(tight) == 1 else f"({tight})")


def _under(base: str, above: str) -> str:
    """A letter under an accent, or several under a named one."""
    mark = ACCENTS.get(above.strip())
    if mark is None:
        return base + _raised(above)
    return unicodedata.normalize("NFC", "".join(letter + mark for letter in base))
