"""The live session as an app of marimo: sliders above, figure, words and numbers below."""

import marimo

app = marimo.App(width="medium", app_title="theorysim")


@app.cell
def _():
    from pathlib import Path

    import marimo as mo
    import pandas

    from theorysim.errors import UsageError
    from theorysim.explore.views import stops, view_of
    from theorysim.report.mathematics import html

    return Path, UsageError, html, mo, pandas, stops, view_of


@app.cell
def _(Path, html, mo, view_of):
    given = mo.cli_args()
    view = view_of(given["id"], [Path(file) for file in given.get_all("theorems")])
    mo.vstack([mo.md(f"## {given['id']}"), mo.Html(html(view.title))])
    return (view,)


@app.cell
def _(mo, view):
    chosen = mo.ui.multiselect(
        options=list(view.sliders),
        value=list(view.sliders) if view.all_fixed else [],
        label="Fix these numbers; all others are drawn",
    )
    mo.md("") if view.all_fixed else chosen
    return (chosen,)


@app.cell
def _(chosen, mo, stops, view):
    values = mo.ui.dictionary(
        {
            name: mo.ui.slider(
                steps=stops(slider),
                value=slider.default,
                label=slider.label,
                show_value=True,
                debounce=True,
                full_width=True,
            )
            for name, slider in view.sliders.items()
            if name in chosen.value
        }
    )
    mo.vstack(list(values.elements.values()))
    return (values,)


@app.cell
def _(UsageError, html, mo, values, view):
    try:
        shown, fault = view.at(values.value), ""
    except UsageError as error:
        shown, fault = None, str(error)
    mo.stop(shown is None, mo.callout(fault, kind="warn"))
    assert shown is not None
    mo.vstack([shown.figure, *(mo.Html(html(text)) for text in shown.words)])
    return (shown,)


@app.cell
def _(mo, pandas, shown):
    numbers = pandas.DataFrame(shown.rows)
    mo.accordion({"The numbers": mo.ui.table(numbers, selection=None)})
    return (numbers,)


if __name__ == "__main__":
    app.run()
