import { cards, goodCard, grouped } from '../customers/cards.ts';
import { type Html, html } from '../http/html.ts';

/** Radio buttons for the test cards. There is no field for a number, so no real card can be entered. */
export function cardFields(chosen = goodCard): Html {
  return html`<fieldset><legend>Card</legend>${cards.map(
    ({ number, about }) =>
      html`<label class="check"><input type="radio" name="card" value="${number}" required${number === chosen && html` checked`}><span>${grouped(number)} <span class="soft">– ${about}</span></span></label>`,
  )}</fieldset>`;
}

/** Renders an error message, if there is one. */
export function errorMessage(message: string | null): Html | null {
  return message === null ? null : html`<p class="wrong" role="alert">${message}</p>`;
}
