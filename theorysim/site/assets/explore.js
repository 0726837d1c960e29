// Scenes that one can move. A page's data script leaves, by the statement's id, sliders with their
// precomputed values, panels, and tables of coordinates at all combinations of these values.
"use strict"

;(() => {
  const SVG = "http://www.w3.org/2000/svg"
  const MARGIN = { left: 52, right: 12, top: 8, bottom: 24 }
  const SILENCE = 500 // milliseconds after which a reader of the screen is told the numbers

  // Numbers as people write them.
  const raised = text => [...text].map(c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? (c === "-" ? "⁻" : "")).join("")

  function written(value, digits = 3) {
    if (value === 0) return "0"
    const size = Math.abs(value)
    if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(digits))).replace("-", "−")
    const [share, power] = value.toExponential(digits - 1).split("e")
    const times = String(Number(share)).replace("-", "−")
    const ten = "10" + raised(String(Number(power)))
    return times === "1" ? ten : `${times}·${ten}`
  }

  // Values of sliders. A place is the share of the way from the first value to the last; a slider
  // without values between counts them instead.
  const scaled = (track, value) => (track.log ? Math.log(value) : value)

  function share(track, value) {
    const [low, high] = [track.values[0], track.values.at(-1)].map(v => scaled(track, v))
    return (scaled(track, value) - low) / (high - low)
  }

  function valueAt(track, place) {
    if (!track.between) return track.values[place]
    if (place === 0 || place === 1) return place ? track.values.at(-1) : track.values[0]
    const [low, high] = [track.values[0], track.values.at(-1)].map(v => scaled(track, v))
    const found = low + place * (high - low)
    return track.log ? Math.exp(found) : found
  }

  const placeOf = (track, value) => (track.between ? share(track, value) : track.values.indexOf(value))

  function neighbours(track, place) {
    if (!track.between) return [[place, 1]]
    const places = track.values.map(value => share(track, value))
    let right = places.findIndex(other => other >= place)
    right = Math.max(1, right < 0 ? places.length - 1 : right)
    const weight = (place - places[right - 1]) / (places[right] - places[right - 1])
    return [[right - 1, 1 - weight], [right, weight]].filter(([, w]) => w)
  }

  // Corners of the cell that holds these places, as indices of rows with weights.
  function corners(tracks, places) {
    let found = [[0, 1]]
    tracks.forEach((track, k) => {
      const sides = neighbours(track, places[k])
      found = found.flatMap(([row, weight]) =>
        sides.map(([index, w]) => [row * track.values.length + index, weight * w]))
    })
    return found
  }

  // What a table holds there: null where nothing is drawn.
  function interpolated(table, around) {
    if (table.rows.length === 1) return table.rows[0]
    const rows = around.map(([row]) => table.rows[row])
    const nearest = around.reduce((best, [, weight], k) => (weight > around[best][1] ? k : best), 0)
    if (table.jumps) return rows[nearest]
    const of = table.log ? v => (v > 0 ? Math.log(v) : NaN) : v => v
    return rows[0].map((_, point) => {
      if (rows.some(row => row[point] === null)) return null
      const mean = around.reduce((sum, [, weight], k) => sum + weight * of(rows[k][point]), 0)
      return Number.isNaN(mean) ? null : table.log ? Math.exp(mean) : mean
    })
  }

  // Points of every series of every panel. Marks move up or down to the nearest point of a curve.
  function curves(scene, places) {
    const around = corners(scene.tracks, places)
    const known = scene.tables.map(table => interpolated(table, around))
    return scene.panels.map(panel => {
      const found = panel.series.map(({ x, y }) => known[x].map((a, k) => [a, known[y][k]]))
      const points = found.filter((_, k) => panel.series[k].role !== "mark").flat().filter(p => p[1] !== null)
      const lifted = ([x, y]) => {
        const there = points.filter(point => y !== null && point[0] === x)
        return there.reduce((best, p) => (!best || Math.abs(p[1] - y) < Math.abs(best[1] - y) ? p : best), null) ?? [x, y]
      }
      return found.map((series, k) => (panel.series[k].role === "mark" ? series.map(lifted) : series))
    })
  }

  // Axes.
  const shows = (log, value) => value !== null && (!log || value > 0)

  function axis(log, values, from, to) {
    const seen = values.filter(value => shows(log, value))
    const of = log ? Math.log10 : v => v
    let low = of(Math.min(...seen)), high = of(Math.max(...seen))
    if (!seen.length) [low, high] = [0, 1]
    const room = 0.05 * (high - low) || (log ? 0.2 : 0.1 * Math.abs(low) || 0.5)
    low -= room
    high += room
    const at = value => from + ((of(value) - low) / (high - low)) * (to - from)
    return { at, ticks: log ? logTicks(low, high) : linearTicks(low, high) }
  }

  function linearTicks(low, high, wanted = 5) {
    const rough = (high - low) / wanted
    const power = 10 ** Math.floor(Math.log10(rough))
    const step = [1, 2, 5, 10].find(times => times * power >= rough) * power
    const found = []
    for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(Number((k * step).toPrecision(12)))
    return found
  }

  function logTicks(low, high) {
    const decades = []
    for (let k = Math.ceil(low); k <= high; k++) decades.push(k)
    if (decades.length > 2) {
      const every = Math.ceil(decades.length / 6)
      return decades.filter(k => k % every === 0).map(k => Number(`1e${k}`))
    }
    const between = []
    for (let k = Math.floor(low); k <= high; k++)
      for (const times of [1, 2, 5]) between.push(Number(`${times}e${k}`))
    const inside = between.filter(v => Math.log10(v) >= low && Math.log10(v) <= high)
    return inside.length > 2 ? inside : linearTicks(10 ** low, 10 ** high, 4)
  }

  // Drawing.
  function element(name, attributes = {}, text = "") {
    const made = document.createElementNS(SVG, name)
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
    if (text) made.textContent = text
    return made
  }

  function html(name, classes, text = "") {
    const made = document.createElement(name)
    if (classes) made.className = classes
    made.textContent = text
    return made
  }

  const SHAPES = {
    simulation: ["M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0 -6.8 0Z", "M0 -4.2L4 3.2L-4 3.2Z", "M-3.2 -3.2H3.2V3.2H-3.2Z"],
    mark: ["M-7 0a7 7 0 1 0 14 0a7 7 0 1 0 -14 0Z", "M-5.5 -5.5H5.5V5.5H-5.5Z", "M0 -8L8 0L0 8L-8 0Z"],
  }
  const DASHES = { prediction: ["", "8 3 2 3", "2 3"], bound: ["6 4", "2 3", "10 3"] }

  // How the n-th series of its role looks: predictions and simulations share colours by number.
  function style(series) {
    const { role, number, pairs } = series
    const colour = role === "bound" ? "faint" : role === "mark" ? "ink" : `c${number % 4}`
    const dashes = DASHES[role], shapes = SHAPES[role]
    return {
      class: `${role} ${colour}`,
      dash: dashes ? dashes[(pairs ? 0 : number) % 3] : "",
      shape: shapes ? shapes[(pairs ? 0 : number) % 3] : "",
    }
  }

  function drawSeries(points, series, x, y, classes) {
    const look = style(series)
    const places = points.map(([a, b]) =>
      shows(series.logX, a) && shows(series.logY, b) ? [x.at(a), y.at(b)] : null)
    if (look.shape) {
      const group = element("g", { class: `${look.class} ${classes}` })
      for (const place of places.filter(p => p))
        group.append(element("path", { d: look.shape, transform: `translate(${place.map(c => c.toFixed(2)).join(" ")})` }))
      return group
    }
    let pen = "M"
    const steps = places.map(place => {
      if (!place) { pen = "M"; return "" }
      const step = pen + place.map(c => c.toFixed(2)).join(" ")
      pen = "L"
      return step
    })
    return element("path", { d: steps.join(""), class: `${look.class} ${classes}`, "stroke-dasharray": look.dash })
  }

  function drawPanel(view, panel, now, start, isMoved) {
    const { svg } = view
    const width = view.figure.clientWidth, height = Math.round(Math.min(Math.max(0.66 * width, 210), 320))
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`)
    svg.setAttribute("width", width)
    svg.setAttribute("height", height)
    const [right, bottom] = [width - MARGIN.right, height - MARGIN.bottom]
    const all = [...now.flat(), ...start.flat()].filter(([a, b]) => shows(panel.logX, a) && shows(panel.logY, b))
    const x = axis(panel.logX, all.map(p => p[0]), MARGIN.left, right)
    const y = axis(panel.logY, all.map(p => p[1]), bottom, MARGIN.top)
    const grid = element("g", { class: "grid" })
    for (const tick of x.ticks) {
      const at = x.at(tick)
      grid.append(element("line", { x1: at, x2: at, y1: MARGIN.top, y2: bottom }))
      grid.append(element("text", { x: at, y: bottom + 16, "text-anchor": "middle", "data-x": tick }, written(tick)))
    }
    for (const tick of y.ticks) {
      const at = y.at(tick)
      grid.append(element("line", { x1: MARGIN.left, x2: right, y1: at, y2: at }))
      grid.append(element("text", { x: MARGIN.left - 6, y: at + 4, "text-anchor": "end", "data-y": tick }, written(tick)))
    }
    grid.append(element("path", { class: "axes", d: `M${MARGIN.left} ${MARGIN.top}V${bottom}H${right}` }))
    const drawn = [grid]
    const layer = { bound: 0, prediction: 1, simulation: 2, mark: 3 }
    const order = panel.series.map((_, k) => k).sort((a, b) => layer[panel.series[a].role] - layer[panel.series[b].role])
    if (isMoved)
      for (const k of order.filter(k => panel.series[k].role === "prediction"))
        drawn.push(drawSeries(start[k], panel.series[k], x, y, "start"))
    for (const k of order) {
      const made = drawSeries(now[k], panel.series[k], x, y, "now")
      made.dataset.series = k
      drawn.push(made)
    }
    svg.replaceChildren(...drawn)
  }

  function key(panel) {
    const list = html("ul", "key")
    const entry = (series, label, classes) => {
      const item = html("li", classes)
      const look = style(series)
      const sign = element("svg", { width: 28, height: 16, "aria-hidden": "true", viewBox: "0 0 28 16" })
      const shape = look.shape ? { d: look.shape, transform: "translate(14 8)" } : { d: "M1 8H27", "stroke-dasharray": look.dash }
      const group = element("g", { class: `${look.class} ${classes || "now"}` })
      group.append(element("path", shape))
      sign.append(group)
      item.append(sign, html("span", "", label))
      list.append(item)
    }
    for (const series of panel.series) if (series.label) entry(series, series.label)
    const line = panel.series.find(series => series.role === "prediction")
    if (line) entry({ ...line, number: 0 }, "the line at first", "start")
    return list
  }

  // What is drawn, in words.
  function told(panel, now) {
    const parts = panel.series.map((series, k) => {
      const seen = now[k].filter(([a, b]) => shows(panel.logX, a) && shows(panel.logY, b))
      if (!seen.length || !series.label) return ""
      if (seen.length === 1) return `${series.label}: ${written(seen[0][1])} at ${written(seen[0][0])}`
      const [first, last] = [seen[0], seen.at(-1)]
      return `${series.label}: ${written(first[1])} at ${written(first[0])}, ${written(last[1])} at ${written(last[0])}`
    })
    return `${panel.title ? panel.title + ". " : ""}${panel.y} against ${panel.x}: ${parts.filter(p => p).join("; ")}.`
  }

  function numbered(scene) {
    for (const panel of scene.panels) {
      const seen = {}
      const lines = panel.series.filter(s => s.role === "prediction").length
      const points = panel.series.filter(s => s.role === "simulation").length
      for (const series of panel.series) {
        series.number = seen[series.role] = (seen[series.role] ?? -1) + 1
        series.pairs = series.role in { prediction: 0, simulation: 0 } && lines > 1 && lines === points
        series.logX = panel.logX
        series.logY = panel.logY
      }
    }
  }

  function explore(box, scene) {
    numbered(scene)
    const inputs = [...box.querySelectorAll("input[type=range]")]
    const outputs = [...box.querySelectorAll("output")]
    const live = box.querySelector("[aria-live]")
    const first = scene.tracks.map(track => placeOf(track, track.start))
    const start = curves(scene, first)
    const views = scene.panels.map(panel => {
      const figure = html("div", "panel")
      const svg = element("svg", { role: "img" })
      if (panel.title) figure.append(html("p", "title", panel.title))
      figure.append(html("p", "y-name", panel.y), svg, html("p", "x-name", panel.x), key(panel))
      return { figure, svg }
    })
    box.querySelector(".panels").replaceChildren(...views.map(view => view.figure))
    let silence = 0, frame = 0

    function draw() {
      frame = 0
      const places = inputs.map(input => Number(input.value))
      const now = curves(scene, places)
      const isMoved = places.some((place, k) => Math.abs(place - first[k]) > 1e-9)
      box.classList.toggle("moved", isMoved)
      scene.tracks.forEach((track, k) => {
        outputs[k].textContent = written(valueAt(track, places[k]))
        inputs[k].setAttribute("aria-valuetext", outputs[k].textContent)
      })
      const words = scene.panels.map((panel, k) => told(panel, now[k]))
      views.forEach((view, k) => {
        drawPanel(view, scene.panels[k], now[k], start[k], isMoved)
        view.svg.setAttribute("aria-label", words[k])
      })
      return words
    }

    function later() {
      if (!frame) frame = requestAnimationFrame(() => {
        const words = draw()
        clearTimeout(silence)
        silence = setTimeout(() => (live.textContent = words.join(" ")), SILENCE)
      })
    }

    function reset() {
      inputs.forEach((input, k) => (input.value = first[k]))
      later()
    }

    inputs.forEach((input, k) => {
      input.value = first[k]
      input.addEventListener("input", later)
    })
    box.querySelector("button").addEventListener("click", reset)
    new ResizeObserver(() => { if (!frame) frame = requestAnimationFrame(draw) }).observe(box)
    draw()
    box.classList.add("ready")
  }

  for (const box of document.querySelectorAll(".explorable")) {
    const scene = window.theorysimScenes?.[box.dataset.scene]
    if (scene) explore(box, scene)
  }
})()
