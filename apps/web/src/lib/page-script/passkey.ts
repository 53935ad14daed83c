// The script of the button for a passkey (PasskeyOffer.svelte). The page script may replace the page's content, and the
// button with it, so the document listens.
import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  WebAuthnAbortService,
} from '@simplewebauthn/browser';
import { hideNotice, showNotice } from './notice.ts';

/** A little less than the five minutes of a challenge. */
const renewMilliseconds = 4 * 60_000;

let suggests = false;

const offer = document.querySelector<HTMLElement>('[data-passkey]');
if (offer) offer.hidden = !browserSupportsWebAuthn();
if (document.querySelector('input[autocomplete$="webauthn"]')) void keepSuggesting();

document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button') : null;
  const part = button?.closest<HTMLElement>('[data-passkey]');
  if (button && part) void usePasskey(part, button);
});

/** Keeps passkeys among the suggestions of the address field, and renews their challenge before it ends. */
async function keepSuggesting(): Promise<void> {
  if (!(await browserSupportsWebAuthnAutofill())) return;
  suggests = true;
  setInterval(() => void suggest(), renewMilliseconds);
  await suggest();
}

async function suggest(): Promise<void> {
  const optionsJSON = await options();
  if (optionsJSON === null) return;
  // Ended by the next one, by the button, or by the user: nothing was asked for.
  const passkey = await startAuthentication({ optionsJSON, useBrowserAutofill: true }).catch(() => null);
  const part = document.querySelector<HTMLElement>('[data-passkey]');
  if (passkey !== null && part) await send(part, passkey);
}

async function usePasskey(part: HTMLElement, button: HTMLButtonElement): Promise<void> {
  if (button.ariaBusy === 'true') return;
  button.ariaBusy = 'true';
  hideNotice();
  WebAuthnAbortService.cancelCeremony();
  const optionsJSON = await options();
  const passkey = optionsJSON && (await startAuthentication({ optionsJSON }).catch(() => null));
  // The button stays pending until the next page has loaded.
  if (passkey !== null && (await send(part, passkey))) return;

  button.ariaBusy = null;
  if (passkey === null) showNotice(part.dataset.failed ?? '');
  if (suggests) await suggest();
}

type Options = Parameters<typeof startAuthentication>[0]['optionsJSON'];

async function options(): Promise<Options | null> {
  const response = await fetch('/api/login/passkey/options', { method: 'POST' }).catch(() => null);
  return response?.ok ? response.json() : null;
}

/** Sends the answer and leaves the page; returns false where it was refused, and says why. */
async function send(part: HTMLElement, passkey: unknown): Promise<boolean> {
  const trust = document.querySelector<HTMLInputElement>('input[name="trust"]')?.checked;
  const response = await fetch(part.dataset.passkey ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ passkey, ...(trust && { trust }) }),
  }).catch(() => null);
  if (response?.ok) {
    window.location.assign('/');
    return true;
  }
  showNotice((response?.status === 429 ? part.dataset.tooMany : part.dataset.refused) ?? '');
  return false;
}
