"""Formulas in Unicode, as a typesetter would set them in one line."""

from xml.etree import ElementTree

import pytest

from theorysim.report.mathematics import html, mathml, plain, text


@pytest.mark.parametrize(
    ("latex", "expected"),
    [
        (
            r"\sigma_*^2 = \frac{\sigma^2 + \lambda\sigma_0^2}{1+\lambda}",
            "σ_*² = (σ² + λσ₀²)/(1 + λ)",
        ),
        (r"\|\theta_T - \theta_S\|_{\Sigma}^2", "‖θ_T − θ_S‖_Σ²"),
        (r"|f^{(k)}(\sigma_0)-\sigma_*| \leq (1-2\eta)^k", "|f⁽ᵏ⁾(σ₀) − σ_*| ≤ (1 − 2η)ᵏ"),
        (r"\mathcal{L}_{\mathrm{pre}}(\theta^{n-1})", "ℒ_pre(θⁿ⁻¹)"),
        (r"K \ge \frac{\log(100/\epsilon)}{\eta \min_i \sigma_i}", "K ≥ log(100/ϵ)/(η minᵢ σᵢ)"),
        (r"\hat u \otimes \bar{x}", "û ⊗ x̄"),
        (r"e^{-C\tau} \log d", "e^(−Cτ) log d"),
        (r"-a = a \times -1", "−a = a × −1"),
        (r"\sqrt{x+1}\,\sqrt[3]{d}", "√(x + 1) ³√d"),
        (r"x^\top A'", "xᵀA′"),
        (r"\begin{pmatrix} a & b\\ c & d\end{pmatrix}", "(a, b; c, d)"),
        (r"\text{rank of } W", "rank of W"),
        (r"\operatorname{rank}(W) \le r", "rank(W) ≤ r"),
        (r"x^{2q}", "x^(2q)"),
        (r"\binom{l+s}{l} a", "(l + s over l)a"),
        (r"\frac{a}{\lambda_{\min}^2 \gamma}", "a/(λ_min²γ)"),
        (r"\frac{a}{\lambda_{\min}}", "a/λ_min"),
        (r"\frac{2\eta}{n} X^\top X", "((2η)/n)XᵀX"),
        (r"\frac12 (a \lesssim b)", "(1/2)(a ≲ b)"),
        (r"\sqrt{d} e^x", "√d eˣ"),
    ],
)
def test_a_formula_in_one_line(latex, expected):
    assert plain(latex) == expected


def test_fractions_of_several_factors_keep_their_brackets():
    """What is printed can be read as Python again, with the same value."""
    formula = plain(r"\frac{a+1}{2\,b} + \frac{a}{b+1} - \frac{1}{2}")
    readable = formula.replace("−", "-").replace("2b", "2*b")
    a, b = 3.0, 5.0
    assert eval(readable, {"a": a, "b": b}) == (a + 1) / (2 * b) + a / (b + 1) - 0.5


def test_words_and_formulas_are_mixed_in_both_forms():
    source = "Let $x > 0$ & more:\n$$y = \\frac{1}{x}$$\n\nThen."
    assert text(source) == "Let x > 0 & more: y = 1/x\n\nThen."
    page = html(source)
    assert page.count("<math") == 2 and page.count("<p>") == 2
    assert "&amp; more" in page and 'display="block"' in page
    ElementTree.fromstring(f"<div>{page}</div>")


def test_words_of_a_formula_are_no_markup():
    """Whatever a formula says, it says as letters: `<` in it opens nothing."""
    element = mathml(r"\text{<script>} \& b < c")
    assert "<script>" not in element
    words = "".join(ElementTree.fromstring(element).itertext())
    assert words == "<script>&b<c" and plain(r"b \& c") == "b&c"


def test_dollars_around_what_is_no_formula_are_dollars():
    assert text("from $}{$ to $x^2$") == "from $}{$ to x²"
    assert html("a < $}{$").startswith("<p>a &lt; $}{$")


@pytest.mark.parametrize("latex", [r"\left( a", "}{"])
def test_what_is_no_formula_is_named(latex):
    with pytest.raises(ValueError, match="not a formula"):
        mathml(latex)
