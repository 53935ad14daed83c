import Monitor from '@lucide/svelte/icons/monitor';
import Moon from '@lucide/svelte/icons/moon';
import Sun from '@lucide/svelte/icons/sun';
import { texts } from '#lib/language/texts.ts';

/** The themes to choose from, with their names in the page's language. */
export function themeOptions() {
  const t = texts('frame');
  return [
    { value: 'system', name: t.sameAsDevice, icon: Monitor },
    { value: 'light', name: t.light, icon: Sun },
    { value: 'dark', name: t.dark, icon: Moon },
  ];
}
