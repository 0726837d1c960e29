// What scrolls must be reached by the keyboard; what opens must have a name.
const boxes = ".md-typeset__scrollwrap, .values dd, .formula, .claimed, .wide, .statement p, dd p, math[display=block]"

function reachable() {
  for (const box of document.querySelectorAll(boxes)) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0
    else box.removeAttribute("tabindex")
  }
}

document.querySelector(".md-search")?.setAttribute("aria-label", "Search")
document.addEventListener("toggle", reachable, true)
window.addEventListener("load", reachable)
window.addEventListener("resize", reachable)
