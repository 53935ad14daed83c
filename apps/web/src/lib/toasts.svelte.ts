export interface Toast {
  id: number;
  text: string;
}

const secondsShown = 6;

let last = 0;
export const toasts = $state<Toast[]>([]);

/** Says something that happened elsewhere; what happened in a form stands at the form. */
export function say(text: string): void {
  last += 1;
  const id = last;
  toasts.push({ id, text });
  setTimeout(() => dismiss(id), secondsShown * 1000);
}

export function dismiss(id: number): void {
  const index = toasts.findIndex((toast) => toast.id === id);
  if (index >= 0) toasts.splice(index, 1);
}
