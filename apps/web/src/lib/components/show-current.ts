/** An attachment that scrolls the current tab into view, where the tabs are wider than a phone. */
export function showCurrent(nav: HTMLElement): void {
  nav.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
}
