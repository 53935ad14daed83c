import { page } from '$app/state';

/** Whether a checkbox of the form that was just refused was ticked, so that the page shows it so again. */
export function isTicked(name: string): boolean {
  return page.form?.ticked?.includes(name) ?? false;
}
