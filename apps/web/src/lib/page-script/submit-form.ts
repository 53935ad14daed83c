import { unansweredText } from '#lib/forms/unanswered-text.ts';
import { formHeader, locationHeader } from './headers.ts';
import { hideNotice, showNotice } from './notice.ts';

/**
 * Sends a form and shows its answer: a redirect is followed, a page with an error replaces the content.
 * Without an answer, or after a failure of the server, the page and what was typed stay.
 *
 * @returns the new content, which needs its behaviour added; null where the page stays or is left.
 */
export async function submitForm(form: HTMLFormElement, submitter: HTMLElement | null): Promise<Element | null> {
  if (form.ariaBusy === 'true') return null;
  setBusy(form, submitter, 'true');
  hideNotice();

  const action = submitter?.getAttribute('formaction') ?? form.action;
  const response = await fetch(action, {
    method: 'POST',
    body: new URLSearchParams([...new FormData(form, submitter)].map(([name, value]) => [name, String(value)])),
    headers: { accept: 'text/html', [formHeader]: 'scripted' },
  }).catch(() => null);
  const location = response?.headers.get(locationHeader);
  // The button stays pending until the next page has loaded.
  if (location) {
    window.location.assign(location);
    return null;
  }

  setBusy(form, submitter, null);
  const page = new DOMParser().parseFromString((await response?.text().catch(() => '')) ?? '', 'text/html');
  const main = page.querySelector('main');
  // Every answer of a form is a redirect or names an error: another page would replace what was typed.
  if (!main?.querySelector('[role="alert"]')) {
    showNotice(failureText(response));
    return null;
  }
  keepPasswords(main);
  document.title = page.title;
  document.querySelector('main')?.replaceWith(main);
  return main;
}

function failureText(response: Response | null): string {
  const requestId = response?.headers.get('x-request-id') ?? undefined;
  const status = Math.max(response?.status ?? 500, 500);
  const { kept = '' } = document.getElementById('notice-template')?.dataset ?? {};
  return unansweredText({ message: '', status, requestId }, navigator.onLine, JSON.parse(kept)) ?? '';
}

function setBusy(form: HTMLFormElement, submitter: HTMLElement | null, busy: 'true' | null): void {
  form.ariaBusy = busy;
  if (submitter) submitter.ariaBusy = busy;
}

/** The server sends back what was typed, but for passwords. */
function keepPasswords(main: Element): void {
  for (const field of main.querySelectorAll<HTMLInputElement>('[data-password] input')) {
    const before = document.getElementById(field.id);
    if (before instanceof HTMLInputElement) field.value = before.value;
  }
}
