// The navigation's own sections scroll; a keyboard must reach them.
for (const box of document.querySelectorAll(".md-sidebar__scrollwrap, .md-typeset__scrollwrap")) {
  box.tabIndex = 0
}
