/**
 * Counts the seconds of `data-wait` down and shows them in the text of `data-in`. Until the end the form's
 * button is disabled, because an address gets at most one e-mail per minute.
 */
export function countDown(form: HTMLFormElement): void {
  const button = form.querySelector('button');
  const clock = form.querySelector('span');
  const endsAt = performance.now() + Number(form.dataset.wait) * 1000;
  if (!button || !clock) return;

  function count() {
    const seconds = Math.max(0, Math.ceil((endsAt - performance.now()) / 1000));
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    clock?.classList.toggle('invisible', seconds === 0);
    if (clock && seconds > 0) clock.textContent = (form.dataset.in ?? '').replace('{time}', time);
    if (button) button.ariaDisabled = seconds > 0 ? 'true' : null;
    if (seconds === 0) clearInterval(timer);
  }
  const timer = setInterval(count, 500);
  count();

  form.addEventListener('submit', (event) => {
    if (button.ariaDisabled === 'true') event.preventDefault();
  });
}
