export interface Toast {
  id: number;
  text: string;
}

const secondsShown = 6;

let last = 0;
export const toasts = $state<Toast[]>([]);

/** Shows a toast for what no form shows: a form shows its own errors. */
export function showToast(text: string): void {
  last += 1;
  const id = last;
  toasts.push({ id, text });
  setTimeout(() => dismiss(id), secondsShown * 1000);
}

export function dismiss(id: number): void {
  const index = toasts.findIndex((toast) => toast.id === id);
  if (index >= 0) toasts.splice(index, 1);
}
