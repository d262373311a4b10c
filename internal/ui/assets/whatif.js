// What if: past events given to a guard as it would be. It is shown where hookd can do that.
import { html } from './lib.js';
import { Command } from './parts.js';

export function WhatIf() {
  return html`<section class="view" id="whatif"><div class="head"><div><h1>What if</h1></div></div></section>`;
}
