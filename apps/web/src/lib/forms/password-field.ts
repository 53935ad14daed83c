import { passwordStrength, type StrengthTexts } from './password-strength.ts';

/** A screen reader announces the strength after a pause in typing, not after every key. */
const pauseMilliseconds = 800;

/** Adds behaviour to a password field as the server rendered it: a button that shows the password, and its strength. */
export function improvePasswordField(field: HTMLElement): void {
  const input = field.querySelector('input');
  const button = field.querySelector('button');
  if (!input || !button) return;

  addShowButton(input, button);
  const hint = field.querySelector<HTMLElement>('[data-strength]');
  const spoken = field.querySelector<HTMLElement>('[aria-live]');
  if (hint && spoken) rateStrength(input, hint, spoken);
}

function addShowButton(input: HTMLInputElement, button: HTMLButtonElement): void {
  button.hidden = false;
  button.addEventListener('click', () => {
    const visible = input.type === 'password';
    input.type = visible ? 'text' : 'password';
    button.ariaPressed = String(visible);
    const [label] = button.children;
    if (label) label.textContent = (visible ? button.dataset.hide : button.dataset.show) ?? '';
  });
}

function rateStrength(input: HTMLInputElement, hint: HTMLElement, spoken: HTMLElement): void {
  const hints: StrengthTexts = JSON.parse(hint.dataset.hints ?? '');
  let timer: ReturnType<typeof setTimeout> | undefined;
  function rate() {
    clearTimeout(timer);
    const { enough, text } = passwordStrength(input.value, hints);
    hint.textContent = text;
    hint.dataset.strength = enough ? 'enough' : '';
    if (input.value === '') return;
    timer = setTimeout(() => {
      if (input.ariaInvalid !== 'true') spoken.textContent = text;
    }, pauseMilliseconds);
  }

  input.addEventListener('input', rate);
  if (input.value !== '') rate();
}
