import { goodCard } from '../customers/cards.ts';
import { grouped, type TestMethod } from '../customers/test-method.ts';
import { type Html, html } from '../http/html.ts';

/** Radio buttons for the test cards and bank accounts. There is no field for a number, so no real one can be entered. */
export function methodFields(methods: TestMethod[], chosen = goodCard): Html {
  return html`<fieldset><legend>${methods.some(({ type }) => type !== 'card') ? 'Card or bank account' : 'Card'}</legend>${methods.map(
    ({ number, about }) =>
      html`<label class="check"><input type="radio" name="card" value="${number}" required${number === chosen && html` checked`}><span>${grouped(number)} <span class="soft">– ${about}</span></span></label>`,
  )}</fieldset>`;
}

/**
 * Returns the sentence with which a page refuses a card or bank account that it does not list; null if it lists it.
 * `types` are the types that the page accepts; by default all.
 */
export function refusalOf(method: TestMethod | undefined, currency: string, types?: string[]): string | null {
  if (!method) return 'This is not a test card. Choose one of those listed.';
  if (types && !types.includes(method.type)) return `This page does not accept ${method.type}.`;
  if (method.currency === undefined || method.currency === currency) return null;
  return `This bank account pays ${method.currency} only, and ${currency} is due.`;
}

/** Renders an error message, if there is one. */
export function errorMessage(message: string | null): Html | null {
  return message === null ? null : html`<p class="wrong" role="alert">${message}</p>`;
}
