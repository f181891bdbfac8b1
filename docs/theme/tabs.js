// Turns `<div class="tabs">` into tabs: each paragraph that is one bold word begins a tab. Without this script, and on other sites,
// the same text is read from top to bottom. The choice holds for all tabs of the book.
'use strict';

(() => {
  const remembered = 'callwright-tab';
  const choices = [];

  function choose(name) {
    for (const { label, button, panel } of choices) {
      const names = choices.filter((it) => it.panel.parentNode === panel.parentNode).map((it) => it.label);
      const chosen = label === (names.includes(name) ? name : names[0]);
      button.setAttribute('aria-selected', chosen);
      button.tabIndex = chosen ? 0 : -1;
      panel.hidden = !chosen;
    }
  }

  for (const group of document.querySelectorAll('div.tabs')) {
    const list = document.createElement('div');
    list.setAttribute('role', 'tablist');
    let panel = null;
    for (const child of [...group.children]) {
      const bold = child.tagName === 'P' && child.children.length === 1 && child.firstElementChild;
      if (bold && bold.tagName === 'STRONG' && bold.textContent === child.textContent) {
        const label = bold.textContent;
        const button = document.createElement('button');
        panel = document.createElement('div');
        button.textContent = label;
        button.type = 'button';
        button.setAttribute('role', 'tab');
        panel.setAttribute('role', 'tabpanel');
        panel.setAttribute('aria-label', label);
        button.addEventListener('click', () => {
          choose(label);
          localStorage.setItem(remembered, label);
        });
        list.append(button);
        choices.push({ label, button, panel });
        child.replaceWith(panel);
      } else if (panel) {
        panel.append(child);
      }
    }
    list.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const buttons = [...list.children];
      const next = step && buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length];
      if (next) {
        next.click();
        next.focus();
      }
    });
    group.prepend(list);
  }
  choose(localStorage.getItem(remembered));
})();
