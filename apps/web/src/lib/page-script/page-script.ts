// The script of the pages of sign-in and sign-up, in place of Svelte and Kit: see docs/decisions/037-sign-in-without-kit.md.
// The pages work without it. It adds behaviour to what the server has rendered.
import { watchLogo } from '#lib/branding/watch-logo.ts';
import { improvePasswordField } from '#lib/forms/password-field.ts';
import { clearErrorOf } from './clear-error.ts';
import { countDown } from './count-down.ts';
import { closeNotice, showOffline } from './notice.ts';
import { submitForm } from './submit-form.ts';

function start(part: ParentNode): void {
  for (const field of part.querySelectorAll<HTMLElement>('[data-password]')) improvePasswordField(field);
  for (const form of part.querySelectorAll<HTMLFormElement>('form[data-wait]')) countDown(form);
  for (const picture of part.querySelectorAll<HTMLImageElement>('[data-logo] > img')) watchLogo(picture);
  part.querySelector<HTMLElement>('[role="alert"]')?.focus();
}

start(document);

document.addEventListener('input', ({ target }) => {
  if (target instanceof HTMLInputElement) clearErrorOf(target);
});

document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  if (event.defaultPrevented || !('scripted' in form.dataset)) return;

  event.preventDefault();
  void submitForm(form, event.submitter).then((main) => main && start(main));
});

document.addEventListener('click', (event) => {
  if (event.target instanceof Element && event.target.closest('#notice a[data-close]')) closeNotice(event);
  else if (!navigator.onLine && event.target instanceof Element && event.target.closest('a[href^="/"]'))
    showOffline(event);
});

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && event.target instanceof Element && event.target.closest('#notice')) closeNotice(event);
});

// Loads a page again that the browser restored from its back/forward cache.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});
